#include "remede/model/cells.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/model/predict.h"
#include "support/snow.h"

namespace remede {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
const std::vector<float> kNoFill(4, 0.0F);

std::string error_of_cells(const Tree& tree) {
  try {
    check(tree, "tree");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The law as docs/file-format.md states it, in double: close to the reference, whatever its rounding.
TEST(Cells, SnowFeedsSoil) {
  const Model model = test::model_of_snow();
  check(model, "model");
  std::vector<float> m(2), y(1);
  double snow = 0, soil = 0;
  for (int t = 0; t < 400; ++t) {
    const double rain = t % 3 == 0 ? 8.0 : 0.5, temp = 12.0 * std::sin(t / 60.0);
    const float x[] = {static_cast<float>(rain), static_cast<float>(temp)};
    EXPECT_EQ(step(model.trees[0], x, model.fill.data(), m.data(), y.data()), 0);
    const auto sigmoid = [](double z) { return 1.0 / (1.0 + std::exp(-z)); };
    const double q1 = sigmoid(-4.5 + 0.1 * temp - 0.0009 * snow), q2 = sigmoid(-2.6 + 0.02 * soil);
    const double full = snow + std::max(0.0, 3.45 + 0.675 * rain - 0.338 * temp);
    const double melt = q1 * full;
    snow = full - melt;
    const double wet = soil + std::max(0.0, -2.73 + 0.185 * rain + 0.494 * melt);
    const double release = q2 * wet;
    soil = wet - release;
    EXPECT_NEAR(m[0], snow, 1e-3 * (1 + snow));
    EXPECT_NEAR(m[1], soil, 1e-3 * (1 + soil));
    EXPECT_NEAR(y[0], 0.3 + 0.79 * release + 0.05 * soil, 1e-3 * (1 + soil));
  }
}

TEST(Cells, AStoreConservesAndTapsClose) {
  Tree tree = test::tree_of_laws(1, 1, 1);
  tree.cells.input = {1};
  tree.cells.linear = {0, 1, 0};
  tree.cells.tap_leaf = {-kInfinity};
  float m = 0, y = 0;
  for (const float x : {1.0F, 2.0F, -5.0F, 4.0F}) {
    step(tree, &x, kNoFill.data(), &m, &y);
    EXPECT_EQ(y, 0.0F);
  }
  EXPECT_EQ(m, 7.0F);
  tree.cells.tap_leaf = {kInfinity};
  const float x = 1;
  step(tree, &x, kNoFill.data(), &m, &y);
  EXPECT_EQ(y, 8.0F);
  EXPECT_EQ(m, 0.0F);
}

TEST(Cells, AveragesFollowAndMayStartAtTheirFirstValue) {
  Tree tree = test::tree_of_laws(1, 2, 2);
  tree.cells.law = {Law::kAverage, Law::kPositiveAverage};
  tree.cells.input = {1, 1};
  tree.cells.first = {1, 0};
  tree.cells.linear = {0, 1, 0, 0, 0, 0, 0, 1, 0, 0};
  check(tree, "tree");
  ASSERT_EQ(tree.memory_size(), 3);
  std::vector<float> m(3), y(2);
  float x = -4;
  step(tree, &x, kNoFill.data(), m.data(), y.data());
  EXPECT_EQ(y[0], -4.0F);
  EXPECT_EQ(y[1], 0.0F);
  x = 8;
  step(tree, &x, kNoFill.data(), m.data(), y.data());
  EXPECT_EQ(y[0], 2.0F);
  EXPECT_EQ(y[1], 4.0F);
}

TEST(Cells, ZeroWeightsChangeNothing) {
  Tree tree = test::tree_of_laws(1, 1, 1);
  tree.cells.law = {Law::kAverage};
  tree.cells.bias = {-0.0F};
  tree.output = {-0.0F};
  tree.cells.input = {-0.0F};
  float m = 0, y = 0;
  for (const float x : {kInfinity, -1.0F}) {
    step(tree, &x, kNoFill.data(), &m, &y);
    EXPECT_EQ(m, 0.0F);
    EXPECT_TRUE(y == 0.0F && std::signbit(y));
  }
}

TEST(Cells, NothingBecomesNaN) {
  Tree tree = test::tree_of_laws(2, 2, 1);
  constexpr float kHuge = std::numeric_limits<float>::max();
  tree.cells.law = {Law::kStore, Law::kAverage};
  tree.cells.input = {kHuge, kHuge, kHuge, -kHuge};
  tree.cells.tap_input = {kHuge, -kHuge, -kHuge, -kHuge};
  tree.cells.tap_level = {-1, kHuge};
  std::vector<float> m(2), y(1);
  for (const float a : {kHuge, -kHuge, 0.0F, 1.0F, kHuge})
    for (const float b : {kHuge, -kHuge, 0.0F, 1.0F, kNaN})
      for (int t = 0; t < 40; ++t) {
        const float x[] = {a, b};
        step(tree, x, kNoFill.data(), m.data(), y.data());
        ASSERT_TRUE(std::isfinite(m[0]) && std::isfinite(m[1])) << a << " " << b;
      }
}

TEST(Cells, AreChecked) {
  const Tree sound = test::model_of_snow().trees[0];
  const auto damaged = [&](auto&& change) {
    Tree tree = sound;
    change(tree);
    return error_of_cells(tree);
  };
  EXPECT_EQ(error_of_cells(sound), "no error");
  EXPECT_EQ(damaged([](Tree& t) { t.cells.tap.pop_back(); }), "tree: expected 2 values of cells.tap, got 1");
  EXPECT_EQ(damaged([](Tree& t) { t.cells.bias[1] = kNaN; }),
            "tree: expected finite values of cells.bias, got nan at 1");
  EXPECT_EQ(damaged([](Tree& t) { t.cells.tap_leaf[1] = kNaN; }),
            "tree: expected no NaN among the values of cells.tap_leaf, got nan at 1");
  EXPECT_EQ(damaged([](Tree& t) { t.cells.earlier[1] = 1; }),
            "tree: expected cell 0 to read earlier cells only, got a weight of cell 1");
  EXPECT_EQ(damaged([](Tree& t) { t.cells.first[1] = 1; }),
            "tree: expected `first` to be 0 or 1, and 0 for a store, got 1 for cell 1");
  EXPECT_EQ(damaged([](Tree& t) { t.gate = {1, 1}; }), "tree: expected 0 values of gate, got 2");
  EXPECT_EQ(damaged([](Tree& t) { t.form.write_bias = true; }), "tree: expected 2 values of bias, got 0");
  EXPECT_EQ(damaged([](Tree& t) { t.form.write_reads = WriteReads::kInputsAndMemory; }),
            "tree: expected no options of leaf writes in a tree whose cells have laws");
}

}  // namespace
}  // namespace remede
