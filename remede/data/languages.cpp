#include "remede/data/languages.h"

#include <algorithm>
#include <limits>

namespace remede {
namespace {

// Symbols 0 and 1 are the columns of `next`.
const Automaton kTomita[] = {
    // 1: only ones.
    {.states = 2, .next = {{{1, 0}, {1, 1}}}, .accepts = {true, false}, .dead = 1},
    // 2: (10)*.
    {.states = 3, .next = {{{2, 1}, {0, 2}, {2, 2}}}, .accepts = {true, false, false}, .dead = 2},
    // 3: no block of ones of odd length is followed by a block of zeros of odd length. States: even ones (or none) so
    // far in the
    // block, odd ones, odd zeros after odd ones, even zeros after odd ones, broken.
    {.states = 5,
     .next = {{{0, 1}, {2, 0}, {3, 4}, {2, 1}, {4, 4}}},
     .accepts = {true, true, false, true, false},
     .dead = 4},
    // 4: no three zeros in a row.
    {.states = 4, .next = {{{1, 0}, {2, 0}, {3, 0}, {3, 3}}}, .accepts = {true, true, true, false}, .dead = 3},
    // 5: an even number of zeros and an even number of ones. State: 2 * (zeros odd) + (ones odd).
    {.states = 4, .next = {{{2, 1}, {3, 0}, {0, 3}, {1, 2}}}, .accepts = {true, false, false, false}},
    // 6: ones less zeros divisible by three.
    {.states = 3, .next = {{{2, 1}, {0, 2}, {1, 0}}}, .accepts = {true, false, false}},
    // 7: 0*1*0*1*.
    {.states = 5,
     .next = {{{0, 1}, {2, 1}, {2, 3}, {4, 3}, {4, 4}}},
     .accepts = {true, true, true, true, false},
     .dead = 4,
     .blocks = true},
};

using Distances = std::array<std::size_t, Automaton::kMostStates>;

// Steps of the shortest way from each state to one of the goals.
template <typename Goal>
Distances distances(const Automaton& automaton, Goal is_goal) {
  constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max() / 2;
  Distances distance{};
  for (std::size_t s = 0; s < automaton.states; ++s) distance[s] = is_goal(s) ? 0 : kFar;
  for (std::size_t round = 0; round < automaton.states; ++round)
    for (std::size_t s = 0; s < automaton.states; ++s)
      for (const std::uint8_t to : automaton.next[s]) distance[s] = std::min(distance[s], distance[to] + 1);
  return distance;
}

// a^n b^n, symbol 1 for a. A prefix is accepted while it can still become such a word: a^n b^k with k <= n. (Labels of
// whole words alone would be 1 at a single step of a string.) The string stays good for `good` steps; then it has one b
// too many or an a after a b, and anything follows.
LabelledString draw_counting(std::size_t length, Random& random) {
  std::size_t good = random.below(length + 1);
  if (good == 1 && length > 1) good = 2;  // a single a cannot be followed by a mistake
  const bool one_too_many = good < length && good % 2 == 0;
  const std::size_t half = (good + 1) / 2;
  std::size_t a = half;
  if (good == length) a += random.below(good / 2 + 1);              // any number of b from none to as many as a
  if (good < length && !one_too_many) a += random.below(half - 1);  // at least one b, so that the next a is a mistake
  LabelledString string;
  for (std::size_t t = 0; t < length; ++t) {
    std::uint8_t symbol = t < a ? 1 : 0;
    if (t == good) symbol = one_too_many ? 0 : 1;
    if (t > good) symbol = static_cast<std::uint8_t>(random.below(2));
    string.symbol.push_back(symbol);
    string.label.push_back(t < good ? 1 : 0);
  }
  return string;
}

}  // namespace

const Automaton& tomita(int number) { return kTomita[number - 1]; }

StringSampler::StringSampler(const Automaton* automaton) : automaton_(automaton) {
  if (automaton == nullptr) return;
  to_dead_ = distances(*automaton, [&](std::size_t s) { return static_cast<int>(s) == automaton->dead; });
  to_accept_ = distances(*automaton, [&](std::size_t s) { return automaton->accepts[s]; });
}

// A random walk that stays alive up to a step drawn uniformly, dies there, and goes on at random. Where nothing ever
// dies it is drawn towards acceptance, by a force that differs from string to string: plain chance would be accepted
// too seldom.
LabelledString StringSampler::walk(std::size_t length, Random& random) const {
  const Automaton& automaton = *automaton_;
  const std::size_t death = automaton.dead < 0 ? length : random.below(length + 1);
  const double pull = random.uniform(0.5, 1.0);
  const double turn = automaton.blocks ? std::min(0.5, 4.0 / static_cast<double>(death + 1)) : 0.5;
  LabelledString string;
  std::size_t state = 0;
  for (std::size_t t = 0; t < length; ++t) {
    const auto& next = automaton.next[state];
    const bool is_dead = static_cast<int>(state) == automaton.dead;
    const bool time_to_die = death < length && t + to_dead_[state] > death;
    std::uint8_t symbol = random.uniform() < 0.5 ? 0 : 1;
    if (automaton.blocks && !is_dead && t > 0) symbol = string.symbol.back() ^ (random.uniform() < turn ? 1 : 0);
    if (!is_dead && time_to_die && to_dead_[next[0]] != to_dead_[next[1]]) {
      symbol = to_dead_[next[0]] < to_dead_[next[1]] ? 0 : 1;
    } else if (!is_dead && !time_to_die && static_cast<int>(next[symbol]) == automaton.dead) {
      symbol ^= 1;
    } else if (automaton.dead < 0 && to_accept_[next[0]] != to_accept_[next[1]]) {
      const std::uint8_t nearer = to_accept_[next[0]] < to_accept_[next[1]] ? 0 : 1;
      symbol = random.uniform() < pull ? nearer : nearer ^ 1;
    }
    state = next[symbol];
    string.symbol.push_back(symbol);
    string.label.push_back(automaton.accepts[state] ? 1 : 0);
  }
  return string;
}

LabelledString StringSampler::candidate(std::size_t length, Random& random) const {
  return automaton_ == nullptr ? draw_counting(length, random) : walk(length, random);
}

LabelledString StringSampler::draw(std::size_t length, Random& random) {
  constexpr double kFairShare = 0.4;  // of the rarer label; below it, the best of several strings is taken
  constexpr int kCandidates = 8;
  const std::uint8_t rarer = labels_[1] < labels_[0] ? 1 : 0;
  const auto count = [&](const LabelledString& string) {
    return std::count(string.label.begin(), string.label.end(), rarer);
  };
  LabelledString best = candidate(length, random);
  if (static_cast<double>(labels_[rarer]) < kFairShare * static_cast<double>(labels_[0] + labels_[1])) {
    for (int i = 1; i < kCandidates; ++i) {
      LabelledString other = candidate(length, random);
      if (count(other) > count(best)) best = std::move(other);
    }
  }
  for (const std::uint8_t label : best.label) ++labels_[label];
  return best;
}

}  // namespace remede
