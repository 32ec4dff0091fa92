// A property as a small machine: a few counters, moved at every step by which atoms are true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "remede/verify/formula.h"

namespace remede {

using MonitorState = std::vector<std::uint16_t>;

// The property and the assumptions together, over one list of atoms. A sequence counts as long as the assumptions are
// true at every step.
class Monitor {
 public:
  Monitor(const Formula& property, const std::vector<Formula>& assumptions);

  const std::vector<Atom>& atoms() const { return formula_.atoms; }
  // For certificates: the nodes, where the property and the assumptions stand, the counter of every node (-1: none),
  // and the number up to which steps are counted.
  const std::vector<FormulaNode>& nodes() const { return formula_.nodes; }
  int property() const { return property_; }
  const std::vector<int>& assumed() const { return assumed_; }
  const std::vector<int>& counters() const { return slot_; }
  std::size_t size() const { return size_; }
  int last_step() const { return last_step_; }
  MonitorState start() const { return MonitorState(size_, 0); }

  struct Outcome {
    bool allowed = true;  // by the assumptions
    bool holds = true;    // the property, at this step
  };
  // truth: (atoms) 1 or 0; those of kStep are not read. Moves the state.
  Outcome step(const std::vector<std::uint8_t>& truth, MonitorState& state) const;

 private:
  int copy_from(const Formula& from, int node, std::vector<int>& done);
  bool evaluate(std::size_t node, const std::vector<std::uint8_t>& truth, const MonitorState& before,
                MonitorState& after, const std::vector<std::uint8_t>& value) const;

  Formula formula_;
  int property_ = 0;
  std::vector<int> assumed_;
  std::vector<int> slot_;  // (nodes) the counter of a node, -1: none
  std::size_t size_ = 0;
  std::uint16_t last_step_ = 0;  // steps are counted up to here; 0: not at all
};

}  // namespace remede
