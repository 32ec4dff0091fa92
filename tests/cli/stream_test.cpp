// remede stream: rows in, predictions out, and a state that survives being stopped.
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "remede/base/random.h"
#include "remede/model/file.h"
#include "support/snow.h"

namespace remede::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Model snow_at_stations() {
  Model model = model_of_snow();
  model.schema.id = "station";
  model.schema.time = "day";
  return model;
}

std::string rows_of_stations(int days, int stations) {
  std::string rows = "station,day,rain,temp,flow\n";
  Random random(1);
  for (int day = 0; day < days; ++day)
    for (int s = 0; s < stations; ++s)
      rows += fmt::format("s{},{},{:.3f},{},\n", s, day, 60 * random.uniform(),
                          random.below(9) == 0 ? "" : fmt::format("{:.2f}", 5 * random.normal()));
  return rows;
}

class StreamVerb : public CliTest {};

TEST_F(StreamVerb, GivesWhatPredictGives) {
  save_model(snow_at_stations(), "m.json");
  write("d.csv", rows_of_stations(40, 7));
  const Result result = remede({"stream", "m.json"}, read("d.csv"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, remede({"predict", "m.json", "d.csv", "-q"}).out);
  EXPECT_EQ(result.err, "answered: 280 rows; malformed: 0; sequences: 7, forgotten for want of room: 0\n");
  const std::string at_once = read("d.csv");
  EXPECT_EQ(remede({"stream", "m.json", "-q"}, at_once.substr(0, at_once.size() - 1)).out, result.out);  // no newline
}

TEST_F(StreamVerb, WordsTimesAndHistoryAsInFiles) {
  write(
      "d.csv",
      "sequence,time,wind,shop,y\na,2024-05-01,NW,a,no\na,2024-05-02,,b,\na,2024-05-04,N,zz,yes\nb,2024-05-01,NW,1,no\n"
      "b,2024-05-01,NW,a,no\n");
  const std::string model = REMEDE_TESTS_DIR "/model/files/v2_codes.json";
  EXPECT_EQ(remede({"stream", model, "-q"}, read("d.csv")).out, remede({"predict", model, "d.csv", "-q"}).out);
}

TEST_F(StreamVerb, MalformedLinesAreReportedAndCounted) {
  save_model(snow_at_stations(), "m.json");
  const Result result =
      remede({"stream", "m.json"}, "station,day,rain,temp\na,1,2,3\na,2,wet,3\na\na,3,2,3\n\xff\xfe,4,1,2\n");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("remede: line 3: column 'rain': expected a number, got 'wet'\n"));
  EXPECT_THAT(result.err, HasSubstr("answered: 3 rows; malformed: 2;"));
  EXPECT_TRUE(is_error(remede({"stream", "m.json"}, "a,b\n"), 1, "header: expected the input column 'rain'"));
  EXPECT_EQ(remede({"stream", "m.json", "-q"}, "").out, "");
  EXPECT_EQ(remede({"stream", "m.json", "-q"}, "station,day,rain,temp\na,2,wet,3\n").err,
            "remede: line 2: column 'rain': expected a number, got 'wet'\n");
}

TEST_F(StreamVerb, BadUse) {
  save_model(snow_at_stations(), "m.json");
  EXPECT_TRUE(is_error(remede({"stream", "-"}), 2, "expected the model from a file"));
  EXPECT_TRUE(is_error(remede({"stream", "m.json", "--rewind"}), 2, "expected --state FILE"));
  EXPECT_TRUE(is_error(remede({"stream", "m.json", "--watch"}), 1, "--watch-data"));
  write("s", "no state");
  EXPECT_TRUE(is_error(remede({"stream", "m.json", "--state", "s"}), 1, "s: expected a file of saved streams"));
  EXPECT_EQ(read("s"), "no state");
}

TEST_F(StreamVerb, ContinuesWhereItStopped) {
  save_model(snow_at_stations(), "m.json");
  const std::string rows = rows_of_stations(20, 3);
  const std::string whole = remede({"stream", "m.json", "-q"}, rows).out;
  const std::size_t cut = rows.find('\n', rows.size() / 2) + 1;
  const std::string first = remede({"stream", "m.json", "-q", "--state", "s"}, rows.substr(0, cut)).out;
  const auto status = nlohmann::ordered_json::parse(remede({"stream", "m.json", "--state", "s", "--status"}).out);
  EXPECT_EQ(status["bytes"], cut);
  const std::string state = read("s");
  EXPECT_EQ(first + remede({"stream", "m.json", "-q", "--state", "s"}, rows.substr(cut)).out, whole);
  write("s", state);  // the same, from the whole input
  EXPECT_EQ(first + remede({"stream", "m.json", "-q", "--state", "s", "--rewind"}, rows).out, whole);
  EXPECT_TRUE(is_error(remede({"stream", "m.json", "-q", "--state", "s", "--rewind"}, "short"), 1, "--rewind"));
}

TEST_F(StreamVerb, HalfALineIsLeftForTheNextRun) {
  save_model(snow_at_stations(), "m.json");
  const std::string rows = rows_of_stations(20, 3);
  const std::string whole = remede({"stream", "m.json", "-q"}, rows).out;
  const std::size_t cut = rows.find('\n', rows.size() / 2) - 2;
  const Result first = remede({"stream", "m.json", "--state", "s"}, rows.substr(0, cut));
  EXPECT_THAT(first.err, HasSubstr("the input ends within a line: it is left for the next run"));
  const auto status = nlohmann::ordered_json::parse(remede({"stream", "m.json", "--state", "s", "--status"}).out);
  const auto bytes = status["bytes"].get<std::size_t>();
  EXPECT_EQ(rows[bytes - 1], '\n');
  EXPECT_EQ(first.out + remede({"stream", "m.json", "-q", "--state", "s"}, rows.substr(bytes)).out, whole);
}

TEST_F(StreamVerb, APlaceThatCannotBeWrittenIsAnErrorAtOnce) {
  save_model(snow_at_stations(), "m.json");
  EXPECT_TRUE(is_error(remede({"stream", "m.json", "--state", "none/s"}, rows_of_stations(2, 2)), 1, "none/s"));
}

TEST_F(StreamVerb, DriftIsReported) {
  save_model(snow_at_stations(), "m.json");
  write("d.csv", rows_of_stations(40, 7));
  std::string far = "station,day,rain,temp\n";
  for (int day = 0; day < 200; ++day) far += fmt::format("a,{},400,1\n", day);
  EXPECT_THAT(remede({"stream", "m.json", "--watch-data", "d.csv"}, far).err,
              HasSubstr("watch: rows 1 to 200: rain: 100% of the values lie outside"));
  EXPECT_THAT(remede({"stream", "m.json", "-q", "--watch-data", "d.csv"}, read("d.csv")).err, IsEmpty());
}

// Killed at random moments and started again from its state: what all runs wrote, each from the row on at which it
// began, is what one run writes.
TEST_F(StreamVerb, NothingIsLostWhenItIsKilled) {
  save_model(snow_at_stations(), "m.json");
  write("d.csv", rows_of_stations(3000, 20));
  const std::string whole = remede({"stream", "m.json", "-q"}, read("d.csv")).out;
  std::string joined;
  int runs = 0;
  for (bool done = false; !done && runs < 200; ++runs) {
    const auto status = nlohmann::ordered_json::parse(remede({"stream", "m.json", "--state", "s", "--status"}).out);
    std::size_t at = 0;  // bytes of the output that the state vouches for: the header and the rows answered
    for (std::uint64_t lines = status["bytes"] == 0 ? 0 : status["rows"].get<std::uint64_t>() + 1; lines > 0; --lines)
      at = whole.find('\n', at) + 1;
    ASSERT_LE(at, joined.size());
    joined.resize(at);
    const int milliseconds = 20 + 7 * runs;
    const Result result =
        shell(fmt::format("$remede stream m.json -q --state s --save-every 0 --rewind <d.csv >out & sleep {:.3f}; kill "
                          "-KILL $! 2>/dev/null; wait $!",
                          milliseconds / 1000.0));
    done = result.code == 0;
    std::string out = read("out");
    if (!done) out.resize(out.rfind('\n') + 1);  // a line may be cut
    joined += out;
  }
  EXPECT_GT(runs, 1);
  EXPECT_EQ(joined, whole);
}

}  // namespace
}  // namespace remede::test
