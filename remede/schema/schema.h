// What the inputs and outputs of a model are called, and how columns of words become numbers. It knows nothing of
// files; readers of data for a model start from here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace remede {

inline constexpr std::size_t kMostInputColumns = 65536;  // inputs of a data set, and of a model

enum class Task : std::uint8_t { kClassification, kRegression };

enum class TargetPer : std::uint8_t { kStep, kSequence };

// How an input is made from a column of words, or of times. Inputs without one are numbers, as they stand in their
// column.
struct InputCode {
  std::string input;               // name of the input
  std::string column;              // the column it is made from
  bool gap = false;                // the time since the step before, in seconds where times are dates; no words then
  std::vector<std::string> words;  // known words of the column
  std::vector<float> values;       // (words) what each counts as
  std::optional<float> other;      // what all other words count as; nothing: as missing

  bool operator==(const InputCode&) const = default;
};

struct Schema {
  Task task = Task::kClassification;
  std::vector<std::string> inputs;   // (n_x) names of the inputs, in the order of Sequences::x
  std::vector<std::string> targets;  // names of the target columns: one in classification, n_y in regression
  std::vector<std::string> classes;  // (n_y) labels as in the file; empty in regression
  std::string id;                    // name of the id column, "row", "file", or empty (the file is one sequence)
  std::string time;                  // name of the time column, or empty (the order of the rows)
  std::vector<InputCode> codes;      // of some inputs; those of inputs that are not there mean nothing
  TargetPer target_per = TargetPer::kStep;
  int horizon = 0;
  // What else was said of the columns when the model was trained; reading data for a model does not need it.
  std::vector<std::string> categorical;  // columns of words, even where they look like numbers
  std::vector<std::string> ignore;       // columns that were left out
  bool time_gap = false;                 // the time since the step before was an input

  int n_x() const { return static_cast<int>(inputs.size()); }
  int n_y() const { return static_cast<int>(task == Task::kClassification ? classes.size() : targets.size()); }
  const InputCode* code_of(const std::string& input) const;  // null: it is a number
};

// The codes of a schema by the names of their inputs, for many inputs. The codes must outlive it.
class CodeIndex {
 public:
  explicit CodeIndex(const std::vector<InputCode>& codes) {
    for (const InputCode& code : codes) by_input_.emplace(code.input, &code);
  }
  const InputCode* find(std::string_view input) const {  // null: it is a number
    const auto found = by_input_.find(input);
    return found == by_input_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, const InputCode*> by_input_;
};

}  // namespace remede
