// The fast engine against the plain one: every form, shallow and deep, ragged lengths, missing inputs, masked targets.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/executor/workload.h"
#include "remede/schema/schema.h"

namespace remede {
namespace {

struct Setting {
  Shape shape;
  GradientForm form;
  Task task = Task::kClassification;
  double missing = 0;
  Objective wanted = default_objective(Task::kClassification);
  const Objective& objective() const { return wanted; }
  int targets() const { return wanted.loss == Loss::kQuantile ? 1 : shape.n_y; }
};

Setting random_setting(Random& random, int depth) {
  const auto coin = [&] { return random.below(2) == 1; };
  Setting s;
  s.shape = {depth,
             1 + static_cast<int>(random.below(4)),
             static_cast<int>(random.below(5)),
             2 + static_cast<int>(random.below(3)),
             {}};
  s.shape.form.write_rule = coin() ? WriteRule::kBlend : WriteRule::kAdd;
  s.shape.form.write_reads = coin() ? WriteReads::kInputsAndMemory : WriteReads::kInputs;
  s.shape.form.write_bias = coin();
  s.shape.form.leaf_output = coin() ? LeafOutput::kLinear : LeafOutput::kConstant;
  s.shape.form.output_order = coin() ? OutputOrder::kFirst : OutputOrder::kZero;
  s.form.split = coin() ? SplitGradient::kSoftsign : SplitGradient::kSigmoid;
  s.form.slope = coin() ? 4.0F : 1.0F;
  s.form.index = coin() ? IndexGradient::kIdentity : IndexGradient::kSoftmax;
  s.form.mix = coin() ? Mix::kEffects : Mix::kParameters;
  s.task = coin() ? Task::kRegression : Task::kClassification;
  if (s.task == Task::kRegression) {
    std::vector<float> levels;
    for (int k = 0; k < s.shape.n_y; ++k)
      levels.push_back((static_cast<float>(k) + 0.5F) / static_cast<float>(s.shape.n_y));
    const Objective all[] = {
        {Loss::kSquaredError}, {Loss::kAbsoluteError}, {Loss::kPoisson}, {Loss::kQuantile, levels}};
    s.wanted = all[random.below(4)];
    if (!has_identity_link(s.wanted)) s.shape.form.output_order = OutputOrder::kZero;
  }
  s.missing = coin() ? 0.1 : 0.0;
  return s;
}

// Sequences of 1 .. 12 steps, some inputs missing, some steps without a target.
Sequences random_data(const Setting& s, Random& random, std::size_t count) {
  Sequences data;
  data.n_x = s.shape.n_x;
  data.n_y = s.targets();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = 1 + random.below(12);
    for (std::size_t t = 0; t < length; ++t) {
      for (int k = 0; k < s.shape.n_x; ++k)
        data.x.push_back(random.uniform() < s.missing ? std::numeric_limits<float>::quiet_NaN()
                                                      : static_cast<float>(random.normal()));
      if (s.task == Task::kClassification)
        data.label.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(s.shape.n_y))));
      else
        for (int k = 0; k < s.targets(); ++k)
          data.value.push_back(static_cast<float>(s.wanted.loss == Loss::kPoisson ? static_cast<double>(random.below(5))
                                                                                  : random.normal()));
      data.weight.push_back(random.below(4) == 0 ? 0.0F : static_cast<float>(random.uniform(0.5, 2.0)));
    }
    data.offset.push_back(data.offset.back() + static_cast<std::int64_t>(length));
  }
  return data;
}

std::vector<std::uint32_t> all_of(const Sequences& data) {
  std::vector<std::uint32_t> numbers(data.count());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  return numbers;
}

void expect_same(const Setting& s, std::uint64_t seed) {
  Random random(seed, 5);
  const Sequences data = random_data(s, random, 1 + random.below(40));
  Parameters<float> p = random_parameters(s.shape, seed);
  for (auto& right : p.missing_right) right = static_cast<std::uint8_t>(random.below(2));
  std::vector<float> fill(static_cast<std::size_t>(s.shape.n_x));
  for (float& f : fill) f = static_cast<float>(random.normal());
  const std::vector<std::uint32_t> batch = all_of(data);
  Parameters<float> plain, fast;
  std::vector<float> before(data.count() * static_cast<std::size_t>(s.shape.n_m)), after_plain(before),
      after_fast(before);
  for (float& m : before) m = static_cast<float>(random.uniform(-2.0, 2.0));
  const Carry carry_plain{before, after_plain}, carry_fast{before, after_fast};
  const bool carried = seed % 2 == 0;
  const BatchLoss a = make_plain_engine()->gradient(p, s.form, s.objective(), data, fill, batch, plain,
                                                    carried ? &carry_plain : nullptr);
  const BatchLoss b =
      make_engine()->gradient(p, s.form, s.objective(), data, fill, batch, fast, carried ? &carry_fast : nullptr);
  EXPECT_EQ(after_plain, after_fast) << "seed " << seed;
  EXPECT_NEAR(a.mean(), b.mean(), 1e-5 * std::max(1.0, a.mean())) << "seed " << seed;
  EXPECT_NEAR(a.weight, b.weight, 1e-4);
  EXPECT_NEAR(a.correct, b.correct, 1e-4) << "seed " << seed;
  for (int g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    double scale = 1e-6, worst = 0;
    for (std::size_t i = 0; i < plain[group].size(); ++i) {
      scale = std::max(scale, static_cast<double>(std::abs(plain[group][i])));
      worst = std::max(worst, static_cast<double>(std::abs(plain[group][i] - fast[group][i])));
    }
    EXPECT_LE(worst / scale, 2e-4) << name(group) << ", depth " << s.shape.depth << ", seed " << seed;
  }
}

TEST(cpu_engine, gives_the_gradient_of_the_plain_engine_in_shallow_trees) {
  Random random(11);
  for (std::uint64_t seed = 0; seed < 120; ++seed)
    expect_same(random_setting(random, static_cast<int>(random.below(8))), seed);
}

TEST(cpu_engine, gives_the_gradient_of_the_plain_engine_in_deep_trees) {
  Random random(12);
  for (std::uint64_t seed = 0; seed < 24; ++seed)
    expect_same(random_setting(random, 9 + static_cast<int>(random.below(3))), seed);
}

// Up to depth 8 the kernel visits every node, beyond it follows paths: both sides of the border.
TEST(cpu_engine, gives_the_gradient_of_the_plain_engine_where_the_two_kernels_meet) {
  Random random(15);
  for (std::uint64_t seed = 0; seed < 24; ++seed)
    expect_same(random_setting(random, 7 + static_cast<int>(seed % 3)), seed);
}

TEST(cpu_engine, long_sequences_and_their_windows_lose_the_same) {
  Random random(14);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Setting s = random_setting(random, 3);
    s.shape.form.output_order = OutputOrder::kZero;
    const Sequences windows = random_data(s, random, 900);
    Sequences whole = windows;  // the same steps as one sequence, longer than what the kernels take at a time
    whole.offset = {0, windows.offset.back()};
    ASSERT_GT(whole.steps(), 3000U);
    const Parameters<float> p = random_parameters(s.shape, seed);
    const std::uint32_t only[] = {0};
    const BatchLoss plain = make_plain_engine()->loss(p, s.objective(), whole, {}, only),
                    fast = make_engine()->loss(p, s.objective(), whole, {}, only);
    EXPECT_NEAR(plain.mean(), fast.mean(), 1e-4 * std::max(1.0, plain.mean()));
    const auto n_m = static_cast<std::size_t>(s.shape.n_m);
    std::vector<float> before(windows.count() * n_m), after(before);
    BatchLoss sum;
    Parameters<float> gradient;
    for (std::uint32_t w = 0; w < windows.count(); ++w) {
      const Carry carry{before, after};
      sum += make_engine()->gradient(p, s.form, s.objective(), windows, {}, std::span(&w, 1), gradient, &carry);
      if (w + 1 < windows.count())
        std::copy_n(after.begin() + static_cast<std::ptrdiff_t>(w * n_m), n_m,
                    before.begin() + static_cast<std::ptrdiff_t>((w + 1) * n_m));
    }
    EXPECT_NEAR(sum.mean(), fast.mean(), 1e-4 * std::max(1.0, fast.mean()));
  }
}

TEST(cpu_engine, gives_the_same_bits_for_any_number_of_threads) {
  Random random(13);
  for (const int depth : {3, 6, 8, 10}) {
    const Setting s = random_setting(random, depth);
    const Sequences data = random_data(s, random, 200);
    const Parameters<float> p = random_parameters(s.shape, 7);
    const std::vector<std::uint32_t> batch = all_of(data);
    Parameters<float> one, many;
    const BatchLoss first = make_engine(1)->gradient(p, s.form, s.objective(), data, {}, batch, one);
    for (const int threads : {2, 3, 4}) {
      const BatchLoss again = make_engine(threads)->gradient(p, s.form, s.objective(), data, {}, batch, many);
      EXPECT_EQ(one.values, many.values) << threads << " threads, depth " << depth;
      EXPECT_EQ(first.loss, again.loss);
    }
  }
}

TEST(cpu_engine, takes_an_empty_batch) {
  const Shape shape{2, 1, 1, 2, {}};
  Sequences data;
  data.n_x = 1;
  data.n_y = 2;
  Parameters<float> gradient;
  const BatchLoss loss = make_engine()->gradient(random_parameters(shape, 1), {}, {}, data, {}, {}, gradient);
  EXPECT_EQ(loss.weight, 0.0);
  for (const float g : gradient.values) EXPECT_EQ(g, 0.0F);
}

}  // namespace
}  // namespace remede
