#include "remede/simplify/lossy.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "grow.h"
#include "hostile.h"
#include "remede/simplify/simplify.h"

namespace remede {
namespace {

using test::leaf;
using test::split;

TEST(Lossy, RoundsToSignificantDigits) {
  EXPECT_EQ(rounded(0.123456F, 2), 0.12F);
  EXPECT_EQ(rounded(-0.00098765F, 3), -0.000988F);
  EXPECT_EQ(rounded(123456.0F, 1), 100000.0F);
  EXPECT_EQ(rounded(0.0F, 3), 0.0F);
  EXPECT_EQ(rounded(0.96F, 1), 1.0F);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max(), 4), std::numeric_limits<float>::max());  // 3.403e38 is no float
}

// y = 2 x1 - 3 m1, m1 the tanh of the last x1, plus noise; x2 and x3 say nothing.
Sequences linear_data(Random& random, int sequences) {
  Sequences data;
  data.n_x = 3;
  data.n_y = 1;
  for (int s = 0; s < sequences; ++s) {
    float before = 0;
    for (int t = 0; t < 20; ++t) {
      const auto x = static_cast<float>(random.normal());
      data.x.insert(data.x.end(), {x, static_cast<float>(random.normal()), static_cast<float>(random.normal())});
      data.value.push_back(2 * x - 3 * before + static_cast<float>(0.1 * random.normal()));
      data.weight.push_back(1);
      before = std::tanh(x);
    }
    data.offset.push_back(data.offset.back() + 20);
  }
  return data;
}

Model linear_model() {
  LeafForm form;
  form.write_rule = WriteRule::kBlend;
  form.write_bias = true;
  form.write_reads = WriteReads::kInputsAndMemory;
  form.leaf_output = LeafOutput::kLinear;
  // Terms: x1, x2, x3, m1, m2.
  return test::grown_model(3, 2, form,
                           leaf({0.0000123F},
                                {{0, {1.00012F, 0.0003F, -0.0002F, 0.0001F, 0.0F}, 0.0001F, 1.0F},
                                 {1, {0.1F, 0.5F, 0.2F, 0.3F, 0.1F}, 0.2F, 0.5F}},
                                {2.000123F, 0.0011F, -0.0007F, -2.99987F, 0.0004F}));
}

TEST(Lossy, SmallWeightsGoAndWithThemInputsCellsAndOptions) {
  Random random(1);
  const Sequences training = linear_data(random, 100);
  const Sequences validation = linear_data(random, 30);
  SimplifyOptions options;
  options.drop_small = true;
  const Simplified small = simplify(linear_model(), options, &training, &validation);
  check(small.model, "smaller");
  EXPECT_EQ(small.model.schema.inputs, std::vector<std::string>{"x1"}) << summary(small);
  const Tree& tree = small.model.trees[0];
  EXPECT_EQ(tree.n_m, 1);
  EXPECT_EQ(tree.form.write_reads, WriteReads::kInputs);
  ASSERT_EQ(tree.linear.size(), 2U);
  EXPECT_EQ(tree.linear[0], 2.000123F);
  EXPECT_EQ(tree.linear[1], -2.99987F);
  options.drop_small = false;
  EXPECT_EQ(simplify(linear_model(), options, &training, &validation).model.n_x(), 3);
}

// What may be lost is a share of the loss, whatever the unit of the target.
TEST(Lossy, TheUnitOfTheTargetDoesNotMatter) {
  for (const float unit : {1e-9F, 1.0F, 1e9F}) {
    Random random(1);
    Sequences training = linear_data(random, 100), validation = linear_data(random, 30);
    for (Sequences* data : {&training, &validation})
      for (float& v : data->value) v *= unit;
    Model model = linear_model();
    for (std::vector<float>* values : {&model.trees[0].output, &model.trees[0].linear})
      for (float& v : *values) v *= unit;
    SimplifyOptions options;
    options.drop_small = true;
    options.round_digits = 2;
    const Tree tree = simplify(model, options, &training, &validation).model.trees[0];
    ASSERT_EQ(tree.linear.size(), 2U) << unit;
    EXPECT_NEAR(tree.linear[0] / unit, 2, 0.01) << unit;
    EXPECT_NEAR(tree.linear[1] / unit, -3, 0.01) << unit;
  }
}

TEST(Lossy, RoundingIsBoundedByTheData) {
  Random random(2);
  const Sequences training = linear_data(random, 100);
  SimplifyOptions options;
  options.drop_small = true;
  options.round_digits = 1;
  const Simplified small = simplify(linear_model(), options, &training, nullptr);
  EXPECT_EQ(small.model.trees[0].linear, (std::vector<float>{2.0F, -3.0F})) << summary(small);
  // Where one digit would cost too much, more are kept.
  Sequences precise = training;
  for (std::size_t i = 0; i < precise.steps(); ++i) precise.value[i] = precise.x[3 * i] >= 0.1234F ? 1.0F : -1.0F;
  const Model model = test::grown_model(3, 0, LeafForm(), split(0, 0.1234F, leaf({-1.0F}), leaf({1.0F})));
  SimplifyOptions one;
  one.round_digits = 1;
  const float threshold = simplify(model, one, &precise, nullptr).model.trees[0].threshold.at(0);
  EXPECT_NE(threshold, 0.1F);
  EXPECT_NEAR(threshold, 0.1234F, 0.005F);
}

}  // namespace
}  // namespace remede
