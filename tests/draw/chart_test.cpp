#include "remede/draw/chart.h"

#include <cmath>

#include <gtest/gtest.h>

namespace remede {
namespace {

TEST(Chart, TicksAreRound) {
  const auto near = [](const std::vector<double>& got, const std::vector<double>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], 1e-12 * std::abs(expected[i]) + 1e-15);
  };
  near(round_ticks(0, 1, 5), {0, 0.2, 0.4, 0.6, 0.8, 1});
  near(round_ticks(0, 10, 5), {0, 2, 4, 6, 8, 10});
  near(round_ticks(-3, 3.5, 5), {-2, 0, 2});
  near(round_ticks(1e-7, 5e-7, 4), {1e-7, 2e-7, 3e-7, 4e-7, 5e-7});
  near(round_ticks(5, 5, 4), {5});
}

TEST(Chart, HistogramCountsEveryValueWithin) {
  const std::vector<float> values = {0, 0.5F, 1, 1, std::nanf(""), 2, -1};
  EXPECT_EQ(histogram(values, 0, 1, 2), (std::vector<double>{1, 3}));
  EXPECT_EQ(histogram(values, 1, 1, 4), (std::vector<double>{0, 0, 2, 0}));
}

TEST(Chart, GapsAndLonePointsAreDrawn) {
  const std::string chart = line_chart({{"a", {1, std::nan(""), 3}, &class_ink(0)}, {"b", {2}, &class_ink(1)}}, {});
  EXPECT_NE(chart.find("<svg"), std::string::npos);
  EXPECT_EQ(chart.find("nan"), std::string::npos);
  EXPECT_EQ(chart.find("inf"), std::string::npos);
  EXPECT_EQ(line_chart({}, {}).find("nan"), std::string::npos);
}

TEST(Chart, LogarithmicAxisHasPowersOfTen) {
  ChartOptions options;
  options.logarithmic = true;
  const std::string chart = line_chart({{"loss", {1, 0.1, 0.001}, &class_ink(0)}}, options);
  EXPECT_NE(chart.find(">0.01<"), std::string::npos) << chart;
}

}  // namespace
}  // namespace remede
