// JSON text -> Model. Nothing in the file is believed: sizes are those of the lists that are there, every number is
// checked where it is read, and check() looks at the whole at the end. Keys this version does not know are ignored.
#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/base/json.h"
#include "remede/base/text.h"
#include "remede/model/file.h"
#include "remede/model/file_cells.h"
#include "remede/model/file_limits.h"
#include "remede/model/file_values.h"
#include "remede/model/file_words.h"
#include "remede/model/limits.h"

namespace remede {
namespace {

using namespace model_file;

std::vector<double> read_losses(const Json& object, std::string_view key, const Place& at) {
  std::vector<double> losses;
  const Place place{&at, key};
  for (const Json& item : list(object, key, at, kMostFileValues))
    losses.push_back(read_number<double>(item, {&place, {}, static_cast<std::ptrdiff_t>(losses.size())}));
  return losses;
}

LeafForm read_form(const Json& json, const Place& at) {
  LeafForm form;
  form.write_rule = read_word(json, "write_rule", at, kWriteRuleWords);
  form.write_reads = read_word(json, "write_reads", at, kWriteReadsWords);
  const Json& bias = member(json, "write_bias", at);
  if (!bias.is_boolean()) unexpected({&at, "write_bias"}, "true or false", bias);
  form.write_bias = bias.get<bool>();
  form.leaf_output = read_word(json, "leaf_output", at, kLeafOutputWords);
  form.output_order = read_word(json, "output_order", at, kOutputOrderWords);
  return form;
}

std::int32_t read_feature(const Json& json, const Place& at, const Tree& tree, const InputNumbers& inputs) {
  if (json.contains("cell") && json.contains("input")) fail("{}: expected 'input' or 'cell', got both", at.text());
  if (json.contains("cell")) return tree.n_x + read_integer(json, "cell", at, 0, tree.n_m - 1);
  return read_input(member(json, "input", at), {&at, "input"}, inputs);
}

void read_node(const Json& json, const Place& at, int number, int inner, const InputNumbers& inputs, Tree& tree) {
  read_integer(json, "number", at, number, number);
  tree.feature.push_back(read_feature(json, at, tree, inputs));
  tree.threshold.push_back(read_number<float>(member(json, "threshold", at), {&at, "threshold"}));
  tree.missing_right.push_back(read_word(json, "missing", at, kMissingWords) ? 1 : 0);
  const auto child = [&](std::string_view side) {
    const int value = read_integer(json, side, at, 1, 2 * inner);
    return value < inner ? value : ~(value - inner);
  };
  tree.left.push_back(child("left"));
  tree.right.push_back(child("right"));
}

// The cells a leaf writes; those it does not name keep their zeros. REQUIRES: the tree's arrays have room for the leaf.
void read_writes(const Json& json, const Place& at, std::size_t leaf, Tree& tree) {
  const auto n_m = static_cast<std::size_t>(tree.n_m);
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  const Place writes{&at, "writes"};
  std::ptrdiff_t count = 0;
  std::vector<float> weights;
  for (const Json& item : list(json, "writes", at, n_m)) {
    const Place place{&writes, {}, count++};
    const std::size_t cell = leaf * n_m + static_cast<std::size_t>(read_integer(item, "cell", place, 0, tree.n_m - 1));
    if (tree.gate[cell] != 0) unexpected({&place, "cell"}, "a cell that differs from those before", item["cell"]);
    tree.gate[cell] = 1;
    weights.clear();
    read_numbers(member(item, "weights", place), {&place, "weights"}, n_w, weights);
    std::copy(weights.begin(), weights.end(), tree.write.begin() + static_cast<std::ptrdiff_t>(cell * n_w));
    if (tree.form.write_bias) tree.bias[cell] = read_number<float>(member(item, "bias", place), {&place, "bias"});
    if (tree.form.write_rule == WriteRule::kBlend)
      tree.blend[cell] = read_number<float>(member(item, "blend", place), {&place, "blend"});
  }
}

void read_leaf(const Json& json, const Place& at, std::size_t leaf, Tree& tree) {
  const int number = tree.inner_count() + static_cast<int>(leaf);
  read_integer(json, "number", at, number, number);
  const auto n_y = static_cast<std::size_t>(tree.n_y);
  read_numbers(member(json, "output", at), {&at, "output"}, n_y, tree.output);
  if (tree.form.leaf_output == LeafOutput::kLinear) {
    const Json& rows = list(json, "linear", at, n_y);
    const Place place{&at, "linear"};
    if (rows.size() != n_y) fail("{}: expected {} lists, one per output, got {}", place.text(), n_y, rows.size());
    for (std::size_t o = 0; o < n_y; ++o)
      read_numbers(rows[o], {&place, {}, static_cast<std::ptrdiff_t>(o)}, static_cast<std::size_t>(tree.n_v()),
                   tree.linear);
  }
  if (!tree.has_laws()) read_writes(json, at, leaf, tree);
}

// How many of a tree's write numbers stand in the file. Sizes only; what they hold is checked when it is read.
std::size_t count_written_numbers(const Json& leaves) {
  std::size_t numbers = 0;
  for (const Json& leaf : leaves) {
    const auto writes = leaf.is_object() ? leaf.find("writes") : leaf.end();
    if (writes == leaf.end() || !writes->is_array()) continue;
    for (const Json& write : *writes) {
      const auto weights = write.is_object() ? write.find("weights") : write.end();
      if (weights != write.end() && weights->is_array()) numbers += weights->size() + 2;
    }
  }
  return numbers;
}

// Memory for the writes of every leaf, initially zero. It is limited in proportion to the size of the file.
void make_room(const Json& leaves, const Place& at, std::size_t& zeros_left, Tree& tree) {
  const std::size_t cells = leaves.size() * static_cast<std::size_t>(tree.n_m);
  const std::size_t needed = cells * numbers_of_write(tree);
  const std::size_t zeros = needed - std::min(needed, count_written_numbers(leaves));
  if (zeros > zeros_left)
    fail("{}: expected at most {} weights of cells that are not written, got {}", at.text(), zeros_left, zeros);
  zeros_left -= zeros;
  tree.gate.resize(cells);
  tree.write.resize(cells * static_cast<std::size_t>(tree.n_w()));
  if (tree.form.write_bias) tree.bias.resize(cells);
  if (tree.form.write_rule == WriteRule::kBlend) tree.blend.resize(cells);
}

Tree read_tree(const Json& json, const Place& at, const Model& model, const InputNumbers& inputs,
               std::size_t& zeros_left) {
  Tree tree;
  tree.n_x = model.n_x();
  tree.n_y = model.n_y();
  const Json& cells = member(json, "cells", at);
  const bool laws = cells.is_array();  // else their number
  if (laws) {
    tree.n_m = static_cast<int>(list(json, "cells", at, static_cast<std::size_t>(kMostCells)).size());
    tree.form.memory = Memory::kLaws;
    tree.form.output_order = read_word(json, "output_order", at, kOutputOrderWords);
  } else {
    tree.n_m = read_integer(json, "cells", at, 0, kMostCells);
    tree.form = read_form(json, at);
  }
  const Json& nodes = list(json, "nodes", at, static_cast<std::size_t>(kMostInner));
  const Json& leaves = list(json, "leaves", at, static_cast<std::size_t>(kMostInner) + 1);
  if (leaves.size() != nodes.size() + 1)
    fail("{}: expected {} leaves for {} nodes, got {}", at.text(), nodes.size() + 1, nodes.size(), leaves.size());
  const Place node_place{&at, "nodes"};
  const int inner = static_cast<int>(nodes.size());
  for (int i = 0; i < inner; ++i)
    read_node(nodes[static_cast<std::size_t>(i)], {&node_place, {}, i}, i, inner, inputs, tree);
  if (!laws) make_room(leaves, at, zeros_left, tree);
  const Place leaf_place{&at, "leaves"};
  for (std::size_t j = 0; j < leaves.size(); ++j)
    read_leaf(leaves[j], {&leaf_place, {}, static_cast<std::ptrdiff_t>(j)}, j, tree);
  if (laws) read_cells(json, at, inputs, zeros_left, tree);
  read_names_and_ranges(json, at, tree);
  return tree;
}

InputCode read_code(const Json& json, const Place& at) {
  InputCode code;
  code.input = read_text(member(json, "input", at), {&at, "input"});
  code.column = read_text(member(json, "column", at), {&at, "column"});
  if (json.contains("gap")) {
    if (json["gap"] != true) unexpected({&at, "gap"}, "true", json["gap"]);
    code.gap = true;
    return code;
  }
  code.words = read_texts(json, "words", at, kMostFileValues);
  read_numbers(member(json, "values", at), {&at, "values"}, code.words.size(), code.values);
  const Json& other = member(json, "other", at);
  if (!other.is_null()) code.other = read_number<float>(other, {&at, "other"});
  return code;
}

// What files of version 1 do not have.
void read_later_entries(const Json& json, const Place& at, Schema& schema) {
  if (json.contains("codes")) {
    const Place place{&at, "codes"};
    for (const Json& item : list(json, "codes", at, kMostInputColumns))
      schema.codes.push_back(read_code(item, {&place, {}, static_cast<std::ptrdiff_t>(schema.codes.size())}));
  }
  if (json.contains("target_per")) schema.target_per = read_word(json, "target_per", at, kTargetPerWords);
  if (json.contains("categorical"))
    schema.categorical = read_texts(json, "categorical", at, static_cast<std::size_t>(kMostInputs));
  if (json.contains("ignore")) schema.ignore = read_texts(json, "ignore", at, kMostFileValues);
  if (json.contains("time_gap")) {
    if (!json["time_gap"].is_boolean()) unexpected({&at, "time_gap"}, "true or false", json["time_gap"]);
    schema.time_gap = json["time_gap"].get<bool>();
  }
  if (json.contains("horizon")) schema.horizon = read_integer(json, "horizon", at, 0, std::numeric_limits<int>::max());
}

Objective read_objective(const Json& json, const Place& at) {
  const Json& name = member(json, "name", at);
  const std::optional<Loss> loss = loss_of_word(read_text(name, {&at, "name"}));
  if (!loss) unexpected({&at, "name"}, fmt::format("one of {}", kObjectiveWords), name);
  Objective objective{*loss};
  const auto read_list = [&](const char* key, std::vector<float>& to) {
    if (!json.contains(key)) return;
    const Json& values = list(json, key, at, static_cast<std::size_t>(kMostOutputs));
    read_numbers(values, {&at, key}, values.size(), to);
  };
  read_list("quantiles", objective.quantiles);
  read_list("scale", objective.scale);
  return objective;
}

Schema read_schema(const Json& json, const Place& at) {
  Schema schema;
  schema.task = read_word(json, "task", at, kTaskWords);
  schema.inputs = read_texts(json, "inputs", at, kMostInputColumns);
  schema.targets = read_texts(json, "targets", at, static_cast<std::size_t>(kMostOutputs));
  schema.classes = read_texts(json, "classes", at, static_cast<std::size_t>(kMostOutputs));
  schema.id = read_text(member(json, "id", at), {&at, "id"});
  schema.time = read_text(member(json, "time", at), {&at, "time"});
  read_later_entries(json, at, schema);
  return schema;
}

TrainingRecord read_training(const Json& json, const Place& at) {
  TrainingRecord training;
  const Json& settings = member(json, "settings", at);
  const Place place{&at, "settings"};
  if (!settings.is_object()) unexpected(place, "an object", settings);
  for (const auto& [name, value] : settings.items()) {
    const auto number = static_cast<std::ptrdiff_t>(training.settings.size());
    training.settings.emplace_back(name, read_text(value, {&place, {}, number}));
  }
  training.training_loss = read_losses(json, "training_loss", at);
  training.validation_loss = read_losses(json, "validation_loss", at);
  if (json.contains("test")) {
    const Json& test = member(json, "test", at);
    const Place scores{&at, "test"};
    if (!test.is_object()) unexpected(scores, "an object", test);
    for (const auto& [name, value] : test.items())
      training.test.emplace_back(
          name, read_number<double>(value, {&scores, {}, static_cast<std::ptrdiff_t>(training.test.size())}));
  }
  if (json.contains("notes")) training.notes = read_texts(json, "notes", at, kMostFileKeys);
  return training;
}

void check_version(const Json& json, const Place& at) {
  if (!json.is_object()) unexpected(at, "a remede model", json);
  const auto format = json.find("format");
  if (format == json.end() || *format != kFormatName) fail("{}: expected a remede model, got other JSON", at.text());
  const Json& version = member(json, "version", at);
  if (whole_number(version) < 1) unexpected({&at, "version"}, "a version number", version);
  if (whole_number(version) > kFileVersion)
    fail(
        "{}: expected version {} of the model file or an earlier one, got {}: it was written by a later version of "
        "remede",
        at.text(), kFileVersion, shown_json(version));
}

}  // namespace

Model model_from_json(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  const Place root{nullptr, where};
  check_version(json, root);
  Model model;
  model.schema = read_schema(json, root);
  check(model.schema, where);
  if (json.contains("objective")) {
    model.own_objective = read_objective(json["objective"], {&root, "objective"});
    check(*model.own_objective, model.schema.task, static_cast<int>(model.schema.targets.size()), where);
  }
  read_numbers(member(json, "fill", root), {&root, "fill"}, model.schema.inputs.size(), model.fill);
  InputNumbers inputs;
  for (std::size_t i = 0; i < model.schema.inputs.size(); ++i)
    inputs.emplace(model.schema.inputs[i], static_cast<std::int32_t>(i));
  if (json.contains("input_ranges"))
    model.input_range = read_ranges(json, "input_ranges", root, model.schema.inputs.size());
  std::size_t zeros_left = most_implied_zeros(text.size());
  const Place trees{&root, "trees"};
  for (const Json& tree : list(json, "trees", root, static_cast<std::size_t>(kMostTrees)))
    model.trees.push_back(
        read_tree(tree, {&trees, {}, static_cast<std::ptrdiff_t>(model.trees.size())}, model, inputs, zeros_left));
  model.training = read_training(member(json, "training", root), {&root, "training"});
  check(model, where);
  return model;
}

}  // namespace remede
