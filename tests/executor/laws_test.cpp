// Cells with laws: the plain gradient against the golden vectors laws_*.json, the kernels against the plain one.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "remede/base/random.h"
#include "remede/executor/laws/kernel.h"
#include "remede/executor/laws/plain.h"
#include "remede/model/predict.h"

namespace remede::laws {
namespace {

using json = nlohmann::ordered_json;

double number_of(const json& j) {
  if (j.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (j.is_string()) return (j == "open" ? 1 : -1) * std::numeric_limits<double>::infinity();
  return j.get<double>();
}

std::vector<double> flat_numbers(const json& j) {
  if (!j.is_array()) return {number_of(j)};
  std::vector<double> values;
  for (const json& part : j)
    for (const double v : flat_numbers(part)) values.push_back(v);
  return values;
}

struct LawCase {
  std::string name;
  json j;
  Parameters parameters;
  Sequences data;
  double smoothing = 0;
};

Shape shape_of(const json& j) {
  Shape s;
  s.depth = j.at("depth");
  s.n_x = j.at("n_x");
  s.n_y = j.at("n_y");
  s.leaf_linear = j.at("parameters").contains("leaf_linear");
  for (const json& law : j.at("laws"))
    s.law.push_back(law == "store" ? Law::kStore : law == "average" ? Law::kAverage : Law::kPositiveAverage);
  for (const json& first : j.at("first")) s.first.push_back(first.get<bool>() ? 1 : 0);
  return s;
}

// The sequences of a case, padding left out.
Sequences data_of(const json& j) {
  Sequences data;
  data.n_x = j.at("n_x");
  data.n_y = j.at("n_y");
  const bool classes = j.at("loss_kind") == "cross_entropy";
  for (std::size_t b = 0; b < j.at("lengths").size(); ++b) {
    const auto length = j.at("lengths")[b].get<std::size_t>();
    for (std::size_t t = 0; t < length; ++t) {
      for (const double x : flat_numbers(j.at("x")[b][t])) data.x.push_back(static_cast<float>(x));
      if (classes)
        data.label.push_back(j.at("target")[b][t]);
      else
        for (const double y : flat_numbers(j.at("target")[b][t])) data.value.push_back(static_cast<float>(y));
      data.weight.push_back(1.0F);
    }
    data.offset.push_back(data.offset.back() + static_cast<std::int64_t>(length));
  }
  return data;
}

std::vector<LawCase> law_cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(REMEDE_TESTS_DIR) / "golden"))
    if (entry.path().filename().string().rfind("laws_", 0) == 0) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<LawCase> cases;
  for (const auto& file : files) {
    LawCase& c = cases.emplace_back();
    c.name = file.filename().string();
    std::ifstream(file) >> c.j;
    c.parameters = Parameters(shape_of(c.j));
    std::fill(c.parameters.used.begin(), c.parameters.used.end(), std::uint8_t{1});
    const auto k_n = static_cast<std::size_t>(c.parameters.shape.cells());
    for (std::size_t i = 0; i < k_n * k_n; ++i)
      if (i % k_n >= i / k_n) c.parameters.used[c.parameters.shape.at(Group::kEarlier, i)] = 0;
    for (int g = 0; g < kGroups; ++g) {
      const auto group = static_cast<Group>(g);
      if (c.parameters[group].empty()) continue;
      const std::vector<double> values = flat_numbers(c.j.at("parameters").at(name(group)));
      EXPECT_EQ(values.size(), c.parameters[group].size()) << c.name << ' ' << name(group);
      std::copy(values.begin(), values.end(), c.parameters[group].begin());
    }
    for (std::size_t i = 0; i < c.parameters.missing_right.size(); ++i)
      c.parameters.missing_right[i] = c.j.at("missing_right")[i].get<bool>() ? 1 : 0;
    c.data = data_of(c.j);
    c.smoothing = c.j.at("smoothing");
  }
  return cases;
}

void expect_gradients(const LawCase& c, const std::vector<double>& gradient, double scale, double tolerance) {
  const Shape& s = c.parameters.shape;
  for (int g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    if (s.size(group) == 0) continue;
    const std::vector<double> expected = flat_numbers(c.j.at("gradients").at(name(group)));
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(gradient[s.at(group, i)] * scale, expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
          << c.name << ' ' << name(group) << ' ' << i;
  }
}

TEST(Laws, PlainGradientsMatchTheGoldenVectors) {
  const std::vector<LawCase> cases = law_cases();
  ASSERT_GE(cases.size(), 24U);
  for (const LawCase& c : cases) {
    std::vector<double> gradient(c.parameters.values.size());
    double loss = 0, weight = 0;
    for (std::size_t b = 0; b < c.data.count(); ++b) {
      const PlainRun run = run_plain(c.parameters, c.data, b, c.smoothing, &gradient);
      loss += run.loss;
      weight += run.weight;
      const std::vector<double> output = flat_numbers(c.j.at("output")[b]), level = flat_numbers(c.j.at("level")[b]);
      for (std::size_t i = 0; i < run.output.size(); ++i) ASSERT_NEAR(run.output[i], output[i], 1e-9) << c.name;
      for (std::size_t i = 0; i < run.level.size(); ++i) ASSERT_NEAR(run.level[i], level[i], 1e-9) << c.name;
      for (std::size_t t = 0; t < run.leaf.size(); ++t)
        ASSERT_EQ(run.leaf[t], c.j.at("leaf")[b][t].get<int>()) << c.name;
    }
    EXPECT_NEAR(loss / weight, c.j.at("loss").get<double>(), 1e-9) << c.name;
    expect_gradients(c, gradient, 1 / weight, 1e-9);
  }
}

std::vector<float> floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

// All data of a case through the kernels. ADDs to the gradient.
Sums run_kernels(const LawCase& c, std::vector<double>& gradient) {
  const LaneData lanes = training_lanes(c.data);
  const Program program = program_of(c.parameters, true);
  Scratch scratch;
  Sums sums;
  for (const Block& block : lanes.blocks) {
    AlignedVector<float> level(c.parameters.shape.law.size() * kLanes), again = level;
    const std::vector<float> values = floats(c.parameters.values);
    const auto smoothing = static_cast<float>(c.smoothing);
    Sums here;
    run_block(program, values.data(), block, lanes.objective, smoothing, level.data(), scratch, here);
    EXPECT_EQ(run_gradient(program, values.data(), block, block.x.data(), lanes.objective, smoothing, again.data(),
                           scratch, gradient.data()),
              here.weight);
    EXPECT_EQ(level, again);
    sums.loss += here.loss;
    sums.weight += here.weight;
  }
  return sums;
}

TEST(Laws, KernelsMatchTheGoldenVectors) {
  for (const LawCase& c : law_cases()) {
    std::vector<double> gradient(c.parameters.values.size());
    const Sums sums = run_kernels(c, gradient);
    EXPECT_NEAR(sums.loss / sums.weight, c.j.at("loss").get<double>(), 1e-5) << c.name;
    expect_gradients(c, gradient, 1 / sums.weight, 1e-4);
  }
}

// Steps without a target have no answer in the kernels: the rest is as if they had one that does not count.
TEST(Laws, KernelsMatchThePlainFormWhereFewStepsHaveTargets) {
  for (LawCase c : law_cases()) {
    for (std::size_t t = 0; t < c.data.weight.size(); ++t) c.data.weight[t] = t % 3 == 1 ? 1.0F : 0.0F;
    std::vector<double> plain(c.parameters.values.size()), gradient(plain.size());
    double loss = 0;
    for (std::size_t b = 0; b < c.data.count(); ++b)
      loss += run_plain(c.parameters, c.data, b, c.smoothing, &plain).loss;
    const Sums sums = run_kernels(c, gradient);
    EXPECT_NEAR(sums.loss / sums.weight, loss / sums.weight, 1e-4 * std::max(1.0, loss / sums.weight)) << c.name;
    for (std::size_t i = 0; i < plain.size(); ++i)
      ASSERT_NEAR(gradient[i], plain[i], 2e-3 * std::max(1.0, std::abs(plain[i]))) << c.name << ' ' << i;
  }
}

// The hard tree says what the parameters say.
TEST(Laws, TheHardTreeAnswersAlike) {
  for (const LawCase& c : law_cases()) {
    const Tree tree = harden(c.parameters);
    check(tree, c.name);
    std::vector<float> fill(static_cast<std::size_t>(tree.n_x)), y(static_cast<std::size_t>(tree.n_y));
    for (std::size_t b = 0; b < c.data.count(); ++b) {
      const PlainRun run = run_plain(c.parameters, c.data, b, 0, nullptr);
      std::vector<float> m(static_cast<std::size_t>(tree.memory_size()));
      for (std::size_t t = 0; t < c.data.length(b); ++t) {
        const auto at = static_cast<std::size_t>(c.data.offset[b]) + t;
        step(tree, c.data.x.data() + at * fill.size(), fill.data(), m.data(), y.data());
        for (std::size_t o = 0; o < y.size(); ++o)
          ASSERT_NEAR(y[o], run.output[t * y.size() + o], 1e-4) << c.name << " step " << t;
      }
    }
  }
}

// A random sequence of so many steps, with values to predict.
Sequences noise(std::size_t steps, std::uint64_t seed) {
  Random random(seed);
  Sequences data;
  data.n_x = 2;
  data.n_y = 1;
  for (std::size_t t = 0; t < steps; ++t) {
    data.x.push_back(static_cast<float>(random.normal()));
    data.x.push_back(static_cast<float>(random.normal()));
    data.value.push_back(static_cast<float>(random.normal()));
    data.weight.push_back(1.0F);
  }
  data.offset.push_back(static_cast<std::int64_t>(steps));
  return data;
}

TEST(Laws, ScoringRunsLongSequencesThroughTheirParts) {
  const Sequences data = noise(1700, 3);
  Shape shape{
      .depth = 1, .n_x = 2, .n_y = 1, .leaf_linear = false, .law = {Law::kStore, Law::kAverage}, .first = {0, 1}};
  Parameters p(shape);
  Random random(7);
  std::fill(p.used.begin(), p.used.end(), std::uint8_t{1});
  for (double& v : p.values) v = random.normal() * 0.5;
  for (const std::size_t at : {0U, 1U, 3U}) p[Group::kEarlier][at] = 0;
  p[Group::kTap][0] = p[Group::kTap][1] = -3;
  Scratch scratch;
  const Sums sums = run_all(program_of(p, false), floats(p.values).data(), scoring_lanes(data), 0, scratch);
  const PlainRun run = run_plain(p, data, 0, 0, nullptr);
  EXPECT_EQ(sums.weight, run.weight);
  EXPECT_NEAR(sums.loss / run.loss, 1, 1e-4);
}

TEST(Laws, KernelsMatchThePlainFormForEveryObjectiveOfValues) {
  Sequences data = noise(300, 5);
  for (float& v : data.value) v = std::abs(v);  // counts are not negative
  for (const Objective& objective : {Objective{.loss = Loss::kSquaredError}, Objective{.loss = Loss::kAbsoluteError},
                                     Objective{.loss = Loss::kHuber}, Objective{.loss = Loss::kPoisson},
                                     Objective{.loss = Loss::kQuantile, .quantiles = {0.1F, 0.5F, 0.9F}}}) {
    const int n_y = outputs_of(objective, 1);
    Parameters p(Shape{
        .depth = 1, .n_x = 2, .n_y = n_y, .leaf_linear = true, .law = {Law::kStore, Law::kAverage}, .first = {0, 0}});
    Random random(9);
    std::fill(p.used.begin(), p.used.end(), std::uint8_t{1});
    for (double& v : p.values) v = static_cast<double>(static_cast<float>(random.normal() * 0.3));
    for (const std::size_t at : {0U, 1U, 3U}) {
      p[Group::kEarlier][at] = 0;
      p.used[p.shape.at(Group::kEarlier, at)] = 0;
    }
    std::vector<double> plain(p.values.size()), gradient(p.values.size());
    const double loss = run_plain(p, data, 0, 0, &plain, &objective).loss;
    LaneData lanes = training_lanes(data);
    Scratch scratch;
    Sums sums;
    AlignedVector<float> level(2 * kLanes), again = level;
    ASSERT_EQ(lanes.blocks.size(), 1U);
    const Program program = program_of(p, true);
    const Block& block = lanes.blocks[0];
    run_block(program, floats(p.values).data(), block, objective, 0, level.data(), scratch, sums);
    run_gradient(program, floats(p.values).data(), block, block.x.data(), objective, 0, again.data(), scratch,
                 gradient.data());
    EXPECT_NEAR(sums.loss / loss, 1, 1e-4) << word_of(objective);
    for (std::size_t i = 0; i < plain.size(); ++i)
      ASSERT_NEAR(gradient[i], plain[i], 1e-2 + 2e-3 * std::abs(plain[i])) << word_of(objective) << ' ' << i;
  }
}

TEST(Laws, DisturbedInputsAreInputsPlusOffsetsPlusNoise) {
  const LaneData lanes = training_lanes(noise(50, 6));
  const Block& block = lanes.blocks[0];
  const auto n_x = static_cast<std::size_t>(lanes.n_x);
  Random random(11);
  std::vector<float> normal(100);
  for (float& v : normal) v = static_cast<float>(random.normal());
  Disturbance by{.steady = {}, .offset = {}, .normal = normal.data(), .first = {}, .noise = 0.25F};
  for (std::size_t i = 0; i < n_x; ++i) {
    by.steady.push_back(normal.data() + random.below(80));
    by.offset.push_back(static_cast<float>(i) + 0.5F);
  }
  for (std::size_t row = 0; row < block.steps * n_x; ++row)
    by.first.push_back(static_cast<std::uint32_t>(random.below(80)));
  AlignedVector<float> disturbed;
  disturb(block, by, disturbed);
  ASSERT_EQ(disturbed.size(), block.x.size());
  for (std::size_t at = 0; at < disturbed.size(); ++at) {
    const std::size_t row = at / kLanes, lane = at % kLanes, input = row % n_x;
    const float offset = by.offset[input] * by.steady[input][lane], more = by.noise * normal[by.first[row] + lane];
    ASSERT_EQ(disturbed[at], block.x[at] + (offset + more)) << at;
  }
}

TEST(Laws, WindowsOfALongSequenceCoverItOnce) {
  const Sequences data = noise(20000, 4);
  const LaneData lanes = training_lanes(data);
  EXPECT_FALSE(lanes.whole);
  EXPECT_EQ(lanes.weight, 20000);
  for (const Block& block : lanes.blocks) EXPECT_LE(block.steps, 512U);
  const LaneData replay = replay_lanes(data, 8192);
  EXPECT_GT(replay.weight, 4000);
  EXPECT_LT(replay.weight, 20000);
}

}  // namespace
}  // namespace remede::laws
