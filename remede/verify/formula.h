// Properties of what a model does over time, as text and as a formula.
//
// A property is true or false at every step of a sequence and speaks of this step and those before it (docs/verify.md
// has the language). It HOLDS when it is true at every step of every sequence that the assumptions allow.
//
// A formula is a list of nodes, children before their parents. Atoms compare one quantity with a number; a comparison
// with what is not there (a missing input, an answer that is not a number) is false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "remede/model/model.h"

namespace remede {

enum class AtomKind : std::uint8_t {
  kInput,        // value of an input, compared with a number
  kMissing,      // an input is missing
  kWord,         // a column of words holds this word (`word`: its option, see inputs.h)
  kChange,       // an input differs by at most `value` from the step before
  kSays,         // the class with the largest probability (the first of equals)
  kProbability,  // of a class
  kAnswer,       // an output of a regression
  kCell,         // a memory cell after the step; `index`: into the floats a model carries (predict.h, state_size)
  kStep,         // number of the step, from 1
  kEqual,        // two models give the same answers
};

enum class Compare : std::uint8_t { kAtLeast, kAbove, kAtMost, kBelow, kIs, kIsNot };

struct Atom {
  AtomKind kind = AtomKind::kInput;
  int index = 0;  // of the input, column, class, output or cell
  Compare compare = Compare::kAtLeast;
  float value = 0;
  std::string word;  // kWord

  bool operator==(const Atom&) const = default;
};

bool compare_numbers(float left, Compare compare, float right);  // false where left is NaN

enum class Op : std::uint8_t {
  kTrue,
  kAtom,
  kNot,
  kAnd,
  kOr,
  kPreviously,  // at the step before; false at the first
  kOnce,        // now or at a step before
  kAlways,      // now and at every step before
  kSince,       // second: now or before; first: at every step after that
  kWithin,      // now or at one of the `count` steps before
  kFor,         // now and at the count - 1 steps before
  kDeadline,    // whenever the first holds, the second does then or at one of the `count` steps after: false when late
  kAutomaton,   // a finite automaton accepts the symbols so far; children: an atom for each symbol
};

// A finite automaton over symbols; it starts in state 0.
struct Acceptor {
  std::vector<std::vector<int>> next;  // (states, symbols)
  std::vector<bool> accepts;           // (states)
};

struct FormulaNode {
  Op op = Op::kTrue;
  std::vector<int> child;
  int atom = -1;   // kAtom: into Formula::atoms
  int count = 0;   // kWithin, kFor, kDeadline
  int states = 0;  // kAutomaton: into Formula::acceptors
};

struct Formula {
  std::vector<FormulaNode> nodes;  // children first
  std::vector<Atom> atoms;         // all different
  std::vector<Acceptor> acceptors;
  int root = -1;

  int add(Op op, std::vector<int> child, int count = 0);
  int add_atom(const Atom& atom);
};

inline constexpr int kMostSteps = 10000;  // in `for N steps`, `within N steps` and `step >= N`

// Throws Error: "property: expected ..., got ... at character N". `what`: "property" or "assumption".
Formula parse_formula(const Model& model, std::string_view text, const std::string& what);
// A rule for inputs as it stands after --assume; the same language, without answers and cells.
Formula parse_assumption(const Model& model, std::string_view text);

// One line per property, # begins a comment.
std::vector<std::string> property_lines(std::string_view text);

// The formula in full, with every bracket: what was understood.
std::string formula_text(const Model& model, const Formula& formula, int node);

}  // namespace remede
