// Trees that are full of redundancy, and inputs that look for the edges: for tests of steps that must change nothing.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/model/model.h"
#include "remede/model/predict.h"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wrestrict"  // GCC 12 sees one in "x" + std::to_string(i) where there is none
#endif
#include "support/random_model.h"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace remede::test {

inline constexpr float kEndless = std::numeric_limits<float>::infinity();

inline float pick(Random& random, std::span<const float> values) { return values[random.below(values.size())]; }

// Values drawn so that equal tests, contradictions, idle writes and bounded cells are frequent.
inline void make_redundant(Random& random, Tree& tree) {
  const float thresholds[] = {-1.0F, -0.5F, 0.0F, 0.25F, 0.5F, 1.0F, 2.0F};
  for (float& threshold : tree.threshold)
    if (random.below(4) != 0) threshold = pick(random, thresholds);
  const auto thin = [&](std::vector<float>& values, std::uint64_t one_in) {
    for (float& value : values)
      if (random.below(one_in) == 0) value = random.below(4) == 0 ? -0.0F : 0.0F;
  };
  for (std::size_t i = 1; i < tree.feature.size();
       ++i) {  // a test asked before, where a missing value may go elsewhere
    if (random.below(3) != 0) continue;
    const std::size_t other = random.below(i);
    tree.feature[i] = tree.feature[other];
    tree.threshold[i] = tree.threshold[other];
    if (random.below(2) == 0) tree.missing_right[i] = tree.missing_right[other];
  }
  const std::uint64_t one_in[] = {1, 2, 8};
  thin(tree.write, one_in[random.below(3)]);
  thin(tree.linear, one_in[random.below(3)]);
  thin(tree.bias, one_in[random.below(3)]);
  thin(tree.output, 8);
  if (tree.has_laws()) {
    Cells& c = tree.cells;
    for (std::vector<float>* weights :
         {&c.input, &c.earlier, &c.tap_input, &c.tap_level, &c.tap_leaf, &c.linear, &c.leaf_linear, &c.bias, &c.tap})
      thin(*weights, one_in[random.below(3)]);
    if (random.below(4) == 0)
      for (float& tap : c.tap_leaf) tap = pick(random, std::vector<float>{kEndless, -kEndless});
  }
  for (float& blend : tree.blend)
    if (random.below(2) == 0) blend = pick(random, std::vector<float>{0.0F, 1.0F, 0.5F, 1e-6F});
  if (random.below(3) != 0 && tree.n_m > 0) {  // a cell that is hardly ever written
    const auto quiet = random.below(static_cast<std::uint64_t>(tree.n_m));
    for (std::size_t at = quiet; at < tree.gate.size(); at += static_cast<std::size_t>(tree.n_m))
      if (random.below(6) != 0) tree.gate[at] = 0;
  }
}

// Few kinds of leaves: each leaf becomes a copy of one of the first `kinds`, or all but: one number may differ.
inline void repeat_leaves(Random& random, Tree& tree, int kinds) {
  const auto copy_row = [](auto& values, std::size_t leaves, std::size_t from, std::size_t to) {
    const std::size_t width = values.size() / leaves;
    for (std::size_t i = 0; i < width; ++i) values[to * width + i] = values[from * width + i];
  };
  const auto leaves = static_cast<std::size_t>(tree.leaf_count());
  for (auto leaf = static_cast<std::size_t>(kinds); leaf < leaves; ++leaf) {
    const std::size_t from = random.below(static_cast<std::uint64_t>(kinds));
    for (auto* values : {&tree.output, &tree.linear, &tree.write, &tree.bias, &tree.blend, &tree.cells.tap_leaf,
                         &tree.cells.leaf_linear})
      copy_row(*values, leaves, from, leaf);
    copy_row(tree.gate, leaves, from, leaf);
    std::vector<float>* arrays[] = {&tree.output,         &tree.linear,           &tree.write, &tree.bias, &tree.blend,
                                    &tree.cells.tap_leaf, &tree.cells.leaf_linear};
    std::vector<float>& differs = *arrays[random.below(tree.has_laws() ? 7 : 5)];
    const std::size_t width = differs.size() / leaves;
    if (width > 0 && random.below(2) == 0)
      differs[leaf * width + random.below(width)] = static_cast<float>(random.uniform());
  }
}

inline Model redundant_model(Random& random, const RandomModelOptions& options) {
  Model model = random_model(random, options);
  for (Tree& tree : model.trees) {
    if (random.below(4) != 0) make_redundant(random, tree);
    if (random.below(2) == 0) repeat_leaves(random, tree, 1 + static_cast<int>(random.below(3)));
  }
  return model;
}

// A value next to something the model decides on, or an awkward one.
inline float hostile_value(Random& random, const Model& model) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float awkward[] = {std::numeric_limits<float>::quiet_NaN(),
                           kInfinity,
                           -kInfinity,
                           0.0F,
                           -0.0F,
                           std::numeric_limits<float>::denorm_min(),
                           -std::numeric_limits<float>::denorm_min(),
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::lowest(),
                           1e30F,
                           -1e30F,
                           1e-30F};
  switch (random.below(4)) {
    case 0:
      return pick(random, awkward);
    case 1: {
      const Tree& tree = model.trees[random.below(model.trees.size())];
      if (tree.threshold.empty()) return 0.0F;
      const float threshold = pick(random, tree.threshold);
      const float around[] = {threshold, std::nextafter(threshold, kInfinity), std::nextafter(threshold, -kInfinity)};
      return pick(random, around);
    }
    default:
      return static_cast<float>(random.normal());
  }
}

// Half of the sequences are tame, with ordinary values only, so that memory lives long without NaN.
inline Sequences hostile_sequences(Random& random, const Model& model, int count, int most_length) {
  Sequences sequences;
  sequences.n_x = model.n_x();
  for (int s = 0; s < count; ++s) {
    const auto length = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most_length)));
    const bool tame = random.below(2) == 0;
    for (std::int64_t i = 0; i < length * model.n_x(); ++i)
      sequences.x.push_back(tame ? static_cast<float>(random.normal()) : hostile_value(random, model));
    sequences.offset.push_back(sequences.offset.back() + length);
  }
  return sequences;
}

inline bool same_value(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

// The number of outputs that differ in any bit; NaN equals NaN.
inline std::size_t count_differences(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::max(a.size(), b.size());
  std::size_t differences = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differences += same_value(a[i], b[i]) ? 0 : 1;
  return differences;
}

}  // namespace remede::test
