// The search for small models whose cells have laws: many starts, few survivors, and of these everything that pruning
// goes through. What a start does depends on its number and the seed alone, never on the number of threads.
#pragma once

#include <functional>
#include <vector>

#include "remede/executor/remote/peers.h"
#include "remede/train/frontier/prune.h"

namespace remede::frontier {

struct SearchOptions {
  std::uint64_t seed = 1;
  int threads = 1;
  int starts = 32;
  double work = 2.5e10;                // products of 16 lanes, all starts together
  std::size_t most_updates = 1000000;  // of one start in one round
  Peers* peers = nullptr;              // who do a part of the work
  std::function<bool()> stop = [] { return false; };
  std::function<void(double done)> progress = [](double) {};  // after a round, from the thread that searches
  std::function<void(double done)> worked = [](double) {};    // more often, from any thread
};

// All models of all paths, in no particular order. Fewer where stop() says so.
std::vector<Snapshot> search_small_models(const Problem& problem, const SearchOptions& options);

// What a peer does with jobs of the kinds kSmallRound and kPrune, of a search with this seed.
std::string do_small_round(ByteReader& job, const Problem& problem, std::uint64_t seed,
                           const std::function<bool()>& stop);
std::string do_prune(ByteReader& job, const Problem& problem, std::uint64_t seed, const std::function<bool()>& stop);

// Seconds that it will take, estimated from a few updates of a few starts. For display only.
double forecast_small_models(const Problem& problem, const SearchOptions& options);

// The size of a validation error that models are compared by: wrong answers, then loss.
double merit(const Problem& problem, const Judged& judged);

}  // namespace remede::frontier
