// The state machine that the memory of a model implements.
//
// Memories that behave alike form a state; in each state the inputs decide what is said and which state comes next. It
// is worked out from what the model does on data (or, where the inputs are few symbols, by trying every symbol
// everywhere: then it is exact); without data from intervals: which regions of the memory can follow which. Where no
// small machine explains the model, the memory counts or averages: then the states are the regions into which the tests
// of memory cut it, and how long the model stays in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "remede/analysis/input_tree.h"
#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

// low <= x[input] < high; a missing value is below every number. Infinite ends are open.
struct InputBound {
  int input = 0;
  float low = 0, high = 0;

  bool operator==(const InputBound&) const = default;
};
using InputBox = std::vector<InputBound>;  // all of them hold; by input, at most one each; empty: always

struct MachineTransition {
  int from = 0;
  int to = 0;                  // -1: never seen to go on from here
  int output = 0;              // into Machine::outputs
  std::vector<InputBox> when;  // any of them; empty for kRegions: inputs alone do not tell
  std::int64_t count = 0;      // steps of the data that took it
};

struct SlotRange {
  float low = 0, high = 0;
};

struct MachineState {
  std::string name;              // A, B, ...
  std::string memory;            // what the memory holds, in words
  std::vector<SlotRange> range;  // (slots) of the memories in it
  std::int64_t steps = 0;        // of the data
  double mean_stay = 0;          // steps in a row
  std::int64_t longest_stay = 0;
};

enum class MachineKind : std::uint8_t {
  kExact,     // every input symbol was tried in every memory: the machine is the model
  kLearned,   // explains what the model does on the data, up to `agreement`
  kRegions,   // no small machine: regions of the memory, and the most frequent ways between them
  kPossible,  // without data: what intervals allow; several transitions may be possible at once
};

struct Machine {
  MachineKind kind = MachineKind::kLearned;
  std::vector<std::string> inputs;   // (n_x) names
  std::vector<bool> missing;         // (n_x) a value was missing in the data, so that the words name it; else empty
  std::vector<std::string> slots;    // names of the cells
  std::vector<std::string> outputs;  // what can be said
  std::vector<MachineState> states;  // states[0] is the beginning
  std::vector<InputTree> rules;      // (states) kExact and kLearned only
  std::vector<MachineTransition> transitions;
  std::vector<std::string> notes;  // what each cell is used as
  double agreement = 0;    // share of the steps of the data at which the machine, on its own, says what the model says
  std::int64_t steps = 0;  // of the data
  bool formulas = false;   // regression: an output names the formula that answers, not the number
  bool limited = false;    // the search ended at its work limit: a smaller or closer machine may exist

  // Runs the machine by itself. state: 0 before the first step. REQUIRES: kExact or kLearned
  int next(int state, const float* x) const;
  int output(int state, const float* x) const;
};

struct MachineOptions {
  std::size_t most_states = 24;
  std::size_t most_steps = 4000;  // used to work the machine out; more are used to judge it
  std::size_t most_symbols = 16;  // up to so many different inputs are tried exhaustively
  double tolerance = 0.002;
  // Units of WorkLimit: a second or so for what symbols can tell, and again for what the data tell. The result depends
  // on this limit, and not on the machine.
  double most_work = 2e9;
};

Machine find_machine(const Model& model, const Sequences& data, const MachineOptions& options = {});
// All possible transitions, without data.
Machine possible_machine(const Model& model, const MachineOptions& options = {});

// "x1 >= 0.5", "0.1 <= x1 < 0.5 or x2 missing".
std::string condition_text(const Machine& machine, const MachineTransition& transition, bool symbols = false);

}  // namespace remede
