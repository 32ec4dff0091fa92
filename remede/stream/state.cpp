#include "remede/stream/state.h"

#include <bit>

#include "remede/base/error.h"

namespace remede {
namespace {

constexpr std::string_view kStateMark = "RMS\x01";  // the last byte is the version

}  // namespace

void StateWriter::number(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}
void StateWriter::real(double value) { number(std::bit_cast<std::uint64_t>(value), 8); }
void StateWriter::floats(std::span<const float> values) {
  for (const float v : values) number(std::bit_cast<std::uint32_t>(v), 4);
}
void StateWriter::text(std::string_view value) {
  number(value.size(), 4);
  raw(value);
}

void StateReader::damaged() const { fail("{}: expected a whole state, got one that is damaged or cut short", where_); }

std::string_view StateReader::raw(std::size_t size) {
  if (size > left_.size()) damaged();
  const std::string_view bytes = left_.substr(0, size);
  left_.remove_prefix(size);
  return bytes;
}
std::uint64_t StateReader::number(int bytes) {
  const std::string_view from = raw(static_cast<std::size_t>(bytes));
  std::uint64_t value = 0;
  for (std::size_t i = from.size(); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(from[i]);
  return value;
}
double StateReader::real() { return std::bit_cast<double>(number(8)); }
void StateReader::floats(std::span<float> values) {
  for (float& v : values) v = std::bit_cast<float>(static_cast<std::uint32_t>(number(4)));
}
std::string_view StateReader::text() { return raw(static_cast<std::size_t>(number(4))); }

std::string state_bytes(std::span<const float> state, std::uint64_t checksum) {
  StateWriter writer;
  writer.raw(kStateMark);
  writer.number(checksum, 8);
  writer.floats(state);
  return writer.bytes();
}

std::vector<float> state_from_bytes(std::string_view bytes, std::uint64_t checksum, std::size_t size) {
  if (!bytes.starts_with(kStateMark.substr(0, 3))) fail("state: expected the bytes of a saved stream, got others");
  if (!bytes.starts_with(kStateMark)) fail("state: expected version 1 of a saved stream, got another");
  StateReader reader(bytes.substr(kStateMark.size()), "state");
  if (const std::uint64_t found = reader.number(8); found != checksum)
    fail("state: expected that of the model with checksum {:016x}, got that of another model, {:016x}", checksum,
         found);
  std::vector<float> state(size);
  reader.floats(state);
  if (reader.left() != 0) reader.damaged();
  return state;
}

std::uint64_t fnv1a(std::string_view bytes) {
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325ULL, kPrime = 0x100000001b3ULL;
  std::uint64_t hash = kOffset;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

}  // namespace remede
