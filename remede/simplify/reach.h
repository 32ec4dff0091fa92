// What a tree's memory can ever hold, whatever the inputs: a search over regions.
//
// The thresholds on a cell cut its values into regions (and NaN is one more; a cell that is not tested is one region,
// NaN and all). A state of the search is one region of every cell, with the interval of values found so far in it: then
// every memory test is decided, and a step from the state goes through each leaf that the state and some input can
// reach, to the regions that the leaf's writes can reach. Before the first step all cells are 0. Intervals that keep
// growing are widened to their region, so the search ends. Where the regions of all cells together are too many, each
// cell is searched on its own (knowing less, never wrong); where even that is too much, a cell may hold anything its
// kind of write can give.
//
// Inputs may be anything at every step: any float, infinities included, or missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "remede/model/tree.h"
#include "remede/simplify/range.h"

namespace remede {

struct ReachOptions {
  bool finite_inputs = false;       // inputs are finite or missing
  bool zero_is_none = false;        // a weight of 0 is no term at all, even where what it weighs is infinite or NaN
  std::size_t joint_states = 256;   // the search over all cells together gives up above these
  std::size_t joint_work = 4000;    // states reached from states, each counted every time
  std::size_t cell_work = 1000000;  // the same for the search cell by cell
};

class Reach {
 public:
  // fill: (n_x). Both must outlive the object. The tree may lose what cannot be reached or changes nothing, and nothing
  // else. REQUIRES: tree is sound.
  Reach(const Tree& tree, std::span<const float> fill, const ReachOptions& options);
  // The leaves have been renumbered. from: (leaves) the number each had before.
  void renumber(std::span<const std::int32_t> from);

  bool zero_is_none() const { return zero_is_none_; }
  // Can any sequence reach this leaf? Implies that the tests above it do not contradict each other.
  bool leaf_possible(int leaf) const { return !leaves_[static_cast<std::size_t>(leaf)].dead; }
  // Can the memory be within these ranges (n_m) before a step?
  bool possible(std::span<const Range> memory) const;
  // What the cell can hold before a step, and before a step that reaches the leaf.
  Range cell(int cell) const;
  Range cell_at(int leaf, int cell) const;
  // The input as writes and linear terms of the leaf see it: `fill` instead of a missing value.
  Range input_at(int leaf, int input) const;
  // Does the leaf's write leave the cell as it is, bit for bit, whenever the leaf is reached? True for a closed gate.
  bool write_idle(int leaf, int cell) const;

 private:
  struct Leaf {
    std::vector<Range> memory;                          // (n_m) what the tests above it let through
    std::vector<std::pair<std::int32_t, Range>> input;  // the inputs tested above it, and what the tests let through
    std::vector<Range> written;                         // (n_m) bias + write . x, where the gate is open; or the law's
    std::vector<Range> tap;                             // (n_m) tap + tap_input . x of cells with laws
    bool dead = false;                                  // nothing reaches it
    bool open = false;                                  // while searching: something found so far reaches it
  };
  struct State {
    std::vector<Range> cells;  // (cells of the pack)
    int growths = 0;
    bool pending = true;
  };
  using Regions = std::vector<std::uint32_t>;  // (cells of the pack)
  // Cells that are searched together: all of them, or one.
  struct Pack {
    std::vector<int> cells;
    std::vector<State> states;
    std::map<Regions, std::size_t> number;
  };

  void describe_leaves(std::int32_t child, std::vector<Range>& box);
  void describe_leaf(int leaf, const std::vector<Range>& box);
  void cut_cells();
  void start(bool joint, std::size_t work);
  void start_unknown();
  bool search(std::size_t most_states);
  bool search_round(std::size_t most_states);
  bool leaf_open(const Leaf& leaf) const;
  bool fits(const State& state, const Pack& pack, const Leaf& leaf) const;
  void step(const Pack& pack, const State& state, std::size_t leaf, std::vector<Range>& next) const;
  // Cells with laws: what the cells of the pack can hold after a step through the leaf.
  void step_by_laws(const Pack& pack, const State& state, std::size_t leaf, std::vector<Range>& next) const;
  CellRange step_law(std::size_t leaf, int cell, const Range& level, const std::vector<Range>& outputs) const;
  Range value_written(std::size_t leaf, int cell, const Pack& pack, const State& state) const;
  void list_regions(int cell, const Range& range, Regions& regions) const;
  bool reach(Pack& pack, const std::vector<Range>& next);
  bool join_state(Pack& pack, const Regions& regions, const std::vector<Range>& part);
  Range region(int cell, std::uint32_t number) const;
  Range plus_term(const Range& sum, float weight, const Range& v) const {
    return zero_is_none_ && weight == 0.0F ? sum : plus_product(sum, weight, v);
  }

  const Tree& tree_;
  std::span<const float> fill_;
  Range any_input_;
  bool zero_is_none_ = false;
  float limit_ = 0.0F;
  std::size_t work_left_ = 0;
  std::vector<std::vector<float>> cuts_;  // (n_m) the thresholds on each cell, rising
  std::vector<Leaf> leaves_;
  std::vector<Pack> packs_;
  std::vector<std::size_t> pack_of_;  // (n_m)
  std::vector<Regions> choices_;      // scratch of reach()
  std::vector<std::size_t> chosen_;
  Regions regions_;
  std::vector<Range> part_;
};

}  // namespace remede
