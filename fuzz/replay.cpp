// Replays kept inputs: fuzz_replay FOLDER, in which each harness has a folder of its own. Any compiler builds it.
#include <filesystem>
#include <vector>

#include "fuzz/harness.h"
#include "remede/base/file.h"

int main(int argc, char** argv) {
  using namespace remede::fuzz;
  const std::pair<const char*, Harness> harnesses[] = {{"checkpoint", checkpoint}, {"csv", csv},     {"frame", frame},
                                                       {"lines", lines},           {"model", model}, {"packed", packed},
                                                       {"property", property},     {"roles", roles}, {"ts", ts}};
  const std::filesystem::path folder = argc > 1 ? argv[1] : "fuzz/corpus";
  std::size_t all = 0;
  for (const auto& [name, harness] : harnesses) {
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_directory(folder / name))
      for (const auto& entry : std::filesystem::directory_iterator(folder / name)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      std::fprintf(stderr, "%s\n", file.c_str());  // the last line says which it was
      harness(remede::read_file(file.string()));
    }
    if (files.empty()) finding(std::string("no inputs for ") + name);
    all += files.size();
  }
  std::printf("%zu inputs replayed\n", all);
  return 0;
}
