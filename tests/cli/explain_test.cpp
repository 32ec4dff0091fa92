// remede show and remede explain, from file to file: every view in every format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "remede/data/dataset.h"
#include "remede/data/tasks.h"
#include "remede/model/file.h"
#include "support/hand_built.h"

namespace remede::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Answers with a slow average of its input and, beside it, the input.
Model average_model() {
  LeafForm form;
  form.leaf_output = LeafOutput::kLinear;
  form.write_rule = WriteRule::kBlend;
  return make_model(1, 1, {}, form,
                    split(0, 0.5F, leaf({0}, {{0, {1}, 0, 0.1F}}, {0, 2}), leaf({1}, {{0, {1}, 0, 0.1F}}, {1, 2})));
}

class Explain : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    save_model(paper_tree(), "model.json");
    Model forest = paper_tree();
    forest.trees.resize(4, forest.trees[0]);
    save_model(forest, "forest.json");
    save_model(average_model(), "average.json");
    write_dataset("data.csv", generate("fixed-delay", {.sequences = 30}));
    write("numbers.csv", "sequence,step,x1,y\na,0,0.2,0\na,1,0.9,1.4\na,2,0.1,0.5\nb,0,0.7,30\nb,1,0.1,0.1\n");
  }
  static nlohmann::ordered_json json(const Result& result) {
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::ordered_json::parse(result.out);
  }
};

using Show = Explain;

TEST_F(Show, WritesTextPicturesAndGraphs) {
  EXPECT_THAT(remede({"show", "model.json"}).out, HasSubstr("m1 >= -0.23 ?"));
  EXPECT_THAT(remede({"show", "model.json", "--format", "svg"}).out, HasSubstr("<svg"));
  EXPECT_THAT(remede({"show", "model.json", "--format", "dot"}).out, StartsWith("digraph"));
  EXPECT_EQ(remede({"show", "model.json", "-o", "tree.svg"}).out, "");
  EXPECT_EQ(read("tree.svg"), remede({"show", "model.json", "--format", "svg"}).out);
  ASSERT_EQ(remede({"show", "model.json", "-o", "tree.gv"}).code, 0);
  EXPECT_THAT(read("tree.gv"), StartsWith("digraph"));
  ASSERT_EQ(remede({"show", "model.json", "--format", "text", "-o", "tree.svg"}).code, 0);
  EXPECT_THAT(read("tree.svg"), Not(HasSubstr("<svg"))) << "the flag outweighs the name";
}

TEST_F(Show, CountsDataAtTheLeaves) {
  for (const char* const format : {"text", "svg", "dot"}) {
    EXPECT_THAT(remede({"show", "model.json", "--data", "data.csv", "--format", format}).out, HasSubstr("100% right"));
    EXPECT_THAT(remede({"show", "model.json", "--format", format}).out, Not(HasSubstr("right")));
    EXPECT_THAT(remede({"show", "average.json", "--data", "numbers.csv", "--format", format}).out, HasSubstr("off by"));
    EXPECT_THAT(remede({"show", "forest.json", "--data", "data.csv", "--format", format}).out, HasSubstr("Tree 4"));
  }
}

TEST_F(Show, ErrorsAreOneLine) {
  EXPECT_TRUE(
      is_error(remede({"show", "model.json", "--format", "png"}), 2, "--format of text, svg, dot, json, got 'png'"));
  EXPECT_TRUE(is_error(remede({"show", "none.json"}), 1, "none.json"));
  EXPECT_TRUE(is_error(remede({"show", "-", "--data", "-"}), 2, "got - for both"));
  EXPECT_TRUE(is_error(remede({"show", "model.json", "--growth", "up"}), 2, "up"));
}

TEST_F(Explain, FollowsTheWorstSequence) {
  const Result result = remede({"explain", "average.json", "numbers.csv"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.err,
      HasSubstr("sequence b: the one with the largest loss of 2 sequences; use --sequence ID to choose another"));
  EXPECT_THAT(result.out, StartsWith("Sequence b, 2 steps."));
  EXPECT_THAT(remede({"explain", "average.json", "numbers.csv", "--sequence", "a"}).out,
              StartsWith("Sequence a, 3 steps."));
  EXPECT_EQ(remede({"explain", "average.json", "numbers.csv", "--quiet"}).err, "");
}

TEST_F(Explain, WithoutTargetsTheFirst) {
  write("bare.csv", "sequence,step,x1\np,0,0.2\nq,0,0.9\n");
  const Result result = remede({"explain", "average.json", "bare.csv"});
  EXPECT_THAT(result.err, HasSubstr("sequence p: the first of 2"));
  EXPECT_THAT(result.out, Not(HasSubstr("target")));
}

TEST_F(Explain, OneSequenceAsTableJsonAndPicture) {
  const std::vector<std::string> command = {"explain", "model.json", "data.csv", "--sequence", "3", "--format"};
  const auto as = [&command](const char* format) {
    std::vector<std::string> all = command;
    all.emplace_back(format);
    return remede(all);
  };
  EXPECT_THAT(as("table").out, HasSubstr("m1 from step 0"));
  EXPECT_EQ(as("text").out, as("table").out);
  EXPECT_EQ(json(as("json"))["steps"].size(), 7U);
  EXPECT_THAT(as("svg").out, HasSubstr("</svg>"));
  EXPECT_EQ(remede({"explain", "model.json", "data.csv", "--sequence", "3", "-o", "three.svg"}).code, 0);
  EXPECT_EQ(read("three.svg"), as("svg").out);
}

TEST_F(Explain, MachineInEveryFormat) {
  write_dataset("data.csv", generate("fixed-delay", {.sequences = 400}));  // few sequences do not tell the states apart
  EXPECT_THAT(remede({"explain", "model.json", "data.csv", "--machine"}).out, StartsWith("A machine of 3 states."));
  EXPECT_THAT(remede({"explain", "model.json", "data.csv", "--machine", "--format", "dot"}).out, StartsWith("digraph"));
  EXPECT_THAT(remede({"explain", "model.json", "data.csv", "--machine", "--format", "svg"}).out, HasSubstr("</svg>"));
  EXPECT_EQ(json(remede({"explain", "model.json", "data.csv", "--machine", "--format", "json"}))["states"].size(), 3U);
  EXPECT_THAT(remede({"explain", "model.json", "--machine"}).out, HasSubstr("without data"));
  EXPECT_THAT(remede({"explain", "average.json", "numbers.csv", "--machine"}).out,
              testing::AllOf(HasSubstr("selects the formula"), HasSubstr("m1 is a moving average")));
}

TEST_F(Explain, ImportanceAndRules) {
  EXPECT_THAT(remede({"explain", "model.json", "data.csv", "--importance"}).out, HasSubstr("How far back it looks"));
  EXPECT_EQ(json(remede({"explain", "model.json", "data.csv", "--importance", "--format", "json"}))["features"].size(),
            2U);
  EXPECT_THAT(remede({"explain", "model.json", "data.csv", "--rules"}).out, HasSubstr("steps, 100% right]"));
  EXPECT_THAT(remede({"explain", "model.json", "--rules"}).out, Not(HasSubstr("right")));
  EXPECT_EQ(json(remede({"explain", "model.json", "--rules", "-o", "-", "--format", "json"})).size(), 5U);
}

TEST_F(Explain, WritesTheExplorer) {
  const Result result = remede({"explain", "model.json", "data.csv", "--html", "page.html"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("wrote page.html"));
  EXPECT_THAT(read("page.html"), HasSubstr("</html>"));
  ASSERT_EQ(remede({"explain", "model.json", "data.csv", "-o", "other.html", "--quiet"}).code, 0);
  EXPECT_EQ(read("other.html"), read("page.html")) << "the name says what it is";
  ASSERT_EQ(remede({"explain", "model.json", "data.csv", "--html", "few.html", "--sequences", "4"}).code, 0);
  EXPECT_THAT(read("few.html"), HasSubstr("4 of 30 sequences"));
}

TEST_F(Explain, ForestsAndNumbersHaveEveryView) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"forest.json", "data.csv"},
                                                                  {"average.json", "numbers.csv"}};
  for (const auto& [model, data] : cases) {
    for (const char* const flags : {"", "--format svg", "--format json", "--machine", "--machine --format svg",
                                    "--machine --format dot", "--importance", "--rules", "--html -"}) {
      const Result result = shell("$remede explain " + model + " " + data + " --quiet " + flags);
      EXPECT_EQ(result.code, 0) << model << " " << flags << ": " << result.err;
      EXPECT_FALSE(result.out.empty()) << model << " " << flags;
    }
    EXPECT_EQ(remede({"report", model, data, "-o", "report.html", "--quiet"}).code, 0) << model;
    EXPECT_THAT(read("report.html"), HasSubstr("id=\"importance\""));
  }
}

TEST_F(Explain, ErrorsAreOneLine) {
  EXPECT_TRUE(is_error(remede({"explain", "model.json"}), 2, "explain: expected a data file after the model"));
  EXPECT_TRUE(is_error(remede({"explain", "model.json", "--importance"}), 2,
                       "expected a data file after the model for --importance"));
  EXPECT_TRUE(is_error(remede({"explain", "model.json", "data.csv", "--machine", "--rules"}), 2, "one view at a time"));
  EXPECT_TRUE(is_error(remede({"explain", "model.json", "data.csv", "--machine", "--sequence", "1"}), 2, "got both"));
  EXPECT_TRUE(is_error(remede({"explain", "model.json", "data.csv", "--rules", "--format", "svg"}), 2,
                       "of text, json, got 'svg'"));
  EXPECT_TRUE(is_error(remede({"explain", "model.json", "data.csv", "--sequence", "x", "-q"}), 1, "x"));
  EXPECT_TRUE(is_error(remede({"explain", "forest.json", "--machine"}), 1, "give a data file"));
  EXPECT_TRUE(is_error(remede({"explain", "-", "-"}), 2, "got - for both"));
  write("empty.csv", "sequence,step,x1,y\n");
  const Result empty = remede({"explain", "model.json", "empty.csv", "-q"});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("empty.csv"));
}

}  // namespace
}  // namespace remede::test
