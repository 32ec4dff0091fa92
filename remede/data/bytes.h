// Where the bytes of a file come from: a path, standard input, memory; unpacked on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "remede/schema/schema.h"

namespace remede {

// Where bytes come from: read(to, room) gives the number of bytes put, 0 at the end. (The place for decompression.)
struct ByteSource {
  std::string name;        // for messages
  std::uint64_t size = 0;  // in all; 0: not known
  std::function<std::size_t(char* to, std::size_t room)> read;
  std::optional<Task> task = {};  // where the format says what the last column is
};

// The first bytes of a source, and a source of all of them.
ByteSource peeked(ByteSource source, std::size_t bytes, std::string& head);
// Unpacks gzip and zstd, told by their first bytes; other bytes pass as they are.
// Data that unpack to more than kMostUnpacked bytes and to more than kMostExpansion times their length are refused.
inline constexpr std::uint64_t kMostExpansion = 200;
inline constexpr std::uint64_t kMostUnpacked = std::uint64_t{16} << 20;
ByteSource unpacked(ByteSource source);
ByteSource open_bytes(const std::string& path);  // "-": standard input

}  // namespace remede
