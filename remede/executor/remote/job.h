// The kinds of jobs: the first byte of each. Both sides are the same version of the program.
#pragma once

#include <cstdint>

#include "remede/executor/bytes.h"

namespace remede {

enum class Job : std::uint8_t {
  kRound,  // some starts, a round each
  kBegin,  // a start that is grown
  kCopies,
  kSmallRound,
  kPrune,
  kSmaller,
  kFinish,
  kGreedy,
  kRefine,
};

inline ByteWriter job_of(Job kind) {
  ByteWriter to;
  to.put(static_cast<std::uint8_t>(kind));
  return to;
}

}  // namespace remede
