// What can be said of every model without a property: bounds over unlimited time, leaves and answers that never occur,
// memory without bounds, how answers move with an input, and how far inputs may move before answers change.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/data/sequences.h"
#include "remede/model/model.h"
#include "remede/simplify/range.h"
#include "remede/verify/verify.h"

namespace remede {

struct CellBounds {
  std::string name;
  Range range;          // after any step
  bool drifts = false;  // no bound was found but that of floats
};

// How an answer moves when one input rises and everything else, the memory included, stays the same for this step.
enum class Trend : std::uint8_t {
  kNone,   // nothing reads the input for this answer
  kRises,  // proved: never falls
  kFalls,  // proved: never rises
  kBoth,   // seen to rise at one step and to fall at another
  kUndecided,
};
const char* trend_text(Trend trend);

struct ModelChecks {
  bool closed = false;                        // bounds were found; else everything below is what floats allow
  std::vector<Range> answer;                  // (n_y) probabilities or values
  std::vector<CellBounds> cells;              // of all trees
  std::vector<std::vector<int>> unreachable;  // (trees) leaves that no sequence reaches, by their numbers in the file
  std::vector<std::string> unsaid;            // classes that are never said
  std::vector<std::vector<Trend>> trend;      // (inputs, n_y)
};
ModelChecks check_model(const Model& model, const VerifyOptions& options);

// An assumption for every input that is a number: it stays within the range it has in these data, or is missing where
// it is missing there.
std::vector<std::string> assumptions_from(const Model& model, const Sequences& data);

// The largest distance by which every input of every step may move, in either direction, without changing what is said
// (in regression: which leaf is reached).
struct Robustness {
  double proved = 0;                   // nothing changes up to here
  double broken = 0;                   // something changes at this distance; infinity: none was found
  std::size_t sequence = 0, step = 0;  // where, from 0
  std::size_t steps = 0;               // of the data
  bool leaves = false;                 // regression
  std::string id;                      // of the sequence; empty where it has none
};
Robustness check_robustness(const Model& model, const Sequences& data, const VerifyOptions& options);
Robustness check_robustness(const Model& model, const Dataset& data, const VerifyOptions& options);  // with the id

std::string checks_text(const Model& model, const ModelChecks& checks);
std::string checks_json(const Model& model, const ModelChecks& checks);
std::string robustness_text(const Robustness& robustness);

// The results of properties, for people and for programs.
std::string verification_text(const Verification& one);
std::string verifications_json(const std::vector<Verification>& results, const ModelChecks* checks, const Model& model,
                               const Robustness* robustness);

}  // namespace remede
