// What `remede serve` answers, without the HTTP: rows as JSON in, predictions as JSON out, for many sequences, from any
// number of threads. Rows go through the same session as those of `remede stream` (lines.h): the same rules, the same
// answers, the same saved state.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "remede/stream/lines.h"

namespace remede {

// What a request gets.
struct ServiceReply {
  int status = 200;  // of HTTP: 400 for what is malformed, 404 for an id that is not there
  std::string text;  // JSON
};

class RowService {
 public:
  static constexpr std::size_t kMostBytes = LineSession::kMostLine;  // of a request
  static constexpr std::size_t kKeptRows = 4096;                     // of recent()

  // The model must outlive it. The format of `options` is not used: rows are JSON.
  RowService(const Model& model, LineOptions options);

  // An object is one row, and gets an object; an array of objects is a batch, and gets an array. A malformed row
  // changes nothing; the rows of a batch before it are still answered, in `answers` of the error object.
  ServiceReply predict(std::string_view body);
  ServiceReply predict_lines(std::string_view body);  // a row per line, an answer per line
  ServiceReply forget(const std::string& id);
  ServiceReply status() const;
  // Rows that came after row number `after` (counted from 1), the newest at most: inputs, memory and answers.
  ServiceReply recent(std::uint64_t after, std::size_t most) const;
  // OpenAPI 3.1. version: of the program.
  std::string openapi(const std::string& version) const;

  std::string save() const;
  void load(std::string_view bytes, const std::string& where);
  LinePosition position() const;

 private:
  struct Kept {
    std::string id;
    std::vector<float> values;  // inputs, cells, outputs
  };
  bool add(std::string_view row, std::string& out);
  ServiceReply predict_array(std::string_view body);
  ServiceReply refused(std::size_t row, bool batch, std::string answers) const;
  void keep();

  const Model& model_;
  mutable std::mutex mutex_;  // of all below
  LineSession session_;
  std::string problem_;             // with the last row
  std::vector<std::size_t> cells_;  // where the cells of all trees lie in a state
  std::vector<Kept> kept_;          // the last rows: number n lies at n % kKeptRows
  std::uint64_t rows_ = 0;          // since the start of the program
};

// The names of the cells of all trees, in the order of RowService::recent().
std::vector<std::string> all_cell_names(const Model& model);

}  // namespace remede
