// Learns a finite-state machine from sequences of few distinct inputs by merging the states of their prefix tree (the
// blue-fringe form of evidence-driven state merging), and writes the machine as a tree with one memory cell that holds
// the state.
//
// Two tests decide whether two states may be one: the labels agree exactly, or the class frequencies do not differ
// significantly (a Hoeffding bound), for data with noise. All work is counted and bounded, so that the result does not
// depend on the machine it runs on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/tree.h"

namespace remede {

enum class MergeTest : std::uint8_t {
  kExact,       // two labelled states must have the same label
  kStatistical  // their class frequencies must not differ significantly
};

struct MergingLimits {
  std::size_t symbols = 32;            // distinct rows of inputs; with more the data are not symbolic
  std::size_t states = 64;             // of the machine
  std::size_t prefixes = 20000;        // nodes of the prefix tree; further sequences are left out
  std::uint64_t visits = 200'000'000;  // of nodes of the prefix tree, in all trial merges: about two seconds
  double significance = 0.05;          // of the Hoeffding test
  std::uint32_t least_count = 30;      // visits below which a state's frequencies are not tested
};

// A deterministic machine over symbols. State 0 is the start. A step reads a symbol, moves to the next state and
// answers with that state's classes.
struct SymbolMachine {
  int n_x = 0;
  int n_y = 0;
  std::vector<float> symbol;         // (symbols, n_x) the inputs that each symbol stands for; NaN is missing
  std::vector<std::int32_t> next;    // (states, symbols) -1: never seen
  std::vector<double> class_weight;  // (states, n_y) how often each class was seen on entering the state

  std::size_t symbols() const { return symbol.size() / static_cast<std::size_t>(n_x); }
  std::size_t states() const { return class_weight.size() / static_cast<std::size_t>(n_y); }
};

// Nothing where the inputs are not symbolic, no step carries a class, or a limit is reached.
std::optional<SymbolMachine> merge_states(const Sequences& data, MergeTest test, const MergingLimits& limits = {});

// The machine as a tree of constant leaves with one cell. Each state is a value of the cell (the start is 0); every
// leaf overwrites the cell with the next state's value, or leaves it alone where the state stays the same.
Tree tree_of(const SymbolMachine& machine);

}  // namespace remede
