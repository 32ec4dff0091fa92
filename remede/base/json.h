// JSON from an untrusted file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace remede {

// What bounds a file, so that reading one never takes memory out of proportion.
inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;
// In units of 16 bytes of memory: a number is one, a text or a list or an object four, a key three.
inline constexpr std::size_t kMostFileValues = std::size_t{1} << 26;
inline constexpr std::size_t kKeyCost = 3;
inline constexpr std::size_t kTextCost = 4;
inline constexpr std::size_t kGroupCost = 4;
inline constexpr std::size_t kMostFileKeys = 1000;  // of one object
inline constexpr int kMostFileNesting = 16;

// Throws a one-line Error naming `where` for text that is not JSON, nests too deeply, repeats a key, or would take too
// much memory. Objects keep the order of their keys.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& where);

// Reads a file of JSON; `limit`: bytes. A file that does not begin like JSON is refused before the rest is read.
std::string read_json_file(const std::string& path, std::size_t limit = kMostFileBytes);

}  // namespace remede
