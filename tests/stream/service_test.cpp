#include "remede/stream/service.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/random_model.h"
#include "support/snow.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

Model snow_by_station() {
  Model model = test::model_of_snow();
  model.schema.id = "station";
  model.schema.time = "day";
  return model;
}

std::string row_of(const std::string& station, int day, double rain, double temp) {
  return Json({{"station", station}, {"day", day}, {"rain", rain}, {"temp", temp}}).dump();
}

TEST(Service, AnswersLikeAStreamOfLines) {
  const Model model = snow_by_station();
  LineOptions options;
  options.format = LineFormat::kJson;
  LineSession lines(model, options);
  RowService one(model, {}), batch(model, {}), rows(model, {});
  std::string expected, array, text;
  for (int day = 1; day < 20; ++day)
    for (const char* const station : {"a", "b"}) {
      const std::string row = row_of(station, day, day % 5, day - 10);
      ASSERT_TRUE(lines.add(row, row.size(), expected));
      const ServiceReply reply = one.predict(row);
      EXPECT_EQ(reply.status, 200);
      EXPECT_TRUE(expected.ends_with(reply.text));
      array += (array.empty() ? "" : ",") + row;
      text += row + "\n\n";
    }
  EXPECT_EQ(rows.predict_lines(text).text, expected);
  Json whole = Json::array();
  for (std::size_t at = 0; at < expected.size(); at = expected.find('\n', at) + 1)
    whole.push_back(Json::parse(expected.substr(at, expected.find('\n', at) - at)));
  EXPECT_EQ(Json::parse(batch.predict(" [" + array + "]").text), whole);
  EXPECT_EQ(batch.predict("[]").text, "[]\n");
}

TEST(Service, AMalformedRowChangesNothing) {
  const Model model = snow_by_station();
  RowService service(model, {}), clean(model, {});
  const std::string first = row_of("a", 1, 2, 3), second = row_of("a", 2, 2, 3);
  EXPECT_EQ(service.predict(first).text, clean.predict(first).text);
  for (const std::string body : {"", "  ", "{", "7", "[1]", "null", "{}", R"({"station": "a", "day": 2, "rain": 1})",
                                 R"({"station": "a", "day": 2, "rain": [], "temp": 1})", "[{", "\xff\xfe", "{\"\0\"}",
                                 "\xef\xbb\xbf", R"({"station": "a", "day": 0, "rain": 1, "temp": 1})"}) {
    const ServiceReply reply = service.predict(body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_FALSE(Json::parse(reply.text).at("error").get<std::string>().empty());
  }
  EXPECT_EQ(service.predict(std::string(100000, '[')).status, 400);
  EXPECT_EQ(service.predict(second).text, clean.predict(second).text);
}

TEST(Service, ABatchEndsAtItsFirstMalformedRow) {
  const Model model = snow_by_station();
  RowService service(model, {}), clean(model, {});
  const std::string first = row_of("a", 1, 2, 3), third = row_of("a", 3, 2, 3);
  const Json expected = Json::parse(clean.predict(first).text);
  const ServiceReply reply = service.predict("[" + first + ", {\"station\": \"a\"}, " + third + "]");
  EXPECT_EQ(reply.status, 400);
  const Json said = Json::parse(reply.text);
  EXPECT_EQ(said.at("row"), 1);
  EXPECT_EQ(said.at("answers"), Json::array({expected}));
  EXPECT_THAT(said.at("error").get<std::string>(), HasSubstr("expected the key"));
  RowService lines(model, {});
  EXPECT_EQ(Json::parse(lines.predict_lines(first + "\n{}\n" + third).text), said);
  EXPECT_EQ(Json::parse(service.predict(third).text), Json::parse(clean.predict(third).text));
}

TEST(Service, KeepsTheLastRows) {
  const Model model = snow_by_station();
  RowService service(model, {});
  const auto count = static_cast<int>(RowService::kKeptRows) + 10;
  for (int day = 1; day <= count; ++day) service.predict(row_of("a", day, day, 1));
  const Json all = Json::parse(service.recent(0, 1U << 30).text);
  EXPECT_EQ(all.at("last"), count);
  EXPECT_EQ(all.at("rows").size(), RowService::kKeptRows);
  EXPECT_EQ(all.at("rows").back().at("values").at(0), count);
  EXPECT_EQ(all.at("rows").back().at("values").size(),
            static_cast<std::size_t>(model.n_x() + model.n_y()) + all_cell_names(model).size());
  EXPECT_EQ(Json::parse(service.recent(static_cast<std::uint64_t>(count) - 3, 100).text).at("rows").size(), 3U);
  EXPECT_EQ(Json::parse(service.recent(1U << 30, 100).text).at("rows").size(), 0U);
}

TEST(Service, ForgetsASequence) {
  const Model model = snow_by_station();
  RowService service(model, {});
  const std::string row = row_of("a", 1, 20, -5);
  const std::string first = service.predict(row).text;
  EXPECT_NE(service.predict(row_of("a", 1, 0, 30)).text, first);
  EXPECT_EQ(service.forget("a").status, 200);
  EXPECT_EQ(service.forget("a").status, 404);
  EXPECT_EQ(service.predict(row).text, first);
}

TEST(Service, ItsStateIsThatOfAStream) {
  const Model model = snow_by_station();
  RowService service(model, {}), other(model, {});
  for (int day = 1; day < 9; ++day) service.predict(row_of("a", day, day, 0));
  LineOptions options;
  options.format = LineFormat::kJson;
  LineSession lines(model, options);
  lines.load(service.save(), "state");
  other.load(service.save(), "state");
  const std::string row = row_of("a", 9, 0, 8);
  std::string out;
  ASSERT_TRUE(lines.add(row, row.size(), out));
  EXPECT_EQ(service.predict(row).text, out);
  EXPECT_EQ(other.predict(row).text, out);
}

// Many threads, each with a sequence of its own: each gets the answers that it would get alone, and none is lost.
TEST(Service, FromManyThreads) {
  const Model model = snow_by_station();
  constexpr int kThreads = 8, kDays = 300;
  const auto run = [](RowService& service, int t) {
    std::string said;
    for (int day = 1; day <= kDays; ++day)
      said += service.predict(row_of("s" + std::to_string(t), day, t, day % 9)).text;
    return said;
  };
  RowService shared(model, {});
  std::vector<std::string> said(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { said[static_cast<std::size_t>(t)] = run(shared, t); });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    RowService alone(model, {});
    EXPECT_EQ(said[static_cast<std::size_t>(t)], run(alone, t));
  }
  EXPECT_EQ(Json::parse(shared.status().text).at("rows"), kThreads * kDays);
}

TEST(Service, DescribesItself) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Random random(seed);
    const Model model = test::random_model(random);
    const RowService service(model, {});
    const Json api = Json::parse(service.openapi("1.2.3"));
    EXPECT_EQ(api.at("info").at("version"), "1.2.3");
    EXPECT_TRUE(api.at("paths").contains("/predict"));
    EXPECT_TRUE(api.at("components").at("schemas").at("Answer").at("properties").contains("prediction"));
  }
}

}  // namespace
}  // namespace remede
