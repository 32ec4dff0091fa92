// A table that lies in memory as columns: a data frame, an Arrow table, an array. It is read as a file is: every cell
// means what it would mean in a CSV file written from the table, and messages say the same, with the row in place of
// the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "remede/data/texts.h"

struct ArrowArrayStream;  // Arrow's C stream interface (data/arrow.h)

namespace remede {

enum class CellType : std::uint8_t {
  kNone,  // no cell has a value
  kBool,  // a byte each
  kBit,   // a bit each
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat,
  kDouble,
  kBytes,     // text of `stride` bytes each, filled up with zeros
  kText32,    // text from offset to offset
  kText64,    // the same with 64-bit offsets
  kTextView,  // Arrow's views of texts: short ones in place, long ones in a buffer
  kForeign,   // something that is neither number nor text
};

// Cells of a column that lie together in memory of somebody else.
struct CellBlock {
  std::size_t rows = 0;
  CellType type = CellType::kNone;
  const std::uint8_t* values = nullptr;     // the first cell; of texts with offsets: their bytes
  std::ptrdiff_t stride = 0;                // bytes from cell to cell
  std::size_t first_bit = 0;                // of kBit
  const std::uint8_t* offsets = nullptr;    // of kText32 and kText64: (rows + 1)
  const void* const* buffers = nullptr;     // of kTextView: where long texts are
  const std::uint8_t* valid = nullptr;      // a bit per row, 0 where the cell is missing; or null
  std::size_t first_valid_bit = 0;          //
  const std::uint8_t* missing = nullptr;    // a byte per row, not 0 where the cell is missing; or null
  std::ptrdiff_t missing_stride = 0;        // bytes from row to row
  std::shared_ptr<const Texts> words = {};  // the cells are numbers of these words; others are missing
};

struct FrameColumn {
  std::string name;
  std::vector<CellBlock> blocks;
  std::string kind = {};  // of kForeign, for messages
};

struct Frame {
  std::string name = "data";  // for messages
  std::size_t rows = 0;
  bool capital_booleans = false;  // True and False, as pandas writes them; else true and false
  std::vector<FrameColumn> columns;
  std::vector<std::shared_ptr<const void>> owners;  // keep the memory of the blocks
};

// All batches of a stream; it is released. Throws Error for anything that is not a table.
Frame frame_from_arrow(ArrowArrayStream& stream);

// The functions of CsvReader, for a frame. Not thread-safe.
class FrameReader {
 public:
  static constexpr const char* kRowWord = "row";  // what line() counts

  // Throws Error where names of columns repeat or the columns differ in length.
  explicit FrameReader(Frame frame);

  const std::vector<std::string>& columns() const { return names_; }
  bool row_names() const { return false; }
  bool next_row();

  bool number(double& value);
  std::string_view text();
  void skip() { ++column_; }

  std::string_view last_cell() const { return cell_; }
  std::uint64_t line() const { return row_; }  // number of the current row, from 0
  std::uint64_t bytes_used() const { return row_ + 1; }
  std::uint64_t bytes_in_all() const { return frame_.rows; }
  const std::string& name() const { return frame_.name; }
  std::string where(std::size_t column) const;  // "data: row 7, column 'x1'"

 private:
  // The block of a column that holds the current row.
  struct Cursor {
    std::size_t next = 0;   // one beyond its number
    std::size_t begin = 0;  // its first row
    std::size_t end = 0;    // one past its last
  };

  const CellBlock& next_cell(std::size_t& at);
  std::string_view text_of(const CellBlock& block, std::size_t at);

  Frame frame_;
  std::vector<std::string> names_;
  std::vector<Cursor> cursors_;
  std::uint64_t row_ = 0;
  bool begun_ = false;
  std::size_t column_ = 0;  // of the next cell
  std::string_view cell_;
  char spelt_[64] = {};  // a number as text
};

}  // namespace remede
