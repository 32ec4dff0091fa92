#include "remede/data/frame.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "remede/base/error.h"
#include "remede/data/csv.h"
#include "remede/data/number.h"

namespace remede {
namespace {

template <typename T>
T read_as(const std::uint8_t* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

bool bit_at(const std::uint8_t* bits, std::size_t at) { return ((bits[at / 8] >> (at % 8)) & 1U) != 0; }

bool is_missing_at(const CellBlock& block, std::size_t at) {
  if (block.valid != nullptr && !bit_at(block.valid, block.first_valid_bit + at)) return true;
  return block.missing != nullptr && block.missing[static_cast<std::ptrdiff_t>(at) * block.missing_stride] != 0;
}

const std::uint8_t* cell_at(const CellBlock& block, std::size_t at) {
  return block.values + static_cast<std::ptrdiff_t>(at) * block.stride;
}

bool is_text(CellType type) {
  return type == CellType::kBytes || type == CellType::kText32 || type == CellType::kText64 ||
         type == CellType::kTextView;
}

bool is_boolean(CellType type) { return type == CellType::kBool || type == CellType::kBit; }

std::int64_t whole_at(const CellBlock& block, std::size_t at) {
  const std::uint8_t* const cell = cell_at(block, at);
  switch (block.type) {
    case CellType::kInt8:
      return read_as<std::int8_t>(cell);
    case CellType::kInt16:
      return read_as<std::int16_t>(cell);
    case CellType::kInt32:
      return read_as<std::int32_t>(cell);
    case CellType::kUint8:
      return read_as<std::uint8_t>(cell);
    case CellType::kUint16:
      return read_as<std::uint16_t>(cell);
    case CellType::kUint32:
      return read_as<std::uint32_t>(cell);
    default:
      return read_as<std::int64_t>(cell);
  }
}

// REQUIRES: a number.
double number_at(const CellBlock& block, std::size_t at) {
  switch (block.type) {
    case CellType::kDouble:
      return read_as<double>(cell_at(block, at));
    case CellType::kFloat:
      return static_cast<double>(read_as<float>(cell_at(block, at)));
    case CellType::kUint64:
      return static_cast<double>(read_as<std::uint64_t>(cell_at(block, at)));
    default:
      return static_cast<double>(whole_at(block, at));
  }
}

std::string_view view_at(const CellBlock& block, std::size_t at) {
  constexpr std::int32_t kLongestInPlace = 12;
  const std::uint8_t* const view = block.values + at * 16;
  const auto length = read_as<std::int32_t>(view);
  const auto size = static_cast<std::size_t>(std::max(length, 0));
  if (length <= kLongestInPlace) return {reinterpret_cast<const char*>(view + 4), size};
  const auto buffer = static_cast<std::size_t>(read_as<std::int32_t>(view + 8));
  const auto* const bytes = static_cast<const char*>(block.buffers[buffer]);
  return {bytes + read_as<std::int32_t>(view + 12), size};
}

// REQUIRES: is_text.
std::string_view stored_text(const CellBlock& block, std::size_t at) {
  const auto* const bytes = reinterpret_cast<const char*>(block.values);
  if (block.type == CellType::kTextView) return view_at(block, at);
  if (block.type == CellType::kText32) {
    const auto begin = read_as<std::int32_t>(block.offsets + at * 4);
    return {bytes + begin, static_cast<std::size_t>(read_as<std::int32_t>(block.offsets + at * 4 + 4) - begin)};
  }
  if (block.type == CellType::kText64) {
    const auto begin = read_as<std::int64_t>(block.offsets + at * 8);
    return {bytes + begin, static_cast<std::size_t>(read_as<std::int64_t>(block.offsets + at * 8 + 8) - begin)};
  }
  const auto* const cell = reinterpret_cast<const char*>(cell_at(block, at));
  auto size = static_cast<std::size_t>(block.stride);
  while (size > 0 && cell[size - 1] == '\0') --size;
  return {cell, size};
}

// REQUIRES: words.
std::string_view word_at(const CellBlock& block, std::size_t at) {
  const std::int64_t word = whole_at(block, at);
  const bool there = word >= 0 && static_cast<std::size_t>(word) < block.words->size();
  return there ? (*block.words)[static_cast<std::size_t>(word)] : std::string_view();
}

// The shortest text that reads back as the same number, as Python writes it: 100000.0, and an exponent below 1e-4 and
// from 1e16 on.
template <typename T>
std::string_view spell(T value, char* to, std::size_t room) {
  if (std::isnan(value)) return {};
  const T size = std::abs(value);
  const bool plain = value == 0 || (size >= static_cast<T>(1e-4) && size < static_cast<T>(1e16));
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  char* end = std::to_chars(to, to + room - 2, value, format).ptr;
  if (plain && std::find(to, end, '.') == end) {
    *end++ = '.';
    *end++ = '0';
  }
  return {to, static_cast<std::size_t>(end - to)};
}

template <typename T>
std::string_view spell_whole(T value, char* to, std::size_t room) {
  return {to, static_cast<std::size_t>(std::to_chars(to, to + room, value).ptr - to)};
}

}  // namespace

FrameReader::FrameReader(Frame frame) : frame_(std::move(frame)), cursors_(frame_.columns.size()) {
  for (const FrameColumn& column : frame_.columns) {
    names_.emplace_back(trim(column.name));
    std::size_t rows = 0;
    for (const CellBlock& block : column.blocks) rows += block.rows;
    if (rows != frame_.rows)
      fail("{}: column {}: expected {} rows as in other columns, got {}", frame_.name, shown(names_.back()),
           frame_.rows, rows);
  }
  expect_distinct_names(frame_.name, names_);
}

std::string FrameReader::where(std::size_t column) const {
  const std::string& name = names_[column];
  return fmt::format("{}: row {}, column {}", frame_.name, row_,
                     name.empty() ? std::to_string(column + 1) : shown(name));
}

bool FrameReader::next_row() {
  if (begun_) ++row_;
  begun_ = true;
  column_ = 0;
  return row_ < frame_.rows;
}

const CellBlock& FrameReader::next_cell(std::size_t& at) {
  Cursor& cursor = cursors_[column_];
  const std::vector<CellBlock>& blocks = frame_.columns[column_].blocks;
  while (row_ >= cursor.end) {
    cursor.begin = cursor.end;
    cursor.end += blocks[cursor.next++].rows;
  }
  ++column_;
  at = row_ - cursor.begin;
  return blocks[cursor.next - 1];
}

bool FrameReader::number(double& value) {
  std::size_t at = 0;
  const CellBlock& block = next_cell(at);
  if (block.words || is_text(block.type) || is_boolean(block.type) || block.type == CellType::kForeign) {
    cell_ = text_of(block, at);
    return parse_cell(cell_, value) != CellKind::kText;
  }
  value = block.type == CellType::kNone || is_missing_at(block, at) ? std::numeric_limits<double>::quiet_NaN()
                                                                    : number_at(block, at);
  return true;
}

std::string_view FrameReader::text() {
  std::size_t at = 0;
  const CellBlock& block = next_cell(at);
  return text_of(block, at);
}

// The cell as a CSV file would hold it; nothing where it is missing. `column_` is one beyond its column.
std::string_view FrameReader::text_of(const CellBlock& block, std::size_t at) {
  if (block.type == CellType::kNone || is_missing_at(block, at)) return {};
  if (block.words || is_text(block.type)) {
    const std::string_view text = block.words ? word_at(block, at) : stored_text(block, at);
    if (text.find('\0') != std::string_view::npos) fail("{}: expected text, got a NUL byte", where(column_ - 1));
    return text;
  }
  if (is_boolean(block.type)) {
    const bool yes =
        block.type == CellType::kBit ? bit_at(block.values, block.first_bit + at) : *cell_at(block, at) != 0;
    return frame_.capital_booleans ? (yes ? "True" : "False") : (yes ? "true" : "false");
  }
  switch (block.type) {
    case CellType::kDouble:
      return spell(read_as<double>(cell_at(block, at)), spelt_, sizeof spelt_);
    case CellType::kFloat:
      return spell(read_as<float>(cell_at(block, at)), spelt_, sizeof spelt_);
    case CellType::kUint64:
      return spell_whole(read_as<std::uint64_t>(cell_at(block, at)), spelt_, sizeof spelt_);
    case CellType::kForeign:
      fail("{}: expected numbers, words or times, got values of type {}", where(column_ - 1),
           frame_.columns[column_ - 1].kind);
    default:
      return spell_whole(whole_at(block, at), spelt_, sizeof spelt_);
  }
}

}  // namespace remede
