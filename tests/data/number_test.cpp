#include "remede/data/number.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "remede/base/random.h"

namespace remede {
namespace {

double number(const std::string& cell) {
  double value = 0.0;
  EXPECT_EQ(parse_cell(cell, value), CellKind::kNumber) << cell;
  return value;
}

TEST(ParseCell, ReadsNumbersAsPeopleWriteThem) {
  EXPECT_EQ(number("1"), 1.0);
  EXPECT_EQ(number("-1.5"), -1.5);
  EXPECT_EQ(number("+1.5"), 1.5);
  EXPECT_EQ(number(" \t2.5 "), 2.5);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("5."), 5.0);
  EXPECT_EQ(number("1e3"), 1000.0);
  EXPECT_EQ(number("1E+3"), 1000.0);
  EXPECT_EQ(number("0.1"), 0.1);
  EXPECT_TRUE(std::signbit(number("-0")));
}

TEST(ParseCell, BeyondTheRangeOfDoubleIsInfiniteOrZero) {
  EXPECT_EQ(number("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("-1e400"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("1e-400"), 0.0);
  EXPECT_EQ(number("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(number("1" + std::string(400, '0')), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("1" + std::string(400, '0') + "e-800"), 0.0);
  EXPECT_EQ(number("0." + std::string(400, '0') + "1e800"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("1e99999999999999999999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("inf"), std::numeric_limits<double>::infinity());
}

TEST(ParseCell, KnowsWhatIsMissing) {
  for (const char* cell : {"", " ", "NA", "N/A", "NaN", "nan", "NAN", "-nan", "null", "NULL", "?", " NA "}) {
    double value = 0.0;
    EXPECT_EQ(parse_cell(cell, value), CellKind::kMissing) << cell;
    EXPECT_TRUE(std::isnan(value)) << cell;
  }
}

TEST(ParseCell, LeavesTheRestAsText) {
  for (const char* cell :
       {"a", "1a", "1 2", "+-1", "--1", "+", "-", ".", "1e", "0x10", "1,5", "none", "na", "true", "1_000"}) {
    double value = 0.0;
    EXPECT_EQ(parse_cell(cell, value), CellKind::kText) << cell;
  }
}

// The plain parser must agree with std::from_chars wherever it takes a text at all.
TEST(ParsePlainNumber, AgreesWithFromCharsBitForBit) {
  Random random(7);
  int taken = 0;
  for (int i = 0; i < 300000; ++i) {
    std::string text = random.below(3) == 0 ? "-" : "";
    const std::uint64_t before = random.below(10);
    const std::uint64_t behind = random.below(10);
    for (std::uint64_t k = 0; k < before; ++k) text += static_cast<char>('0' + random.below(10));
    if (random.below(4) != 0) text += '.';
    for (std::uint64_t k = 0; k < behind; ++k) text += static_cast<char>('0' + random.below(10));
    if (random.below(8) == 0) text += "e5";
    double plain = 0.0;
    const char* end = parse_plain_number(text.c_str(), plain);
    double exact = 0.0;
    const auto [ptr, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
    if (end == nullptr) continue;
    ++taken;
    ASSERT_EQ(error, std::errc{}) << text;
    ASSERT_EQ(end, ptr) << text;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(plain), std::bit_cast<std::uint64_t>(exact)) << text;
  }
  EXPECT_GT(taken, 150000);
}

TEST(ParsePlainNumber, LeavesTheHardCasesToFromChars) {
  double value = 0.0;
  for (const char* text : {"", "-", ".", "-.", "1e5", "1234567890123456", "0.0000000000000001", "abc", "+1", " 1"})
    EXPECT_EQ(parse_plain_number(text, value), nullptr) << text;
}

float written_and_read(float value) {
  std::string text;
  append_float(text, value);
  double back = 0.0;
  parse_cell(text, back);
  return static_cast<float>(back);
}

TEST(AppendFloat, RoundTripsThroughDouble) {
  Random random(3);
  for (int i = 0; i < 300000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(written_and_read(value)), std::bit_cast<std::uint32_t>(value));
  }
}

TEST(AppendFloat, IsShort) {
  const auto text = [](float value) {
    std::string to;
    append_float(to, value);
    return to;
  };
  EXPECT_EQ(text(1.0F), "1");
  EXPECT_EQ(text(-0.1F), "-0.1");
  EXPECT_EQ(text(0.0F), "0");
  EXPECT_EQ(text(std::numeric_limits<float>::quiet_NaN()), "");
}

}  // namespace
}  // namespace remede
