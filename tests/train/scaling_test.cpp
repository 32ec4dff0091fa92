#include "remede/train/scaling.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "remede/executor/parameters.h"
#include "remede/executor/start.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

// Two inputs, two values; the numbers of input k are around 100 k with spread 10.
Sequences raw_data(std::uint64_t seed) {
  Sequences s;
  s.n_x = 2;
  s.n_y = 2;
  Random random(seed);
  for (int i = 0; i < 20; ++i) {
    for (int t = 0; t < 8; ++t) {
      for (const double mean : {100.0, 200.0}) s.x.push_back(static_cast<float>(mean + 10 * random.normal()));
      for (const double mean : {-50.0, 50.0}) s.value.push_back(static_cast<float>(mean + 3 * random.normal()));
      s.weight.push_back(t < 7 ? 1.0F : 0.0F);
    }
    s.offset.push_back(static_cast<std::int64_t>(s.weight.size()));
  }
  s.x[5] = std::numeric_limits<float>::quiet_NaN();
  return s;
}

LeafForm form_number(int n) {
  LeafForm form;
  form.write_rule = n & 1 ? WriteRule::kBlend : WriteRule::kAdd;
  form.write_reads = n & 2 ? WriteReads::kInputsAndMemory : WriteReads::kInputs;
  form.write_bias = (n & 4) != 0;
  form.leaf_output = n & 8 ? LeafOutput::kLinear : LeafOutput::kConstant;
  form.output_order = n & 16 ? OutputOrder::kFirst : OutputOrder::kZero;
  return form;
}

TEST(Scaling, MakesMeanZeroAndDeviationOne) {
  Sequences data = raw_data(1);
  Scaling scaling;
  scale_inputs(data, true, scaling);
  scale_values(default_objective(Task::kRegression), data, true, scaling);
  apply(scaling, data);
  double sum = 0, squares = 0;
  int n = 0;
  for (std::size_t k = 0; k < data.x.size(); k += 2, ++n) {
    sum += static_cast<double>(data.x[k]);
    squares += static_cast<double>(data.x[k]) * static_cast<double>(data.x[k]);
  }
  EXPECT_NEAR(sum / n, 0.0, 1e-5);
  EXPECT_NEAR(squares / n, 1.0, 1e-5);
  EXPECT_TRUE(std::isnan(data.x[5]));
}

TEST(Scaling, ConstantInputsStayFinite) {
  Sequences data;
  data.n_x = 1;
  data.x = {7, 7, 7};
  data.offset = {0, 3};
  Scaling scaling;
  scale_inputs(data, true, scaling);
  apply(scaling, data);
  EXPECT_EQ(data.x, (std::vector<float>{0, 0, 0}));
}

TEST(Scaling, TellsInputsThatAreOfTheOrderOfOne) {
  Sequences data;
  data.n_x = 2;
  data.offset = {0, 2};
  data.x = {0.5F, 0.0F, -1.0F, 0.0F};
  EXPECT_TRUE(inputs_of_order_one(data));
  data.x = {0.5F, 300.0F, -1.0F, 0.0F};
  EXPECT_FALSE(inputs_of_order_one(data));
  data.x = {0.5F, 0.001F, -1.0F, 0.0F};
  EXPECT_FALSE(inputs_of_order_one(data));
}

// The folded tree on raw numbers answers what the tree answers on scaled ones, in raw units, for every form.
TEST(Scaling, FoldedTreesAnswerTheSame) {
  rc::check([](std::uint64_t seed) {
    const LeafForm form = form_number(static_cast<int>(seed % 32));
    const Sequences raw = raw_data(seed);
    Scaling scaling;
    scale_inputs(raw, form.write_bias, scaling);
    scale_values(default_objective(Task::kRegression), raw, form.output_order == OutputOrder::kZero, scaling);
    StartPlan plan;
    plan.shape = {3, 2, 2, 2, form};
    plan.scales.write = 0.5F;
    plan.scales.linear = 0.5F;
    plan.scales.output = 1.0F;
    Random random(seed);
    const Tree tree = harden(initial_parameters(plan, {}, random));
    Tree folded = tree;
    fold(scaling, default_objective(Task::kRegression), folded);
    Sequences scaled = raw;
    apply(scaling, scaled);
    const float zero[2] = {0, 0};
    std::size_t same_leaves = 0;
    for (std::size_t s = 0; s < raw.count(); ++s) {
      float m[2] = {0, 0}, m_folded[2] = {0, 0}, y[2] = {0, 0}, y_folded[2] = {0, 0};
      for (auto t = static_cast<std::size_t>(raw.offset[s]); t < static_cast<std::size_t>(raw.offset[s + 1]); ++t) {
        const int leaf = step(tree, scaled.x.data() + 2 * t, zero, m, y);
        // Rounding may send a value that stands on a threshold to the other side; then the sequences have parted.
        if (leaf != step(folded, raw.x.data() + 2 * t, scaling.x_shift.data(), m_folded, y_folded)) break;
        ++same_leaves;
        for (std::size_t k = 0; k < 2; ++k) {
          RC_ASSERT(std::abs(m[k] - m_folded[k]) < 1e-3F);
          const float expected = y[k] * scaling.y_scale[k] + scaling.y_shift[k];
          RC_ASSERT(std::abs(expected - y_folded[k]) < 1e-2F * (1.0F + std::abs(expected)));
        }
      }
    }
    RC_ASSERT(same_leaves > 140U);
  });
}

TEST(Scaling, AWildValueDoesNotPressTheOthersTogether) {
  Sequences tame = raw_data(3), wild = tame;
  wild.x[0] = 1e6F;
  wild.value[2] = -1e6F;
  Scaling a, b;
  scale_inputs(tame, true, a);
  scale_values(default_objective(Task::kRegression), tame, true, a);
  scale_inputs(wild, true, b);
  scale_values(default_objective(Task::kRegression), wild, true, b);
  EXPECT_NEAR(b.x_scale[0] / a.x_scale[0], 1.0F, 0.5F);
  EXPECT_NEAR(b.x_shift[0] / a.x_shift[0], 1.0F, 0.05F);
  EXPECT_NEAR(b.y_scale[0] / a.y_scale[0], 1.0F, 0.5F);
  EXPECT_EQ(b.x_scale[1], a.x_scale[1]);
}

TEST(Scaling, OfValuesThatAreMostlyTheSameAllCount) {
  Sequences s = raw_data(3);
  for (std::size_t k = 0; k < s.x.size(); k += 2) s.x[k] = k == 40 ? 500.0F : 0.0F;
  Scaling scaling;
  scale_inputs(s, true, scaling);
  EXPECT_GT(scaling.x_scale[0], 10.0F);
}

}  // namespace
}  // namespace remede
