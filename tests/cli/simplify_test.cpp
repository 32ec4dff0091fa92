// remede simplify, from file to file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "remede/model/file.h"

namespace remede::test {
namespace {

using testing::HasSubstr;

// x1 >= 0: right, else left; x1 >= -1 on the right is always true; a second split on x2 that says the same on both
// sides for the data, and not quite for other numbers.
Model wide_model() {
  Model model;
  model.schema.inputs = {"x1", "x2"};
  model.schema.targets = {"y"};
  model.schema.classes = {"no", "yes"};
  model.schema.id = "id";
  model.fill = {0, 0};
  Tree tree;
  tree.n_x = 2;
  tree.n_y = 2;
  tree.feature = {0, 1, 0};
  tree.threshold = {0.0F, 0.5F, -1.0F};
  tree.missing_right = {0, 0, 0};
  tree.left = {1, ~0, ~2};
  tree.right = {2, ~1, ~3};
  tree.output = {2, 0, 1.9F, 0, 5, 5, 0, 2};
  model.trees = {tree};
  return model;
}

const char* const kData = "id,x1,x2,y\n1,-1,0,no\n1,1,1,yes\n2,-2,1,no\n2,2,0,yes\n3,-1,1,no\n";

class Simplify : public CliTest {};

TEST_F(Simplify, ExactStepsNeedNoData) {
  save_model(wide_model(), "m.json");
  const Result result = remede({"simplify", "m.json", "-o", "small.json", "--exact"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("removed 2 of 7 nodes: 2 contradicted by the tests above"));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(load_model("small.json").node_count(), 5);
}

TEST_F(Simplify, DataCollapseFurther) {
  save_model(wide_model(), "m.json");
  write("d.csv", kData);
  const Result result = remede({"simplify", "m.json", "d.csv", "-o", "small.json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2 replaced by one of their sides"));
  EXPECT_THAT(result.out, HasSubstr("never used: input x2"));
  const Model small = load_model("small.json");
  EXPECT_EQ(small.node_count(), 3);
  EXPECT_EQ(small.schema.inputs, std::vector<std::string>{"x1"});
  EXPECT_EQ(remede({"predict", "small.json", "d.csv"}).code, 0);  // the other column is simply not read
  EXPECT_EQ(remede({"simplify", "m.json", "d.csv", "-o", "all.json", "--keep-inputs"}).code, 0);
  EXPECT_EQ(load_model("all.json").n_x(), 2);
}

TEST_F(Simplify, ReportsAsJson) {
  save_model(wide_model(), "m.json");
  write("d.csv", kData);
  const Result result = remede({"simplify", "m.json", "d.csv", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const auto json = nlohmann::ordered_json::parse(result.out);
  EXPECT_EQ(json["nodes_before"], 7);
  EXPECT_EQ(json["nodes_after"], 3);
  int nodes = 0;
  for (const auto& removal : json["removed"]) nodes += removal["nodes"].get<int>();
  EXPECT_EQ(nodes, 4);
  EXPECT_EQ(json["removed"][0]["cause"], "contradicted");
  EXPECT_EQ(json["removed"][0]["exact"], true);
  EXPECT_EQ(files(), 2U);  // nothing is saved without -o
}

TEST_F(Simplify, TheModelMayGoToStandardOutput) {
  save_model(wide_model(), "m.json");
  const Result result = remede({"simplify", "m.json", "-o", "-", "--exact"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(model_from_json(result.out, "standard output").node_count(), 5);
  EXPECT_THAT(result.err, HasSubstr("removed 2 of 7 nodes"));
}

TEST_F(Simplify, SaysWhatIsMissing) {
  save_model(wide_model(), "m.json");
  EXPECT_TRUE(is_error(remede({"simplify", "m.json", "--round", "3"}), 2, "--round needs a data file"));
  EXPECT_TRUE(is_error(remede({"simplify", "m.json", "--drop-small"}), 2, "--drop-small needs a data file"));
  EXPECT_TRUE(is_error(remede({"simplify", "m.json", "d.csv", "--round", "0"}), 2, "--round"));
  EXPECT_TRUE(is_error(remede({"simplify", "none.json"}), 1, "none.json"));
  write("d.csv", "id,x1,y\n1,2,yes\n");
  EXPECT_TRUE(is_error(remede({"simplify", "m.json", "d.csv"}), 1, "x2"));
}

}  // namespace
}  // namespace remede::test
