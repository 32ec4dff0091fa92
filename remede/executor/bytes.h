// Numbers to bytes and back, exact bits, for checkpoints. Reading checks every size against what is left, so that a
// damaged file gives an Error and never a huge allocation. Not for exchange between machines: the byte order is this
// machine's.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "remede/base/error.h"

namespace remede {

// Numbers of which every bit pattern is a value. A bool is not one: it is read by functions of its own.
template <typename T>
concept Plain = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

class ByteWriter {
 public:
  template <Plain T>
  void put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <Plain T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    if (!values.empty()) bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void put(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_.append(text);
  }
  template <std::same_as<bool> T>  // and nothing that converts to it
  void put(T value) {
    put(static_cast<std::uint8_t>(value ? 1 : 0));
  }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what a ByteWriter put, in the same order. `bytes` must outlive it. Throws Error naming `where`.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string where) : left_(bytes), where_(std::move(where)) {}

  template <Plain T>
  T get() {
    T value;
    std::memcpy(&value, piece(1, sizeof(T)), sizeof(T));
    return value;
  }
  template <Plain T>
  void get(T& value) {
    value = get<T>();
  }
  template <Plain T>
  void get(std::vector<T>& values) {
    const auto count = get<std::uint64_t>();
    const char* from = piece(count, sizeof(T));
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), from, count * sizeof(T));
  }
  // REQUIRES nothing of the file: another size than expected is an Error.
  template <Plain T>
  void get(std::vector<T>& values, std::size_t expected) {
    get(values);
    if (values.size() != expected) fail("{}: expected {} numbers, got {}", where_, expected, values.size());
  }
  void get(bool& value) {
    const auto byte = get<std::uint8_t>();
    if (byte > 1) fail("{}: expected 0 or 1, got {}", where_, byte);
    value = byte == 1;
  }
  void get(std::string& text) {
    const auto count = get<std::uint64_t>();
    const char* from = piece(count, 1);
    text.assign(from, count);
  }
  void expect_end() const {
    if (!left_.empty()) fail("{}: expected the end, got {} more bytes", where_, left_.size());
  }
  const std::string& where() const { return where_; }

 private:
  const char* piece(std::uint64_t count, std::size_t size) {
    if (count > left_.size() / size) fail("{}: expected {} more numbers, got the end", where_, count);
    const char* from = left_.data();
    left_.remove_prefix(count * size);
    return from;
  }

  std::string_view left_;
  std::string where_;
};

}  // namespace remede
