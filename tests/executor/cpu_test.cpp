// The fast engine against the plain one: every form, shallow and deep, ragged lengths, missing inputs, masked targets.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "executor/random_setting.h"

namespace remede {
namespace {

void expect_same(Setting s, std::uint64_t seed, std::size_t longest = 12) {
  if (seed % 3 == 0) s.form.index = IndexGradient::kEntmax;  // which random_setting() leaves out: GPUs do not take it
  Random random(seed, 5);
  const Sequences data = random_data(s, random, 1 + random.below(40), 0, longest);
  Parameters<float> p = random_parameters(s.shape, seed);
  for (auto& right : p.missing_right) right = static_cast<std::uint8_t>(random.below(2));
  if (longest > 12)  // else derivatives grow from step to step, and with them what floats round
    for (float& w : p[Group::kWrite]) w *= 0.1F;
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
    const int depth = static_cast<int>(random.below(5));
    Setting s = random_setting(random, depth);
    s.shape.form.leaf_output = LeafOutput::kLinear;
    s.shape.n_x = 1 + static_cast<int>(random.below(40));
    s.shape.n_m = 1 + static_cast<int>(random.below(18));
    if (s.wanted.loss != Loss::kQuantile) s.shape.n_y = 1 + static_cast<int>(random.below(20));
    if (s.task == Task::kClassification) s.shape.n_y = std::max(s.shape.n_y, 2);
    if (s.shape.form.write_rule == WriteRule::kAdd) s.shape.form.write_reads = WriteReads::kInputs;  // else chaos
    expect_same(s, seed, seed % 2 == 0 ? 12 : depth == 0 ? 70 : 24);  // the way back takes sixteen steps at a time
  }
}

Setting signal_setting(Random& random, int depth) {
  Setting s = random_setting(random, depth);
  s.shape.form = {};
  s.shape.form.write_rule = WriteRule::kBlend;
  s.shape.form.write_reads = WriteReads::kInputsAndMemory;
  s.shape.form.leaf_output = LeafOutput::kLinear;
  s.shape.n_m = 16;
  return s;
}

// Infinite inputs leave no number in memory; a split on it then goes where missing values go.
TEST(cpu_engine, infinite_inputs_reach_the_leaves_of_the_plain_engine) {
  Random random(17);
  Setting s = signal_setting(random, 1);
  s.shape.n_x = 2;
  s.missing = 0;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Sequences data = random_data(s, random, 1, 20);
  data.x[0] = kInfinity;
  data.x[1] = -kInfinity;
  for (const std::uint8_t right : {0, 1}) {
    Parameters<float> p = random_parameters(s.shape, 3);
    for (auto& gate : p[Group::kGate]) gate = 1;
    for (int f = 0; f < s.shape.n_v(); ++f) p[Group::kIndex][static_cast<std::size_t>(f)] = f == 2 ? 1.0F : 0.0F;  // m1
    p.missing_right.assign(1, right);
    const std::uint32_t only[] = {0};
    std::vector<float> before(16), plain(16), fast(16);
    const Carry carry_plain{before, plain}, carry_fast{before, fast};
    Parameters<float> gradient[2];
    make_plain_engine()->gradient(p, s.form, s.objective(), data, {}, only, gradient[0], &carry_plain);
    make_engine()->gradient(p, s.form, s.objective(), data, {}, only, gradient[1], &carry_fast);
    for (std::size_t leaf = 0; leaf < 2; ++leaf) {
      const std::size_t at = leaf * static_cast<std::size_t>(s.shape.n_y);
      const bool reached = std::isnan(gradient[0][Group::kOutput][at]);
      EXPECT_EQ(std::isnan(gradient[1][Group::kOutput][at]), reached) << "leaf " << leaf << " right " << int{right};
    }
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

void expect_same_bits(const Setting& s, const Sequences& data) {
  const Parameters<float> p = random_parameters(s.shape, 7);
  const std::vector<std::uint32_t> batch = all_of(data);
  Parameters<float> one, many;
  const BatchLoss first = make_engine(1)->gradient(p, s.form, s.objective(), data, {}, batch, one);
  for (const int threads : {2, 3, 4}) {
    const BatchLoss again = make_engine(threads)->gradient(p, s.form, s.objective(), data, {}, batch, many);
    EXPECT_EQ(one.values, many.values) << threads << " threads, depth " << s.shape.depth;
    EXPECT_EQ(first.loss, again.loss);
  }
}

TEST(cpu_engine, gives_the_same_bits_for_any_number_of_threads) {
  Random random(13);
  for (const int depth : {3, 6, 8, 10}) {
    const Setting s = random_setting(random, depth);
    expect_same_bits(s, random_data(s, random, 200));
  }
}

TEST(cpu_engine, many_cells_give_the_same_bits_for_any_number_of_threads) {
  Random random(18);
  for (const int depth : {0, 2}) {
    const Setting s = signal_setting(random, depth);
    expect_same_bits(s, random_data(s, random, 200, 0, 40));
  }
}

// Longer than the kernel takes at a time, and more than it takes together.
TEST(cpu_engine, many_cells_lose_the_same_on_long_sequences) {
  Random random(19);
  for (const int depth : {0, 2}) {
    const Setting s = signal_setting(random, depth);
    const Sequences data = random_data(s, random, 9, 1300);
    const Parameters<float> p = random_parameters(s.shape, 7);
    const std::vector<std::uint32_t> batch = all_of(data);
    const BatchLoss plain = make_plain_engine()->loss(p, s.objective(), data, {}, batch),
                    fast = make_engine()->loss(p, s.objective(), data, {}, batch);
    EXPECT_NEAR(plain.mean(), fast.mean(), 1e-5 * std::max(1.0, plain.mean())) << "depth " << depth;
    EXPECT_NEAR(plain.correct, fast.correct, 1e-3 * std::max(1.0, plain.correct)) << "depth " << depth;
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
