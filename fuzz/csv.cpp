// Tables: however the bytes arrive, the answer is the same; what was read describes, writes and reads back the same.
#include <cmath>
#include <vector>

#include <unistd.h>

#include "fuzz/same.h"
#include "remede/data/dataset.h"
#include "remede/data/describe.h"
#include "remede/data/raw.h"

namespace remede::fuzz {
namespace {

Roles roles_of(unsigned bits) {
  Roles roles;
  roles.need_target = (bits & 1U) == 0;
  if ((bits & 2U) != 0) roles.id = "row";
  if ((bits & 4U) != 0) roles.format.comment = '#';
  if ((bits & 8U) != 0) roles.format.separator = ' ';
  if ((bits & 16U) != 0) roles.task = (bits & 32U) != 0 ? Task::kRegression : Task::kClassification;
  if ((bits & 64U) != 0) roles.horizon = 1;
  if ((bits & 128U) != 0) roles.target_per = TargetPer::kSequence;
  return roles;
}

RawDataset raw_of(std::string_view text, std::size_t piece, const Roles& roles) {
  std::vector<TableSource> files;
  files.push_back(source_of(text, piece));
  return read_raw(std::move(files), roles);
}

void write_and_read_back(const Dataset& data, const Roles& roles) {
  static const std::string path = "/dev/shm/remede_fuzz_" + std::to_string(::getpid()) + ".csv";
  write_dataset(path, data);
  Roles written;
  written.id = roles.id == "row" ? "row" : data.ids.empty() ? "none" : data.schema.id;
  written.time = data.times.empty() ? "none" : data.schema.time;
  written.need_target = roles.need_target;
  Dataset back;
  const std::string error = error_of([&] { back = read_dataset(path, data.schema, written, false); });
  ::unlink(path.c_str());
  if (!error.empty()) finding("what was written is refused: " + error);
  require_same(data.sequences.x, back.sequences.x, "what was written reads back the same");
}

}  // namespace

void csv(std::string_view input) {
  const unsigned bits = take_byte(input);
  const Roles roles = roles_of(bits);
  const std::size_t piece = 1 + take_byte(input) % 16;
  RawDataset raw;
  RawDataset pieces;
  const std::string error = error_of([&] { raw = raw_of(input, input.size() + 1, roles); });
  const std::string in_pieces = error_of([&] { pieces = raw_of(input, piece, roles); });
  if (error != in_pieces) finding("whole: '" + error + "', in pieces: '" + in_pieces + "'");
  if (!error.empty()) return;
  require_same(raw.data, pieces.data);
  describe(raw, roles);
  Dataset data;
  if (!error_of([&] {
         const Code code = learn_code(raw);
         data = encode(raw, code);
       }).empty())
    return;
  // The schema that was found reads the same bytes to the same numbers.
  Dataset again;
  const std::string refused = error_of(
      [&] { again = read_dataset(source_of(input, piece), data.schema, roles, data.sequences.has_targets()); });
  if (!refused.empty()) finding("the schema does not read its own file: " + refused);
  require_same(data.sequences.x, again.sequences.x, "the schema reads the same inputs");
  require_same(data.sequences.weight, again.sequences.weight, "the schema reads the same targets");
  const bool plain = data.schema.codes.empty() && data.schema.horizon == 0 && !data.sequences.x.empty();
  if (plain) write_and_read_back(data, roles);
}

}  // namespace remede::fuzz
