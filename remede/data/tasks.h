// Generated tasks that need memory: the five of the paper, and others (docs/data.md describes
// each). The same options give the same bits on every machine; the first sequences do not depend on how many there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "remede/data/dataset.h"

namespace remede {

// What a generated data set may hold: about 40 bytes of memory a step.
inline constexpr std::int64_t kMostGeneratedSteps = 100'000'000;
inline constexpr std::int64_t kMostGeneratedLength = 1'000'000;  // of a delay, a block or a sequence

struct TaskOptions {
  std::optional<std::int64_t> sequences = {};  // otherwise TaskInfo::sequences
  std::uint64_t seed = 1;
  std::int64_t delay = 5;      // zeros between value and trigger, or between blocks
  std::int64_t delay_min = 3;  // the same, drawn per sequence
  std::int64_t delay_max = 7;
  std::int64_t blocks = 3;
  std::int64_t block_length = 2;
  double noise_mean = -0.01;  // on every zero of the input
  double noise_sd = 0.01;
  std::int64_t length_min = 1;  // steps of a sequence, drawn per sequence
  std::int64_t length_max = 30;
};

// What a task is and which of the options it reads beside sequences and seed.
struct TaskInfo {
  std::string name;
  std::string summary;             // one line
  std::int64_t sequences = 10000;  // where the options do not say
  bool delay = false;
  bool delay_range = false;
  bool blocks = false;
  bool noise = false;
  bool length = false;
};

const std::vector<TaskInfo>& tasks();

// The task of this name, or null.
const TaskInfo* find_task(const std::string& name);

// Columns sequence, step, x1 ..., y. Throws Error for an unknown task or options out of range.
Dataset generate(const std::string& task, const TaskOptions& options);

}  // namespace remede
