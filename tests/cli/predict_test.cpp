// remede predict and remede evaluate, from file to file.
#include "remede/model/predict.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "remede/model/file.h"
#include "two_leaves.h"

namespace remede::test {
namespace {

using testing::HasSubstr;

// Says "odd, \"one\"" from x >= 0.5 on and "even" otherwise, whatever came before; a tree of three nodes.
Model label_model() {
  Model model = two_leaves();
  model.schema.classes = {"even", "odd, \"one\""};
  return model;
}

// Sums its inputs: one leaf, first order.
Model sum_model() {
  Model model;
  model.schema.task = Task::kRegression;
  model.schema.inputs = {"a", "b"};
  model.schema.targets = {"u", "v"};
  model.schema.id = "id";
  model.schema.time = "t";
  model.fill = {0, 0};
  Tree tree;
  tree.n_x = 2;
  tree.n_y = 2;
  tree.form.leaf_output = LeafOutput::kLinear;
  tree.form.output_order = OutputOrder::kFirst;
  tree.output = {0, 100};
  tree.linear = {1, 0, 0, 1};
  model.trees = {tree};
  return model;
}

class Predict : public CliTest {};
class Evaluate : public CliTest {};

TEST_F(Predict, KeepsRowsIdsTimesAndLabelsAsTheyStood) {
  save_model(sum_model(), "m.json");
  // Interleaved and out of order; an id with a comma; an extra column; no target.
  write("d.csv", "extra,t,b,id,a\n?,2,1,\"p, q\",10\n?,01,1,r,5\n?,1,2,\"p, q\",1\n?,2.0,3,r,\n");
  const Result result = remede({"predict", "m.json", "d.csv", "-o", "out.csv"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read("out.csv"),
            "id,t,prediction_u,prediction_v\n\"p, q\",2,11,203\nr,01,5,101\n\"p, q\",1,1,102\nr,2.0,5,204\n");
  EXPECT_EQ(files(), 3U);
}

TEST_F(Predict, ManyFilesGiveAFileEach) {
  save_model(sum_model(), "m.json");
  for (const char* name : {"d1.csv", "d2.csv", "d3.csv"}) write(name, fmt::format("id,t,a,b\nr,1,{},2\n", name[1]));
  for (const char* threads : {"1", "2"}) {
    const Result result = remede({"predict", "m.json", "d*.csv", "-o", "out/", "--threads", threads});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char name : {'1', '2', '3'})
      EXPECT_EQ(read(fmt::format("out/d{}.csv", name)),
                fmt::format("id,t,prediction_u,prediction_v\nr,1,{},102\n", name));
  }
  EXPECT_THAT(remede({"predict", "m.json", "d*.csv", "-o", "./"}).err,
              HasSubstr("expected a folder other than that of the data, got ./"));
  EXPECT_THAT(remede({"predict", "m.json", "d1.csv,out/d1.csv", "-o", "two/"}).err,
              HasSubstr("which both give two/d1.csv"));
  EXPECT_THAT(remede({"predict", "m.json", "-", "-o", "two/"}).err, HasSubstr("got standard input"));
  write("d2.csv", "id,t,a\nr,1,2\n");
  const Result bad = remede({"predict", "m.json", "d*.csv", "-o", "out/"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("d2.csv"));
}

TEST_F(Predict, LabelsComeBackUnchanged) {
  save_model(label_model(), "m.json");
  write("d.csv", "id,t,x\n1,1,0.25\n1,2,0.5\n");
  const Result result = remede({"predict", "m.json", "d.csv"});
  const std::vector<std::string> lines = {"id,t,prediction,p_even,\"p_odd, \"\"one\"\"\"",
                                          "1,1,even,0.7310586,0.26894143",
                                          "1,2,\"odd, \"\"one\"\"\",0.26894143,0.7310586"};
  EXPECT_EQ(result.out, lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n") << result.err;
}

TEST_F(Predict, StandardInputAndOutput) {
  save_model(label_model(), "m.json");
  write("d.csv", "id,t,x\n1,1,0.25\n2,1,0.75\n");
  const std::string expected = remede({"predict", "m.json", "d.csv"}).out;
  EXPECT_EQ(remede({"predict", "m.json", "-"}, read("d.csv")).out, expected);
  EXPECT_EQ(remede({"predict", "-", "d.csv", "-o", "-"}, read("m.json")).out, expected);
  EXPECT_EQ(shell("cat d.csv | $remede predict m.json - | cat").out, expected);
}

TEST_F(Predict, ErrorsSayWhatAndWhereAndLeaveNothingBehind) {
  save_model(label_model(), "m.json");
  write("d.csv", "id,t,z\n1,1,0.25\n");
  write("out.csv", "old");
  EXPECT_TRUE(is_error(remede({"predict", "m.json", "d.csv", "-o", "out.csv"}), 1, "d.csv"));
  write("d.csv", "id,t,x\n1,1,0.25\n1,2,zero\n");
  const Result text = remede({"predict", "m.json", "d.csv", "-o", "out.csv"});
  EXPECT_TRUE(is_error(text, 1, "line 3"));
  EXPECT_THAT(text.err, HasSubstr("'x'"));
  EXPECT_TRUE(is_error(remede({"predict", "m.json", "none.csv", "-o", "out.csv"}), 1, "none.csv: cannot open"));
  EXPECT_TRUE(is_error(remede({"predict", "none.json", "d.csv", "-o", "out.csv"}), 1, "none.json: cannot open"));
  EXPECT_TRUE(is_error(remede({"predict", "d.csv", "d.csv", "-o", "out.csv"}), 1, "d.csv: expected JSON"));
  EXPECT_EQ(read("out.csv"), "old");
  EXPECT_EQ(files(), 3U);
  write("d.csv", "id,t,x\n1,1,0.25\n");
  EXPECT_TRUE(is_error(remede({"predict", "m.json", "d.csv", "-o", "/dev/full"}), 1, "/dev/full: cannot write"));
  EXPECT_TRUE(is_error(remede({"predict", "m.json", "d.csv", "-o", "no/out.csv"}), 1, "no/out.csv: cannot write"));
}

TEST_F(Predict, AReaderThatStopsReadingIsNoError) {
  save_model(label_model(), "m.json");
  std::string data = "id,t,x\n";
  for (int i = 0; i < 20000; ++i) data += "1," + std::to_string(i) + ",0.25\n";
  write("d.csv", data);
  const Result result = shell("($remede predict m.json d.csv; echo code $? >&2) | head -n 1");
  EXPECT_EQ(result.out, "id,t,prediction,p_even,\"p_odd, \"\"one\"\"\"\n");
  EXPECT_EQ(result.err, "code 0\n");
}

TEST_F(Evaluate, ClassificationAsATableAndAsJson) {
  save_model(label_model(), "m.json");
  write("d.csv", "id,t,x,y\n1,1,0.25,even\n1,2,0.5,even\n2,1,0.75,\"odd, \"\"one\"\"\"\n2,2,0.1,even\n");
  const Result table = remede({"evaluate", "m.json", "d.csv"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("accuracy           0.7500\n"));
  EXPECT_THAT(table.out, HasSubstr("balanced accuracy  0.8333\n"));
  const Result result = remede({"evaluate", "m.json", "d.csv", "--json"});
  const auto json = nlohmann::ordered_json::parse(result.out);
  EXPECT_EQ(json["accuracy"], 0.75);
  EXPECT_NEAR(json["balanced_accuracy"], 5.0 / 6.0, 1e-12);
  EXPECT_NEAR(json["log_loss"], -(3 * std::log(0.7310586) + std::log(0.26894143)) / 4, 1e-6);
  EXPECT_EQ(json["recall"]["odd, \"one\""], 1.0);
  EXPECT_EQ(json["confusion"], nlohmann::ordered_json::parse("[[2, 1], [0, 1]]"));
  EXPECT_EQ(json["steps"], 4);
  EXPECT_EQ(json["sequences"], 2);
}

TEST_F(Evaluate, RegressionAsATableAndAsJson) {
  save_model(sum_model(), "m.json");
  write("d.csv", "id,t,a,b,u,v\n1,1,1,1,1,101\n1,2,2,2,5,203\n");
  EXPECT_THAT(remede({"evaluate", "m.json", "d.csv"}).out, HasSubstr("RMSE            1\n"));
  const auto json = nlohmann::ordered_json::parse(remede({"evaluate", "m.json", "d.csv", "--json"}).out);
  EXPECT_EQ(json["rmse"], 1.0);  // one error of 2 among four values
  EXPECT_EQ(json["mae"], 0.5);
  EXPECT_EQ(json["outputs"]["v"]["r2"], 1.0);
  EXPECT_EQ(json["outputs"]["u"]["r2"], 0.5);
  EXPECT_EQ(json["r2"], 0.75);
  EXPECT_EQ(json["steps"], 2);
  EXPECT_EQ(json["sequences"], 1);
}

TEST_F(Evaluate, NeedsTargets) {
  save_model(label_model(), "m.json");
  write("d.csv", "id,t,x\n1,1,0.25\n");
  EXPECT_TRUE(is_error(remede({"evaluate", "m.json", "d.csv"}), 1, "d.csv"));
  // A class that training did not see counts as wrong, with a note.
  write("d.csv", "id,t,x,y\n1,1,0.25,prime\n");
  const Result unseen = remede({"evaluate", "m.json", "d.csv", "--json"});
  EXPECT_EQ(unseen.code, 0);
  EXPECT_THAT(unseen.err, HasSubstr("'prime'"));
  EXPECT_EQ(nlohmann::ordered_json::parse(unseen.out)["accuracy"], 0.0);
  EXPECT_EQ(nlohmann::ordered_json::parse(unseen.out)["confusion_of_unknown_classes"],
            nlohmann::ordered_json::parse("[1, 0]"));
  write("d.csv", "id,t,x,y\n1,1,0.25,prime\n1,2,0.25,even\n");
  EXPECT_THAT(remede({"evaluate", "m.json", "d.csv"}).out, HasSubstr("  (not seen in training)     1           0"));
  // The report counts in the same way.
  const Result reported = remede({"report", "m.json", "d.csv", "-o", "r.html"});
  EXPECT_THAT(reported.err,
              HasSubstr("1 target is of a class that was not seen in training ('prime'): it counts as wrong"));
  EXPECT_THAT(read("r.html"), HasSubstr("(not seen in training)"));
  EXPECT_THAT(remede({"predict", "m.json", "d.csv"}).err, Not(HasSubstr("prime")));
  write("d.csv", "id,t,x,y\n1,1,0.25,\n");
  EXPECT_TRUE(is_error(remede({"evaluate", "m.json", "d.csv"}), 1, "expected"));
}

}  // namespace
}  // namespace remede::test
