#include "remede/draw/machine.h"

#include <ctime>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "remede/data/tasks.h"
#include "support/hand_built.h"
#include "support/random_model.h"

namespace remede {
namespace {

using test::leaf;
using test::split;
using test::sure;
using testing::HasSubstr;

// Sequences of zeros and ones.
Sequences bits(const std::vector<std::string>& words) {
  Sequences data;
  data.n_x = 1;
  for (const std::string& word : words) {
    for (const char c : word) data.x.push_back(c == '1' ? 1.0F : 0.0F);
    data.offset.push_back(static_cast<std::int64_t>(data.x.size()));
  }
  return data;
}

TEST(Machine, ThePapersTreeHasThreeStates) {
  const Dataset data = generate("fixed-delay", {.sequences = 400});
  const Machine machine = find_machine(test::paper_tree(), data.sequences);
  EXPECT_EQ(machine.kind, MachineKind::kLearned);
  ASSERT_EQ(machine.states.size(), 3U);
  EXPECT_GE(machine.agreement, 0.998);
  EXPECT_GE(machine.states[0].range[0].low, -0.23F) << "the beginning: nothing stored, or too little to tell";
  EXPECT_LT(machine.states[0].range[0].high, 0.13F);
  int negative = 0, positive = 0;
  for (std::size_t s = 1; s < 3; ++s) {
    negative += machine.states[s].range[0].high < 0 ? 1 : 0;
    positive += machine.states[s].range[0].low > 0 ? 1 : 0;
  }
  EXPECT_EQ(negative, 1);
  EXPECT_EQ(positive, 1);
}

TEST(Machine, ParityIsExactlyTwoStates) {
  const Machine machine = find_machine(test::parity_tree(), bits({"01", "110"}));
  EXPECT_EQ(machine.kind, MachineKind::kExact);
  ASSERT_EQ(machine.states.size(), 2U);
  EXPECT_EQ(machine.agreement, 1);
  const float zero = 0, one = 1;
  EXPECT_EQ(machine.next(0, &zero), 0);
  EXPECT_EQ(machine.next(0, &one), 1);
  EXPECT_EQ(machine.next(1, &one), 0);
  EXPECT_EQ(machine.outputs[static_cast<std::size_t>(machine.output(0, &one))], "1");
  EXPECT_EQ(machine.outputs[static_cast<std::size_t>(machine.output(1, &one))], "0");
}

// Two cells that always hold the same are one state, not four.
TEST(Machine, MissingValuesOfTheDataAreNamed) {
  const Model model = test::make_model(1, 0, {"a", "b"}, {}, split(0, 0.5F, leaf(sure(2, 0)), leaf(sure(2, 1))));
  Sequences data = bits({"01", "110"});
  EXPECT_THAT(machine_text(find_machine(model, data)), testing::Not(HasSubstr("missing")));
  data.x[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(machine_text(find_machine(model, data)), HasSubstr(" or missing"));
}

TEST(Machine, EquivalentStatesAreMerged) {
  LeafForm form;
  form.write_bias = true;
  const Model model = test::make_model(
      1, 2, {"no", "yes"}, form,
      split(1, 0.5F,
            split(2, 0.5F, split(0, 0.5F, leaf(sure(2, 0), {{0, {0}, 9}}), leaf(sure(2, 1), {{1, {0}, -9}})),
                  leaf(sure(2, 0))),
            leaf(sure(2, 0), {{1, {0}, 9}})));
  const Machine machine = find_machine(model, bits({"0110", "101"}));
  EXPECT_EQ(machine.states.size(), 2U) << machine_text(machine);
}

TEST(Machine, ACounterIsNoSmallMachine) {
  LeafForm form;
  form.write_bias = true;
  const Model model = test::make_model(
      1, 1, {"few", "many"}, form,
      split(1, 40, split(0, 0.5F, leaf(sure(2, 0)), leaf(sure(2, 0), {{0, {0}, 9}})), leaf(sure(2, 1))));
  std::string ones(60, '1');
  const Machine machine = find_machine(model, bits({ones, ones + "0"}));
  EXPECT_EQ(machine.kind, MachineKind::kRegions);
  EXPECT_THAT(machine_text(machine), HasSubstr("counts or averages"));
  for (const MachineState& s : machine.states) EXPECT_GT(s.longest_stay, 0);
}

// Many cells and inputs: without a limit the search takes minutes. Where it ends is a matter of counted work, not of
// time.
TEST(Machine, TheSearchEndsAtItsWorkLimitAndSaysSo) {
  Random random(5);
  test::RandomModelOptions options;
  options.most_inputs = 12;
  options.most_cells = 12;
  options.most_inner = 80;
  int limited = 0;
  for (int i = 0; i < 6; ++i) {
    const Model model = test::random_model(random, options);
    const Sequences data = test::random_sequences(random, model.n_x(), 40, 60);
    MachineOptions little;
    little.most_work = 2e7;
    const std::clock_t begin = std::clock();
    const Machine machine = find_machine(model, data, little);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 2) << "a hundredth of the usual work";
    EXPECT_EQ(machine_json(find_machine(model, data, little)), machine_json(machine));
    if (!machine.limited) continue;
    ++limited;
    EXPECT_THAT(machine_text(machine), HasSubstr("work limit"));
    EXPECT_EQ(nlohmann::ordered_json::parse(machine_json(machine))["limited"], true);
    EXPECT_FALSE(machine.states.empty());
  }
  EXPECT_GT(limited, 2);
}

// What is limited, with the usual limit, on a model whose memory drifts: seconds, where it once took minutes.
TEST(Machine, TheUsualLimitIsAboutTwoSeconds) {
  Random random(7);
  test::RandomModelOptions options;
  options.most_inputs = 6;
  options.most_cells = 12;
  options.most_inner = 60;
  const Model model = test::random_model(random, options);
  const Sequences data = test::random_sequences(random, model.n_x(), 80, 80);
  const std::clock_t begin = std::clock();
  const Machine machine = find_machine(model, data);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 6);
  EXPECT_TRUE(machine.limited);
}

TEST(Machine, WithoutMemoryThereIsOneState) {
  const Model model = test::make_model(1, 0, {"a", "b"}, {}, split(0, 0.5F, leaf(sure(2, 0)), leaf(sure(2, 1))));
  const Machine machine = find_machine(model, bits({"01"}));
  EXPECT_TRUE(machine.slots.empty());
  EXPECT_EQ(machine.states.size(), 1U);
  EXPECT_EQ(possible_machine(model).states.size(), 1U);
}

TEST(Machine, WithoutDataWhatIntervalsAllow) {
  const Machine machine = possible_machine(test::parity_tree());
  EXPECT_EQ(machine.kind, MachineKind::kPossible);
  EXPECT_EQ(machine.states.size(), 2U);
  EXPECT_THAT(machine_text(machine), HasSubstr("without data"));
  EXPECT_EQ(possible_machine(test::paper_tree()).states.size(), 3U);
}

TEST(Machine, OfAForestHasTheCellsOfAllTrees) {
  Model model = test::parity_tree();
  model.trees.push_back(test::tomita_1_tree().trees[0]);
  const Machine machine = find_machine(model, bits({"01", "110"}));
  EXPECT_EQ(machine.kind, MachineKind::kExact);
  EXPECT_THAT(machine.slots, testing::ElementsAre("tree 1 m1", "tree 2 m1"));
}

TEST(Machine, TextDotSvgAndJsonNameEveryState) {
  const Machine machine = find_machine(test::parity_tree(), bits({"01", "110"}));
  EXPECT_THAT(machine_text(machine), HasSubstr("A machine of 2 states. Exact"));
  EXPECT_THAT(machine_dot(machine), HasSubstr("A -> B"));
  EXPECT_THAT(machine_svg(machine), HasSubstr("<svg"));
  const auto json = nlohmann::ordered_json::parse(machine_json(machine));
  EXPECT_EQ(json["kind"], "exact");
  EXPECT_EQ(json["states"].size(), 2U);
  EXPECT_EQ(json["transitions"].size(), 4U);
}

TEST(Machine, OfAnyModelCanBeDrawn) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(41, seed);
    test::RandomModelOptions options;
    options.most_trees = 2;
    options.awkward = seed % 4 == 3;
    const Model model = test::random_model(random, options);
    const Sequences data = test::random_sequences(random, model.n_x(), 4, 20);
    std::vector<Machine> machines = {find_machine(model, data)};
    if (model.trees.size() == 1 && !model.trees[0].has_laws()) machines.push_back(possible_machine(model));
    for (const Machine& machine : machines) {
      const std::string svg = machine_svg(machine);
      EXPECT_THAT(svg, HasSubstr("</svg>")) << seed;
      EXPECT_EQ(svg.find("=\"nan"), std::string::npos) << seed;
      EXPECT_EQ(svg.find("=\"inf"), std::string::npos) << seed;
      EXPECT_FALSE(machine_text(machine).empty());
      EXPECT_TRUE(nlohmann::ordered_json::accept(machine_json(machine)));
    }
  }
}

}  // namespace
}  // namespace remede
