// What the answer of a model of patterns (patterns.h) may read, and its values on data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "remede/base/random.h"
#include "remede/data/sequences.h"
#include "remede/train/patterns/matrix.h"
#include "remede/train/patterns/patterns.h"

namespace remede::patterns {

// What patterns read: every input and the averages of its chains. Number (1 + chain * stages + stage) * n_x + input, or
// the input's own number.
struct Basis {
  std::size_t n_x = 0, chains = 0, stages = 0;
  std::vector<float> share;         // (chains) of a new value
  std::vector<float> shift, scale;  // (n_x) of the inputs: what is read is standardised
  std::vector<float> fill;          // (n_x)

  std::size_t size() const { return (1 + chains * stages) * n_x; }
  std::size_t at(std::size_t chain, std::size_t stage, std::size_t input) const {
    return (1 + chain * stages + stage) * n_x + input;
  }
  std::size_t input_of(std::size_t source) const { return source % n_x; }
  std::size_t chain_of(std::size_t source) const { return (source / n_x - 1) / stages; }  // REQUIRES: no input
  // What the average reads.
  std::size_t before(std::size_t source) const {
    return (source / n_x - 1) % stages == 0 ? input_of(source) : source - n_x;
  }
};
Basis make_basis(const Sequences& data, std::span<const float> fill, const PatternOptions& options);

struct Term {
  std::size_t source;  // number in the basis
  float weight;
};
struct Pattern {
  std::vector<Term> terms;
  float threshold = 0;
  float share = 0;  // of a new value in the cell that collects it; 0: a store
  // Of patterns whose steps are counted: from 0 up to here the count of a step rises from 0 to 1. It is small beside
  // the usual sums. 0: the sum itself is collected.
  float ramp = 0;
};

// The targets that are learned from, in the order of the data.
struct TargetRows {
  std::vector<std::uint32_t> sequences;  // that have some of them
  std::vector<std::uint32_t> first_row;  // (sequences + 1) number of a sequence's first row
  std::vector<std::int64_t> step;        // (rows) in the data
  bool whole = false;                    // every sequence of the data has its only target at its last step
  std::size_t count() const { return step.size(); }
  // Steps of sequence number i up to the last of its rows.
  std::size_t length(const Sequences& data, std::size_t i) const {
    return static_cast<std::size_t>(step[first_row[i + 1] - 1] + 1 - data.offset[sequences[i]]);
  }
};
TargetRows choose_rows(const Sequences& data, std::size_t most);

// Steps that measure() walks through, sequences side by side counted once.
std::size_t steps_to_walk(const Sequences& data, const TargetRows& rows);

// With thresholds at random quantiles of each pattern's sum over some steps of the data. Nothing where there are no
// such steps.
std::vector<Pattern> draw_patterns(const Sequences& data, const Basis& basis, const TargetRows& rows, int count,
                                   const PatternOptions& options, Random& random, int threads);

// (rows, patterns + basis): what the cells of the patterns hold, then the basis. Incomplete where stop() says so.
Matrix<float> measure(const Sequences& data, const Basis& basis, const TargetRows& rows,
                      const std::vector<Pattern>& patterns, int threads, const std::function<bool()>& stop);

}  // namespace remede::patterns
