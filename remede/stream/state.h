// What streams remember, as bytes that any machine reads: little-endian, with the checksum of the model, so that a
// state is never taken up by another model (docs/deploy.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remede {

// 12 bytes and 4 for every float.
std::string state_bytes(std::span<const float> state, std::uint64_t checksum);

// Throws Error where these are not the bytes of `size` floats of the model with this checksum.
std::vector<float> state_from_bytes(std::string_view bytes, std::uint64_t checksum, std::size_t size);

// Little-endian numbers, for files of many states.
class StateWriter {
 public:
  void number(std::uint64_t value, int bytes);
  void real(double value);
  void floats(std::span<const float> values);
  void text(std::string_view value);  // its length in 4 bytes, then itself
  void raw(std::string_view bytes) { bytes_ += bytes; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads what a StateWriter wrote. Throws Error naming `where` when the bytes end too early.
class StateReader {
 public:
  StateReader(std::string_view bytes, std::string where) : left_(bytes), where_(std::move(where)) {}
  std::uint64_t number(int bytes);
  double real();
  void floats(std::span<float> values);
  std::string_view text();
  std::string_view raw(std::size_t size);
  std::size_t left() const { return left_.size(); }
  [[noreturn]] void damaged() const;

 private:
  std::string_view left_;
  std::string where_;
};

std::uint64_t fnv1a(std::string_view bytes);

}  // namespace remede
