// The file of --state (docs/deploy.md).
#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/stream/lines.h"

namespace remede {
namespace {

constexpr std::string_view kFileMark = "remede state\n";
constexpr std::uint64_t kFileVersion = 2;  // 1: without the texts of times

}  // namespace

std::string LineSession::save() const {
  StateWriter writer;
  writer.raw(kFileMark);
  writer.number(kFileVersion, 4);
  for (const std::uint64_t v : {position_.bytes, position_.lines, position_.rows, position_.malformed})
    writer.number(v, 8);
  writer.number(checksum_, 8);
  writer.number(static_cast<std::uint64_t>(format_), 1);
  writer.text(id_);
  writer.text(time_);
  writer.text(header_);
  pool_.save(writer);
  pool_.save_time_texts(writer);
  const std::uint64_t hash = fnv1a(writer.bytes());
  writer.number(hash, 8);
  return writer.bytes();
}

namespace {

StateReader begin_state_file(std::string_view bytes, const std::string& where, LinePosition& position,
                             std::uint64_t& version) {
  constexpr std::size_t kHash = 8;
  if (!bytes.starts_with(kFileMark)) fail("{}: expected a file of saved streams, got another", where);
  StateReader whole(bytes, where);
  if (bytes.size() < kFileMark.size() + kHash) whole.damaged();
  StateReader hash(bytes.substr(bytes.size() - kHash), where);
  if (hash.number(8) != fnv1a(bytes.substr(0, bytes.size() - kHash))) whole.damaged();
  StateReader reader(bytes.substr(kFileMark.size(), bytes.size() - kFileMark.size() - kHash), where);
  version = reader.number(4);
  if (version < 1 || version > kFileVersion)
    fail("{}: expected version {} of a file of saved streams, got {}", where, kFileVersion, version);
  for (std::uint64_t* const v : {&position.bytes, &position.lines, &position.rows, &position.malformed})
    *v = reader.number(8);
  return reader;
}

}  // namespace

LinePosition LineSession::saved_position(std::string_view bytes, const std::string& where) {
  LinePosition position;
  std::uint64_t version = 0;
  begin_state_file(bytes, where, position, version);
  return position;
}

void LineSession::load(std::string_view bytes, const std::string& where) {
  LinePosition position;
  std::uint64_t version = 0;
  StateReader reader = begin_state_file(bytes, where, position, version);
  if (const std::uint64_t found = reader.number(8); found != checksum_)
    fail("{}: expected the state of the model with checksum {:016x}, got that of another model, {:016x}", where,
         checksum_, found);
  const auto format = static_cast<LineFormat>(reader.number(1));
  const std::string id(reader.text()), time(reader.text()), header(reader.text());
  if (time_may_lack_ && time.empty()) time_.clear();
  if (id != id_ || time != time_)
    fail("{}: expected the state of streams with the id column {} and the time column {}, got {} and {}", where,
         shown(id_), shown(time_), shown(id), shown(time));
  if (format > LineFormat::kJson ||
      (format_ != LineFormat::kGuess && format != LineFormat::kGuess && format != format_))
    fail("{}: expected the state of streams in the same format, got another", where);
  if (format != LineFormat::kGuess) format_ = format;
  if (!header.empty()) read_header(header);
  pool_.load(reader);
  if (version > 1) pool_.load_time_texts(reader);
  if (reader.left() != 0) reader.damaged();
  position_ = position;
}

}  // namespace remede
