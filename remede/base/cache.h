// Results that a program keeps in files for its next run, and can do without. Any number of processes may use a folder
// at the same time. A file that is broken, or of another key, is the same as none; a folder that cannot be written to
// keeps nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace remede {

// The folder for such files: REMEDE_CACHE where it is set (empty: no files are kept), else "remede" below
// XDG_CACHE_HOME or ~/.cache. Empty: none.
std::string cache_folder();

// What write_cached() was last given with this key. folder: empty is none.
std::optional<std::string> read_cached(const std::string& folder, std::string_view key);

// Makes the folder where it is missing. Beyond `most` files the oldest of the folder go.
void write_cached(const std::string& folder, std::string_view key, std::string_view content, int most = 256);

}  // namespace remede
