#include "remede/model/tree.h"

#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "remede/base/error.h"
#include "remede/model/limits.h"
#include "remede/model/model.h"
#include "support/random_model.h"

namespace remede {
namespace {

using testing::HasSubstr;

std::string error_of(const Tree& tree) {
  try {
    check(tree, "tree");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Tree sound_tree() {
  Random random(1);
  const LeafForm form = {WriteRule::kBlend, WriteReads::kInputsAndMemory, true, LeafOutput::kLinear,
                         OutputOrder::kZero};
  return test::random_tree(random, 2, 2, 2, 5, form);
}

// A chain: the left child is the next node, the right one a leaf.
Tree chain(int inner) {
  Tree tree;
  tree.n_x = 1;
  tree.n_y = 1;
  for (int i = 0; i < inner; ++i) {
    tree.feature.push_back(0);
    tree.threshold.push_back(0);
    tree.missing_right.push_back(0);
    tree.left.push_back(i + 1 < inner ? i + 1 : ~inner);
    tree.right.push_back(~i);
  }
  tree.output.resize(static_cast<std::size_t>(inner) + 1);
  return tree;
}

TEST(CheckTree, RandomTreesAreSound) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Random random(seed);
    check(test::random_model(random, {.most_inner = 40, .most_trees = 3, .awkward = true, .laws = true}), "model");
  }));
}

TEST(CheckTree, EveryArrayHasItsShape) {
  using Damage = std::pair<const char*, std::function<void(Tree&)>>;
  const std::vector<Damage> damages = {{"threshold", [](Tree& t) { t.threshold.pop_back(); }},
                                       {"missing_right", [](Tree& t) { t.missing_right.pop_back(); }},
                                       {"left", [](Tree& t) { t.left.pop_back(); }},
                                       {"right", [](Tree& t) { t.right.pop_back(); }},
                                       {"output", [](Tree& t) { t.output.pop_back(); }},
                                       {"linear", [](Tree& t) { t.linear.clear(); }},
                                       {"gate", [](Tree& t) { t.gate.push_back(0); }},
                                       {"write", [](Tree& t) { t.write.pop_back(); }},
                                       {"bias", [](Tree& t) { t.bias.pop_back(); }},
                                       {"blend", [](Tree& t) { t.blend.clear(); }}};
  for (const auto& [name, damage] : damages) {
    Tree tree = sound_tree();
    damage(tree);
    EXPECT_THAT(error_of(tree), HasSubstr(std::string("values of ") + name));
  }
}

TEST(CheckTree, EveryNumberIsFinite) {
  for (auto array : {&Tree::threshold, &Tree::output, &Tree::linear, &Tree::write, &Tree::bias, &Tree::blend}) {
    Tree tree = sound_tree();
    (tree.*array).back() = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THAT(error_of(tree), HasSubstr("expected finite values"));
  }
}

TEST(CheckTree, FlagsFeaturesAndBlendAreInRange) {
  Tree tree = sound_tree();
  tree.gate[0] = 2;
  EXPECT_THAT(error_of(tree), HasSubstr("gate of 0 or 1, got 2"));
  tree = sound_tree();
  tree.feature[0] = 4;
  EXPECT_THAT(error_of(tree), HasSubstr("a feature from 0 to 3, got 4"));
  tree.feature[0] = -1;
  EXPECT_THAT(error_of(tree), HasSubstr("a feature from 0 to 3, got -1"));
  tree = sound_tree();
  tree.blend[0] = -0.5F;
  EXPECT_THAT(error_of(tree), HasSubstr("blend from 0 to 1, got -0.5"));
  tree = sound_tree();
  tree.n_m = -1;
  EXPECT_THAT(error_of(tree), HasSubstr("memory cells from 0 to 4096, got -1"));
}

TEST(CheckTree, LinksFormATree) {
  Tree tree = chain(3);
  EXPECT_EQ(error_of(tree), "no error");
  tree.right[2] = ~0;  // leaf 0 has two parents
  EXPECT_THAT(error_of(tree), HasSubstr("without another parent, got leaf 0"));
  tree = chain(3);
  tree.left[1] = 1;
  EXPECT_THAT(error_of(tree), HasSubstr("node 1: expected a child after it"));
  tree.left[1] = 0;
  EXPECT_THAT(error_of(tree), HasSubstr("node 1: expected a child after it"));
  tree.left[1] = std::numeric_limits<std::int32_t>::min();
  EXPECT_THAT(error_of(tree), HasSubstr("within the tree"));
  tree.left[1] = 3;
  EXPECT_THAT(error_of(tree), HasSubstr("within the tree"));
}

TEST(CheckTree, DepthIsBounded) {
  EXPECT_EQ(error_of(chain(kMostDepth)), "no error");
  EXPECT_THAT(error_of(chain(kMostDepth + 1)), HasSubstr("expected a depth of at most 1000"));
}

TEST(CheckModel, TreesFitTheSchema) {
  Random random(4);
  Model model = test::random_model(random);
  model.schema.inputs.push_back("another");
  model.fill.push_back(0);
  try {
    check(model, "model");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("model: tree 0: expected"));
  }
}

TEST(CheckModel, NamesAreUtf8) {
  const std::vector<std::string> bad = {
      "\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"};
  for (const std::string& name : bad) {
    Random random(4);
    Model model = test::random_model(random);
    model.schema.inputs[0] = name;
    EXPECT_THROW(check(model, "model"), Error);
    model.schema.inputs[0] =
        "gr\xC3\xB6\xC3\x9F"
        "e \xE2\x82\xAC \xF0\x9F\x8C\xB3";
    EXPECT_NO_THROW(check(model, "model"));
  }
}

}  // namespace
}  // namespace remede
