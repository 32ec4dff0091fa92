// How fast a CSV becomes Sequences, beside the least that any reader must do: a bare loop of memchr and std::from_chars
// over the same bytes, in the same run. Prints both and their ratio; exits with 1 when the ratio is above 2.
//
//   read_csv [MEGABYTES]      default 200
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/random.h"
#include "remede/data/csv.h"
#include "remede/data/dataset.h"

namespace remede {
namespace {

constexpr double kMostTimes = 2.0;
constexpr int kRounds = 3;
constexpr int kStepsPerSequence = 50;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// sequence, step, four numeric columns as sensors write them, y.
void write_table(const std::string& path, std::size_t bytes) {
  AtomicFile file(path);
  Random random(1);
  std::string text = "sequence,step,temperature,pressure,level,flow,y\n";
  std::size_t written = 0;
  for (int sequence = 0; written < bytes; ++sequence) {
    for (int step = 0; step < kStepsPerSequence; ++step) {
      fmt::format_to(std::back_inserter(text), "{},{},{:.2f},{:.5f},{},{:.7g},{:.6g}\n", sequence, step,
                     20.0 + 5.0 * random.normal(), 1.0 + 0.1 * random.normal(), random.below(1000), random.normal(),
                     random.uniform(-1.0, 1.0));
    }
    file.write(text);
    written += text.size();
    text.clear();
  }
  file.commit();
}

struct Bare {
  double sum = 0.0;
  std::size_t rows = 0;
};

Bare bare_loop(const std::string& bytes) {
  Bare bare;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at < end) {
    const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (newline == nullptr) newline = end;
    while (at < newline) {
      const auto* comma = static_cast<const char*>(std::memchr(at, ',', static_cast<std::size_t>(newline - at)));
      if (comma == nullptr) comma = newline;
      double value = 0.0;
      std::from_chars(at, comma, value);
      bare.sum += value;
      at = comma + 1;
    }
    at = newline + 1;
    ++bare.rows;
  }
  return bare;
}

int compare(const std::string& path, std::size_t megabytes) {
  write_table(path, megabytes << 20);
  const std::string bytes = read_file(path);
  const double size = static_cast<double>(bytes.size()) / 1e6;
  double bare = 1e300;
  double whole = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = now();
    const Bare result = bare_loop(bytes);
    const double middle = now();
    const Dataset data = read_dataset(path, Roles{});
    const double end = now();
    bare = std::min(bare, middle - begin);
    whole = std::min(whole, end - middle);
    if (result.rows != data.sequences.steps() + 1)
      fail("expected {} steps, got {}", result.rows - 1, data.sequences.steps());
  }
  const double ratio = whole / bare;
  fmt::print("file                                   {:8.1f} MB\n", size);
  fmt::print("bare loop of memchr and from_chars     {:8.3f} s  {:6.0f} MB/s\n", bare, size / bare);
  fmt::print("read_dataset (file to Sequences)       {:8.3f} s  {:6.0f} MB/s\n", whole, size / whole);
  fmt::print("ratio                                  {:8.2f}    (at most {:.1f})\n", ratio, kMostTimes);
  return ratio <= kMostTimes ? 0 : 1;
}

}  // namespace
}  // namespace remede

int main(int argc, char** argv) {
  const std::size_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  const auto path = std::filesystem::temp_directory_path() / fmt::format("remede-read-csv-{}.csv", ::getpid());
  int code = 1;
  try {
    code = remede::compare(path.string(), megabytes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "read_csv: {}\n", error.what());
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return code;
}
