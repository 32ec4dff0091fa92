#include "remede/pages/report.h"

#include <gtest/gtest.h>

#include "pages/data_sets.h"
#include "remede/base/error.h"
#include "remede/data/unknown.h"
#include "remede/model/file.h"
#include "support/hand_built.h"
#include "support/random_model.h"

namespace remede {
namespace {

bool has(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

TEST(Report, HasEverySection) {
  Model model = test::parity_tree();
  model.training.settings = {{"seed", "7"}};
  model.training.training_loss = {0.7, 0.3, 0.1};
  model.training.validation_loss = {0.8, 0.4, 0.2};
  ReportOptions options;
  options.command = "remede train TRAINING.csv --seed 7";
  options.data_name = "data.csv";
  const std::string page = report_page(model, test::counting_data(model, {6, 4, 5}), options);
  for (const char* const id :
       {"data", "scores", "learning", "tree", "machine", "bounds", "trace", "importance", "settings"})
    EXPECT_TRUE(has(page, std::string("<section id=\"") + id + "\">")) << id;
  for (const char* const text : {"accuracy", "balanced accuracy", "Confusion", "validation loss", "--seed 7",
                                 "data.csv", "missing", "each leaf as a sentence", "How far back it looks", "shuffled"})
    EXPECT_TRUE(has(page, text)) << text;
  EXPECT_TRUE(has(page, "\n  cell m1: ")) << "lines of their own";
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "{{"));
}

TEST(Report, RegressionHasErrorsAndAScatter) {
  Model model = test::make_model(1, 0, {}, {}, test::split(0, 0.5F, test::leaf({1}), test::leaf({3})));
  const std::string page = report_page(model, test::counting_data(model, {6, 4}));
  for (const char* const text : {"RMSE", "MAE", "R2", "answers against targets"}) EXPECT_TRUE(has(page, text)) << text;
  EXPECT_FALSE(has(page, "Confusion"));
  EXPECT_FALSE(has(page, "id=\"machine\"")) << "no memory, no machine";
}

TEST(Report, WithoutTargetsThereAreNoScores) {
  const Model model = test::parity_tree();
  Dataset data = test::counting_data(model, {6, 4});
  data.sequences.weight.clear();
  data.sequences.label.clear();
  const std::string page = report_page(model, data);
  EXPECT_FALSE(has(page, "id=\"scores\""));
  EXPECT_TRUE(has(page, "id=\"tree\""));
  EXPECT_THROW(report_page(model, test::counting_data(model, {})), Error);
}

// Six known targets, of which at most three are one class, and four of a class that training did not know.
TEST(Report, UnknownClassesAreWrongInEveryFigure) {
  const Model model = test::parity_tree();
  Dataset data = test::counting_data(model, {6, 4});
  for (std::size_t t = 6; t < 10; ++t) {
    data.unknown.step.push_back(static_cast<std::int64_t>(t));
    data.unknown.step_weight.push_back(1.0F);
    data.sequences.weight[t] = 0.0F;
  }
  data.unknown.count = 4;
  data.unknown.weight = 4.0;
  const std::string page = report_page(model, data);
  EXPECT_TRUE(has(page, "30%")) << "always the most frequent class";
  EXPECT_TRUE(has(page, "accuracy on 10 steps"));
  data.unknown = {};
  EXPECT_TRUE(has(report_page(model, data), "accuracy on 6 of 10 steps"));
  const Dataset again = with_unknown_targets(data);
  EXPECT_EQ(again.sequences.weight[6], 0.0F);
}

TEST(Report, NamesAreEscaped) {
  Model model = test::parity_tree();
  model.schema.inputs[0] = "<script>alert(1)</script>";
  model.schema.classes[1] = "\"><img src=x>";
  model.training.settings = {{"<b>", "</td>"}};
  ReportOptions options;
  options.data_name = "<i>.csv";
  const std::string page = report_page(model, test::counting_data(model, {6, 4}), options);
  for (const char* const text : {"<script", "<img", "<b>", "<i>"}) EXPECT_FALSE(has(page, text)) << text;
}

void expect_pages_of_random_models(unsigned first, unsigned last) {
  for (unsigned seed = first; seed < last; ++seed) {
    Random random(seed);
    test::RandomModelOptions options;
    options.awkward = seed % 2 == 1;
    options.most_trees = 3;
    const Model model = test::random_model(random, options);
    Dataset data = test::counting_data(model, {5, 3});
    data.sequences.x[0] = std::numeric_limits<float>::quiet_NaN();
    const std::string page = report_page(model, data);
    EXPECT_TRUE(has(page, "</html>"));
    EXPECT_FALSE(has(page, "=\"nan")) << "seed " << seed;
  }
}

TEST(Report, AnyModelHasAPage) { expect_pages_of_random_models(0, 4); }
TEST(ReportLong, AnyModelHasAPage) { expect_pages_of_random_models(4, 40); }

// A model of three quantiles answers three numbers for one target: figures and curves take the middle one.
TEST(Report, OfQuantilesHasOneTarget) {
  const Model model = load_model(std::string(REMEDE_TESTS_DIR) + "/model/files/v3_quantile.json");
  Dataset data;
  data.schema = model.schema;
  data.sequences.n_x = 1;
  data.sequences.n_y = 1;
  for (int t = 0; t < 8; ++t) {
    data.sequences.x.push_back(static_cast<float>(t % 2));
    data.sequences.value.push_back(t % 2 == 0 ? 5.0F : 11.0F);  // 3 away from their mean
    data.sequences.weight.push_back(1);
  }
  data.sequences.offset.push_back(8);
  const std::string page = report_page(model, data, {});
  EXPECT_TRUE(has(page, "Observed and predicted over time"));
  EXPECT_TRUE(has(page, "RMSE of always the mean</dt><dd>3</dd>"));
}

}  // namespace
}  // namespace remede
