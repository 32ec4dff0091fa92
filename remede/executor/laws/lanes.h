// Data in the order in which the kernels read them: blocks of kLanes lanes, one sequence or a window of one in each.
// Made once, read by every start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remede/base/aligned.h"
#include "remede/base/lanes.h"
#include "remede/data/sequences.h"
#include "remede/objective/objective.h"

namespace remede::laws {

using remede::kLanes;

// Steps of kLanes lanes. A lane without a step has weight 0 there.
struct Block {
  std::size_t steps = 0;
  AlignedVector<float> x;              // (steps, n_x, kLanes) 0 where missing
  std::vector<std::uint16_t> missing;  // (steps, n_x) a bit per lane; empty where nothing is missing in all the data
  AlignedVector<float> target;         // (steps, targets, kLanes) values, or (steps, kLanes) class numbers
  AlignedVector<float> weight;         // (steps, kLanes)
  std::vector<std::uint32_t> asked;    // the steps at which some lane has a target, rising
  // Where the levels of each lane come from: kEmpty, kCarried (the same lane of the block before), or the number of the
  // window whose last levels it continues.
  std::vector<std::int32_t> from;    // (kLanes)
  std::vector<std::int32_t> window;  // (kLanes) number of the window itself, -1: none; empty where no sequence is cut
};
inline constexpr std::int32_t kEmpty = -1, kCarried = -2;

inline constexpr std::size_t kWhole = 1024;  // steps: sequences that are longer are cut for training

struct LaneData {
  int n_x = 0;
  Objective objective;  // of the targets as they stand here
  bool whole = true;    // no sequence is cut, so blocks may come in any order
  std::vector<Block> blocks;
  std::int32_t windows = 0;
  double weight = 0;  // of all targets

  std::size_t steps() const;  // of all blocks: what a pass costs
};

// For training. Sequences of up to kWhole steps stay whole; longer ones are cut into windows, so that each lane runs
// through neighbouring windows one after the other, each with the levels that the one before it ended with when it was
// last run. For data already scaled.
LaneData training_lanes(const Sequences& data);

// For scoring: every sequence from its beginning to its end, in parts of some hundred steps.
LaneData scoring_lanes(const Sequences& data);

// For replays during pruning: at most about `steps` steps with their targets; of long sequences, stretches from all
// over them, each after as many steps without targets that fill the cells.
LaneData replay_lanes(const Sequences& data, std::size_t steps);

}  // namespace remede::laws
