// `remede serve` in the program remede: becomes remede-serve, which lies beside it.
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/serve/serve.h"
#include "remede/base/error.h"

namespace remede {

void serve(const ServeFlags& flags) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string program = unknown ? "remede-serve" : (self.parent_path() / "remede-serve").string();
  std::vector<std::string> words = {"remede",
                                    "serve",
                                    flags.model,
                                    "--port",
                                    std::to_string(flags.port),
                                    "--ids",
                                    std::to_string(flags.ids),
                                    "--save-every",
                                    fmt::format("{}", flags.save_every),
                                    "--connections",
                                    std::to_string(flags.connections)};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--id", flags.id);
  add("--time", flags.time);
  add("--state", flags.state);
  if (flags.quiet) words.emplace_back("--quiet");
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(program.c_str(), arguments.data());
  fail(
      "serve: expected the program remede-serve beside this one, got none: it is built if cpp-httplib is installed "
      "(Debian: libcpp-httplib-dev)");
}

}  // namespace remede
