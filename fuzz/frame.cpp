// One table, as a CSV file and as a frame in memory: both readers give the same data, or refuse it with the same
// words. The bytes of the input say what the columns are called, which types they have and what stands in them.
#include "remede/data/frame.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <deque>
#include <memory>
#include <vector>

#include "fuzz/same.h"
#include "remede/data/raw.h"

namespace remede::fuzz {
namespace {

constexpr std::size_t kMostColumns = 6;
constexpr std::size_t kMostRows = 12;
constexpr std::size_t kMostLength = 24;  // bytes of a text

// A column both ways. A deque does not move what it holds: the blocks of the frame point into it.
struct TwoColumns {
  FrameColumn frame;
  std::vector<std::string> cells;  // as the file holds them
  std::string bytes, offsets, valid;
  std::vector<const void*> buffers;
};

// The shortest digits that read back as the same number, written as Python does: an exponent below 1e-4 and from 1e16
// on. Where they do not read back through double, more digits.
template <typename T>
std::string as_python(T value) {
  if (std::isnan(value)) return "";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char digits[40];
  double back = 0;
  int precision = 1;
  for (; precision <= 17; ++precision) {
    std::snprintf(digits, sizeof digits, "%.*e", precision - 1, static_cast<double>(value));
    std::from_chars(digits, digits + std::strlen(digits), back);
    if (static_cast<T>(back) == value) break;
  }
  const int exponent = std::atoi(std::strchr(digits, 'e') + 1);
  if (value != 0 && (exponent < -4 || exponent >= 16)) {
    std::string text = digits;  // 1.5e+20
    return text;
  }
  char plain[64];
  std::snprintf(plain, sizeof plain, "%.*f", std::max(1, precision - 1 - exponent), static_cast<double>(value));
  return plain;
}

template <typename T>
void append_bytes(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T any_value(std::string_view& input) {
  T value{};
  char bytes[sizeof(T)];
  for (char& byte : bytes) byte = static_cast<char>(take_byte(input));
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Mostly ordinary ones: any bits are almost always huge or tiny.
template <typename T>
T take_number(std::string_view& input) {
  if constexpr (std::is_floating_point_v<T>) {
    const unsigned kind = take_byte(input);
    if (kind < 64) return static_cast<T>(kind) / 4 - 5;
    if (kind < 128) return static_cast<T>(static_cast<int>(kind) - 96);
    if (kind < 160) return static_cast<T>(std::ldexp(1 + kind % 7 * 0.1, (static_cast<int>(kind) - 144) * 8));
    if (kind < 170) return static_cast<T>(NAN);
    if (kind < 172) return static_cast<T>(INFINITY);
  } else {
    const unsigned kind = take_byte(input);
    if (kind < 200) return static_cast<T>(kind % 32);
  }
  return any_value<T>(input);
}

template <typename T>
void fill_numbers(CellType type, std::size_t rows, std::string_view& input, TwoColumns& column, CellBlock& block) {
  block.type = type;
  block.stride = sizeof(T);
  for (std::size_t r = 0; r < rows; ++r) {
    const T value = take_number<T>(input);
    append_bytes(column.bytes, value);
    if constexpr (std::is_floating_point_v<T>) {
      column.cells.push_back(as_python(value));
    } else {
      column.cells.push_back(std::to_string(value));
    }
  }
}

void fill_booleans(bool bits, std::size_t rows, std::string_view& input, TwoColumns& column, CellBlock& block) {
  block.type = bits ? CellType::kBit : CellType::kBool;
  block.stride = 1;
  block.first_bit = bits ? 3 : 0;
  column.bytes.assign(bits ? (rows + 3) / 8 + 1 : rows, '\0');
  for (std::size_t r = 0; r < rows; ++r) {
    const bool yes = take_byte(input) % 2 == 1;
    if (yes && bits) column.bytes[(r + 3) / 8] |= static_cast<char>(1U << ((r + 3) % 8));
    if (yes && !bits) column.bytes[r] = 1;
    column.cells.emplace_back(yes ? "True" : "False");
  }
}

std::string take_text(std::string_view& input) {
  static const char* const usual[] = {"a", "b", " a", "a ", "7", "7.0", "NA", "", "?", "True", "2024-05-01", "x,y"};
  const unsigned kind = take_byte(input);
  if (kind < 96) return usual[kind % std::size(usual)];
  std::string text(input.substr(0, kind % kMostLength));
  input.remove_prefix(text.size());
  return text;
}

void fill_texts(CellType type, std::size_t rows, std::string_view& input, TwoColumns& column, CellBlock& block) {
  constexpr std::size_t kWidth = kMostLength + 4;  // of kBytes
  block.type = type;
  block.stride = kWidth;
  if (type == CellType::kText32) append_bytes(column.offsets, std::int32_t{0});
  if (type == CellType::kText64) append_bytes(column.offsets, std::int64_t{0});
  for (std::size_t r = 0; r < rows; ++r) {
    std::string text = take_text(input);
    if (type == CellType::kBytes) {
      while (!text.empty() && text.back() == '\0') text.pop_back();
      column.bytes.append(text).append(kWidth - text.size(), '\0');
    } else if (type == CellType::kTextView) {
      append_bytes(column.offsets, static_cast<std::int32_t>(text.size()));
      std::string rest = text.size() > 12 ? std::string(4, '\0') : text;
      rest.resize(text.size() > 12 ? 4 : 12);
      column.offsets += rest;
      if (text.size() > 12) {
        append_bytes(column.offsets, std::int32_t{0});
        append_bytes(column.offsets, static_cast<std::int32_t>(column.bytes.size()));
        column.bytes += text;
      }
    } else {
      column.bytes += text;
      if (type == CellType::kText32) append_bytes(column.offsets, static_cast<std::int32_t>(column.bytes.size()));
      if (type == CellType::kText64) append_bytes(column.offsets, static_cast<std::int64_t>(column.bytes.size()));
    }
    column.cells.push_back(text);
  }
}

void fill_words(std::size_t rows, std::string_view& input, TwoColumns& column, CellBlock& block) {
  auto words = std::make_shared<Texts>();
  const unsigned count = take_byte(input) % 5;
  for (unsigned w = 0; w < count; ++w) words->push_back(take_text(input));
  block.type = CellType::kInt8;
  block.stride = 1;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto word =
        static_cast<std::int8_t>(static_cast<int>(take_byte(input) % 7) - 1);  // -1 and too large: missing
    append_bytes(column.bytes, word);
    const bool there = word >= 0 && static_cast<std::size_t>(word) < words->size();
    column.cells.emplace_back(there ? (*words)[static_cast<std::size_t>(word)] : std::string_view());
  }
  block.words = std::move(words);
}

void fill(unsigned type, std::size_t rows, std::string_view& input, TwoColumns& column, CellBlock& block) {
  switch (type % 16) {
    case 0:
    case 1:
      return fill_numbers<double>(CellType::kDouble, rows, input, column, block);
    case 2:
      return fill_numbers<float>(CellType::kFloat, rows, input, column, block);
    case 3:
      return fill_numbers<std::int8_t>(CellType::kInt8, rows, input, column, block);
    case 4:
      return fill_numbers<std::int16_t>(CellType::kInt16, rows, input, column, block);
    case 5:
      return fill_numbers<std::int32_t>(CellType::kInt32, rows, input, column, block);
    case 6:
      return fill_numbers<std::int64_t>(CellType::kInt64, rows, input, column, block);
    case 7:
      return fill_numbers<std::uint8_t>(CellType::kUint8, rows, input, column, block);
    case 8:
      return fill_numbers<std::uint32_t>(CellType::kUint32, rows, input, column, block);
    case 9:
      return fill_numbers<std::uint64_t>(CellType::kUint64, rows, input, column, block);
    case 10:
      return fill_booleans(take_byte(input) % 2 == 0, rows, input, column, block);
    case 11:
      return fill_texts(CellType::kBytes, rows, input, column, block);
    case 12:
      return fill_texts(CellType::kText32, rows, input, column, block);
    case 13:
      return fill_texts(CellType::kText64, rows, input, column, block);
    case 14:
      return fill_texts(CellType::kTextView, rows, input, column, block);
    default:
      return fill_words(rows, input, column, block);
  }
}

// Some cells are missing: by bits, as Arrow has it, or by bytes, as NumPy has it.
void leave_out(unsigned how, std::size_t rows, std::string_view& input, TwoColumns& column, CellBlock& block) {
  if (how % 4 == 0) return;
  const bool bits = how % 4 == 1;
  column.valid.assign(bits ? (rows + 5) / 8 + 1 : rows * 2, '\0');
  for (std::size_t r = 0; r < rows; ++r) {
    const bool missing = take_byte(input) % 4 == 0;
    if (bits && !missing) column.valid[(r + 5) / 8] |= static_cast<char>(1U << ((r + 5) % 8));
    if (!bits && missing) column.valid[r * 2] = 1;
    if (missing) column.cells[r].clear();
  }
  const auto* const marks = reinterpret_cast<const std::uint8_t*>(column.valid.data());
  if (bits) {
    block.valid = marks;
    block.first_valid_bit = 5;
  } else {
    block.missing = marks;
    block.missing_stride = 2;
  }
}

// The same cells in two blocks, the second from row `cut` on.
CellBlock rest_of(const CellBlock& block, std::size_t cut) {
  CellBlock rest = block;
  rest.rows = block.rows - cut;
  rest.first_bit += cut;
  rest.first_valid_bit += cut;
  if (rest.missing != nullptr) rest.missing += static_cast<std::ptrdiff_t>(cut) * rest.missing_stride;
  if (block.type == CellType::kText32) rest.offsets += cut * 4;
  if (block.type == CellType::kText64) rest.offsets += cut * 8;
  if (block.type == CellType::kTextView) rest.values += cut * 16;
  const bool in_place = block.offsets == nullptr && block.type != CellType::kBit && block.type != CellType::kTextView;
  if (in_place) rest.values += static_cast<std::ptrdiff_t>(cut) * block.stride;
  return rest;
}

void make_column(std::size_t rows, std::string_view& input, TwoColumns& column) {
  static const char* const names[] = {"id",     "time",    "y",           "x1",  "x2", "x3",
                                      "target", "Case ID", "wind, north", " s ", ""};
  column.frame.name = names[take_byte(input) % std::size(names)];
  CellBlock block;
  block.rows = rows;
  fill(take_byte(input), rows, input, column, block);
  leave_out(take_byte(input), rows, input, column, block);
  block.values = reinterpret_cast<const std::uint8_t*>(column.bytes.data());
  if (block.type == CellType::kText32 || block.type == CellType::kText64)
    block.offsets = reinterpret_cast<const std::uint8_t*>(column.offsets.data());
  if (block.type == CellType::kTextView) {
    block.values = reinterpret_cast<const std::uint8_t*>(column.offsets.data());
    column.buffers.push_back(column.bytes.data());
    block.buffers = column.buffers.data();
  }
  const std::size_t cut = take_byte(input) % (rows + 1);
  column.frame.blocks = {block, rest_of(block, cut)};
  column.frame.blocks.front().rows = cut;
}

std::string quoted(const std::string& cell, bool alone) {
  if (!(alone && cell.empty()) && cell.find_first_of("\",\r\n") == std::string::npos) return cell;
  std::string text(1, '"');
  for (const char c : cell) text.append(c == '"' ? 2 : 1, c);
  return text.append(1, '"');
}

std::string csv_of(const std::deque<TwoColumns>& columns, std::size_t rows) {
  std::string text;
  const bool alone = columns.size() == 1;  // then an empty line is no row
  const auto add = [&](std::size_t c, const std::string& cell) {
    if (c > 0) text.append(1, ',');
    text.append(quoted(cell, alone));
  };
  for (std::size_t c = 0; c < columns.size(); ++c) add(c, columns[c].frame.name);
  text.append(1, '\n');
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) add(c, columns[c].cells[r]);
    text.append(1, '\n');
  }
  return text;
}

Frame frame_of(const std::deque<TwoColumns>& columns, std::size_t rows) {
  Frame frame;
  frame.name = "file";
  frame.rows = rows;
  frame.capital_booleans = true;
  for (const TwoColumns& column : columns) frame.columns.push_back(column.frame);
  return frame;
}

Roles frame_roles(unsigned bits) {
  Roles roles;
  roles.format.separator = ',';
  roles.need_target = (bits & 1U) == 0;
  if ((bits & 2U) != 0) roles.id = "row";
  if ((bits & 4U) != 0) roles.categorical = {"x1"};
  if ((bits & 8U) != 0) roles.weight = "x3";
  if ((bits & 16U) != 0) roles.task = (bits & 32U) != 0 ? Task::kRegression : Task::kClassification;
  if ((bits & 64U) != 0) roles.horizon = 1;
  if ((bits & 128U) != 0) roles.target_per = TargetPer::kSequence;
  return roles;
}

// A message without its line or row: a file counts lines from 1, a frame rows from 0.
std::string without_place(std::string_view message) {
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    const bool begins = at == 0 || message[at - 1] == ' ';
    const std::string_view rest = message.substr(at);
    const std::size_t word = rest.starts_with("line ") ? 5 : rest.starts_with("row ") ? 4 : 0;
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", word), rest.size());
    const bool place = begins && word > 0 && end > word;
    text.append(1, place ? '#' : message[at]);
    at += place ? end : 1;
  }
  return text;
}

template <typename Source>
RawDataset read_one(Source source, const Roles& roles) {
  std::vector<TableSource> tables;
  tables.emplace_back(std::move(source));
  return read_raw(std::move(tables), roles);
}

}  // namespace

void frame(std::string_view input) {
  const Roles roles = frame_roles(take_byte(input));
  const std::size_t rows = 1 + take_byte(input) % kMostRows;
  std::deque<TwoColumns> columns(1 + take_byte(input) % kMostColumns);
  for (TwoColumns& column : columns) make_column(rows, input, column);
  const std::string text = csv_of(columns, rows);
  RawDataset of_file, of_frame;
  const std::string file_error = error_of([&] { of_file = read_one(source_of(text, text.size() + 1), roles); });
  const std::string frame_error = error_of([&] { of_frame = read_one(frame_of(columns, rows), roles); });
  if (text.find('\0') != std::string::npos) {  // a file refuses it anywhere, a frame in columns that are read
    require(!file_error.empty(), "a NUL byte is refused");
    return;
  }
  if (without_place(file_error) != without_place(frame_error))
    finding("file: '" + file_error + "', frame: '" + frame_error + "', of\n" + text);
  if (!file_error.empty()) return;
  require(of_file.inputs.size() == of_frame.inputs.size(), "the same inputs");
  for (std::size_t i = 0; i < of_file.inputs.size(); ++i)
    require(of_file.inputs[i].words == of_frame.inputs[i].words && of_file.inputs[i].known == of_frame.inputs[i].known,
            "the same words");
  require_same(of_file.data, of_frame.data);
  Dataset known;
  if (!error_of([&] { known = encode(of_file, learn_code(of_file)); }).empty()) return;
  // And for a model.
  std::vector<TableSource> tables;
  tables.emplace_back(frame_of(columns, rows));
  const RawDataset again = read_raw(std::move(tables), known.schema, roles, known.sequences.has_targets());
  require_same(known.sequences.x, encode(again, {known.schema.inputs, known.schema.codes}).sequences.x,
               "the schema reads the same inputs from the frame");
}

}  // namespace remede::fuzz
