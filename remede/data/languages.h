// Strings of two symbols with a label on every prefix: the seven Tomita languages, and a^n b^n.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "remede/base/random.h"

namespace remede {

struct LabelledString {
  std::vector<std::uint8_t> symbol;  // (steps) 0 or 1
  std::vector<std::uint8_t> label;   // (steps) 1: the prefix up to and with this step is accepted
};

// A finite automaton that starts in state 0.
struct Automaton {
  static constexpr std::size_t kMostStates = 5;
  std::size_t states = 0;
  std::array<std::array<std::uint8_t, 2>, kMostStates> next{};  // (state, symbol)
  std::array<bool, kMostStates> accepts{};
  int dead = -1;        // the state from which nothing is accepted any more; -1: there is none
  bool blocks = false;  // its strings are few long blocks: keep to a symbol for long
};

const Automaton& tomita(int number);  // 1 .. 7

// Draws strings one after the other so that neither label is rare over all of them: at least 30% of the steps carry the
// rarer one wherever strings of these lengths allow that.
class StringSampler {
 public:
  static StringSampler of(const Automaton& automaton) { return StringSampler(&automaton); }
  static StringSampler counting() { return StringSampler(nullptr); }

  LabelledString draw(std::size_t length, Random& random);

 private:
  explicit StringSampler(const Automaton* automaton);
  LabelledString candidate(std::size_t length, Random& random) const;
  LabelledString walk(std::size_t length, Random& random) const;

  const Automaton* automaton_;                                 // null: a^n b^n
  std::array<std::size_t, Automaton::kMostStates> to_dead_{};  // (state) steps of the shortest way
  std::array<std::size_t, Automaton::kMostStates> to_accept_{};
  std::array<std::uint64_t, 2> labels_{};  // steps drawn so far, by label
};

}  // namespace remede
