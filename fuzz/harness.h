// What the harnesses share. A harness takes any bytes and ends in one of two ways: a remede::Error of one line, or a
// result of which its properties hold. Everything else is a finding: it ends the process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "remede/base/error.h"
#include "remede/data/bytes.h"

namespace remede::fuzz {

using Harness = void (*)(std::string_view input);

void checkpoint(std::string_view input);
void csv(std::string_view input);
void frame(std::string_view input);
void lines(std::string_view input);
void model(std::string_view input);
void packed(std::string_view input);
void property(std::string_view input);
void roles(std::string_view input);
void ts(std::string_view input);

[[noreturn]] inline void finding(const std::string& what) {
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

inline void require(bool holds, const char* what) {
  if (!holds) finding(what);
}

// Runs the action. The message of its Error, which must be one line of a decent length; empty where there was none.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.empty()) finding("an Error without a message");
    if (message.find_first_of("\r\n") != std::string::npos) finding("a message of several lines: " + message);
    if (message.size() > 2000) finding("a message of " + std::to_string(message.size()) + " bytes");
    return message;
  }
  return "";
}

// The bytes as a file, handed out in pieces of at most so many.
inline ByteSource source_of(std::string_view bytes, std::size_t piece) {
  return {"file", bytes.size(), [bytes, piece](char* to, std::size_t room) mutable {
            const std::size_t n = std::min({piece, room, bytes.size()});
            if (n > 0) std::memcpy(to, bytes.data(), n);
            bytes.remove_prefix(n);
            return n;
          }};
}

inline std::string all_of(ByteSource source) {
  std::string text;
  char block[4096];
  while (const std::size_t got = source.read(block, sizeof block)) text.append(block, got);
  return text;
}

// Takes the first byte off; 0 where there is none.
inline unsigned take_byte(std::string_view& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return byte;
}

}  // namespace remede::fuzz
