// The state machines of models that training found, with its defaults: they are the machines of the tasks.
#include <functional>

#include <gtest/gtest.h>

#include "remede/data/tasks.h"
#include "remede/draw/machine.h"
#include "remede/train/fit.h"

namespace remede {
namespace {

struct Learned {
  Dataset data;
  Fit result;
};

Learned learn(const std::string& task, std::int64_t sequences) {
  Learned learned;
  learned.data = generate(task, {.sequences = sequences});
  learned.result = fit(learned.data, nullptr, {.seed = 1});
  return learned;
}

TEST(MachineOfTrainedSlow, TheFirstTaskHasThreeStates) {
  const Learned learned = learn("fixed-delay", 2000);
  ASSERT_EQ(learned.result.validation.accuracy, 1) << "solved";
  const Machine machine = find_machine(learned.result.model, learned.data.sequences);
  EXPECT_EQ(machine.states.size(), 3U) << machine_text(machine);
  EXPECT_GE(machine.agreement, 0.999);
}

TEST(MachineOfTrainedSlow, TheFifthTaskHasAtMostNine) {
  const Learned learned = learn("sign-memory", 2000);
  ASSERT_GE(learned.result.validation.accuracy, 0.9999) << "solved";
  const Machine machine = find_machine(learned.result.model, learned.data.sequences);
  EXPECT_LE(machine.states.size(), 9U) << machine_text(machine);
  EXPECT_GE(machine.states.size(), 5U) << "a sign before each of two blocks must be told apart";
  EXPECT_GE(machine.agreement, 0.998);
}

using Language = std::function<bool(const std::string&)>;

// Follows the machine through all words up to this length; returns the first it has wrong, or nothing.
std::string first_difference(const Machine& machine, const Language& language, std::size_t longest) {
  std::vector<std::pair<std::string, int>> open = {{"", 0}};
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto [word, state] = open[i];
    for (const char bit : {'0', '1'}) {
      const float x = bit == '1' ? 1.0F : 0.0F;
      const std::string longer = word + bit;
      const bool accepted = machine.outputs[static_cast<std::size_t>(machine.output(state, &x))] == "1";
      if (accepted != language(longer)) return longer;
      if (longer.size() < longest) open.emplace_back(longer, machine.next(state, &x));
    }
  }
  return "";
}

void expect_language(const std::string& task, const Language& language, std::size_t states) {
  const Learned learned = learn(task, 2000);
  const Machine machine = find_machine(learned.result.model, learned.data.sequences);
  ASSERT_FALSE(machine.rules.empty()) << machine_text(machine);
  EXPECT_EQ(machine.agreement, 1) << machine_text(machine);
  EXPECT_EQ(first_difference(machine, language, 12), "") << machine_text(machine);
  EXPECT_EQ(machine.states.size(), states) << machine_text(machine);
}

// Only ones.
TEST(MachineOfTrainedSlow, AcceptsTomita1) {
  expect_language(
      "tomita-1", [](const std::string& w) { return w.find('0') == std::string::npos; }, 2);
}

// (10)*
TEST(MachineOfTrainedSlow, AcceptsTomita2) {
  const Language language = [](const std::string& w) {
    for (std::size_t i = 0; i < w.size(); ++i)
      if (w[i] != (i % 2 == 0 ? '1' : '0')) return false;
    return w.size() % 2 == 0;
  };
  expect_language("tomita-2", language, 3);
}

// No three zeros in a row.
TEST(MachineOfTrainedSlow, AcceptsTomita4) {
  expect_language(
      "tomita-4", [](const std::string& w) { return w.find("000") == std::string::npos; }, 4);
}

}  // namespace
}  // namespace remede
