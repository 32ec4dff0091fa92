// Dynamic systems: linear starts (linear_system.h) refined by Levenberg-Marquardt (levenberg.h), the best chosen on
// validation data. For regression on recordings whose inputs drive their outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "remede/executor/bytes.h"
#include "remede/executor/parameters.h"
#include "remede/executor/remote/peers.h"
#include "remede/executor/training_data.h"
#include "remede/train/levenberg.h"

namespace remede {

struct IdentifyOptions {
  int starts = 64;                                // drawn: orders, blends, extra cells, splits
  int survivors = 8;                              // of those with splits are refined to the end, and all others
  int first_iterations = 6;                       // of every start with splits, before the others are dropped
  LevenbergOptions refine = {.iterations = 150};  // of the survivors
  std::size_t few_recordings = 20;  // with fewer, systems are also judged by what they would do in new ones
  std::size_t compared = 8;         // best systems whose answers to inputs in other orders are compared
  std::size_t steps = 4096;         // at most, that systems are fitted to: many times the numbers of a system
  std::size_t least_targets = 100;  // among these steps; with fewer the search, which sees all, does better
  std::size_t least_starts = 8;     // that the work must allow: fewer are seldom worth the time
  double work = 1e11;  // multiplications in all, about ten seconds of one core: fewer starts where one costs much
};

struct Identified {
  Parameters<float> parameters;
  double loss = 0;  // mean squared error on validation data
  int iterations = 0;
};

// Best first; empty where the data are not suited, or have so many inputs that the work allows too few starts. Learns
// from a part of long data. The result depends neither on the number of threads nor on peers, to whom
// these data are those of fold `fold`.
std::vector<Identified> identify(const TrainingData& data, std::uint64_t seed, const IdentifyOptions& options,
                                 int threads, const std::function<bool()>& stop = {}, Peers* peers = nullptr,
                                 std::size_t fold = 0);

// What a peer does with a job of the kind kRefine. `folds`: the data of each.
std::string do_refine(ByteReader& job, const std::vector<const TrainingData*>& folds,
                      const std::function<bool()>& stop);

}  // namespace remede
