// One sequence, step by step: the path through each tree, the tests that decided, every cell before and after, the
// answer, and for each read of memory the step that last wrote it. Follows the reference predictor, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/model/model.h"

namespace remede {

// One test on the path.
struct PathTest {
  int node = 0;
  int feature = 0;  // below n_x: an input; else a cell
  float value = 0;  // NaN: missing
  float threshold = 0;
  bool right = false;    // value >= threshold, or missing and sent right
  int written_at = -1;   // the step that last wrote the cell; -1: none has, or an input
  bool pivotal = false;  // had it gone the other way, this tree would have answered otherwise

  float margin() const { return value - threshold; }
};

enum class ReadUse : std::uint8_t {
  kTest,
  kAnswer,
  kWrite
};  // a split tests it, a linear leaf adds it, a write uses it

struct MemoryRead {
  int cell = 0;
  ReadUse use = ReadUse::kTest;
  float value = 0;
  int written_at = -1;  // the step that last wrote the cell; -1: none has, it still holds the zero it began with
};

// What one tree did in one step.
struct TreeStep {
  int leaf = 0;
  std::vector<PathTest> path;         // from the root
  int decided = -1;                   // into path: the last pivotal test; -1: none
  std::vector<float> before, after;   // (n_m)
  std::vector<std::uint8_t> written;  // (n_m) 1: the leaf writes the cell
  std::vector<MemoryRead> reads;      // each cell and use once
  std::vector<float> output;          // (n_y) this tree's logits or values
};

struct TraceStep {
  std::string name;      // the time as it stands in the file, else the number of the step from 1
  std::vector<float> x;  // (n_x)
  std::vector<TreeStep> trees;
  std::vector<float> output;  // (n_y) the model's probabilities or values
  bool has_target = false;
  int label = -1;            // class
  std::vector<float> value;  // (n_y) in regression
};

struct Trace {
  std::string id;         // of the sequence, as it stands in the file; else its number from 1
  std::string step_name;  // what a step is called: the name of the time column, else "step"
  std::vector<TraceStep> steps;
};

// x: (steps, n_x)
Trace trace(const Model& model, std::span<const float> x);
Trace trace(const Model& model, const Dataset& data, std::size_t sequence);

// The number of the sequence with this id; else, where `name` is a number in 1 .. count, that one (counted from 1).
// Throws Error when there is none.
std::size_t find_sequence(const Dataset& data, const std::string& name);

// Was the answer of this step wrong? False without target, and in regression.
bool is_wrong(const TraceStep& step);

}  // namespace remede
