// One step of a system from a box of configurations: everything that can follow, enclosed in boxes.
//
// Inputs and slots are split where tests and atoms of the property cut them, so every path through the trees is
// followed on its own. Where an answer that the property speaks of stays ambiguous, inputs and slots are halved a few
// times, and what is still ambiguous then counts as possible both ways. Nothing that can happen is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "remede/verify/system.h"
#include "remede/verify/values.h"

namespace remede {

struct MemoryBox {
  std::vector<Range> slot;  // (slots)
  std::vector<int> same;    // (slots) with two models: the first slot that always holds the same number; else empty

  bool operator==(const MemoryBox&) const = default;
};

bool contains(const MemoryBox& outer, const MemoryBox& inner);
bool meets(const MemoryBox& a, const MemoryBox& b);
// The smallest box with both.
MemoryBox join(const MemoryBox& a, const MemoryBox& b);

struct InputRanges {
  std::vector<Range> x;               // (inputs)
  std::vector<std::uint8_t> allowed;  // (options of all columns)
};

// Where a box after a step lies: the region of every slot that has cuts, the last one being NaN.
using RegionKey = std::vector<std::uint32_t>;

struct Successor {
  const MemoryBox& from;                  // the part of the box that takes this way
  const InputRanges& x;                   // with these inputs
  const std::vector<int>& leaf;           // (trees of all models)
  const std::vector<Range>& answer;       // (n_y) of the first model
  const std::vector<std::uint8_t>& says;  // (n_y) classes of the first model that it may say; empty in regression
  const MemoryBox& to;                    // within one region
  const RegionKey& region;
  const MonitorState& state;
  bool holds = true;  // the property, at this step
};

class BoxStepper {
 public:
  using Found = std::function<void(const Successor&)>;
  explicit BoxStepper(const CheckedSystem& system);

  MemoryBox start() const;  // before the first step: all zero
  InputRanges any_input() const;
  int halvings = 0;        // at most so many per path
  std::uint64_t work = 0;  // weighted sums computed so far, in terms
  std::uint64_t most_work = UINT64_MAX;
  bool exhausted() const { return work > most_work; }
  bool ambiguous = false;  // some answer stayed ambiguous since this was last set to false

  // Calls `found` for everything that can follow. Stops early when the work is exhausted.
  void step(const MemoryBox& box, const MonitorState& state, const InputRanges& x, const Found& found);

  // Cuts a box into its regions.
  void cut(const MemoryBox& box, const std::function<void(const MemoryBox&, const RegionKey&)>& piece) const;

 private:
  struct Group {  // atoms about one answer
    AtomKind kind = AtomKind::kAnswer;
    int index = 0;
    std::vector<int> atoms;
    std::vector<float> cuts;
  };
  void split_inputs(std::size_t input, const MemoryBox& box, const InputRanges& x);
  void split_words(std::size_t atom, const MemoryBox& box, const InputRanges& x);
  void split_changes(std::size_t atom, const MemoryBox& box, const InputRanges& x);
  void split_options(std::size_t column, const MemoryBox& box, const InputRanges& x);
  void walk(std::size_t part, std::size_t tree, std::int32_t node, const MemoryBox& box, const InputRanges& x);
  void arrive(const MemoryBox& box, const InputRanges& x);
  void compute(const MemoryBox& box, const InputRanges& x);
  std::vector<Value> compute_tree(const Tree& tree, int leaf, std::size_t slot);  // (n_y) raw outputs
  void compute_writes(const Tree& tree, int leaf, std::size_t slot);
  std::vector<Value> compute_laws(const Tree& tree, int leaf, std::size_t slot);
  void link(std::size_t part);
  bool is_ambiguous() const;
  bool halve(const MemoryBox& box, const InputRanges& x);
  double ambiguity() const;
  void finish(const MemoryBox& box, const InputRanges& x);
  void choose(std::size_t group, const MemoryBox& box, const InputRanges& x);
  void suppose_said(const Group& group, const std::vector<std::uint8_t>& truth);
  void conclude(const MemoryBox& box, const InputRanges& x);
  bool narrow(InputRanges& x, int input, const Range& to) const;
  bool narrow(MemoryBox& box, std::size_t slot, const Range& to) const;
  std::vector<std::vector<std::uint8_t>> alternatives(const Group& group) const;

  const CheckedSystem& system_;
  Values values_;
  std::vector<std::size_t> first_option_;  // (columns)
  std::vector<std::size_t> enumerated_;    // columns with few options, each of which is followed on its own
  std::vector<Group> groups_;
  std::vector<int> input_atoms_, word_atoms_, change_atoms_, cell_atoms_;
  std::vector<std::size_t> first_tree_;  // (parts)

  // Of the step being computed:
  const Found* found_ = nullptr;
  MonitorState state_;
  std::vector<int> leaf_;
  int halvings_left_ = 0;
  std::vector<std::uint8_t> truth_;
  std::vector<Value> x_, before_, after_;   // (inputs of the part), (slots), (slots)
  std::vector<std::vector<Value>> raw_;     // (trees, n_y)
  std::vector<std::vector<Range>> answer_;  // (parts, n_y)
  std::vector<std::uint8_t> says_;          // (n_y) of the first part
  int equal_ = -1;                          // 1, 0 or -1: both are possible
};

// A number inside a range that halves it well: 0, or the geometric or arithmetic mean. Above low, at most high.
float middle_of(float low, float high);

}  // namespace remede
