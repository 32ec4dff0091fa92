// What simplifying removed, and why.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "remede/model/model.h"

namespace remede {

enum class Cause : std::uint8_t {
  // Exact: every prediction stays the same, bit for bit.
  kContradicted,  // a branch that the tests above it rule out
  kImpossible,    // a branch for values that the memory can never hold
  kAlike,         // a split that makes no difference, or that two branches can share
  kUnread,        // a cell that nothing reads
  kIdle,          // a write, or a weight, that changes nothing
  kUnused,        // an input that nothing reads
  kForm,          // an option of the leaves that none of them uses
  // Checked on data.
  kUnvisited,  // a branch that no sequence visits
  kCollapsed,  // a split whose side does as well
  kClosed,     // a write that is not needed
  // Only on request.
  kRounded,  // a number written with fewer digits
  kSmall,    // a weight of a write or of a linear leaf that is not needed
};
inline constexpr int kCauses = 12;

bool is_exact(Cause cause);
// A key for programs ("contradicted"), and a phrase for readers ("contradicted by the tests above").
const char* name(Cause cause);
const char* reason(Cause cause);

// `nodes` counts removed nodes; it is 0 for cells, inputs and terms.
struct Removal {
  Cause cause = Cause::kContradicted;
  std::string what;  // "the left side of m2 >= 0.3", "cell m2"; cells are numbered as in the model given
  std::string why;   // one line
  int nodes = 0;     // inner nodes and leaves
};

// "tree 2: " in a forest, nothing where there is one tree. Trees and cells count from 1 in words, as everywhere.
std::string tree_prefix(const Model& model, int tree);
// The test of an inner node: "x1 >= 0.5" or "m1 >= 0.3". cells: (n_m) the cells' numbers in the model given, from 0.
std::string test_text(const Tree& tree, const Schema& schema, std::span<const int> cells, std::int32_t node);

}  // namespace remede
