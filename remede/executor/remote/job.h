// The kinds of jobs: the first byte of each. Both sides are the same version of the program.
#pragma once

#include <cstdint>

#include "remede/executor/bytes.h"

namespace remede {

enum class Job : std::uint8_t {
  kRound,       // some starts make a round each (executor/remote/rounds.h)
  kBegin,       // a start is grown (train/search.cpp)
  kCopy,        // a model is simplified or improved on its fold (train/choose.cpp)
  kGreedy,      // greedy trees of one plan (train/direct.cpp)
  kRefine,      // an identified system is refined (train/identify.cpp)
  kSmallRound,  // a start of the search for small models makes a round (train/frontier/search.cpp)
  kPrune,       // a small model is pruned to nothing (the same)
  kFinish,      // one of the models on the way is finished (train/frontier/pool.cpp)
  kRefit,       // a small model learns from all the data (the same)
  kSmaller,     // a smaller version of a candidate (the same)
  kRows,        // something about the rows that a process holds (train/rows_part.cpp)
};

inline ByteWriter job_of(Job kind) {
  ByteWriter to;
  to.put(static_cast<std::uint8_t>(kind));
  return to;
}

}  // namespace remede
