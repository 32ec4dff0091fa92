#include "remede/pages/explorer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pages/data_sets.h"
#include "remede/base/error.h"
#include "remede/model/file.h"
#include "support/hand_built.h"
#include "support/random_model.h"
#include "support/same_model.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t at = text.find(open) + open.size();
  return text.substr(at, text.find(close, at) - at);
}

Json page_json(const std::string& page) { return Json::parse(between(page, "id=\"page-json\">", "</script>")); }

TEST(Explorer, HoldsTheModelAndTheSequences) {
  const Model model = test::parity_tree();
  const Dataset data = test::counting_data(model, {4, 3});
  const std::string page = explorer_page(model, data);
  EXPECT_TRUE(test::same_model(model_from_json(between(page, "id=\"model-json\">", "</script>"), "page"), model));
  const Json json = page_json(page);
  EXPECT_EQ(json["data"]["sequences"].size(), 2U);
  EXPECT_EQ(json["words"].size(), 1U);
  EXPECT_FALSE(json["machine"].is_null());
  EXPECT_EQ(json["words"][0]["leaves"].size(), 4U);
}

TEST(Explorer, SameInputsGiveTheSameBytes) {
  const Model model = test::parity_tree();
  const Dataset data = test::counting_data(model, {4, 3, 9});
  ExplorerOptions four;
  four.threads = 4;
  EXPECT_EQ(explorer_page(model, data), explorer_page(model, data, four));
}

TEST(Explorer, AStretchCarriesTheMemoryBeforeIt) {
  const Model model = test::parity_tree();
  const Dataset data = test::counting_data(model, {40});
  ExplorerOptions options;
  options.sample.most_length = 10;
  const Json sequence = page_json(explorer_page(model, data, options))["data"]["sequences"][0];
  EXPECT_EQ(sequence["steps"], 10);
  EXPECT_EQ(sequence["of"], 40);
  EXPECT_TRUE(sequence.contains("state"));
}

TEST(Explorer, TimesThatCountAreNotListed) {
  const Model model = test::parity_tree();
  Dataset data = test::counting_data(model, {2, 2});
  EXPECT_TRUE(page_json(explorer_page(model, data))["data"]["times"].is_null());
  for (const char* const t : {"0", "1", "0", "1"}) data.times.push_back(t);
  EXPECT_EQ(page_json(explorer_page(model, data))["data"]["times"], 0);
  data.times = {};
  for (const char* const t : {"1", "2", "1", "3"}) data.times.push_back(t);
  EXPECT_EQ(page_json(explorer_page(model, data))["data"]["times"].size(), 4U);
}

TEST(Explorer, RefusesWhatCannotBeShown) {
  const Model model = test::parity_tree();
  EXPECT_THROW(explorer_page(model, test::counting_data(model, {})), Error);
  EXPECT_THROW(explorer_page(model, test::counting_data(model, {0, 0})), Error);
}

}  // namespace
}  // namespace remede
