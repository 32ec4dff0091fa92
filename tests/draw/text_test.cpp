#include "remede/draw/text.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "support/hand_built.h"
#include "support/snow.h"

namespace remede {
namespace {

using test::leaf;
using test::split;
using test::sure;

TEST(Text, ThePapersTree) {
  EXPECT_EQ(to_text(test::paper_tree()),
            "y from x1: 15 numbers, 1 cell, 4 splits\n"
            "\n"
            "m1 >= -0.23 ?\n"
            "├─ yes: x1 >= 0.5 ?\n"
            "│  ├─ yes: say \"1\" (>99.9%)\n"
            "│  └─ no:  m1 >= 0.13 ?\n"
            "│     ├─ yes: say \"0\" (>99.9%)\n"
            "│     └─ no:  say \"0\" (>99.9%); m1 += tanh(37.6 x1)\n"
            "└─ no:  x1 >= 0.5 ?\n"
            "   ├─ yes: say \"-1\" (>99.9%)\n"
            "   └─ no:  say \"0\" (>99.9%)\n");
}

// Cells come first, in words; half-lives and ranges are those of the data the model saw.
TEST(Text, SnowAndSoil) {
  Model model = test::model_of_snow();
  model.trees[0].level_range = {{0, 312}, {2, 40}};
  model.trees[0].share_range = {{0.003F, 0.08F}, {0.07F, 0.13F}};
  EXPECT_EQ(to_text(model),
            "flow from rain and temp: 14 numbers, 2 cells, 0 splits\n"
            "\n"
            "m1 (store): fills with rain, less when temp is high; loses 0.3% to 8% per step, more when temp is high, "
            "less the fuller it is\n"
            "    half-life 8.3 to 231 steps; usually holds 0 to 312; read by m2\n"
            "    in: max(0, 3.45 + 0.675 rain - 0.338 temp); share: sigmoid(-4.5 + 0.1 temp - 0.0009 m1)\n"
            "m2 (store): fills with rain and what m1 releases; loses 7% to 13% per step, more the fuller it is\n"
            "    half-life 5 to 9.6 steps; usually holds 2 to 40; read by the answer\n"
            "    in: max(0, -2.73 + 0.494 release(m1) + 0.185 rain); share: sigmoid(-2.6 + 0.02 m2)\n"
            "\n"
            "say flow = 0.3 + 0.79 release(m2) + 0.05 m2\n");
}

// The only leaf closes the tap: the cell's description says that it loses nothing, and the answer does not repeat it.
TEST(Text, ATapThatEveryLeafClosesIsSaidOnce) {
  Model model = test::model_of_snow();
  model.trees[0].cells.tap_leaf[0] = -std::numeric_limits<float>::infinity();
  const std::string text = to_text(model);
  EXPECT_NE(text.find("loses nothing"), std::string::npos) << text;
  EXPECT_EQ(text.find("the tap of"), std::string::npos) << text;
}

// Four averages: the second and third each follow the one before as fast, the fourth more slowly.
TEST(Text, AChainOfAveragesIsSaidAtOnce) {
  Model model = test::model_of_snow();
  Tree& tree = model.trees[0];
  Cells& c = tree.cells;
  constexpr std::size_t kCells = 4;
  tree.n_m = kCells;
  c.law.assign(kCells, Law::kAverage);
  c.first.assign(kCells, 1);
  c.bias.assign(kCells, 0.0F);
  c.input.assign(kCells * 2, 0.0F);
  c.input[0] = 1;
  c.earlier.assign(kCells * kCells, 0.0F);
  for (std::size_t k = 1; k < kCells; ++k) c.earlier[k * kCells + k - 1] = 1;
  c.tap = {-1, -1, -1, -2};
  c.tap_input.assign(kCells * 2, 0.0F);
  c.tap_level.assign(kCells, 0.0F);
  c.tap_leaf.assign(kCells, 0.0F);
  c.linear.assign(2 + 2 * kCells, 0.0F);
  c.linear.back() = 3;
  tree.output = {0.5F};
  tree.level_range.clear();
  tree.share_range.clear();
  EXPECT_EQ(
      to_text(model),
      "flow from rain and temp: 10 numbers, 4 cells, 0 splits\n"
      "\n"
      "m1 to m3 (chain of 3 running averages): the first follows rain, each other one the average before it; each "
      "moves 27% of the way per step\n"
      "    half-life 2.2 steps each; towards: rain; share: 27%; all start at their first values\n"
      "m4 (running average): follows m3; moves 12% of the way per step\n"
      "    half-life 5.5 steps; read by the answer; starts at its first value\n"
      "    towards: m3; share: 12%\n"
      "\n"
      "say flow = 0.5 + 3 m4\n");
  c.first[2] = 0;  // no longer like the one before
  EXPECT_NE(to_text(model).find("m1 and m2 (chain of 2 running averages)"), std::string::npos);
}

// A store that empties at every step, and one that takes in 1 less what it releases.
TEST(Text, ACountOfStepsIsSaidAsSuch) {
  Model model = test::model_of_snow();
  Tree& tree = model.trees[0];
  Cells& c = tree.cells;
  constexpr std::size_t kCells = 2;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  tree.n_m = kCells;
  c.law.assign(kCells, Law::kStore);
  c.first.assign(kCells, 0);
  c.bias = {0.5F, 1};
  c.input = {-1, 0, 0, 0};
  c.earlier = {0, 0, -100, 0};
  c.tap.assign(kCells, 0.0F);
  c.tap_input.assign(kCells * 2, 0.0F);
  c.tap_level.assign(kCells, 0.0F);
  c.tap_leaf = {kInfinity, -kInfinity};
  c.linear.assign(2 + 2 * kCells, 0.0F);
  c.linear.back() = 3;
  tree.output = {0.5F};
  tree.level_range.clear();
  tree.share_range.clear();
  EXPECT_EQ(to_text(model),
            "flow from rain and temp: 8 numbers, 2 cells, 0 splits\n"
            "\n"
            "m1 and m2 (counter): counts the steps at which 0.5 - rain is below 0, in part up to 0.01; loses nothing\n"
            "    never forgets; read by the answer\n"
            "    release(m1): max(0, 0.5 - rain); in: max(0, 1 - 100 release(m1)); share: 0%\n"
            "\n"
            "say flow = 0.5 + 3 m2\n");
  c.law[1] = Law::kPositiveAverage;
  c.tap_leaf[1] = 0;
  c.tap[1] = -1;
  EXPECT_NE(to_text(model).find("m1 and m2 (recent share): is the share of recent steps at which 0.5 - rain is "
                                "below 0, in part up to 0.01; moves 27% of the way per step"),
            std::string::npos)
      << to_text(model);
  c.linear[2] = 1;  // what the first one releases now counts by itself
  EXPECT_EQ(to_text(model).find("m1 and m2"), std::string::npos);
}

}  // namespace
}  // namespace remede
