#include "remede/base/cache.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "remede/base/file.h"

namespace remede {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "remede cache 1\n";
constexpr std::string_view kSuffix = ".cache";

// FNV-1a, 64 bits.
std::uint64_t digest(std::string_view bytes) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

fs::path file_of(const std::string& folder, std::string_view key) {
  return fs::path(folder) / fmt::format("{:016x}{}", digest(key), kSuffix);
}

// What a file begins with; the key and the content follow.
std::string head_of(std::string_view key, std::string_view content) {
  return fmt::format("{}{:016x} {:016x} {:016x}\n", kMark, key.size(), content.size(), digest(content));
}

void remove_oldest(const std::string& folder, int most) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == kSuffix) {
      const fs::file_time_type time = entry.last_write_time(failed);
      if (!failed) files.emplace_back(time, entry.path());
    }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i + static_cast<std::size_t>(most) < files.size(); ++i) fs::remove(files[i].second, failed);
}

}  // namespace

std::string cache_folder() {
  const auto of = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (std::getenv("REMEDE_CACHE") != nullptr) return of("REMEDE_CACHE");
  if (const std::string folder = of("XDG_CACHE_HOME"); !folder.empty()) return folder + "/remede";
  if (const std::string home = of("HOME"); !home.empty()) return home + "/.cache/remede";
  return "";
}

std::optional<std::string> read_cached(const std::string& folder, std::string_view key) {
  if (folder.empty()) return std::nullopt;
  const fs::path path = file_of(folder, key);
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return std::nullopt;
  std::string text;
  try {
    text = read_file(path.string());
  } catch (const Error&) {
    return std::nullopt;
  }
  const std::size_t head = head_of({}, {}).size();
  if (text.size() < head + key.size() || std::string_view(text).substr(head, key.size()) != key) return std::nullopt;
  std::string content = text.substr(head + key.size());
  if (!text.starts_with(head_of(key, content))) return std::nullopt;
  return content;
}

void write_cached(const std::string& folder, std::string_view key, std::string_view content, int most) {
  if (folder.empty()) return;
  std::error_code failed;
  fs::create_directories(folder, failed);
  try {
    AtomicFile file(file_of(folder, key).string());
    file.write(head_of(key, content));
    file.write(key);
    file.write(content);
    file.commit();
  } catch (const Error&) {
    return;  // the next run makes it again
  }
  remove_oldest(folder, most);
}

}  // namespace remede
