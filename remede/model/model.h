// One or more trees over the same inputs and outputs, and the words around them. A value: copy it, compare it, save it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "remede/model/tree.h"
#include "remede/objective/objective.h"
#include "remede/schema/schema.h"

namespace remede {

// What training leaves behind, for reports; prediction does not read it. No time, path or thread count.
struct TrainingRecord {
  std::vector<std::pair<std::string, std::string>> settings;  // every hyper-parameter, by name, as text
  std::vector<double> training_loss;                          // the loss curve of the start that won
  std::vector<double> validation_loss;
  std::vector<std::pair<std::string, double>> test =
      {};                               // scores on data never used for training or selection, by name
  std::vector<std::string> notes = {};  // what else a reader must know of the fit, one line each
};

struct Model {
  Schema schema;
  std::vector<float> fill;             // (n_x) what a missing input counts as in writes and linear leaves; 0: absent
  std::vector<SeenRange> input_range;  // (n_x) of the inputs in the training data, or empty
  std::vector<Tree> trees;  // at least one; each has its own memory; their probabilities or values are averaged
  TrainingRecord training;
  std::optional<Objective> own_objective;  // where it is not the task's default one

  // What it was trained for and is judged by; its link makes the answers.
  const Objective& objective() const { return own_objective ? *own_objective : default_objective(schema.task); }
  bool classifies() const { return remede::classifies(objective()); }
  int n_x() const { return schema.n_x(); }
  int n_y() const { return outputs_of(objective(), schema.n_y()); }  // outputs: more than targets with quantiles
  std::vector<std::string> output_names() const { return remede::output_names(objective(), schema.targets); }
  int node_count() const;  // over all trees
};

// Throws Error naming `where` when names repeat or are not UTF-8, or do not fit the task.
void check(const Schema& schema, const std::string& where);

// Throws Error naming `where` when trees and schema do not fit together or a tree is not sound.
void check(const Model& model, const std::string& where);

}  // namespace remede
