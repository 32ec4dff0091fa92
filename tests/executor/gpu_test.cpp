// Training on a GPU against the plain form in double. Skipped where there is no GPU.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "executor/random_setting.h"
#include "remede/base/threads.h"
#include "remede/executor/cuda/cuda.h"

namespace remede {
namespace {

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_gpu().empty()) GTEST_SKIP() << "skipped: no GPU: " << why_no_gpu();
  }
};

void expect_near(const Parameters<float>& want, const Parameters<float>& got, double tolerance,
                 const std::string& what) {
  for (int g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    double scale = 1e-6, worst = 0;
    for (std::size_t i = 0; i < want[group].size(); ++i) {
      scale = std::max(scale, static_cast<double>(std::abs(want[group][i])));
      const double off = static_cast<double>(std::abs(want[group][i] - got[group][i]));
      worst = std::isnan(off) ? 1e9 : std::max(worst, off);
    }
    EXPECT_LE(worst / scale, tolerance) << name(group) << ", " << what;
  }
}

std::string words(const Setting& s, std::uint64_t seed) {
  return "depth " + std::to_string(s.shape.depth) + ", inputs " + std::to_string(s.shape.n_x) + ", cells " +
         std::to_string(s.shape.n_m) + ", outputs " + std::to_string(s.shape.n_y) + ", seed " + std::to_string(seed);
}

void expect_same_gradient(const Setting& s, std::uint64_t seed, const Sequences& data, Random& random, bool compiled) {
  Parameters<float> p = random_parameters(s.shape, seed);
  for (float& w : p[Group::kWrite]) w /= std::sqrt(static_cast<float>(s.shape.n_w()));
  for (auto& right : p.missing_right) right = static_cast<std::uint8_t>(random.below(2));
  std::vector<float> fill(static_cast<std::size_t>(s.shape.n_x));
  for (float& f : fill) f = static_cast<float>(random.normal());
  const std::vector<std::uint32_t> batch = all_of(data);
  std::vector<float> before(data.count() * static_cast<std::size_t>(s.shape.n_m)), after_plain(before),
      after_gpu(before);
  for (float& m : before) m = static_cast<float>(random.uniform(-2.0, 2.0));
  const Carry carry_plain{before, after_plain}, carry_gpu{before, after_gpu};
  const bool carried = seed % 2 == 0;
  Parameters<float> plain, gpu;
  const BatchLoss a = make_double_engine()->gradient(p, s.form, s.objective(), data, fill, batch, plain,
                                                     carried ? &carry_plain : nullptr);
  const auto engine = make_gpu_engine(compiled);
  const BatchLoss b =
      engine->gradient(p, s.form, s.objective(), data, fill, batch, gpu, carried ? &carry_gpu : nullptr);
  EXPECT_NEAR(a.mean(), b.mean(), 1e-5 * std::max(1.0, a.mean())) << words(s, seed);
  EXPECT_NEAR(a.weight, b.weight, 1e-6 * a.weight);
  EXPECT_NEAR(a.correct, b.correct, 1e-6 * a.weight) << words(s, seed);
  for (std::size_t i = 0; i < before.size() && carried; ++i) ASSERT_NEAR(after_plain[i], after_gpu[i], 1e-4);
  expect_near(plain, gpu, 1e-4, words(s, seed));
  const BatchLoss alone = engine->loss(p, s.objective(), data, fill, batch),
                  want = make_double_engine()->loss(p, s.objective(), data, fill, batch);
  EXPECT_NEAR(want.mean(), alone.mean(), 1e-5 * std::max(1.0, want.mean())) << words(s, seed);
}

void expect_same_gradient(const Setting& s, std::uint64_t seed, std::size_t most_sequences, bool compiled = false) {
  Random random(seed, 5);
  const Sequences data = random_data(s, random, 1 + random.below(most_sequences));
  expect_same_gradient(s, seed, data, random, compiled);
}

TEST_F(Gpu, gives_the_gradient_of_the_plain_form) {
  Random random(21);
  for (std::uint64_t seed = 0; seed < 120; ++seed)
    expect_same_gradient(random_setting(random, static_cast<int>(random.below(8))), seed, 40);
}

TEST_F(Gpu, gives_the_gradient_of_the_plain_form_in_deep_trees) {
  Random random(22);
  for (std::uint64_t seed = 0; seed < 16; ++seed)
    expect_same_gradient(random_setting(random, 8 + static_cast<int>(random.below(3))), seed, 300);
}

TEST_F(Gpu, gives_the_gradient_of_the_plain_form_with_many_cells_inputs_and_outputs) {
  Random random(23);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Setting s = random_setting(random, static_cast<int>(random.below(seed % 4 == 0 ? 7 : 4)));
    s.shape.n_m = static_cast<int>(random.below(65));
    s.shape.n_x = 1 + static_cast<int>(random.below(80));
    if (s.wanted.loss != Loss::kQuantile) s.shape.n_y = 2 + static_cast<int>(random.below(20));
    expect_same_gradient(s, seed, 60);
  }
}

TEST_F(Gpu, takes_batches_of_several_chunks) {
  Random random(24);
  for (std::uint64_t seed = 0; seed < 6; ++seed) expect_same_gradient(random_setting(random, 3), seed, 4000);
}

// Kernels for a shape take seconds to compile: a test for each, so that they can be shared out.
class GpuShapes : public Gpu, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(GpuShapes, give_the_gradient_of_the_plain_form) {
  const std::uint64_t seed = GetParam();
  Random random(29, seed);
  Setting s = random_setting(random, static_cast<int>(seed % 3 == 2 ? 7 + random.below(4) : random.below(7)));
  if (seed % 5 == 1) s.shape.n_m = 9 + static_cast<int>(random.below(50));
  if (seed % 5 == 2) s.shape.n_x = 1 + static_cast<int>(random.below(12));
  if (seed % 5 == 3) s.shape.n_m = 5 + static_cast<int>(random.below(4));
  if (seed % 5 == 4) s.shape.n_m = 1, s.shape.n_x = 19 + 2 * static_cast<int>(random.below(6));
  try {
    expect_same_gradient(s, seed, std::size_t{60} << (seed / 2 % 4), true);
  } catch (const Error& error) {
    if (std::string(error.what()).find("not installed") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
}
INSTANTIATE_TEST_SUITE_P(all, GpuShapes, ::testing::Range<std::uint64_t>(0, 24));

// Every place of a chunk is taken.
class GpuFullChunks : public Gpu, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(GpuFullChunks, give_the_gradient_of_the_plain_form) {
  const std::uint64_t seed = GetParam();
  Random random(33, seed);
  Setting s = random_setting(random, 4 + static_cast<int>(seed));
  s.shape.n_m = 2 + static_cast<int>(seed);
  try {
    expect_same_gradient(s, seed, random_data(s, random, std::size_t{64} >> (seed % 2), 16), random, true);
  } catch (const Error& error) {
    if (std::string(error.what()).find("not installed") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
}
INSTANTIATE_TEST_SUITE_P(all, GpuFullChunks, ::testing::Range<std::uint64_t>(0, 4));

// More than eight cells: a warp for each sequence, which goes back through blocks of 16 steps.
class GpuCells : public Gpu, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(GpuCells, give_the_gradient_of_the_plain_form) {
  const std::uint64_t seed = GetParam();
  Random random(37, seed);
  Setting s = random_setting(random, static_cast<int>(seed % 7));
  s.shape.n_m = seed % 3 == 0 ? 16 : 9 + static_cast<int>(random.below(24));
  s.shape.n_x = 1 + static_cast<int>(random.below(16));
  if (s.wanted.loss != Loss::kQuantile && seed % 4 == 1) s.shape.n_y = 2 + static_cast<int>(random.below(9));
  try {
    expect_same_gradient(s, seed, random_data(s, random, 1 + random.below(40), 0, 70), random, true);
  } catch (const Error& error) {
    if (std::string(error.what()).find("not installed") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
}
INSTANTIATE_TEST_SUITE_P(all, GpuCells, ::testing::Range<std::uint64_t>(0, 21));

TEST_F(Gpu, takes_the_huber_loss) {
  Random random(25);
  Setting s = random_setting(random, 2);
  s.task = Task::kRegression;
  s.wanted = {Loss::kHuber, {}, {}};
  for (int k = 0; k < s.shape.n_y; ++k) s.wanted.scale.push_back(0.5F + static_cast<float>(k));
  for (std::uint64_t seed = 0; seed < 4; ++seed) expect_same_gradient(s, seed, 40);
}

// Training data with windows that go on, noise, offsets, averaging and shrinkage.
TrainingData gpu_data(const Setting& s, std::uint64_t seed, std::size_t sequences = 70) {
  Random random(seed, 6);
  TrainingData data;
  data.objective = s.objective();
  data.training = random_data(s, random, sequences);
  data.validation = random_data(s, random, 50);
  data.fill.assign(static_cast<std::size_t>(s.shape.n_x), 0.25F);
  data.quantiles = input_quantiles(data.training);
  if (seed % 2 == 0)
    for (std::size_t i = 0; i < data.training.count(); ++i) data.continues.push_back(i % 3 == 0 ? 0 : 1);
  return data;
}

StartPlan gpu_plan(const Setting& s, std::uint64_t seed, std::uint64_t stream) {
  StartPlan plan;
  plan.shape = s.shape;
  plan.gradient = s.form;
  plan.batch = 20;
  plan.noise = seed % 3 == 0 ? 0.1F : 0.0F;
  plan.offset = seed % 3 == 1 ? 0.1F : 0.0F;
  plan.average = 0.3F;
  plan.shrink = 0.01F;
  plan.validations = 2;
  if (seed % 4 == 3) plan.first_round = 1000000;  // worth kernels of its own
  plan.seed = seed;
  plan.stream = stream;
  return plan;
}

std::string state_of(const Trainer& t) {
  ByteWriter to;
  t.save(to);
  return to.take();
}

TEST_F(Gpu, trains_as_the_plain_form_does) {
  Random random(26);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Setting s = random_setting(random, static_cast<int>(random.below(5)));
    const TrainingData data = gpu_data(s, seed);
    const StartPlan plan = gpu_plan(s, seed, 1);
    const auto gpu = make_executor(Device::kGpu, {&data}, 2), plain = make_executor(Device::kPlain, {&data}, 2);
    const auto a = gpu->start(plan, 0), b = plain->start(plan, 0);
    Trainer *const only_a[] = {a.get()}, *const only_b[] = {b.get()};
    gpu->advance(only_a, 6);
    plain->advance(only_b, 6);
    ASSERT_FALSE(a->lost());
    EXPECT_EQ(a->updates(), 6U);
    expect_near(b->parameters(), a->parameters(), 2e-3, words(s, seed));
    expect_near(b->averaged(), a->averaged(), 2e-3, words(s, seed));
    gpu->validate(only_a);
    plain->validate(only_b);
    EXPECT_NEAR(a->validation_curve().back(), b->validation_curve().back(), 5e-3 * b->validation_curve().back());
    EXPECT_NEAR(a->training_curve().back(), b->training_curve().back(), 5e-3 * b->training_curve().back());
  }
}

// Alone, together with others, in one call or in several, saved and loaded in between: the same bits.
TEST_F(Gpu, gives_the_same_bits_however_updates_are_cut_into_calls) {
  Random random(27);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Setting s = random_setting(random, 3);
    const TrainingData data = gpu_data(s, seed);
    const auto executor = make_executor(Device::kGpu, {&data}, 2);
    std::vector<std::unique_ptr<Trainer>> starts;
    std::vector<Trainer*> all;
    for (std::uint64_t i = 0; i < 9; ++i) {
      Setting other = s;
      other.shape.n_m = static_cast<int>(i * 2);
      starts.push_back(executor->start(gpu_plan(i == 4 ? s : other, seed, i), 0));
      all.push_back(starts.back().get());
    }
    executor->round(all, Round{40, 0, {}, {}});
    auto alone = executor->start(gpu_plan(s, seed, 4), 0);
    Trainer* only[] = {alone.get()};
    executor->advance(only, 13);
    const std::string bytes = state_of(*alone);
    alone = executor->start(gpu_plan(s, seed, 4), 0);
    ByteReader from(bytes, "state");
    alone->load(from);
    only[0] = alone.get();
    executor->advance(only, 7);
    executor->validate(only);
    executor->advance(only, 20);
    executor->validate(only);
    EXPECT_EQ(state_of(*alone), state_of(*starts[4])) << words(s, seed);
  }
}

TEST_F(Gpu, gives_the_same_bits_for_any_number_of_starts) {
  Random random(32);
  for (std::uint64_t seed = 3; seed < 24; seed += 4) {
    Setting s = random_setting(random, 2 + static_cast<int>(seed % 5));
    s.shape.n_m = seed % 8 == 3 ? 12 : 4;
    const TrainingData data = gpu_data(s, seed);
    const auto executor = make_executor(Device::kGpu, {&data}, 2);
    std::vector<std::string> states;
    for (const std::uint64_t count : {140U, 50U, 1U}) {
      std::vector<std::unique_ptr<Trainer>> starts;
      std::vector<Trainer*> all;
      for (std::uint64_t i = 0; i < count; ++i) {
        StartPlan plan = gpu_plan(s, seed, i);
        plan.batch = seed % 3 == 0 ? 50 : 20;
        starts.push_back(executor->start(plan, 0));
        all.push_back(starts.back().get());
      }
      executor->round(all, Round{20, 0, {}, {}});
      ASSERT_FALSE(starts.front()->lost());
      states.push_back(state_of(*starts.front()));
    }
    EXPECT_EQ(states[0], states[1]) << words(s, seed);
    EXPECT_EQ(states[0], states[2]) << words(s, seed);
  }
}

// The trees of a forest are polished at the same time, each by an executor of its own. One kernel then runs with
// different amounts of shared memory.
TEST_F(Gpu, gives_the_same_bits_to_several_threads) {
  constexpr std::size_t kThreads = 8, kTimes = 5;
  Random random(37);
  const Setting s = random_setting(random, 3);
  const TrainingData data = gpu_data(s, 1);
  const auto state_after = [&](std::size_t i) {
    Setting own = s;
    own.shape.depth = static_cast<int>(i);
    own.shape.n_m = 4;
    const auto executor = make_executor(Device::kGpu, {&data}, 1);
    const auto start = executor->start(gpu_plan(own, 1, 1), 0);
    Trainer* const only[] = {start.get()};
    executor->advance(only, 10);
    executor->validate(only);
    return state_of(*start);
  };
  std::vector<std::string> alone(kThreads), together(kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) alone[i] = state_after(i);
  for (std::size_t n = 0; n < kTimes; ++n) {
    parallel_for(kThreads, kThreads, [&](std::size_t i, int) { together[i] = state_after(i); });
    EXPECT_EQ(alone, together);
  }
}

TEST_F(Gpu, leaves_deep_trees_and_entmax_to_the_cpu_and_says_so) {
  Random random(28);
  for (const bool deep : {true, false}) {
    Setting s = random_setting(random, deep ? 11 : 2);
    if (!deep) s.form.index = IndexGradient::kEntmax;
    const TrainingData data = gpu_data(s, 1);
    const auto executor = make_executor(Device::kGpu, {&data}, 2);
    const auto start = executor->start(gpu_plan(s, 1, 1), 0);
    Trainer* const only[] = {start.get()};
    executor->round(only, Round{2, 0, {}, {}});
    EXPECT_EQ(start->updates(), 2U);
    EXPECT_NE(executor->note().find("CPU"), std::string::npos);
  }
}

// Data that are larger than the memory are loaded in parts, fewer starts run at a time, and nothing else changes.
TEST_F(Gpu, gives_the_same_bits_with_little_memory) {
  Random random(30);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Setting s = random_setting(random, 2);
    s.shape.n_x = 6, s.shape.n_m = 3;
    TrainingData data = gpu_data(s, seed, 30000);
    if (seed % 2 == 1) std::swap(data.training, data.validation);  // large training data, or large validation data
    constexpr std::size_t kMost = 4U << 20U;
    ASSERT_GT((data.training.x.size() + data.validation.x.size()) * sizeof(float), kMost / 2);
    std::vector<std::string> states;
    for (const std::size_t most : {std::size_t{0}, kMost}) {
      const auto executor = make_gpu_executor({&data}, 2, most);
      std::vector<std::unique_ptr<Trainer>> starts;
      std::vector<Trainer*> all;
      for (std::uint64_t i = 0; i < 5; ++i) {
        starts.push_back(executor->start(gpu_plan(s, seed, i), 0));
        all.push_back(starts.back().get());
      }
      executor->round(all, Round{40, 0, {}, {}});
      EXPECT_EQ(executor->note(), "");
      std::string bytes;
      for (const Trainer* t : all) bytes += state_of(*t);
      states.push_back(bytes);
    }
    EXPECT_EQ(states[0], states[1]) << words(s, seed);
  }
}

TEST_F(Gpu, leaves_starts_to_the_cpu_where_its_memory_is_too_little_and_says_so) {
  Random random(31);
  const Setting s = random_setting(random, 2);
  const TrainingData data = gpu_data(s, 1);
  const auto gpu = make_gpu_executor({&data}, 2, 1000), cpu = make_executor(Device::kCpu, {&data}, 2);
  const auto a = gpu->start(gpu_plan(s, 1, 1), 0), b = cpu->start(gpu_plan(s, 1, 1), 0);
  Trainer *const only_a[] = {a.get()}, *const only_b[] = {b.get()};
  gpu->advance(only_a, 10);
  cpu->advance(only_b, 10);
  EXPECT_EQ(a->parameters().values, b->parameters().values);
  EXPECT_NE(gpu->note().find("memory was too little"), std::string::npos) << gpu->note();
  EXPECT_EQ(gpu->note().find('\n'), std::string::npos);
}

TEST(NoGpu, is_an_error_that_says_why) {
  if (why_no_gpu().empty()) GTEST_SKIP() << "there is a GPU";
  try {
    make_executor(Device::kGpu, {}, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(why_no_gpu()), std::string::npos);
  }
}

}  // namespace
}  // namespace remede
