#include "remede/train/identify.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/model/predict.h"
#include "remede/train/linear_system.h"
#include "support/thread_peers.h"

namespace remede {
namespace {

// One recording of so many steps; next() gives an input and a target.
Sequences recorded(std::size_t steps, const std::function<std::pair<double, double>()>& next) {
  Sequences data;
  data.n_x = 1;
  data.n_y = 1;
  for (std::size_t t = 0; t < steps; ++t) {
    const auto [x, y] = next();
    data.x.push_back(static_cast<float>(x));
    data.value.push_back(static_cast<float>(y));
    data.weight.push_back(1.0F);
  }
  data.offset.push_back(static_cast<std::int64_t>(steps));
  return data;
}

// A slow input drives two linear states; with `bend` the answer saturates.
Sequences recording(std::size_t steps, std::uint64_t seed, bool bend) {
  Random random(seed);
  double u = 0, a = 0, b = 0;
  return recorded(steps, [&] {
    u = 0.9 * u + 0.45 * random.normal();
    const double y = bend ? 1.5 * std::tanh(b) + 0.3 * b : b;
    b = 0.85 * b + 0.3 * a;
    a = 0.7 * a + 0.5 * u;
    return std::pair(u, y);
  });
}

TrainingData training_data(const Sequences& all, double held_out) {
  TrainingData data;
  data.training = data.validation = all;
  const auto cut = static_cast<std::size_t>((1 - held_out) * static_cast<double>(all.steps()));
  for (std::size_t t = 0; t < all.steps(); ++t) (t < cut ? data.validation : data.training).weight[t] = 0.0F;
  data.fill.assign(1, 0.0F);
  return data;
}

LevenbergOptions no_iterations() {
  LevenbergOptions options;
  options.iterations = 0;
  return options;
}

TEST(LinearSystem, IsFoundFromItsRecording) {
  const Sequences data = recording(600, 1, false);
  const std::vector<float> fill(1, 0.0F);
  Random random(1);
  LinearSystemOptions options;
  options.states = 2;
  options.largest_cell = 0.02;  // where tanh is a straight line
  const auto start = linear_start(data, {}, fill, options, random);
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->shape.n_m, 2);
  const double loss = levenberg(*start, data, {}, nullptr, fill, no_iterations()).training_loss;
  EXPECT_LT(loss, 1e-4);
}

TEST(LinearSystem, NeedsEnoughData) {
  const std::vector<float> fill(1, 0.0F);
  Random random(1);
  EXPECT_FALSE(linear_start(recording(12, 1, false), {}, fill, {}, random).has_value());
}

// All leaves begin as copies: the answer is that of the leaf alone.
TEST(LinearSystem, SplitsChangeNothingAtFirst) {
  const Sequences data = recording(400, 2, true);
  const std::vector<float> fill(1, 0.0F);
  LinearSystemOptions options;
  Random one(1), two(1);
  const auto plain = linear_start(data, {}, fill, options, one);
  options.depth = 2;
  const auto split = linear_start(data, {}, fill, options, two);
  ASSERT_TRUE(plain && split);
  EXPECT_EQ(split->shape.leaves(), 4);
  EXPECT_EQ(levenberg(*plain, data, {}, nullptr, fill, no_iterations()).training_loss,
            levenberg(*split, data, {}, nullptr, fill, no_iterations()).training_loss);
}

TEST(Levenberg, FindsTheNumbersThatMadeTheData) {
  Sequences data = recording(400, 3, false);
  const std::vector<float> fill(1, 0.0F);
  Random random(4);
  LinearSystemOptions drawn;
  drawn.states = 2;
  drawn.extra_cells = 1;
  drawn.depth = 1;
  Parameters<float> truth = *linear_start(data, {}, fill, drawn, random);
  for (float& v : truth[Group::kWrite]) v += static_cast<float>(0.2 * random.normal());
  for (float& v : truth[Group::kLinear]) v += static_cast<float>(0.2 * random.normal());
  // What the perturbed tree answers becomes the target: a loss of about zero is possible.
  const Tree tree = harden(truth);
  std::vector<float> m(static_cast<std::size_t>(tree.n_m)), y(1);
  for (std::size_t t = 0; t < data.steps(); ++t) {
    step(tree, data.x.data() + t, fill.data(), m.data(), y.data());
    data.value[t] = y[0];
  }
  Parameters<float> start = truth;
  for (const Group g : {Group::kWrite, Group::kLinear, Group::kBias, Group::kRate, Group::kOutput})
    for (float& v : start[g]) v += static_cast<float>(0.05 * random.normal());
  const double before = levenberg(start, data, {}, nullptr, fill, no_iterations()).training_loss;
  EXPECT_GT(before, 1e-4);
  LevenbergOptions options;  // the ridge vanishes with the loss, so that it does not keep the numbers from the truth
  EXPECT_LT(levenberg(start, data, {}, nullptr, fill, options).training_loss, 1e-3 * before);
  options.ridge = 1e9;
  const LevenbergResult held = levenberg(start, data, {}, nullptr, fill, options);
  EXPECT_GT(held.training_loss, 0.99 * before);
  for (std::size_t i = 0; i < start.values.size(); ++i) EXPECT_NEAR(held.parameters.values[i], start.values[i], 1e-4F);
}

// Sums are rounded block by block, and the size of the blocks must not be that of this processor's caches.
TEST(Levenberg, MultipliesInBlocksOfOneSizeOnEveryMachine) {
  const Sequences data = recording(400, 3, false);
  const std::vector<float> fill(1, 0.0F);
  Random random(4);
  const Parameters<float> start = *linear_start(data, {}, fill, {}, random);
  levenberg(start, data, {}, nullptr, fill, no_iterations());
  EXPECT_EQ(Eigen::l1CacheSize(), 48 << 10);
  EXPECT_EQ(Eigen::l2CacheSize(), 2 << 20);
  EXPECT_EQ(Eigen::l3CacheSize(), 32 << 20);
}

// Windows of a recording that continue one another are the recording.
TEST(Levenberg, WindowsThatContinueAreOneRecording) {
  const Sequences data = recording(300, 5, true);
  Sequences windows = data;
  windows.offset = {0, 100, 180, 300};
  const std::vector<std::uint8_t> continues = {0, 1, 1};
  const std::vector<float> fill(1, 0.0F);
  Random random(1), same(1);
  const auto whole = linear_start(data, {}, fill, {}, random), cut = linear_start(windows, continues, fill, {}, same);
  ASSERT_TRUE(whole && cut);
  EXPECT_EQ(whole->values, cut->values);
  LevenbergOptions options;
  options.iterations = 5;
  EXPECT_EQ(levenberg(*whole, data, {}, nullptr, fill, options).parameters.values,
            levenberg(*cut, windows, continues, nullptr, fill, options).parameters.values);
}

// A damped mass on a spring whose force grows with the cube of the displacement, driven by filtered noise.
Sequences hardening_spring(std::size_t steps, std::uint64_t seed) {
  Random random(seed);
  double u = 0, x = 0, v = 0;
  return recorded(steps, [&] {
    u = 0.6 * u + 0.5 * random.normal();
    for (int i = 0; i < 5; ++i) {
      v += 0.05 * (u - 0.15 * v - x - 1.2 * x * x * x);
      x += 0.05 * v;
    }
    return std::pair(1.6 * u, 1.6 * x);
  });
}

double error_on(const Identified& system, const TrainingData& of, const Sequences& data) {
  return levenberg(system.parameters, data, {}, nullptr, of.fill, no_iterations()).training_loss;
}

// A strongly bent system, which only a long refinement finds, and on a recording that begins in another way.
TEST(IdentifySlow, FollowsAHardeningSpring) {
  const TrainingData data = training_data(hardening_spring(2000, 3), 0.25);
  IdentifyOptions options;
  options.starts = 48;
  const std::vector<Identified> found = identify(data, 1, options, 2);
  ASSERT_FALSE(found.empty());
  EXPECT_LT(error_on(found.front(), data, hardening_spring(1000, 4)), 0.05);  // the targets have a variance of about 1
}

// Many inputs would take too long. What was never refined is not offered.
TEST(Identify, IsLimited) {
  Sequences many = recording(600, 7, false);
  many.n_x = 30;
  Random random(2);
  many.x.clear();
  for (int i = 0; i < 600 * 30; ++i) many.x.push_back(static_cast<float>(random.normal()));
  TrainingData data = training_data(many, 0.25);
  data.fill.assign(30, 0.0F);
  IdentifyOptions options;
  options.work = 1e9;
  EXPECT_TRUE(identify(data, 1, options, 2).empty());
  EXPECT_TRUE(identify(training_data(recording(600, 7, false), 0.25), 1, {}, 2, [] { return true; }).empty());
}

IdentifyOptions few(int starts, int iterations) {
  IdentifyOptions options;
  options.starts = starts;
  options.refine.iterations = iterations;
  return options;
}

// Of many recordings every second one, where all of them would be too long.
TEST(Identify, LearnsFromAPartOfLongData) {
  TrainingData all = training_data(recording(1800, 8, true), 0.25), part = all;
  all.training.weight.assign(1800, 1.0F);
  all.training.offset = {0, 300, 600, 900, 1200, 1500, 1800};
  part.training = select(all.training, std::vector<std::uint32_t>{0, 2, 4});
  IdentifyOptions options = few(8, 5);
  const std::vector<Identified> of_part = identify(part, 1, options, 2);
  options.steps = 900;
  const std::vector<Identified> of_all = identify(all, 1, options, 2);
  ASSERT_FALSE(of_all.empty());
  ASSERT_EQ(of_all.size(), of_part.size());
  EXPECT_EQ(of_all.front().parameters.values, of_part.front().parameters.values);
  options.least_targets = 901;
  EXPECT_TRUE(identify(all, 1, options, 2).empty());
}

// Whether systems agree changes their order, among the best alone.
TEST(Identify, ComparesTheBestSystems) {
  const TrainingData data = training_data(recording(500, 9, true), 0.25);
  IdentifyOptions options = few(24, 4);
  options.compared = 1;
  const std::vector<Identified> alone = identify(data, 1, options, 2);
  options.compared = 6;
  const std::vector<Identified> compared = identify(data, 1, options, 2);
  ASSERT_GT(alone.size(), 6U);
  ASSERT_EQ(compared.size(), alone.size());
  const auto same = [](const Identified& a, const Identified& b) { return a.parameters.values == b.parameters.values; };
  EXPECT_FALSE(std::equal(alone.begin(), alone.begin() + 6, compared.begin(), same));
  EXPECT_TRUE(std::is_permutation(alone.begin(), alone.begin() + 6, compared.begin(), same));
  EXPECT_TRUE(std::equal(alone.begin() + 6, alone.end(), compared.begin() + 6, same));
}

// Also where peers must take the same part of the data.
TEST(Identify, GivesTheSameBitsWithPeers) {
  TrainingData data = training_data(recording(1200, 10, true), 0.25);
  data.training.offset = {0, 300, 600, 900, 1200};
  IdentifyOptions options = few(12, 4);
  options.steps = 500;
  const std::vector<Identified> here = identify(data, 1, options, 2);
  testing::ThreadPeers peers(
      2,
      [&](std::string_view job, const std::function<bool()>& stop) {
        ByteReader reader(job, "job");
        reader.get<std::uint8_t>();  // its kind
        return do_refine(reader, {&data}, stop);
      },
      false);
  const std::vector<Identified> elsewhere = identify(data, 1, options, 2, {}, &peers);
  ASSERT_FALSE(here.empty());
  ASSERT_EQ(elsewhere.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_EQ(elsewhere[i].parameters.values, here[i].parameters.values);
}

TEST(IdentifySlow, BendsBeyondTheLinearSystem) {
  const TrainingData data = training_data(recording(500, 6, true), 0.25);
  IdentifyOptions options;
  options.starts = 8;
  options.survivors = 4;
  const std::vector<Identified> found = identify(data, 1, options, 2);
  ASSERT_FALSE(found.empty());
  Random random(1);
  LinearSystemOptions linear;
  linear.states = 2;
  const auto start = linear_start(data.training, {}, data.fill, linear, random);
  ASSERT_TRUE(start.has_value());
  const double straight =
      levenberg(*start, data.training, {}, &data.validation, data.fill, no_iterations()).validation_loss;
  EXPECT_LT(found.front().loss, 0.2 * straight);
  const std::vector<Identified> again = identify(data, 1, options, 1);
  ASSERT_EQ(again.size(), found.size());
  EXPECT_EQ(again.front().parameters.values, found.front().parameters.values);  // whatever the number of threads
}

}  // namespace
}  // namespace remede
