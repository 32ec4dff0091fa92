#include "remede/model/model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/model/limits.h"

namespace remede {
namespace {

// REQUIRES of names: text that JSON can hold, and no two alike, for columns are matched by name.
void check_names(const std::vector<std::string>& names, int most, const char* what, const std::string& where) {
  if (names.size() > static_cast<std::size_t>(most))
    fail("{}: expected at most {} {}, got {}", where, most, what, names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!is_utf8(names[i])) fail("{}: expected {} in UTF-8, got other bytes in number {}", where, what, i + 1);
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) fail("{}: expected {} that differ, got {:?} twice", where, what, *twice);
}

void check_training(const TrainingRecord& training, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& [name, value] : training.settings) {
    if (!is_utf8(value)) fail("{}: expected training settings in UTF-8, got other bytes", where);
    names.push_back(name);
  }
  check_names(names, std::numeric_limits<int>::max(), "training settings", where);
  const auto finite = [](double v) { return std::isfinite(v); };
  if (!std::all_of(training.training_loss.begin(), training.training_loss.end(), finite) ||
      !std::all_of(training.validation_loss.begin(), training.validation_loss.end(), finite))
    fail("{}: expected finite losses in the training record", where);
}

void check_codes(const std::vector<InputCode>& codes, const std::string& where) {
  std::vector<std::string> inputs;
  for (const InputCode& code : codes) {
    inputs.push_back(code.input);
    check_names(code.words, std::numeric_limits<int>::max(), "words of a column", where);
    const auto finite = [](float v) { return std::isfinite(v); };
    if (!is_utf8(code.column)) fail("{}: expected names of columns in UTF-8, got other bytes", where);
    if (code.words.size() != code.values.size() || !std::all_of(code.values.begin(), code.values.end(), finite) ||
        (code.other && !finite(*code.other)))
      fail("{}: expected a finite value for every word of column {:?}", where, code.column);
  }
  check_names(inputs, kMostInputs, "inputs with a code", where);
}

}  // namespace

void check(const Schema& schema, const std::string& where) {
  check_codes(schema.codes, where);
  check_names(schema.inputs, kMostInputs, "inputs", where);
  check_names(schema.targets, kMostOutputs, "targets", where);
  check_names(schema.classes, kMostOutputs, "classes", where);
  const auto utf8 = [](const std::string& name) { return is_utf8(name); };
  if (!utf8(schema.id) || !utf8(schema.time) ||
      !std::all_of(schema.categorical.begin(), schema.categorical.end(), utf8) ||
      !std::all_of(schema.ignore.begin(), schema.ignore.end(), utf8))
    fail("{}: expected names of columns in UTF-8, got other bytes", where);
  const bool classifies = schema.task == Task::kClassification;
  if (classifies && schema.classes.empty()) fail("{}: expected at least one class, got none", where);
  if (!classifies && !schema.classes.empty())
    fail("{}: expected no classes in regression, got {}", where, schema.classes.size());
  if (classifies && schema.targets.size() > 1)
    fail("{}: expected one target in classification, got {}", where, schema.targets.size());
  if (!classifies && schema.targets.empty()) fail("{}: expected at least one target, got none", where);
}

int Model::node_count() const {
  int nodes = 0;
  for (const Tree& tree : trees) nodes += tree.node_count();
  return nodes;
}

void check(const Model& model, const std::string& where) {
  check(model.schema, where);
  check(model.objective(), model.schema.task, static_cast<int>(model.schema.targets.size()), where);
  check_training(model.training, where);
  if (model.fill.size() != model.schema.inputs.size())
    fail("{}: expected {} values of fill, one per input, got {}", where, model.schema.inputs.size(), model.fill.size());
  if (!std::all_of(model.fill.begin(), model.fill.end(), [](float v) { return std::isfinite(v); }))
    fail("{}: expected finite values of fill", where);
  if (!model.input_range.empty() && model.input_range.size() != model.schema.inputs.size())
    fail("{}: expected {} ranges of inputs, one per input, got {}", where, model.schema.inputs.size(),
         model.input_range.size());
  check_ranges(model.input_range, "inputs", where);
  if (model.trees.empty() || model.trees.size() > static_cast<std::size_t>(kMostTrees))
    fail("{}: expected 1 to {} trees, got {}", where, kMostTrees, model.trees.size());
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Tree& tree = model.trees[t];
    const std::string name = fmt::format("{}: tree {}", where, t);
    if (tree.n_x != model.n_x() || tree.n_y != model.n_y())
      fail("{}: expected {} inputs and {} outputs, as the model has, got {} and {}", name, model.n_x(), model.n_y(),
           tree.n_x, tree.n_y);
    if (tree.form.output_order == OutputOrder::kFirst && !model.classifies() && !has_identity_link(model.objective()))
      fail("{}: expected the output order zero with the objective {}, got first", name, word_of(model.objective()));
    check(tree, name);
    check_names(tree.cell_name, kMostCells, "names of cells", name);
    for (const std::string& cell : tree.cell_name)
      if (cell.empty()) fail("{}: expected a name for every cell, got an empty one", name);
  }
}

}  // namespace remede
