#include "remede/stream/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/model/file.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/snow.h"

namespace remede {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Feeds the lines of a text; gives all that was answered, and the problems.
struct Fed {
  std::string out;
  std::vector<std::string> problems;
};
Fed feed(LineSession& session, const std::string& text) {
  Fed fed;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (!session.add(std::string_view(text).substr(at, end - at), end - at + 1, fed.out))
      fed.problems.push_back(session.problem());
    at = end + 1;
  }
  return fed;
}

Model snow_with_id() {
  Model model = test::model_of_snow();
  model.schema.id = "station";
  model.schema.time = "day";
  return model;
}

TEST(Lines, MalformedLinesChangeNothing) {
  const Model model = snow_with_id();
  LineSession clean(model, {}), dirty(model, {});
  const std::string begin = "day,station,rain,temp\n1,a,32,3\n1,b,60,-1\n", end = "2,a,1,1\n2,b,,4\n";
  const std::string expected = feed(clean, begin + end).out;
  const Fed fed =
      feed(dirty, begin + "2,a,1\n2,a,1,1,1\n2,a,x,1\n0,a,1,1\n2,a,\"1,1\n2,a,1e99,1\n2,,1,1\n,a,1,1\n\n  \n" + end);
  EXPECT_EQ(fed.out, expected);
  ASSERT_EQ(fed.problems.size(), 8U);
  EXPECT_EQ(fed.problems[6], "line 10: column 'station': expected the id of a sequence, got an empty cell");
  EXPECT_EQ(fed.problems[7], "line 11: column 'day': expected a time, got an empty cell");
  EXPECT_EQ(fed.problems[0], "line 4: expected 4 cells, got 3");
  EXPECT_EQ(fed.problems[1], "line 5: expected 4 cells, got more");
  EXPECT_EQ(fed.problems[2], "line 6: column 'rain': expected a number, got 'x'");
  EXPECT_THAT(fed.problems[3], HasSubstr("line 7: column 'day': expected times in order"));
  EXPECT_THAT(fed.problems[4], HasSubstr("expected a quote"));
  EXPECT_THAT(fed.problems[5], HasSubstr("fits a float"));
  EXPECT_EQ(dirty.position().malformed, 8U);
  EXPECT_EQ(dirty.position().rows, 4U);
  EXPECT_EQ(dirty.position().lines, 15U);
}

TEST(Lines, JsonAndCsvAgree) {
  const Model model = snow_with_id();
  LineSession csv(model, {}), json(model, {});
  feed(csv, "station;day;temp;rain\r\na;1;3;2\r\na;2;;\"0.5\"\r\n");
  const Fed fed = feed(json,
                       "{\"station\": \"a\", \"day\": 1, \"rain\": 2, \"temp\": 3}\n"
                       "{\"rain\": \"0.5\", \"day\": 2, \"station\": \"a\", \"temp\": null}\n");
  EXPECT_THAT(fed.problems, IsEmpty());
  EXPECT_THAT(fed.out, StartsWith("{\"station\": \"a\", \"day\": 1, \"prediction\": "));
  StateWriter one, two;
  csv.pool().save(one);
  json.pool().save(two);
  EXPECT_EQ(one.bytes(), two.bytes());
}

TEST(Lines, JsonThatIsNoRow) {
  const Model model = snow_with_id();
  LineSession session(model, {.format = LineFormat::kJson});
  const Fed fed = feed(session,
                       "[1]\n{\n{\"station\": \"a\"}\n{\"station\": \"a\", \"day\": 1, \"rain\": [1], \"temp\": 0}\n"
                       "{\"station\": null, \"day\": 1, \"rain\": 1, \"temp\": 0}\n"
                       "{\"station\": \"a\", \"day\": 1, \"rain\": true, \"temp\": 0}\n");
  EXPECT_EQ(fed.problems.size(), 6U);
  EXPECT_EQ(fed.out, "");
  EXPECT_THAT(fed.problems[2], HasSubstr("expected the key 'rain' (null for a missing value)"));
  EXPECT_THAT(fed.problems[5], HasSubstr("expected a number, got 'true'"));
}

TEST(Lines, HeadersThatDoNotFitAreErrors) {
  const Model model = snow_with_id();
  const auto error = [&](const std::string& header) {
    LineSession session(model, {});
    return testing::error_of([&] { feed(session, header + "\n"); });
  };
  EXPECT_THAT(error("day,station,rain"), HasSubstr("expected the input column 'temp' once, got none"));
  EXPECT_THAT(error("day,station,rain,temp,temp"), HasSubstr("got several"));
  EXPECT_THAT(error("station,rain,temp"), HasSubstr("time column (--time none: do without)"));
  EXPECT_THAT(error("day,rain,temp"), HasSubstr("id column"));
}

TEST(Lines, AColumnHasOneRole) {
  const Model model = snow_with_id();
  const auto error = [&](const LineOptions& options) {
    return testing::error_of([&] { const LineSession session(model, options); });
  };
  const std::string several = "expected one role for column 'rain', got several";
  EXPECT_EQ(error({.id = "rain"}), several);
  EXPECT_EQ(error({.format = LineFormat::kJson, .time = "rain"}), several);
  EXPECT_EQ(error({.id = "day"}), "expected one role for column 'day', got several");
}

TEST(Lines, RowsAloneKeepTheirTime) {
  const Model model = snow_with_id();
  LineSession with(model, {.id = "row"}), without(model, {.id = "row"}), json(model, {.id = "row"});
  EXPECT_THAT(feed(with, "day,rain,temp\n7,1,1\n3,1,1\n").out, StartsWith("day,prediction\n7,"));
  EXPECT_EQ(with.position().malformed, 0U);
  EXPECT_THAT(feed(without, "rain,temp\n1,1\n").out, StartsWith("prediction\n"));
  EXPECT_THAT(feed(json, "{\"rain\": 1, \"temp\": 1}\n").out, StartsWith("{\"prediction\": "));
  LineSession again(model, {.id = "row"}), third(model, {.id = "row"});
  again.load(with.save(), "state");
  EXPECT_THAT(feed(again, "7,1,1\n").out, StartsWith("7,"));
  third.load(without.save(), "state");
  EXPECT_EQ(feed(third, "1,1\n").problems.size(), 0U);
}

TEST(Lines, QuotesWhatPredictQuotes) {
  const Model model = snow_with_id();
  LineSession session(model, {});
  EXPECT_THAT(feed(session, "day;station;rain;temp\n1;\"y;z\";1;1\n").out, HasSubstr("\n\"y;z\",1,"));
}

TEST(Lines, FilesOneAfterTheOther) {
  const Model model = snow_with_id();
  const std::string begin = "day,station,rain,temp\n1,a,32,3\n";
  LineSession plain(model, {}), marked(model, {}), turned(model, {}), bad(model, {});
  const std::string expected = feed(plain, begin + "day,station,rain,temp\n2,a,5,1\n").out;
  EXPECT_EQ(feed(marked, begin + "\xef\xbb\xbf" + begin.substr(0, 22) + "2,a,5,1\n").out, expected);
  EXPECT_EQ(feed(turned, begin + "\"rain\",temp,station,day\n5,1,a,2\n").out, expected);
  EXPECT_EQ(turned.position().rows, 2U);
  LineSession again(model, {});
  again.load(turned.save(), "state");
  EXPECT_EQ(feed(again, "5,1,a,3\n").out, feed(plain, "3,a,5,1\n").out);
  EXPECT_EQ(feed(bad, begin + "day,station,rain,wind\nrain,a\"\n").problems.size(), 2U);
}

TEST(Lines, JsonKeysAndIdsThatWouldBeMixedUp) {
  const Model model = snow_with_id();
  LineSession session(model, {.format = LineFormat::kJson});
  const auto row = [](const std::string& id) {
    return "{\"station\": " + id + ", \"day\": 1, \"rain\": 1, \"temp\": 0}\n";
  };
  const Fed fed = feed(session, "{\"rain\": 1, \"station\": 1, \"day\": 1, \"rain\": 2, \"temp\": 0}\n" +
                                    row("18446744073709551616") + row("-9223372036854775809") + row("1e300"));
  EXPECT_EQ(fed.out, "");
  ASSERT_EQ(fed.problems.size(), 4U);
  EXPECT_EQ(fed.problems[0], "line 1: expected every key once, got 'rain' twice");
  EXPECT_THAT(fed.problems[1], HasSubstr("expected a whole number of at most 64 bits or a text for the id 'station'"));
  EXPECT_THAT(feed(session, row("18446744073709551615") + row("18446744073709551614") + row("-7") + row("2.5") +
                                row("\"18446744073709551616\""))
                  .problems,
              IsEmpty());
  EXPECT_EQ(session.pool().size(), 5U);
}

TEST(Lines, TimesAreComparedAsInPredict) {
  const Model model = snow_with_id();
  const auto accepted = [&](const std::string& first, const std::string& second, bool again = false) {
    LineSession session(model, {}), loaded(model, {});
    feed(session, "day,station,rain,temp\n" + first + ",a,1,1\n");
    EXPECT_EQ(session.position().rows, 1U) << first;
    if (again) loaded.load(session.save(), "state");
    return feed(again ? loaded : session, second + ",a,1,1\n").problems.empty();
  };
  for (const bool again : {false, true}) {
    EXPECT_FALSE(accepted("1700000000000000001", "1700000000000000000", again));
    EXPECT_TRUE(accepted("1700000000000000000", "1700000000000000001", again));
    EXPECT_FALSE(accepted("0", "-inf", again));
    EXPECT_TRUE(accepted("-inf", "0", again));
    EXPECT_FALSE(accepted("7", "2024-01-01", again));
    EXPECT_FALSE(accepted("12:30", "12:29", again));
    EXPECT_TRUE(accepted("12:30", "12:31", again));
  }
  EXPECT_TRUE(accepted("2", "1e1"));
  EXPECT_TRUE(accepted("2024-01-01 12:00:00", "2024-01-02"));
  EXPECT_FALSE(accepted("2024-01-01 12:00:00.123456789", "2024-01-01 12:00:00.123456788"));
  EXPECT_TRUE(accepted("5", "5"));
}

TEST(Lines, GoesOnFromItsState) {
  const Model model = snow_with_id();
  const std::string begin = "day,station,rain,temp\n1,a,32,3\n1,b,60,-1\nbad\n", end = "2,a,1,1\n2,b,,4\n";
  LineSession whole(model, {});
  const std::string expected = feed(whole, begin + end).out;
  LineSession first(model, {});
  const std::string out = feed(first, begin).out;
  const std::string bytes = first.save();
  LineSession second(model, {});
  second.load(bytes, "state");
  EXPECT_EQ(out + feed(second, end).out, expected);
  EXPECT_EQ(second.position().bytes, begin.size() + end.size());
  EXPECT_EQ(second.position().malformed, 1U);
  EXPECT_EQ(LineSession::saved_position(bytes, "state").bytes, begin.size());
  EXPECT_EQ(LineSession::saved_position(bytes, "state").rows, 2U);
}

// A file that an earlier version wrote; it must be read for ever.
TEST(Lines, OldStatesAreRead) {
  const std::string folder = REMEDE_TESTS_DIR "/stream/files/";
  const Model model = load_model(folder + "v1_model.json");
  LineSession session(model, {});
  session.load(read_file(folder + "v1.state"), "v1.state");
  EXPECT_EQ(feed(session, "b,2,21,1\na,3,,4\n").out, read_file(folder + "v1_expected.csv"));
}

TEST(Lines, DamagedStatesAreErrors) {
  const Model model = snow_with_id();
  LineSession session(model, {});
  feed(session, "day,station,rain,temp\n1,a,2,3\n");
  const std::string bytes = session.save();
  const auto error = [&](const std::string& wrong, const Model& of, const LineOptions& options) {
    LineSession other(of, options);
    return testing::error_of([&] { other.load(wrong, "f"); });
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_THAT(error(bytes.substr(0, i), model, {}), StartsWith("f: expected")) << i;
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    EXPECT_THAT(error(changed, model, {}), StartsWith("f: expected")) << i;
  }
  Model other = model;
  other.fill[0] += 1.0F;
  EXPECT_THAT(error(bytes, other, {}), HasSubstr("got that of another model"));
  EXPECT_THAT(error(bytes, model, {.id = "none"}), HasSubstr("id column"));
  EXPECT_THAT(error(bytes, model, {.format = LineFormat::kJson}), HasSubstr("same format"));
}

TEST(Lines, InputsThatDriftAreReported) {
  Model model = test::model_of_snow();
  model.schema.id = model.schema.time = "";
  EXPECT_THROW(LineSession(model, {.watch = true}), Error);
  model.input_range = {{0.0F, 10.0F}, {-5.0F, 20.0F}};
  LineSession session(model, {.watch = true});
  std::string rows = "rain,temp\n";
  for (int i = 0; i < 200; ++i) rows += i % 2 == 0 ? "50,1\n" : "1,\n";
  feed(session, rows);
  const std::vector<std::string> lines = session.watch()->take();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "rows 1 to 200: rain: 50% of the values lie outside 0 to 10, where 90% of the training data lay");
  EXPECT_THAT(session.watch()->take(), IsEmpty());
}

TEST(Rows, WordsNumbersAndTimes) {
  Schema schema;
  schema.inputs = {"x", "wind = N", "wind = S", "on", "t_gap"};
  schema.codes = {{"wind = N", "wind", false, {"N"}, {1.0F}, 0.0F},
                  {"wind = S", "wind", false, {"S"}, {1.0F}, 0.0F},
                  {"on", "on", false, {"no", "yes"}, {0.0F, 1.0F}, {}},
                  {"t_gap", "t", true, {}, {}, {}}};
  RowInputs row(schema);
  EXPECT_THAT(row.columns(), ::testing::ElementsAre("x", "wind", "on"));
  EXPECT_TRUE(row.needs_time());
  row.text(0, " 1.5 ");
  row.text(1, "S");
  row.text(2, "YES");
  const auto x = row.finish(12.0, 10.0);
  EXPECT_THAT(std::vector<float>(x.begin(), x.end()), ::testing::ElementsAre(1.5F, 0.0F, 1.0F, 1.0F, 2.0F));
  row.missing(0);
  row.text(1, "E");
  row.text(2, "perhaps");
  const auto y = row.finish(12.0, NAN);
  EXPECT_TRUE(std::isnan(y[0]) && y[1] == 0.0F && y[2] == 0.0F && std::isnan(y[3]) && std::isnan(y[4]));
  EXPECT_EQ(row.unknown_words(1), 1U);
  EXPECT_EQ(row.unknown_words(2), 1U);
  row.text(1, "");
  EXPECT_TRUE(std::isnan(row.finish(1.0, 0.0)[1]));
}

// What the target's past counts as, given as text and, where `number` is one, as a number.
float past_of(const std::vector<std::string>& classes, const std::string& cell, double number = NAN) {
  Schema schema;
  schema.inputs = schema.targets = {"c"};
  schema.classes = classes;
  schema.horizon = 1;
  schema.codes = {{"c", "c", false, classes, {0.0F, 1.0F}, {}}};
  RowInputs row(schema);
  row.text(0, cell);
  const float value = row.finish(NAN, NAN)[0];
  if (!std::isnan(number)) {
    row.number(0, number);
    const float same = row.finish(NAN, NAN)[0];
    EXPECT_TRUE(same == value || (std::isnan(same) && std::isnan(value))) << cell;
  }
  return value;
}

TEST(Rows, ThePastOfTheTargetIsAClassAsInAFile) {
  EXPECT_EQ(past_of({"0.0", "1.0"}, "1.0", 1.0), 1.0F);
  EXPECT_EQ(past_of({"0.0", "1.0"}, "1", 1.0), 1.0F);
  EXPECT_EQ(past_of({"0.0", "1.0"}, " +0 ", 0.0), 0.0F);
  EXPECT_EQ(past_of({"False", "True"}, "TRUE"), 1.0F);
  EXPECT_EQ(past_of({"False", "True"}, "false"), 0.0F);
  EXPECT_EQ(past_of({"a", "1.0"}, "1.0"), 1.0F);
  EXPECT_TRUE(std::isnan(past_of({"a", "1.0"}, "1")));  // by its text only where not all are numbers
  EXPECT_EQ(past_of({" hi", "lo"}, " hi"), 0.0F);       // spaces belong to a class, as in predict
  EXPECT_TRUE(std::isnan(past_of({"hi", "lo"}, " hi")));
  EXPECT_TRUE(std::isnan(past_of({"0.0", "1.0"}, "2", 2.0)));
  EXPECT_TRUE(std::isnan(past_of({"0.0", "1.0"}, " NA ")));
}

TEST(Lines, ThePastOfTheTargetInCsvAndJson) {
  Model model;
  model.schema.inputs = {"rain", "temp"};
  model.schema.targets = {"rain"};
  model.fill = {0, 0};
  model.trees = {test::tree_of_laws(2, 1, 2)};
  model.schema.horizon = 1;
  model.schema.classes = {"0.0", "1.0"};
  model.schema.codes = {{"rain", "rain", false, {"0.0", "1.0"}, {0.0F, 1.0F}, {}}};
  LineSession csv(model, {}), json(model, {});
  feed(csv, "rain,temp\n1.0,1\n");
  EXPECT_EQ(csv.last().x[0], 1.0F);
  feed(json, "{\"rain\": 1.0, \"temp\": 1}\n");
  EXPECT_EQ(json.last().x[0], 1.0F);
}

}  // namespace
}  // namespace remede
