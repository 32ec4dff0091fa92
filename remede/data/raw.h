// A data set before its words are numbers: columns of words hold the numbers of their words. What the words count as is
// learned from training data (learn_code), so that a fold of a cross-validation learns it from its own part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/data/frame.h"

namespace remede {

struct RawInput {
  std::string name;
  bool words = false;              // else numbers
  bool gap = false;                // made from the time column
  std::vector<std::string> known;  // (words) the distinct words, in the order of their first appearance
};

struct RawDataset {
  Dataset data;                              // its schema has no inputs yet; x is (steps, inputs)
  std::vector<RawInput> inputs;              // in the order of the file
  std::vector<std::string> unknown_classes;  // found where targets were needed, and not in the schema
};

// A file, or a table in memory. Both are read by the same code.
using TableSource = std::variant<ByteSource, Frame>;

RawDataset read_raw(std::vector<TableSource> tables, const Roles& roles);
RawDataset read_raw(std::vector<TableSource> tables, const Schema& schema, const Roles& roles, bool need_target);

std::vector<TableSource> open_files(const std::string& path);

// What the inputs of a model are called, and how words become numbers.
struct Code {
  std::vector<std::string> inputs;
  std::vector<InputCode> codes;
};

// What inputs that are made from others are called.
std::string gap_name(const std::string& time_column);                            // t_gap
std::string indicator_name(const std::string& column, const std::string& word);  // wind = NW

// A column of up to two words is one input (0 and 1), of up to kMostIndicators one input per word ("wind = NW", 0 or
// 1), of more words one input: their place in the order of what the target is on average where they stand in these
// sequences; up to kMostIndicatorsBesideRank also one input per word, so that a split or a formula can name one.
inline constexpr std::size_t kMostIndicators = 8;
inline constexpr std::size_t kMostIndicatorsBesideRank = 30;
inline constexpr std::size_t kMostWords = 1000;
Code learn_code(const RawDataset& raw, std::span<const std::uint32_t> sequences);
Code learn_code(const RawDataset& raw);  // from all sequences

// Whether what the words count as was learned from the target: then it must not be learned from data held out.
bool is_ordered_by_target(const InputCode& code);

// These sequences, in this order; ids, times and groups are left behind.
RawDataset select(const RawDataset& raw, std::span<const std::uint32_t> sequences);

// The data set with these inputs. REQUIRES: raw holds the columns they are made from.
Dataset encode(RawDataset raw, const Code& code);

// Seconds since 1970 of 2024-05-01, 2024-05-01 12:30, 2024-05-01T12:30:15.25Z and the like; or the number it is.
bool parse_time(std::string_view text, double& value);

}  // namespace remede
