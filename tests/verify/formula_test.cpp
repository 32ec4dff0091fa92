#include "remede/verify/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "support/random_model.h"
#include "verify/random_property.h"

namespace remede::test {
namespace {

Model small_model() {
  Random random(3);
  Model model;
  model.schema.task = Task::kClassification;
  model.schema.inputs = {"x1", "wind speed", "activity = open", "activity = shut"};
  model.schema.codes = {{"activity = open", "activity", false, {"open"}, {1.0F}, 0.0F},
                        {"activity = shut", "activity", false, {"shut"}, {1.0F}, 0.0F}};
  model.schema.targets = {"y"};
  model.schema.classes = {"-1", "0", "alarm"};
  model.fill.assign(4, 0.0F);
  model.trees.push_back(random_tree(random, 4, 2, 3, 5, LeafForm{}));
  return model;
}

std::string meaning(const std::string& text) {
  const Model model = small_model();
  const Formula formula = parse_formula(model, text, "property");
  return formula_text(model, formula, formula.root);
}

std::string error_of(const std::string& text, bool assumption = false) {
  const Model model = small_model();
  try {
    assumption ? parse_assumption(model, text) : parse_formula(model, text, "property");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Formula, ReadsWhatPeopleWrite) {
  EXPECT_EQ(meaning("never says alarm unless once x1 >= 0.2"), "always (not says alarm or once x1 >= 0.2)");
  EXPECT_EQ(meaning("always (x1 >= 0 and x1 <= 130)"), "always (x1 >= 0 and x1 <= 130)");
  EXPECT_EQ(meaning("0 <= x1 < 5"), "(x1 >= 0 and x1 < 5)");
  EXPECT_EQ(meaning("x1 in -20..60"), "(x1 >= -20 and x1 <= 60)");
  EXPECT_EQ(meaning("x1 in {0, 1}"), "(x1 = 0 or x1 = 1)");
  EXPECT_EQ(meaning("[wind speed] > 3 or 'wind speed' is missing"), "([wind speed] > 3 or [wind speed] missing)");
  EXPECT_EQ(meaning("activity = open and activity != shut"),
            "(activity = open and not (activity = shut or activity missing))");
  EXPECT_EQ(meaning("activity = missing or x1 != missing"), "(activity missing or not x1 missing)");
  EXPECT_EQ(meaning("says -1"), "says -1");
  EXPECT_EQ(meaning("p(alarm) >= 0.9 since m1 >= 0"), "(p(alarm) >= 0.9 since m1 >= 0)");
  EXPECT_EQ(meaning("x1 changes by at most 5"), "x1 changes by at most 5");
  EXPECT_EQ(meaning("step >= 3 implies previously not x1 present"), "(not step >= 3 or previously not not x1 missing)");
}

TEST(Formula, ADeadlineFollowsImpliesOnly) {
  EXPECT_EQ(meaning("x1 >= 90 for 3 steps implies says alarm within 1 step"),
            "((x1 >= 90 for 3 steps) implies says alarm then or at one of the 1 step after)");
  EXPECT_EQ(meaning("says alarm implies once x1 >= 2 within 3 steps"),
            "(not says alarm or (x1 >= 2 in the last 3 steps))");
  EXPECT_EQ(meaning("says alarm implies x1 >= 2 in the last 3 steps"),
            "(not says alarm or (x1 >= 2 in the last 3 steps))");
  EXPECT_EQ(meaning("x1 >= 2 within 3 steps"), "(x1 >= 2 in the last 3 steps)");
  EXPECT_THAT(error_of("not (x1 >= 2 implies says alarm within 2 steps)"),
              testing::HasSubstr("only under 'always' and 'and'"));
}

TEST(Formula, ErrorsSayWhatAndWhere) {
  EXPECT_EQ(error_of("never says 1"), "property: expected one of the classes -1, 0, alarm, got '1' at character 12");
  EXPECT_EQ(error_of("x1 >= "), "property: expected a value, got the end at character 7");
  EXPECT_EQ(error_of("(x1 >= 1"), "property: expected ')', got the end at character 9");
  EXPECT_THAT(error_of("x2 >= 1"), testing::HasSubstr("expected the name of an input, an answer or a cell (x1, wind "
                                                      "speed, activity, m1, m2), got 'x2' at character 1"));
  EXPECT_THAT(error_of("x1 >= 1 x1"), testing::HasSubstr("or the end, got 'x1' at character 9"));
  EXPECT_THAT(error_of("x1 >= 1 for 0 steps"), testing::HasSubstr("from 1, got '0' at character 13"));
  EXPECT_THAT(error_of("x1 >= 1 for 2.5 steps"), testing::HasSubstr("a number of steps"));
  EXPECT_THAT(error_of("activity = ajar"), testing::HasSubstr("a word that the model knows (open, shut, other"));
  EXPECT_THAT(error_of("[wind"), testing::HasSubstr("to close the name"));
  EXPECT_THAT(error_of("x1 >= 1e99"), testing::HasSubstr("fits a float"));
  EXPECT_THAT(error_of("x1 in 5..2"), testing::HasSubstr("at least 5"));
  EXPECT_THAT(error_of(""), testing::HasSubstr("got the end at character 1"));
  EXPECT_THAT(error_of(std::string(500, '(') + "x1 >= 1"), testing::HasSubstr("levels of brackets"));
  EXPECT_THAT(error_of("says alarm", true), testing::HasSubstr("assumption: expected inputs only"));
  EXPECT_THAT(error_of("m1 >= 0", true), testing::HasSubstr("assumption"));
}

TEST(Formula, ANameOfTwoThings) {
  Model model = small_model();
  model.schema.task = Task::kRegression;
  model.schema.horizon = 1;
  model.schema.classes.clear();
  model.schema.inputs = {"y", "step", "true", "z"};
  model.schema.codes.clear();
  model.schema.targets = {"y", "u", "v"};
  const auto read = [&](const char* text, bool assumption) {
    const Formula f = assumption ? parse_assumption(model, text) : parse_formula(model, text, "property");
    return std::pair(f.atoms.at(0).kind, formula_text(model, f, f.root));
  };
  const auto error = [&](const char* text) -> std::string {
    try {
      parse_formula(model, text, "property");
    } catch (const Error& caught) {
      return caught.what();
    }
    return "";
  };
  using ::testing::Pair;
  EXPECT_THAT(read("y <= 120", false), Pair(AtomKind::kAnswer, "y <= 120"));
  EXPECT_THAT(read("[y] <= 120", false), Pair(AtomKind::kAnswer, "y <= 120"));
  EXPECT_THAT(read("input.y <= 120", false), Pair(AtomKind::kInput, "input.y <= 120"));
  EXPECT_THAT(read("input.y missing", false), Pair(AtomKind::kMissing, "input.y missing"));
  EXPECT_THAT(read("y <= 120", true), Pair(AtomKind::kInput, "input.y <= 120"));
  EXPECT_THAT(read("input.z <= 120", false), Pair(AtomKind::kInput, "z <= 120"));
  EXPECT_THAT(read("step <= 120", false), Pair(AtomKind::kStep, "step <= 120"));
  EXPECT_THAT(read("step <= 120", true), Pair(AtomKind::kStep, "step <= 120"));
  EXPECT_THAT(read("[step] <= 120", false), Pair(AtomKind::kInput, "[step] <= 120"));
  EXPECT_THAT(read("[true] >= 1 and true", false), Pair(AtomKind::kInput, "([true] >= 1 and true)"));
  EXPECT_THAT(error("w >= 1"), testing::HasSubstr("(input.y, step, true, z, y, u, v"));
  model.own_objective = {Loss::kQuantile, {0.1F, 0.9F}};
  model.schema.targets = {"y"};
  EXPECT_THAT(error("y <= 120"),
              testing::HasSubstr("expected an answer (y q0.1, y q0.9) or the input input.y, got 'y'"));
  EXPECT_THAT(read("[y q0.9] <= 120", false), Pair(AtomKind::kAnswer, "[y q0.9] <= 120"));
}

TEST(Formula, PropertiesOfAFile) {
  EXPECT_THAT(property_lines("# all\n always x1 >= 0 # why\r\n\n never x1 > 5"),
              testing::ElementsAre("always x1 >= 0", "never x1 > 5"));
}

// The monitor, with its few counters, against the meaning by definition.
TEST(Monitor, MeansWhatTheFormulaMeans) {
  Random random(5);
  const Model model = small_model();
  for (int round = 0; round < 400; ++round) {
    const std::string text = random.below(2) == 0 ? random_property(random, model, 3) : likely_property(random, model);
    Formula formula = parse_formula(model, text, "property");
    const Monitor monitor(formula, {});
    MonitorState state = monitor.start();
    std::vector<std::vector<std::uint8_t>> truth;
    for (std::size_t t = 0; t < 12; ++t) {
      std::vector<std::uint8_t> now;
      for (std::size_t a = 0; a < formula.atoms.size(); ++a) now.push_back(random.below(3) == 0 ? 1 : 0);
      truth.push_back(now);
      // The monitor may have its atoms in another order.
      std::vector<std::uint8_t> mapped;
      for (const Atom& atom : monitor.atoms())
        mapped.push_back(now[static_cast<std::size_t>(std::find(formula.atoms.begin(), formula.atoms.end(), atom) -
                                                      formula.atoms.begin())]);
      int root = formula.root;
      while (formula.nodes[static_cast<std::size_t>(root)].op == Op::kAlways)
        root = formula.nodes[static_cast<std::size_t>(root)].child[0];
      ASSERT_EQ(monitor.step(mapped, state).holds, plain_truth(formula, root, t, truth)) << text << " at " << t;
    }
  }
}

}  // namespace
}  // namespace remede::test
