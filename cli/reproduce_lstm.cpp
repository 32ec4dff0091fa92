#include "cli/reproduce_lstm.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/json.h"

namespace remede {
namespace {

// Removed with what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "remede-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) fail("{}: expected a folder for temporary files, got none", path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs python3 with these words; its standard output and error go to the file. Whether it ended with exit code 0.
bool run_python(std::vector<std::string> words, const std::string& output) {
  words.insert(words.begin(), "python3");
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int refused = posix_spawnp(&child, "python3", &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (refused != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

nlohmann::ordered_json json_of_part(const Dataset& part) {
  const Sequences& data = part.sequences;
  nlohmann::ordered_json x = nlohmann::ordered_json::array(), y = nlohmann::ordered_json::array();
  for (std::size_t s = 0; s < data.count(); ++s) {
    nlohmann::ordered_json inputs = nlohmann::ordered_json::array(), labels = nlohmann::ordered_json::array();
    for (auto t = data.offset[s]; t < data.offset[s + 1]; ++t) {
      const auto begin = data.x.begin() + t * data.n_x;
      inputs.push_back(std::vector<float>(begin, begin + data.n_x));
      labels.push_back(data.label[static_cast<std::size_t>(t)]);
    }
    x.push_back(std::move(inputs));
    y.push_back(std::move(labels));
  }
  return {{"x", std::move(x)}, {"y", std::move(y)}};
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

}  // namespace

std::string why_no_lstm() {
  const bool there = run_python({"-c", "import numpy, torch"}, "/dev/null");
  return there ? "" : "expected python3 with PyTorch and NumPy, got none";
}

Trial run_lstm(const TaskParts& parts, std::uint64_t seed, int threads) {
  const TemporaryFolder folder;
  const std::string script = folder.file("paper_network.py"), data = folder.file("data.json"),
                    answers = folder.file("answers.json"), output = folder.file("output.txt");
  write_file(script, lstm_script());
  const nlohmann::ordered_json given = {{"training", json_of_part(parts.training)},
                                        {"validation", json_of_part(parts.validation)},
                                        {"test", json_of_part(parts.test)},
                                        {"classes", parts.test.schema.classes.size()},
                                        {"seed", seed},
                                        {"threads", threads}};
  write_file(data, given.dump());
  const auto begin = std::chrono::steady_clock::now();
  if (!run_python({script, data, answers}, output))
    fail("lstm: expected answers of python3, got: {}", last_line(read_file(output)));
  Trial trial;
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::vector<int> said;
  const nlohmann::ordered_json given_back = parse_json(read_file(answers), answers);
  for (const nlohmann::ordered_json& sequence : given_back.at("answers"))
    for (const nlohmann::ordered_json& answer : sequence) said.push_back(answer.get<int>());
  if (said.size() != parts.test.sequences.steps())
    fail("lstm: expected {} answers of python3, got {}", parts.test.sequences.steps(), said.size());
  trial.score = score_answers(parts.test, said);
  return trial;
}

}  // namespace remede
