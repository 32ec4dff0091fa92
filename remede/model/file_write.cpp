// Model -> JSON text. Written by hand rather than dumped: one line per node, per cell a leaf writes and per list of
// numbers.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/model/file.h"
#include "remede/model/file_cells.h"
#include "remede/model/file_limits.h"
#include "remede/model/file_text.h"
#include "remede/model/file_words.h"

namespace remede {
namespace {

using namespace model_text;

// Inner nodes are numbered first, leaves after them.
std::int32_t child_number(const Tree& tree, std::int32_t child) {
  return child >= 0 ? child : tree.inner_count() + ~child;
}

std::string node_line(const Tree& tree, const Schema& schema, std::size_t i) {
  const std::int32_t f = tree.feature[i];
  const std::string tested = f < tree.n_x
                                 ? fmt::format("\"input\": {}", text(schema.inputs[static_cast<std::size_t>(f)]))
                                 : fmt::format("\"cell\": {}", f - tree.n_x);
  return fmt::format(R"({{"number": {}, {}, "threshold": {}, "missing": "{}", "left": {}, "right": {}}})", i, tested,
                     number(tree.threshold[i]), word(kMissingWords, tree.missing_right[i] != 0),
                     child_number(tree, tree.left[i]), child_number(tree, tree.right[i]));
}

std::string write_line(const Tree& tree, std::size_t leaf, std::size_t cell) {
  const std::size_t at = leaf * static_cast<std::size_t>(tree.n_m) + cell;
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  std::string line = fmt::format("{{\"cell\": {}", cell);
  if (tree.form.write_rule == WriteRule::kBlend) line += ", \"blend\": " + number(tree.blend[at]);
  if (tree.form.write_bias) line += ", \"bias\": " + number(tree.bias[at]);
  return line + ", \"weights\": " + numbers(tree.write.data() + at * n_w, n_w) + "}";
}

std::string leaf_lines(const Tree& tree, const Schema& schema, std::size_t leaf, const std::string& indent) {
  const auto n_y = static_cast<std::size_t>(tree.n_y);
  const auto n_v = static_cast<std::size_t>(tree.n_v());
  std::string all = fmt::format("{{\"number\": {}, \"output\": {}", tree.inner_count() + static_cast<int>(leaf),
                                numbers(tree.output.data() + leaf * n_y, n_y));
  if (tree.form.leaf_output == LeafOutput::kLinear) {
    std::vector<std::string> rows;
    for (std::size_t o = 0; o < n_y; ++o) rows.push_back(numbers(tree.linear.data() + (leaf * n_y + o) * n_v, n_v));
    all += ", \"linear\": " + lines(rows, indent, '[', ']');
  }
  if (tree.has_laws()) return all + leaf_cell_entries(tree, schema, leaf, indent) + "}";
  std::vector<std::string> writes;
  for (std::size_t k = 0; k < static_cast<std::size_t>(tree.n_m); ++k)
    if (tree.gate[leaf * static_cast<std::size_t>(tree.n_m) + k] != 0) writes.push_back(write_line(tree, leaf, k));
  return all + ", \"writes\": " + lines(writes, indent, '[', ']') + "}";
}

// What only trees whose leaves write cells have.
std::vector<std::string> form_entries(const Tree& tree) {
  return {entry("cells", std::to_string(tree.n_m)),
          entry("write_rule", text(word(kWriteRuleWords, tree.form.write_rule))),
          entry("write_reads", text(word(kWriteReadsWords, tree.form.write_reads))),
          entry("write_bias", tree.form.write_bias ? "true" : "false"),
          entry("leaf_output", text(word(kLeafOutputWords, tree.form.leaf_output)))};
}

std::string tree_lines(const Tree& tree, const Schema& schema, const std::string& indent) {
  const std::string inside = indent + "  ";
  std::vector<std::string> nodes;
  for (std::size_t i = 0; i < tree.feature.size(); ++i) nodes.push_back(node_line(tree, schema, i));
  std::vector<std::string> leaves;
  for (std::size_t j = 0; j < static_cast<std::size_t>(tree.leaf_count()); ++j)
    leaves.push_back(leaf_lines(tree, schema, j, inside + "  "));
  std::vector<std::string> entries = tree.has_laws() ? cell_entries(tree, schema, inside) : form_entries(tree);
  entries.push_back(entry("output_order", text(word(kOutputOrderWords, tree.form.output_order))));
  for (std::string& more : name_and_range_entries(tree)) entries.push_back(std::move(more));
  entries.push_back(entry("nodes", lines(nodes, inside, '[', ']')));
  entries.push_back(entry("leaves", lines(leaves, inside, '[', ']')));
  return lines(entries, indent, '{', '}');
}

std::string training_lines(const TrainingRecord& training, const std::string& indent) {
  std::vector<std::string> settings;
  for (const auto& [name, value] : training.settings) settings.push_back(text(name) + ": " + text(value));
  std::vector<std::string> entries = {
      "\"settings\": " + lines(settings, indent + "  ", '{', '}'),
      "\"training_loss\": " + numbers(training.training_loss.data(), training.training_loss.size()),
      "\"validation_loss\": " + numbers(training.validation_loss.data(), training.validation_loss.size())};
  std::vector<std::string> test;
  for (const auto& [name, value] : training.test) test.push_back(text(name) + ": " + number(value));
  if (!test.empty()) entries.push_back("\"test\": " + lines(test, indent + "  ", '{', '}'));
  if (!training.notes.empty()) entries.push_back("\"notes\": " + texts(training.notes));
  return lines(entries, indent, '{', '}');
}

// What is written must be readable again. The costs of nodes and cells are rounded up.
void check_fits(const Model& model, const std::string& json) {
  constexpr std::size_t kNodeCost = 40;
  std::size_t zeros = 0;
  std::size_t values = model.training.training_loss.size() + model.training.validation_loss.size();
  const Schema& schema = model.schema;
  values += kNodeCost * (schema.inputs.size() + schema.targets.size() + schema.classes.size());
  for (const InputCode& code : schema.codes) values += kNodeCost + (kTextCost + 1) * code.words.size();
  for (const Tree& tree : model.trees) {
    if (tree.has_laws()) {
      zeros += numbers_of_laws(tree);
      values += written_numbers_of_laws(tree) * kNodeCost;
    }
    const auto closed = static_cast<std::size_t>(std::count(tree.gate.begin(), tree.gate.end(), 0));
    const auto rows = tree.output.size() + (tree.gate.size() - closed);
    zeros += closed * numbers_of_write(tree);
    values +=
        rows * kNodeCost + tree.linear.size() + (tree.gate.size() - closed) * static_cast<std::size_t>(tree.n_w());
    values += kNodeCost * static_cast<std::size_t>(tree.node_count());
  }
  const std::size_t most_zeros = most_implied_zeros(json.size());
  if (values > kMostFileValues) fail("model: expected at most {} numbers, for a file, got {}", kMostFileValues, values);
  if (zeros > most_zeros)
    fail("model: expected at most {} weights of cells that are not written, for a file, got {}", most_zeros, zeros);
  if (json.size() > kMostFileBytes)
    fail("model: expected at most {} bytes, for a file, got {}", kMostFileBytes, json.size());
  if (model.training.settings.size() > kMostFileKeys)
    fail("model: expected at most {} training settings, got {}", kMostFileKeys, model.training.settings.size());
}

std::string code_line(const InputCode& code) {
  const std::string start = fmt::format("{{\"input\": {}, \"column\": {}", text(code.input), text(code.column));
  if (code.gap) return start + ", \"gap\": true}";
  return fmt::format("{}, \"words\": {}, \"values\": {}, \"other\": {}}}", start, texts(code.words),
                     numbers(code.values.data(), code.values.size()), code.other ? number(*code.other) : "null");
}

std::string objective_line(const Objective& objective) {
  std::string line = fmt::format("{{\"name\": {}", text(word_of(objective)));
  const auto list = [&](const char* name, const std::vector<float>& values) {
    if (!values.empty()) line += fmt::format(", \"{}\": {}", name, numbers(values.data(), values.size()));
  };
  list("quantiles", objective.quantiles);
  list("scale", objective.scale);
  return line + "}";
}

// What files of version 1 do not have, in the order of the inputs; nothing where a model needs none of it.
std::vector<std::string> later_entries(const Schema& schema) {
  std::vector<std::string> codes;
  const CodeIndex index(schema.codes);
  for (const std::string& input : schema.inputs)
    if (const InputCode* const code = index.find(input)) codes.push_back(code_line(*code));
  std::vector<std::string> entries;
  if (!codes.empty()) entries.push_back("\"codes\": " + lines(codes, "  ", '[', ']'));
  if (schema.target_per != TargetPer::kStep)
    entries.push_back("\"target_per\": " + text(word(kTargetPerWords, schema.target_per)));
  if (schema.horizon > 0) entries.push_back(fmt::format("\"horizon\": {}", schema.horizon));
  if (!schema.categorical.empty()) entries.push_back("\"categorical\": " + texts(schema.categorical));
  if (!schema.ignore.empty()) entries.push_back("\"ignore\": " + texts(schema.ignore));
  if (schema.time_gap) entries.push_back("\"time_gap\": true");
  return entries;
}

// The first version that has all the model uses.
int version_of(const Model& model, bool has_later_entries) {
  for (const Tree& tree : model.trees)
    if (tree.has_laws()) return kVersionOfLaws;
  if (model.own_objective) return kVersionOfObjectives;
  const Schema& schema = model.schema;
  if (!schema.categorical.empty() || !schema.ignore.empty() || schema.time_gap) return kVersionOfRoles;
  return has_later_entries ? kVersionOfCodes : 1;
}

std::string model_lines(const Model& model) {
  const Schema& schema = model.schema;
  std::vector<std::string> trees;
  for (const Tree& tree : model.trees) trees.push_back(tree_lines(tree, schema, "    "));
  const std::vector<std::string> later = later_entries(schema);
  std::vector<std::string> entries = {entry("format", text(kFormatName)),
                                      entry("version", std::to_string(version_of(model, !later.empty()))),
                                      entry("task", text(word(kTaskWords, schema.task))),
                                      entry("inputs", texts(schema.inputs)),
                                      entry("fill", numbers(model.fill.data(), model.fill.size())),
                                      entry("targets", texts(schema.targets)),
                                      entry("classes", texts(schema.classes)),
                                      entry("id", text(schema.id)),
                                      entry("time", text(schema.time))};
  entries.insert(entries.end(), later.begin(), later.end());
  if (model.own_objective) entries.push_back(entry("objective", objective_line(*model.own_objective)));
  if (!model.input_range.empty()) entries.push_back(entry("input_ranges", ranges(model.input_range)));
  entries.push_back(entry("trees", lines(trees, "  ", '[', ']')));
  entries.push_back(entry("training", training_lines(model.training, "  ")));
  return lines(entries, "", '{', '}');
}

}  // namespace

std::string to_json(const Model& model) {
  check(model, "model");
  const std::string json = model_lines(model) + "\n";
  check_fits(model, json);
  return json;
}

}  // namespace remede
