// Models without gradient descent: the answer depends on how strongly short patterns have occurred so far, wherever
// they did.
//
// Every input is followed by chains of running averages, each average of the one before; the chains differ in speed. A
// pattern is a weighted sum of an input and averages of one of its chains, or of averages alone (of up to three
// inputs), less a threshold. A cell collects the positive part of that sum, or counts the steps at which it is
// positive: a store that never loses anything, or a running average. Many patterns are drawn at random. Those that
// explain most of what the chosen ones leave are chosen one by one (orthogonal matching pursuit), and the answer is a
// regularised logistic or linear regression on what their cells hold. It may also read inputs and averages themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/tree.h"

namespace remede {

struct PatternOptions {
  int drawn = 2000;                 // patterns to choose from
  int speeds = 8;                   // chains of averages per input,
  double fastest = 0.8;             // the weight of a new value in the averages of the fastest chain
  double slowest = 0.03;            // and of the slowest
  int stages = 4;                   // averages in a chain
  double stores = 0.7;              // share of the patterns whose cell is a store, where all targets are at last steps
  double counted = 0;               // share of the patterns whose steps are counted
  double ramp = 1e-5;               // within which a count rises from 0 to 1, in standard deviations of the sum
  double fastest_collected = 0.1;   // the weight of a new value in the fastest of the other cells
  double slowest_collected = 0.01;  // and in the slowest
  double ridge = 0.1;  // penalty of the answer's squared weights on standardised columns, times the rows per sequence
  std::size_t rows = 8192;  // targets that are learned from; of more, evenly spaced ones
  double table = 4e7;       // limits that lower this number: of targets times what can be chosen,
  double answered = 2.5e5;  // and of targets times classes or values
  double work = 1e8;        // limit of steps times patterns, which lowers the number of patterns
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;  // of random numbers: each draws other patterns
};

// (counts) A tree without splits for each of `counts`: so many of the chosen patterns, averages and inputs. Nothing for
// counts that the data do not support, one for every two targets at most, for trees that would be too large, and where
// stop() says so. fill: (n_x) what a missing input counts as. REQUIRES: counts rise; targets of the default objective
std::vector<std::optional<Tree>> learn_patterns(const Sequences& data, std::span<const float> fill,
                                                std::span<const int> counts, const PatternOptions& options, int threads,
                                                const std::function<bool()>& stop);

}  // namespace remede
