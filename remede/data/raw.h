// A data set before its words are numbers: columns of words hold the numbers of their words. What the words count as is
// learned from training data (learn_code), so that a fold of a cross-validation learns it from its own part.
#pragma once

#include <cmath>
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
  Column<float> step_weight;                 // (steps) the weight column, until weigh() applies it; or empty
  bool task_stated = false;                  // by an option or by the file
  std::vector<std::string> unknown_classes;  // found where targets were needed, and not in the schema
};

// A file, or a table in memory. Both are read by the same code.
using TableSource = std::variant<ByteSource, Frame>;

RawDataset read_raw(std::vector<TableSource> tables, const Roles& roles);
RawDataset read_raw(std::vector<TableSource> tables, const Schema& schema, const Roles& roles, bool need_target);

std::vector<TableSource> open_files(const std::string& path);

// What a part of the data is a part of: the name and the columns of the first table, and whether there are several.
struct WholeTable {
  std::string first_file;
  std::vector<std::string> first_columns;
  bool several = false;
};
// Some of the sequences, read by themselves. Its classes are those that occur in it, which may be one or none, and
// without any target its sequences have none.
RawDataset read_raw_part(std::vector<TableSource> tables, const Roles& roles, const WholeTable& whole);

struct ColumnLayout;
Schema schema_of(const Roles& roles, const ColumnLayout& layout);  // without task, classes and inputs

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

// The same in parts. Sums over the steps of these sequences, for the words of input i, added to what `sums` holds:
// (words) steps, (words) weight, (words, outputs) and (outputs) weighted targets, weight of all.
// `sums` is empty or from a former call.
void add_word_sums(const RawDataset& raw, std::size_t i, std::span<const std::uint32_t> sequences,
                   std::vector<double>& sums);
// From the inputs and the task of `raw` and the sums of each input of words, whatever else raw holds.
Code learn_code(const RawDataset& raw, const std::vector<std::vector<double>>& sums);

// Whether what the words count as was learned from the target: then it must not be learned from data held out.
bool is_ordered_by_target(const InputCode& code);

// These sequences, in this order; ids, times and groups are left behind.
RawDataset select(const RawDataset& raw, std::span<const std::uint32_t> sequences);

// From the values of the columns of a step to the inputs of a model. REQUIRES: there are the columns they are made
// from.
class Encoder {
 public:
  Encoder(const std::vector<RawInput>& columns, const Code& code);
  bool same() const { return same_; }  // nothing changes
  std::size_t inputs() const { return from_.size(); }
  float input(std::size_t i, const float* columns) const {
    const float value = columns[from_[i]];
    return values_[i].empty() || std::isnan(value) ? value : values_[i][static_cast<std::size_t>(value)];
  }

 private:
  std::vector<std::size_t> from_;           // (inputs) the column it is made from,
  std::vector<std::vector<float>> values_;  // and what its words count as; empty: a number
  bool same_ = true;
};

// The data set with these inputs. REQUIRES: raw holds the columns they are made from.
Dataset encode(RawDataset raw, const Code& code);

// Seconds since 1970 of 2024-05-01, 2024-05-01 12:30, 2024-05-01T12:30:15.25Z and the like; or the number it is.
bool parse_time(std::string_view text, double& value);

}  // namespace remede
