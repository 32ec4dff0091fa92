// The fast engine against the plain one: every form, shallow and deep, ragged lengths, missing inputs, masked targets.
#include <cmath>

#include <gtest/gtest.h>

#include "executor/random_setting.h"

namespace remede {
namespace {

void expect_same(Setting s, std::uint64_t seed) {
  if (seed % 3 == 0) s.form.index = IndexGradient::kEntmax;  // which random_setting() leaves out: GPUs do not take it
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

// As the starts of the signal stage: cells side by side, in one or two vectors with the outputs, or too many for it.
TEST(cpu_engine, gives_the_gradient_of_the_plain_engine_with_many_cells_and_linear_leaves) {
  Random random(16);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Setting s = random_setting(random, static_cast<int>(random.below(5)));
    s.shape.form.leaf_output = LeafOutput::kLinear;
    s.shape.n_x = 1 + static_cast<int>(random.below(40));
    s.shape.n_m = 1 + static_cast<int>(random.below(18));
    if (s.wanted.loss != Loss::kQuantile) s.shape.n_y = 1 + static_cast<int>(random.below(20));
    if (s.task == Task::kClassification) s.shape.n_y = std::max(s.shape.n_y, 2);
    if (s.shape.form.write_rule == WriteRule::kAdd) s.shape.form.write_reads = WriteReads::kInputs;  // else chaos
    expect_same(s, seed);
  }
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
