// Rows as lines of text in, predictions as lines of text out, for many interleaved sequences. CSV, whose first line
// names the columns, or JSON, an object per line; the answer has the same format. Rows are steps in the order in which
// they come. Its state can be saved and taken up again, with the position in the input. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remede/model/model.h"
#include "remede/stream/pool.h"
#include "remede/stream/row.h"
#include "remede/stream/watch.h"

namespace remede {

enum class LineFormat : std::uint8_t { kGuess, kCsv, kJson };

struct LineOptions {
  LineFormat format = LineFormat::kGuess;  // by the first line: it begins with { or not
  std::optional<std::string> id = {};      // a column, "row" or "none"; else the model's
  std::optional<std::string> time = {};    // a column or "none"; else the model's
  std::size_t most_ids = 1000000;
  bool watch = false;
};

// How far the input has been read.
struct LinePosition {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;      // with the header, blank and malformed ones
  std::uint64_t rows = 0;       // answered
  std::uint64_t malformed = 0;  // reported, not answered
};

// A row that was answered. All of it is valid until the next row.
struct AnsweredRow {
  std::string_view id;           // empty where there is one sequence
  std::span<const float> x;      // (n_x)
  std::span<const float> state;  // after the step
  std::span<const float> y;      // (n_y)
};

class LineSession {
 public:
  static constexpr std::size_t kMostLine = std::size_t{16} << 20;  // bytes

  // The model must outlive it.
  LineSession(const Model& model, const LineOptions& options);
  LineSession(const LineSession&) = delete;
  LineSession& operator=(const LineSession&) = delete;

  // The next line, without its end; `bytes`: with it. REQUIRES: a newline or a NUL stands behind the line. Appends the
  // answer to `out`. False: the line is malformed, problem() says why. Throws Error where the header does not fit.
  bool add(std::string_view line, std::size_t bytes, std::string& out);
  bool add_too_long(std::size_t bytes);  // a line of more than kMostLine
  const std::string& problem() const { return problem_; }

  const AnsweredRow& last() const { return last_; }  // REQUIRES: the last add() returned true, of a row
  bool forget(std::string_view id) {
    return pool_.forget(id);
  }  // the next row of this id is its first; false: not there

  const std::string& id_column() const { return id_; }      // empty: one sequence
  const std::string& time_column() const { return time_; }  // empty: none
  const std::vector<std::string>& columns() const { return inputs_.columns(); }
  bool reads_words(std::size_t column) const { return inputs_.reads_words(column); }
  const LinePosition& position() const { return position_; }
  const StreamPool& pool() const { return pool_; }
  InputWatch* watch() { return watch_ ? &*watch_ : nullptr; }

  // All of it as bytes. load() throws Error naming `where` for bytes of another model, or damaged ones.
  std::string save() const;
  void load(std::string_view bytes, const std::string& where);
  // The position in such bytes, whatever model they are of.
  static LinePosition saved_position(std::string_view bytes, const std::string& where);

 private:
  enum class Part : std::uint8_t { kSkip, kId, kTime, kInput };
  struct Cell {
    Part part = Part::kSkip;
    std::size_t column = 0;
  };
  struct Row {
    std::string_view id;
    std::string_view time;
    std::string id_json, time_json;  // as they stood in an object
  };

  void read_header(std::string_view line);
  std::vector<std::string> cells_of(std::string_view line);
  bool again_header(std::string_view line);
  void write_header(std::string& out) const;
  void read_csv(std::string_view line, Row& row);
  bool read_cell(std::string_view line, std::size_t& at, std::string_view& cell);
  void read_number_or_text(std::size_t column, std::string_view cell);
  void read_json(std::string_view line, Row& row);
  void answer(const Row& row, std::string& out);
  void answer_csv(const Row& row, std::span<const float> y, std::string& out) const;
  void answer_json(const Row& row, std::span<const float> y, std::string& out) const;

  const Model& model_;
  LineFormat format_;
  std::string id_;    // name of the column; empty: one sequence
  std::string time_;  // name of the column; empty: none
  bool every_row_ = false;
  bool time_may_lack_ = false;  // a row alone has no order: its time is only copied, from CSV, where it is there
  std::uint64_t checksum_;
  RowInputs inputs_;
  StreamPool pool_;
  std::optional<InputWatch> watch_;
  LinePosition position_;
  AnsweredRow last_;
  std::string problem_;
  std::string header_;              // the line, empty before it came
  std::vector<std::string> names_;  // its cells
  char separator_ = ',';
  std::vector<Cell> cells_;           // (columns of the file)
  std::deque<std::string> unquoted_;  // cells of the current line that had quotes
};

}  // namespace remede
