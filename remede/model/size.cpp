#include "remede/model/size.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "remede/base/text.h"

namespace remede {
namespace {

long long not_zero(std::span<const float> values) {
  return std::count_if(values.begin(), values.end(), [](float v) { return v != 0.0F; });
}

std::span<const float> row_at(const std::vector<float>& values, std::size_t row, std::size_t width) {
  return values.empty() ? std::span<const float>() : std::span(values).subspan(row * width, width);
}

// What the leaf's answer counts: its constants and its own weights.
long long answer_numbers(const Tree& tree, bool classifies, std::size_t leaf) {
  const auto n_y = static_cast<std::size_t>(tree.n_y), n_v = static_cast<std::size_t>(tree.n_v());
  const std::size_t width = static_cast<std::size_t>(tree.n_x + 2 * tree.n_m);
  const long long own =
      not_zero(row_at(tree.linear, leaf, n_y * n_v)) + not_zero(row_at(tree.cells.leaf_linear, leaf, n_y * width));
  const bool constant = own == 0 && not_zero(tree.cells.linear) == 0;
  if (classifies && constant) return 1;
  return own + not_zero(row_at(tree.output, leaf, n_y));
}

long long write_numbers(const Tree& tree) {
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  long long numbers = 0;
  for (std::size_t at = 0; at < tree.gate.size(); ++at) {
    if (tree.gate[at] == 0) continue;
    numbers += 1 + not_zero(row_at(tree.write, at, n_w)) + not_zero(row_at(tree.bias, at, 1)) +
               not_zero(row_at(tree.blend, at, 1));
  }
  return numbers;
}

long long tree_numbers(const Tree& tree, bool classifies) {
  const Cells& c = tree.cells;
  long long numbers = 2 * static_cast<long long>(tree.inner_count()) + write_numbers(tree);
  for (const std::vector<float>* list :
       {&c.bias, &c.input, &c.earlier, &c.tap, &c.tap_input, &c.tap_level, &c.tap_leaf, &c.linear})
    numbers += not_zero(*list);
  for (std::size_t leaf = 0; leaf < static_cast<std::size_t>(tree.leaf_count()); ++leaf)
    numbers += answer_numbers(tree, classifies, leaf);
  return numbers;
}

}  // namespace

Size size_of(const Model& model) {
  Size size;
  for (const Tree& tree : model.trees) {
    size.numbers += tree_numbers(tree, model.schema.task == Task::kClassification);
    size.cells += tree.n_m;
    size.splits += tree.inner_count();
  }
  return size;
}

std::string size_text(const Model& model) {
  const Size size = size_of(model);
  const std::string trees = model.trees.size() > 1 ? fmt::format(", {} trees", model.trees.size()) : "";
  return fmt::format("{}: {}, {}{}", plural(size.numbers, "number"), plural(size.cells, "cell"),
                     plural(size.splits, "split"), trees);
}

}  // namespace remede
