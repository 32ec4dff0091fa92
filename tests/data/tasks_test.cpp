#include "remede/data/tasks.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/same_dataset.h"
#include "data/source.h"
#include "remede/base/file.h"

namespace remede {
namespace {

using testing::error_of;
using testing::expect_same;

// Step t of sequence s, input k.
float x(const Dataset& data, std::size_t s, std::size_t t, std::size_t k = 0) {
  const auto n_x = static_cast<std::size_t>(data.sequences.n_x);
  return data.sequences.x[(static_cast<std::size_t>(data.sequences.offset[s]) + t) * n_x + k];
}

// The label as it would stand in the file; empty where there is none.
std::string y(const Dataset& data, std::size_t s, std::size_t t) {
  const auto step = static_cast<std::size_t>(data.sequences.offset[s]) + t;
  if (data.sequences.weight[step] == 0.0F) return "";
  return data.schema.classes[static_cast<std::size_t>(data.sequences.label[step])];
}

// Accuracy of saying, at each position, the label most frequent there. REQUIRES: sequences of equal length.
double naive_accuracy(const Dataset& data) {
  const std::size_t length = data.sequences.length(0);
  double right = 0.0;
  for (std::size_t t = 0; t < length; ++t) {
    std::map<std::string, double> count;
    for (std::size_t s = 0; s < data.sequences.count(); ++s) ++count[y(data, s, t)];
    double most = 0.0;
    for (const auto& [label, n] : count) most = std::max(most, n);
    right += most;
  }
  return right / static_cast<double>(data.sequences.steps());
}

// Mean and standard deviation of all inputs that are neither -1, 1 nor the first value of a sequence.
std::array<double, 2> noise_moments(const Dataset& data, bool first_is_value) {
  double sum = 0.0;
  double squares = 0.0;
  double n = 0.0;
  for (std::size_t s = 0; s < data.sequences.count(); ++s)
    for (std::size_t t = 0; t < data.sequences.length(s); ++t)
      for (std::size_t k = 0; k < static_cast<std::size_t>(data.sequences.n_x); ++k) {
        const double value = x(data, s, t, k);
        if (std::abs(value) == 1.0 || (first_is_value && t == 0 && k == 0)) continue;
        sum += value;
        squares += value * value;
        ++n;
      }
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean)};
}

struct PaperTask {
  const char* name;
  std::size_t steps;
  int channels;
  double naive;
};
const PaperTask kPaper[] = {{"fixed-delay", 7, 1, 0.9286},
                            {"fixed-delay-2", 7, 2, 0.9286},
                            {"variable-delay", 9, 1, 0.8889},
                            {"variable-delay-2", 9, 2, 0.8889},
                            {"sign-memory", 16, 1, 0.8750}};

TEST(PaperTasks, HaveTheShapesAndBaselinesOfThePaper) {
  for (const PaperTask& task : kPaper) {
    const Dataset data = generate(task.name, {});
    EXPECT_EQ(data.sequences.count(), 10000U);
    EXPECT_EQ(data.sequences.n_x, task.channels) << task.name;
    EXPECT_EQ(data.schema.classes, (std::vector<std::string>{"-1", "0", "1"}));
    for (std::size_t s = 0; s < data.sequences.count(); ++s)
      ASSERT_EQ(data.sequences.length(s), task.steps) << task.name;
    EXPECT_NEAR(naive_accuracy(data), task.naive, 0.003) << task.name;
    const auto [mean, sd] = noise_moments(data, std::string(task.name) != "sign-memory");
    EXPECT_NEAR(mean, -0.01, 0.0003) << task.name;
    EXPECT_NEAR(sd, 0.01, 0.0003) << task.name;
  }
}

// The trigger is found by its value: noise of these sizes never reaches 1.
TEST(PaperTasks, DelayedTasksAskForTheSignAtTheTrigger) {
  for (const PaperTask& task : kPaper) {
    if (std::string(task.name) == "sign-memory") continue;
    const bool variable = std::string(task.name).starts_with("variable");
    const Dataset data = generate(task.name, {.sequences = 3000});
    std::map<std::size_t, int> delays;
    double positive = 0.0;
    for (std::size_t s = 0; s < data.sequences.count(); ++s) {
      const float value = x(data, s, 0);
      ASSERT_LT(std::abs(value), 0.5F);
      ASSERT_NE(value, 0.0F);
      positive += value > 0.0F ? 1.0 : 0.0;
      int triggers = 0;
      for (std::size_t t = 0; t < task.steps; ++t) {
        const bool trigger = x(data, s, t, static_cast<std::size_t>(task.channels - 1)) == 1.0F;
        ASSERT_EQ(y(data, s, t), !trigger ? "0" : value > 0.0F ? "1" : "-1") << task.name;
        if (trigger) ++delays[t - 1];
        triggers += trigger ? 1 : 0;
      }
      ASSERT_EQ(triggers, 1);
    }
    EXPECT_NEAR(positive / 3000.0, 0.5, 0.03);
    if (!variable) {
      EXPECT_EQ(delays, (std::map<std::size_t, int>{{5, 3000}}));
    } else {
      EXPECT_EQ(delays.size(), 5U);
      for (std::size_t d = 3; d <= 7; ++d) EXPECT_NEAR(delays[d], 600, 100);
    }
  }
}

TEST(PaperTasks, SignMemoryAsksForTheBlockBefore) {
  TaskOptions options{.sequences = 500, .delay = 4, .blocks = 5, .block_length = 3};
  const Dataset data = generate("sign-memory", options);
  for (std::size_t s = 0; s < data.sequences.count(); ++s) {
    ASSERT_EQ(data.sequences.length(s), 5 * 3 + 4 * 4U);
    for (std::size_t t = 0; t < data.sequences.length(s); ++t) {
      const bool in_block = t % 7 < 3;
      ASSERT_EQ(std::abs(x(data, s, t)) == 1.0F, in_block);
      const std::string expected = !in_block || t < 7 ? "0" : x(data, s, (t / 7 - 1) * 7) > 0.0F ? "1" : "-1";
      ASSERT_EQ(y(data, s, t), expected);
      ASSERT_TRUE(!in_block || x(data, s, t) == x(data, s, t / 7 * 7));
    }
  }
}

TEST(PaperTasks, TakeTheirParameters) {
  const Dataset fixed = generate("fixed-delay", {.sequences = 2, .delay = 100});
  EXPECT_EQ(fixed.sequences.length(0), 102U);
  EXPECT_EQ(x(fixed, 0, 101), 1.0F);
  const Dataset variable = generate("variable-delay", {.sequences = 20, .delay_min = 10, .delay_max = 10});
  EXPECT_EQ(variable.sequences.length(0), 12U);
  EXPECT_EQ(x(variable, 0, 11), 1.0F);
  const Dataset silent = generate("fixed-delay", {.sequences = 5, .noise_mean = 0.0, .noise_sd = 0.0});
  for (std::size_t t = 1; t < 6; ++t) EXPECT_EQ(x(silent, 3, t), 0.0F);
  const auto [mean, sd] =
      noise_moments(generate("fixed-delay", {.sequences = 3000, .noise_mean = 0.2, .noise_sd = 0.1}), true);
  EXPECT_NEAR(mean, 0.2, 0.005);
  EXPECT_NEAR(sd, 0.1, 0.005);
  EXPECT_EQ(generate("fixed-delay", {.sequences = 1, .delay = 0}).sequences.length(0), 2U);
}

TEST(Tasks, TheSameSeedGivesTheSameFileEverywhere) {
  // Bytes as they were when this test was written: a change of generator, noise or number format shows here.
  const std::string path = ::testing::TempDir() + "remede_tasks_test.csv";
  write_dataset(path, generate("variable-delay-2", {.sequences = 1, .seed = 42, .delay_min = 1, .delay_max = 2}));
  EXPECT_EQ(read_file(path),
            "sequence,step,x1,x2,y\n"
            "0,0,-0.41102076,0.0007063365,0\n"
            "0,1,-0.0016874061,-0.025483096,0\n"
            "0,2,-0.023443561,1,-1\n"
            "0,3,-0.004405954,-0.020576598,0\n");
  std::filesystem::remove(path);
}

TEST(Tasks, FewerSequencesAreTheFirstOfMore) {
  for (const TaskInfo& task : tasks()) {
    const Dataset few = generate(task.name, {.sequences = 5, .seed = 3});
    const Dataset more = generate(task.name, {.sequences = 9, .seed = 3});
    const std::uint32_t first[] = {0, 1, 2, 3, 4};
    expect_same(few.sequences, select(more.sequences, first));
    const Dataset other = generate(task.name, {.sequences = 5, .seed = 4});
    EXPECT_FALSE(other.sequences.offset == few.sequences.offset && other.sequences.x == few.sequences.x) << task.name;
  }
}

TEST(Tasks, WrittenAndReadBackTheyAreTheSameBits) {
  const std::string path = ::testing::TempDir() + "remede_tasks_test.csv";
  for (const TaskInfo& task : tasks()) {
    const Dataset data = generate(task.name, {.sequences = 300});
    write_dataset(path, data);
    expect_same(data, read_dataset(path, Roles{}));
  }
  std::filesystem::remove(path);
}

TEST(Tasks, LengthsAreDrawnFromTheRange) {
  for (const TaskInfo& task : tasks()) {
    if (!task.length) continue;
    const Dataset data = generate(task.name, {.sequences = 600, .length_min = 4, .length_max = 9});
    std::map<std::size_t, int> lengths;
    for (std::size_t s = 0; s < data.sequences.count(); ++s) ++lengths[data.sequences.length(s)];
    EXPECT_EQ(lengths.size(), 6U) << task.name;
    EXPECT_EQ(lengths.begin()->first, 4U) << task.name;
    EXPECT_EQ(lengths.rbegin()->first, 9U) << task.name;
  }
}

TEST(Tasks, ParityCountsOnes) {
  const Dataset data = generate("parity", {.sequences = 500});
  double ones = 0.0;
  for (std::size_t s = 0; s < data.sequences.count(); ++s) {
    int count = 0;
    for (std::size_t t = 0; t < data.sequences.length(s); ++t) {
      count += x(data, s, t) == 1.0F ? 1 : 0;
      ASSERT_EQ(y(data, s, t), std::to_string(count % 2));
    }
    ones += count;
  }
  EXPECT_NEAR(ones / static_cast<double>(data.sequences.steps()), 0.5, 0.03);
}

TEST(Tasks, FlipFlopRemembersTheLastSigns) {
  const Dataset data = generate("flip-flop", {.sequences = 1000});
  EXPECT_EQ(data.sequences.n_x, 3);
  double pulses = 0.0;
  double places = 0.0;
  std::map<std::string, int> classes;
  for (std::size_t s = 0; s < data.sequences.count(); ++s) {
    std::array<float, 3> last{};
    for (std::size_t t = 0; t < data.sequences.length(s); ++t) {
      for (std::size_t k = 0; k < 3; ++k) {
        const float value = x(data, s, t, k);
        ASSERT_TRUE(t > 0 || std::abs(value) == 1.0F);
        if (value != 0.0F) last[k] = value;
        if (t > 0) pulses += std::abs(value);
        if (t > 0) ++places;
      }
      const int code = (last[0] > 0 ? 4 : 0) + (last[1] > 0 ? 2 : 0) + (last[2] > 0 ? 1 : 0);
      ASSERT_EQ(y(data, s, t), std::to_string(code));
      ++classes[y(data, s, t)];
    }
  }
  EXPECT_NEAR(pulses / places, 0.1, 0.01);
  EXPECT_EQ(classes.size(), 8U);
}

TEST(Tasks, TemporalOrderAsksAtTheEnd) {
  const Dataset data = generate("temporal-order", {.sequences = 1000});
  std::map<std::string, int> classes;
  for (std::size_t s = 0; s < data.sequences.count(); ++s) {
    const std::size_t length = data.sequences.length(s);
    std::string seen;
    std::vector<std::size_t> places;
    for (std::size_t t = 0; t < length; ++t) {
      float sum = 0.0F;
      for (std::size_t k = 0; k < 6; ++k) sum += x(data, s, t, k);
      ASSERT_EQ(sum, 1.0F);
      if (x(data, s, t, 0) == 1.0F) seen += 'X';
      if (x(data, s, t, 1) == 1.0F) seen += 'Y';
      if (seen.size() > places.size()) places.push_back(t);
      ASSERT_EQ(y(data, s, t), t + 1 == length ? seen : "");
    }
    ASSERT_EQ(places.size(), 2U);
    ASSERT_LT(places[0], (length + 2) / 3);
    ASSERT_GE(places[1], length - (length + 2) / 3);
    ++classes[seen];
  }
  EXPECT_EQ(classes.size(), 4U);
  for (const auto& [label, n] : classes) EXPECT_NEAR(n, 250, 60) << label;
}

// The flow follows from rain and temperature by two stores, up to the noise.
TEST(Tasks, RunoffIsSnowThenSoil) {
  const Dataset data = generate("runoff", {.seed = 5});
  EXPECT_EQ(data.sequences.count(), 10U);
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"rain", "temp"}));
  double squares = 0, snow_most = 0;
  for (std::size_t s = 0; s < data.sequences.count(); ++s) {
    double snow = 0, soil = 0;
    for (auto t = static_cast<std::size_t>(data.sequences.offset[s]);
         t < static_cast<std::size_t>(data.sequences.offset[s + 1]); ++t) {
      snow += static_cast<double>(data.sequences.x[2 * t]);
      const double melt = snow / (1 + std::exp(1.5 - 0.6 * static_cast<double>(data.sequences.x[2 * t + 1])));
      snow -= melt;
      snow_most = std::max(snow_most, snow);
      soil = 0.94 * (soil + std::max(0.0, melt - 1.0));
      const double off = 0.2 + 0.9 * soil * 0.06 / 0.94 - static_cast<double>(data.sequences.value[t]);
      squares += off * off;
    }
  }
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(data.sequences.steps())), 0.15, 0.005);
  EXPECT_GT(snow_most, 30);
}

TEST(Tasks, RefuseWhatMakesNoSense) {
  EXPECT_EQ(error_of([] { generate("no-such-task", {}); }), "expected a task such as fixed-delay, got 'no-such-task'");
  EXPECT_EQ(error_of([] { generate("fixed-delay", {.sequences = 0}); }),
            "fixed-delay: sequences: expected a number from 1 to 100000000, got 0");
  EXPECT_EQ(error_of([] { generate("fixed-delay", {.delay = -1}); }),
            "fixed-delay: delay: expected a number from 0 to 1000000, got -1");
  EXPECT_EQ(error_of([] { generate("variable-delay", {.delay_min = 9}); }),
            "variable-delay: delay-min: expected at most delay-max, 7, got 9");
  EXPECT_EQ(error_of([] { generate("parity", {.length_min = 5, .length_max = 4}); }),
            "parity: length-min: expected at most length-max, 4, got 5");
  EXPECT_EQ(error_of([] { generate("temporal-order", {.length_max = 1}); }),
            "temporal-order: length-max: expected a number from 2 to 1000000, got 1");
  EXPECT_EQ(error_of([] { generate("fixed-delay", {.noise_sd = -1.0}); }),
            "fixed-delay: noise-sd: expected a number from 0 to 1e6, got -1");
  EXPECT_EQ(error_of([] { generate("fixed-delay", {.sequences = 1000000, .delay = 1000000}); }),
            "fixed-delay: expected at most 100000000 steps in all, got 1000000 sequences of 1000002");
}

}  // namespace
}  // namespace remede
