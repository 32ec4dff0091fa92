#include "remede/model/size.h"

#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/model/names.h"
#include "remede/model/predict.h"
#include "remede/model/ranges.h"
#include "support/random_model.h"
#include "support/same_model.h"
#include "support/snow.h"

namespace remede {
namespace {

TEST(Size, CountsWhatAReaderHasToTakeIn) {
  const Size size = size_of(test::model_of_snow());
  EXPECT_EQ(size.numbers, 14);  // 3 + 3 of what comes in, 3 + 2 of the taps, 3 of the answer
  EXPECT_EQ(size.cells, 2);
  EXPECT_EQ(size.splits, 0);
  EXPECT_EQ(size_text(test::model_of_snow()), "14 numbers: 2 cells, 0 splits");
}

// Two for the split; a class for each leaf; a write is its cell, its weight, its bias and its blend.
TEST(Size, OfLeavesThatWrite) {
  Model model;
  model.schema.task = Task::kClassification;
  model.schema.inputs = {"x"};
  model.schema.classes = {"a", "b"};
  model.fill = {0};
  Tree tree;
  tree.n_x = 1;
  tree.n_m = 1;
  tree.n_y = 2;
  tree.form.write_rule = WriteRule::kBlend;
  tree.form.write_bias = true;
  tree.feature = {0};
  tree.threshold = {0};
  tree.missing_right = {0};
  tree.left = {~0};
  tree.right = {~1};
  tree.output = {1, 2, 3, 4};
  tree.gate = {0, 1};
  tree.write = {0, 2};
  tree.bias = {0, 0.5F};
  tree.blend = {0, 1};
  model.trees = {tree};
  check(model, "model");
  EXPECT_EQ(size_of(model).numbers, 2 + 2 + 4);
  model.trees[0].form.leaf_output = LeafOutput::kLinear;
  model.trees[0].linear.assign(8, 0.0F);
  EXPECT_EQ(size_of(model).numbers, 2 + 2 + 4);  // weights of zero make no formula
  model.trees[0].linear[0] = 1;
  EXPECT_EQ(size_of(model).numbers, 2 + (2 + 1) + 1 + 4);
  model.trees.push_back(model.trees[0]);
  EXPECT_EQ(size_text(model), "20 numbers: 2 cells, 2 splits, 2 trees");
}

TEST(CellNames, AreGivenAndKept) {
  Model model = test::model_of_snow();
  EXPECT_EQ(cell_names(model, model.trees[0]), (std::vector<std::string>{"m1", "m2"}));
  rename_cells(model, {{"m1", "snow"}});
  EXPECT_EQ(cell_names(model, model.trees[0]), (std::vector<std::string>{"snow", "m2"}));
  rename_cells(model, {{"snow", "m2"}, {"m2", "soil"}});  // all at once
  EXPECT_EQ(cell_names(model, model.trees[0]), (std::vector<std::string>{"m2", "soil"}));
  model.schema.inputs[0] = "m1";
  model.trees[0].cell_name.clear();
  EXPECT_EQ(cell_names(model, model.trees[0])[0], "mem1");
}

TEST(CellNames, BadOnesAreRefused) {
  const auto error = [](const std::vector<std::pair<std::string, std::string>>& names, int trees = 1) {
    Model model = test::model_of_snow();
    for (int t = 1; t < trees; ++t) model.trees.push_back(model.trees[0]);
    const Model before = model;
    try {
      rename_cells(model, names);
    } catch (const Error& e) {
      EXPECT_TRUE(test::same_model(model, before));
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error({{"m3", "x"}}), "expected the name of a cell (m1, m2), got 'm3'");
  EXPECT_EQ(error({{"m1", "rain"}}), "expected a name for a cell that no input has, got 'rain'");
  EXPECT_EQ(error({{"m1", "m2"}}), "expected names of cells that differ, got 'm2' twice");
  EXPECT_EQ(error({{"m1", "a"}, {"m1", "b"}}), "expected one new name for cell 'm1', got several");
  EXPECT_EQ(error({{"m1", "a\n"}}).substr(0, 60), "expected a name in UTF-8 without control characters for a ce");
  EXPECT_EQ(error({{"m1", "a"}}, 2),
            "expected the tree of cell 'm1' as well, such as '1.m1', got the name alone: 2 trees have it");
  EXPECT_EQ(error({{"2.m1", "a"}}, 2), "no error");
}

TEST(Ranges, AreThoseOfTheData) {
  Model model = test::model_of_snow();
  Random random(4);
  const Sequences data = test::random_sequences(random, 2, 5, 200, 0);
  note_ranges(model, data);
  check(model, "model");
  ASSERT_EQ(model.input_range.size(), 2U);
  EXPECT_NEAR(model.input_range[0].low, -1.64, 0.4);
  EXPECT_NEAR(model.input_range[0].high, 1.64, 0.4);
  ASSERT_EQ(model.trees[0].share_range.size(), 2U);
  EXPECT_GT(model.trees[0].share_range[0].low, 0.005F);
  EXPECT_LT(model.trees[0].share_range[0].high, 0.02F);
  EXPECT_GT(model.trees[0].level_range[0].high, model.trees[0].level_range[0].low);
  Model plain = test::model_of_snow();
  EXPECT_TRUE(test::same_bits(predict(plain, data).output, predict(model, data).output));
}

}  // namespace
}  // namespace remede
