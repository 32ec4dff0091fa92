#include "remede/executor/optimiser.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/base/random.h"

namespace remede {
namespace {

// A shape whose groups begin at odd places, so that registers straddle them.
Shape odd_shape() {
  Shape shape;
  shape.depth = 2;
  shape.n_x = 2;
  shape.n_m = 1;
  shape.n_y = 3;
  shape.form = {WriteRule::kBlend, WriteReads::kInputsAndMemory, true, LeafOutput::kLinear, OutputOrder::kZero};
  return shape;
}

Rates different_rates() { return {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F}; }

// Adam as its authors write it, one number at a time, in double.
struct ByHand {
  double mean = 0, square = 0;
  double step(double gradient, double rate, int t) {
    mean = 0.9 * mean + 0.1 * gradient;
    square = 0.999 * square + 0.001 * gradient * gradient;
    const double m = mean / (1 - std::pow(0.9, t)), v = square / (1 - std::pow(0.999, t));
    return -rate * m / (std::sqrt(v) + 1e-8);
  }
};

TEST(Adam, FollowsTheHandComputationInEveryGroup) {
  const Shape shape = odd_shape();
  ASSERT_NE(shape.total() % 16, 0U);
  Parameters<float> parameters(shape), gradient(shape);
  std::vector<ByHand> hands(shape.total());
  std::vector<double> expected(shape.total(), 0.0);
  const Rates rates = different_rates();
  Adam adam(shape, rates);
  Random random(1);
  for (int t = 1; t <= 50; ++t) {
    for (float& g : gradient.values) g = static_cast<float>(random.normal());
    adam.update(parameters, gradient, 0.5F, 0.25F);
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::size_t begin = shape.begin(static_cast<Group>(g));
      for (std::size_t i = begin; i < begin + shape.size(static_cast<Group>(g)); ++i) {
        expected[i] +=
            hands[i].step(0.5 * static_cast<double>(gradient.values[i]), 0.25 * static_cast<double>(rates[g]), t);
        ASSERT_NEAR(static_cast<double>(parameters.values[i]), expected[i], 1e-5) << "update " << t << " number " << i;
      }
    }
  }
}

TEST(Adam, FirstStepIsTheRateAgainstTheSign) {
  Shape shape = odd_shape();
  Parameters<float> parameters(shape), gradient(shape);
  for (std::size_t i = 0; i < gradient.values.size(); ++i) gradient.values[i] = i % 2 == 0 ? 3.0F : -0.01F;
  Adam adam(shape, different_rates());
  adam.update(parameters, gradient, 1.0F, 1.0F);
  EXPECT_NEAR(parameters[Group::kIndex][0], -0.1F, 1e-6F);
  EXPECT_NEAR(parameters[Group::kIndex][1], 0.1F, 1e-6F);
  EXPECT_NEAR(std::abs(parameters[Group::kLinear].back()), 0.8F, 1e-6F);
}

TEST(Adam, MeansOfParametersNobodyReachesDoNotBecomeDenormal) {
  const Shape shape = odd_shape();
  Parameters<float> parameters(shape), gradient(shape);
  Adam adam(shape, different_rates());
  gradient.values.assign(shape.total(), 1e-3F);
  adam.update(parameters, gradient, 1.0F, 1.0F);
  gradient.values.assign(shape.total(), 0.0F);
  for (int t = 0; t < 2000; ++t) adam.update(parameters, gradient, 1.0F, 1.0F);
  ByteWriter saved;
  adam.save(saved);
  ByteReader reader(saved.bytes(), "test");
  std::vector<float> mean;
  reader.get(mean);
  for (const float m : mean) EXPECT_EQ(m, 0.0F);
}

TEST(Adam, ContinuesFromSavedBits) {
  const Shape shape = odd_shape();
  Adam adam(shape, different_rates()), other(shape, different_rates());
  Parameters<float> parameters(shape), gradient(shape);
  Random random(3);
  const auto draw = [&] {
    for (float& g : gradient.values) g = static_cast<float>(random.normal());
  };
  for (int t = 0; t < 5; ++t, draw()) adam.update(parameters, gradient, 1.0F, 1.0F);
  ByteWriter saved;
  adam.save(saved);
  ByteReader reader(saved.bytes(), "test");
  other.load(reader);
  reader.expect_end();
  Parameters<float> copy = parameters;
  adam.update(parameters, gradient, 1.0F, 1.0F);
  other.update(copy, gradient, 1.0F, 1.0F);
  EXPECT_EQ(parameters.values, copy.values);
  Shape larger = shape;
  larger.depth = 3;
  Adam wrong(larger, different_rates());
  ByteReader again(saved.bytes(), "test");
  EXPECT_THROW(wrong.load(again), Error);
}

TEST(Adam, ForgettingStartsAnew) {
  const Shape shape = odd_shape();
  Adam used(shape, different_rates()), fresh(shape, different_rates());
  Parameters<float> a(shape), b(shape), gradient(shape);
  gradient.values.assign(shape.total(), 0.7F);
  used.update(a, gradient, 1.0F, 1.0F);
  used.forget();
  a = b;
  used.update(a, gradient, 1.0F, 1.0F);
  fresh.update(b, gradient, 1.0F, 1.0F);
  EXPECT_EQ(a.values, b.values);
}

TEST(Clip, ScalesLongGradientsToTheLimit) {
  std::vector<float> gradient(37, 0.0F);
  gradient[3] = 3.0F;
  gradient[36] = 4.0F;
  EXPECT_FLOAT_EQ(clip_factor(gradient, 1.0F), 0.2F);
  EXPECT_EQ(clip_factor(gradient, 5.0F), 1.0F);
  EXPECT_EQ(clip_factor(gradient, 0.0F), 1.0F);
  EXPECT_EQ(clip_factor({}, 1.0F), 1.0F);
}

TEST(Clip, CutsAGradientWhoseSquaresAreTooLarge) {
  std::vector<float> gradient(20, 1.0F);
  gradient[17] = 1e30F;
  EXPECT_NEAR(clip_factor(gradient, 1.0F) * 1e30F, 1.0F, 1e-5F);
  EXPECT_EQ(clip_factor(gradient, 0.0F), 1.0F);
}

TEST(Optimiser, ShrinksToZeroAndNotBeyond) {
  std::vector<float> values = {1.0F, -1.0F, 0.05F, -0.05F, 0.0F};
  Adam::shrink(values, 0.1F);
  EXPECT_EQ(values, (std::vector<float>{0.9F, -0.9F, 0.0F, 0.0F, 0.0F}));
}

TEST(Clip, SaysWhenTheGradientIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> gradient(20, 1.0F);
    gradient[17] = bad;
    EXPECT_TRUE(std::isnan(clip_factor(gradient, 1.0F))) << bad;
    EXPECT_TRUE(std::isnan(clip_factor(gradient, 0.0F))) << bad;
  }
}

}  // namespace
}  // namespace remede
