// .ts files: however the bytes arrive, the table is the same, and every row of it is one of the file's steps.
#include "remede/data/ts.h"

#include "fuzz/same.h"

namespace remede::fuzz {

void ts(std::string_view input) {
  const std::size_t piece = 1 + take_byte(input) % 16;
  std::string table;
  std::string pieces;
  const std::string error = error_of([&] { table = all_of(ts_as_table(source_of(input, input.size() + 1))); });
  const std::string in_pieces = error_of([&] { pieces = all_of(ts_as_table(source_of(input, piece))); });
  if (error != in_pieces) finding("whole: '" + error + "', in pieces: '" + in_pieces + "'");
  if (!error.empty()) return;
  require(table == pieces, "the same table");
  require(looks_like_ts("@data\n"), "a .ts file is told by its @");
  const auto rows = std::count(table.begin(), table.end(), '\n');
  const auto values = std::count(input.begin(), input.end(), ',') + std::count(input.begin(), input.end(), '\n') + 1;
  require(rows <= values + 1, "no more rows than values");
  Dataset data;
  error_of([&] { data = read_dataset(source_of(input, piece), Roles{}); });
}

}  // namespace remede::fuzz
