// Recorded behaviour of a model: memory before, inputs, output, memory after, step by step. The material from which the
// state machine is derived: recorded on data or, if the inputs are a few symbols, by trying every symbol in every
// memory reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

// A number that the model carries from step to step and that has an effect: a cell in use, or the running output of a
// first-order tree.
inline constexpr int kBegun =
    -2;  // the slot says whether the sequence has begun: some averages start at their first value

struct Slot {
  std::size_t at = 0;  // into the state of step() in model/predict.h
  int tree = 0;
  int cell = -1;     // -1: a running answer; kBegun
  std::string name;  // m1; with several trees: tree 2 m1
};

struct ExperienceStep {
  int before = 0;  // into points
  int after = -1;  // into points; -1: not known
  int row = 0;     // into the rows of x
  int output = 0;  // into outputs
};

struct Experience {
  std::vector<Slot> slots;
  std::vector<int> inputs;                     // the inputs that matter
  std::vector<std::vector<float>> cuts;        // (slots) thresholds on each, rising
  std::vector<std::vector<float>> input_cuts;  // (n_x) thresholds on each input, rising
  int n_x = 0;
  std::vector<float> memory;  // (points, slots); point 0 is the beginning
  std::vector<float> x;       // (rows, n_x)
  std::vector<ExperienceStep> steps;
  std::vector<std::string> outputs;  // what was said, in words: a class, or the answer of the leaves reached
  bool symbols = false;              // rows are the symbols of a small alphabet
  bool closed = false;               // every symbol was tried in every memory that can be reached

  std::size_t points() const { return slots.empty() ? 1 : memory.size() / slots.size(); }
  const float* point(int p) const { return memory.data() + static_cast<std::size_t>(p) * slots.size(); }
  const float* row(int r) const { return x.data() + static_cast<std::size_t>(r) * static_cast<std::size_t>(n_x); }
};

// The slots, inputs and thresholds of the model that matter; no steps.
Experience what_matters(const Model& model);

// Records up to `most_steps` steps of whole sequences, spread evenly over the data.
Experience experience_on(const Model& model, const Sequences& data, std::size_t most_steps);

// The distinct input rows (of the inputs that matter) of the data; empty when there are more than `most`.
std::vector<std::vector<float>> alphabet_of(const Model& model, const Sequences& data, std::size_t most);

// Breadth first from the beginning, until nothing new is reached or there are more than `most_steps` steps.
Experience experience_of_symbols(const Model& model, const std::vector<std::vector<float>>& symbols,
                                 std::size_t most_steps);

// Numbers what a model says: the class, or the constant answer, or where leaves compute it the formula of the leaf (of
// a forest: the leaves reached).
class AnswerNumbers {
 public:
  explicit AnswerNumbers(const Model& model);
  int number(const float* y, const std::int32_t* leaves);
  const std::vector<std::string>& names() const { return names_; }
  bool formulas() const { return formulas_; }  // an answer is more than its name: it is computed from inputs and memory

 private:
  std::string name(const float* y, const std::int32_t* leaves) const;

  const Model* model_;
  bool formulas_ = false;
  std::vector<std::string> formula_;  // (leaves) of the one tree
  std::vector<std::string> names_;
};

}  // namespace remede
