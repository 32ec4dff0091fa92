// remede rename, and what a model whose cells have laws looks like from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "remede/model/file.h"
#include "support/snow.h"

namespace remede::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* const kRiver =
    "time,rain,temp,flow\n1,3,-2,0.3\n2,0,1,0.3\n3,12,4,0.4\n4,20,8,0.9\n5,1,9,1.2\n6,0,12,0.8\n7,,3,0.7\n";

class Rename : public CliTest {};

TEST_F(Rename, NamesAreUsedEverywhere) {
  save_model(model_of_snow(), "m.json");
  write("d.csv", kRiver);
  const Result result = remede({"rename", "m.json", "m1=snow", "m2=soil", "-o", "named.json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "saved: named.json\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"show", "named.json"},
                                                {"show", "named.json", "--format", "svg"},
                                                {"explain", "named.json", "d.csv"},
                                                {"explain", "named.json", "d.csv", "--importance"},
                                                {"explain", "named.json", "d.csv", "--rules"},
                                                {"explain", "named.json", "d.csv", "--machine"}}) {
    const Result shown = remede(words);
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("soil")) << words[0];
    EXPECT_THAT(shown.out, Not(HasSubstr("m2"))) << words[0];
  }
  EXPECT_EQ(remede({"explain", "named.json", "d.csv", "--html", "page.html"}).code, 0);
  EXPECT_THAT(read("page.html"), HasSubstr("what snow releases"));
  EXPECT_EQ(remede({"report", "named.json", "d.csv", "-o", "report.html"}).code, 0);
  EXPECT_THAT(read("report.html"), HasSubstr("what snow releases"));
  EXPECT_EQ(remede({"predict", "named.json", "d.csv"}).out, remede({"predict", "m.json", "d.csv"}).out);
}

TEST_F(Rename, BadNamesLeaveNothingBehind) {
  save_model(model_of_snow(), "m.json");
  EXPECT_TRUE(is_error(remede({"rename", "m.json", "m9=snow", "-o", "n.json"}), 1, "expected the name of a cell"));
  EXPECT_TRUE(is_error(remede({"rename", "m.json", "m1", "-o", "n.json"}), 2, "expected OLD=NEW"));
  EXPECT_TRUE(is_error(remede({"rename", "m.json", "m1=rain", "-o", "n.json"}), 1, "that no input has"));
  EXPECT_EQ(files(), 1U);
}

TEST_F(Rename, ShowSaysTheSizeAsJson) {
  save_model(model_of_snow(), "m.json");
  const Result result = remede({"show", "m.json", "--json"});
  const auto json = nlohmann::ordered_json::parse(result.out);
  EXPECT_EQ(json["numbers"], 14);
  EXPECT_EQ(json["cells"], 2);
  EXPECT_EQ(json["splits"], 0);
  EXPECT_EQ(json["cells_in_words"].size(), 2U);
  EXPECT_TRUE(is_error(remede({"show", "m.json", "--json", "--format", "dot"}), 2, "--json"));
}

TEST_F(Rename, PicturesHavePlainColours) {
  save_model(model_of_snow(), "m.json");
  const std::string svg = remede({"show", "m.json", "--format", "svg"}).out;
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  EXPECT_THAT(svg, Not(HasSubstr("var(")));
}

TEST_F(Rename, LawsHaveNoMachineWithoutData) {
  save_model(model_of_snow(), "m.json");
  EXPECT_TRUE(is_error(remede({"explain", "m.json", "--machine"}), 1, "give a data file"));
}

}  // namespace
}  // namespace remede::test
