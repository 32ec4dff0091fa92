#include "remede/model/file_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "remede/model/file_limits.h"
#include "remede/model/file_text.h"
#include "remede/model/file_words.h"
#include "remede/model/limits.h"

namespace remede {
namespace {

using model_file::InputNumbers;
using model_file::Json;
using model_file::Place;
namespace jf = model_file;
namespace jt = model_text;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One entry of a list of pairs [what, weight].
struct Pair {
  const Json& what;
  const Json& weight;
  Place place;
};

template <typename Each>
void each_pair(const Json& object, std::string_view key, const Place& at, std::size_t most, const Each& each) {
  const Place place{&at, key};
  std::ptrdiff_t number = 0;
  for (const Json& item : jf::list(object, key, at, most)) {
    const Place here{&place, {}, number++};
    if (!item.is_array() || item.size() != 2) jf::unexpected(here, "a pair of a name or number and a weight", item);
    each(Pair{item[0], item[1], here});
  }
}

int read_cell_number(const Pair& pair, int count) {
  const int cell = jf::whole_number(pair.what);
  if (cell < 0 || cell >= count)
    jf::unexpected({&pair.place, {}, 0}, count == 0 ? "no cell" : fmt::format("a cell from 0 to {}", count - 1),
                   pair.what);
  return cell;
}

void set_once(float& to, float value, const Pair& pair) {
  if (to != 0.0F) jf::unexpected({&pair.place, {}, 0}, "one that differs from those before", pair.what);
  to = value;
}

float read_weight(const Pair& pair) { return jf::read_number<float>(pair.weight, {&pair.place, {}, 1}); }

// row: (n_x)
void read_input_weights(const Json& json, const char* key, const Place& at, const InputNumbers& inputs,
                        std::span<float> row) {
  each_pair(json, key, at, row.size(), [&](const Pair& pair) {
    const std::int32_t input = jf::read_input(pair.what, {&pair.place, {}, 0}, inputs);
    set_once(row[static_cast<std::size_t>(input)], read_weight(pair), pair);
  });
}

// row: (count)
void read_cell_weights(const Json& json, const char* key, const Place& at, std::span<float> row) {
  each_pair(json, key, at, row.size(), [&](const Pair& pair) {
    const int cell = read_cell_number(pair, static_cast<int>(row.size()));
    set_once(row[static_cast<std::size_t>(cell)], read_weight(pair), pair);
  });
}

void read_cell(const Json& json, const Place& at, const InputNumbers& inputs, std::size_t k, Tree& tree) {
  Cells& cells = tree.cells;
  const auto n_x = static_cast<std::size_t>(tree.n_x), count = static_cast<std::size_t>(tree.n_m);
  const Json& law = jf::member(json, "law", at);
  const auto word = std::find(kLawWords.begin(), kLawWords.end(), law.is_string() ? law.get<std::string>() : "");
  if (word == kLawWords.end()) jf::unexpected({&at, "law"}, R"("store", "average" or "positive average")", law);
  cells.law[k] = static_cast<Law>(word - kLawWords.begin());
  cells.bias[k] = jf::read_number<float>(jf::member(json, "bias", at), {&at, "bias"});
  read_input_weights(json, "inputs", at, inputs, std::span(cells.input).subspan(k * n_x, n_x));
  read_cell_weights(json, "earlier", at, std::span(cells.earlier).subspan(k * count, k));
  cells.tap[k] = jf::read_number<float>(jf::member(json, "tap", at), {&at, "tap"});
  read_input_weights(json, "tap_inputs", at, inputs, std::span(cells.tap_input).subspan(k * n_x, n_x));
  cells.tap_level[k] = jf::read_number<float>(jf::member(json, "tap_level", at), {&at, "tap_level"});
  const Json& first = jf::member(json, "first", at);
  if (!first.is_boolean()) jf::unexpected({&at, "first"}, "true or false", first);
  cells.first[k] = first.get<bool>() ? 1 : 0;
}

// to: (n_y, n_x + 2 n_m)
void read_answer(const Json& json, const Place& at, const InputNumbers& inputs, const Tree& tree, std::span<float> to) {
  const auto n_x = static_cast<std::size_t>(tree.n_x), count = static_cast<std::size_t>(tree.n_m);
  const auto n_y = static_cast<std::size_t>(tree.n_y);
  const Json& rows = jf::list(json, "answer", at, n_y);
  const Place place{&at, "answer"};
  if (rows.size() != n_y) fail("{}: expected {} items, one per output, got {}", place.text(), n_y, rows.size());
  for (std::size_t o = 0; o < n_y; ++o) {
    const Place here{&place, {}, static_cast<std::ptrdiff_t>(o)};
    const std::span<float> row = to.subspan(o * (n_x + 2 * count), n_x + 2 * count);
    read_input_weights(rows[o], "inputs", here, inputs, row.first(n_x));
    read_cell_weights(rows[o], "outputs", here, row.subspan(n_x, count));
    read_cell_weights(rows[o], "levels", here, row.last(count));
  }
}

void read_taps(const Json& json, const Place& at, int cells, std::span<float> row) {
  each_pair(json, "taps", at, row.size(), [&](const Pair& pair) {
    float& tap = row[static_cast<std::size_t>(read_cell_number(pair, cells))];
    if (pair.weight == kClosedWord || pair.weight == kOpenWord)
      set_once(tap, pair.weight == kClosedWord ? -kInfinity : kInfinity, pair);
    else
      set_once(tap, read_weight(pair), pair);
  });
}

void make_room_for_laws(const Place& at, std::size_t& zeros_left, bool leaf_answers, Tree& tree) {
  Cells& cells = tree.cells;
  const auto n_x = static_cast<std::size_t>(tree.n_x), count = static_cast<std::size_t>(tree.n_m);
  const auto leaves = static_cast<std::size_t>(tree.leaf_count());
  const std::size_t answer = static_cast<std::size_t>(tree.n_y) * (n_x + 2 * count);
  const std::size_t needed = numbers_of_laws(tree) + (leaf_answers ? leaves * answer : 0);
  if (needed > zeros_left)
    fail("{}: expected at most {} weights of cells, for a file of this size, got {}", at.text(), zeros_left, needed);
  zeros_left -= needed;
  cells.law.resize(count);
  cells.bias.resize(count);
  cells.input.resize(count * n_x);
  cells.earlier.resize(count * count);
  cells.tap.resize(count);
  cells.tap_input.resize(count * n_x);
  cells.tap_level.resize(count);
  cells.tap_leaf.resize(leaves * count);
  cells.first.resize(count);
  cells.linear.resize(answer);
  if (leaf_answers) cells.leaf_linear.resize(leaves * answer);
}

std::string pairs(std::span<const float> row, const std::vector<std::string>* names) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row[i] != 0.0F) {
      const bool endless = std::isinf(row[i]);
      line += fmt::format("{}[{}, {}]", line.empty() ? "" : ", ",
                          names != nullptr ? jt::text((*names)[i]) : std::to_string(i),
                          endless ? jt::text(row[i] < 0 ? kClosedWord : kOpenWord) : jt::number(row[i]));
    }
  return "[" + line + "]";
}

std::string answer_lines(const Tree& tree, const Schema& schema, std::span<const float> from,
                         const std::string& indent) {
  const auto n_x = static_cast<std::size_t>(tree.n_x), count = static_cast<std::size_t>(tree.n_m);
  std::vector<std::string> rows;
  for (std::size_t o = 0; o < static_cast<std::size_t>(tree.n_y); ++o) {
    const std::span<const float> row = from.subspan(o * (n_x + 2 * count), n_x + 2 * count);
    rows.push_back(fmt::format(R"({{"inputs": {}, "outputs": {}, "levels": {}}})",
                               pairs(row.first(n_x), &schema.inputs), pairs(row.subspan(n_x, count), nullptr),
                               pairs(row.last(count), nullptr)));
  }
  return jt::lines(rows, indent, '[', ']');
}

}  // namespace

void read_cells(const Json& json, const Place& at, const InputNumbers& inputs, std::size_t& zeros_left, Tree& tree) {
  const Json& leaves = json["leaves"];
  const bool leaf_answers =
      std::any_of(leaves.begin(), leaves.end(), [](const Json& leaf) { return leaf.contains("answer"); });
  make_room_for_laws(at, zeros_left, leaf_answers, tree);
  const auto count = static_cast<std::size_t>(tree.n_m);
  const Json& items = json["cells"];
  const Place cell_place{&at, "cells"};
  for (std::size_t k = 0; k < count; ++k)
    read_cell(items[k], {&cell_place, {}, static_cast<std::ptrdiff_t>(k)}, inputs, k, tree);
  read_answer(json, at, inputs, tree, tree.cells.linear);
  const Place leaf_place{&at, "leaves"};
  const std::size_t answer = tree.cells.linear.size();
  for (std::size_t j = 0; j < leaves.size(); ++j) {
    const Place here{&leaf_place, {}, static_cast<std::ptrdiff_t>(j)};
    read_taps(leaves[j], here, tree.n_m, std::span(tree.cells.tap_leaf).subspan(j * count, count));
    if (leaves[j].contains("answer"))
      read_answer(leaves[j], here, inputs, tree, std::span(tree.cells.leaf_linear).subspan(j * answer, answer));
  }
}

void read_names_and_ranges(const Json& json, const Place& at, Tree& tree) {
  const auto count = static_cast<std::size_t>(tree.n_m);
  if (json.contains("cell_names")) tree.cell_name = jf::read_texts(json, "cell_names", at, count);
  if (json.contains("level_ranges")) tree.level_range = jf::read_ranges(json, "level_ranges", at, count);
  if (json.contains("share_ranges")) tree.share_range = jf::read_ranges(json, "share_ranges", at, count);
}

std::vector<std::string> cell_entries(const Tree& tree, const Schema& schema, const std::string& indent) {
  const Cells& cells = tree.cells;
  const auto n_x = static_cast<std::size_t>(tree.n_x), count = static_cast<std::size_t>(tree.n_m);
  std::vector<std::string> items;
  for (std::size_t k = 0; k < count; ++k)
    items.push_back(fmt::format(
        R"({{"law": "{}", "bias": {}, "inputs": {}, "earlier": {}, "tap": {}, "tap_inputs": {}, "tap_level": {}, "first": {}}})",
        kLawWords[static_cast<std::size_t>(cells.law[k])], jt::number(cells.bias[k]),
        pairs(std::span(cells.input).subspan(k * n_x, n_x), &schema.inputs),
        pairs(std::span(cells.earlier).subspan(k * count, k), nullptr), jt::number(cells.tap[k]),
        pairs(std::span(cells.tap_input).subspan(k * n_x, n_x), &schema.inputs), jt::number(cells.tap_level[k]),
        cells.first[k] != 0));
  return {jt::entry("cells", jt::lines(items, indent, '[', ']')),
          jt::entry("answer", answer_lines(tree, schema, cells.linear, indent))};
}

std::vector<std::string> name_and_range_entries(const Tree& tree) {
  std::vector<std::string> entries;
  if (!tree.cell_name.empty()) entries.push_back(jt::entry("cell_names", jt::texts(tree.cell_name)));
  if (!tree.level_range.empty()) entries.push_back(jt::entry("level_ranges", jt::ranges(tree.level_range)));
  if (!tree.share_range.empty()) entries.push_back(jt::entry("share_ranges", jt::ranges(tree.share_range)));
  return entries;
}

std::string leaf_cell_entries(const Tree& tree, const Schema& schema, std::size_t leaf, const std::string& indent) {
  const auto count = static_cast<std::size_t>(tree.n_m), answer = tree.cells.linear.size();
  std::string all =
      ", \"taps\": " + pairs(std::span<const float>(tree.cells.tap_leaf).subspan(leaf * count, count), nullptr);
  if (tree.cells.leaf_linear.empty()) return all;
  const auto own = std::span<const float>(tree.cells.leaf_linear).subspan(leaf * answer, answer);
  return all + ", \"answer\": " + answer_lines(tree, schema, own, indent);
}

std::size_t written_numbers_of_laws(const Tree& tree) {
  const auto written = [](const std::vector<float>& values) {
    return static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](float v) { return v != 0.0F; }));
  };
  const Cells& c = tree.cells;
  return c.law.size() + written(c.input) + written(c.earlier) + written(c.tap_input) + written(c.tap_leaf) +
         written(c.linear) + written(c.leaf_linear);
}

}  // namespace remede
