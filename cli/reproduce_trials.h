// The trials of `remede reproduce`: one method on the data of one task and seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/data/tasks.h"
#include "remede/train/config.h"

namespace remede {

// 60 / 20 / 20 of the generated sequences, in their order: they are independent.
struct TaskParts {
  Dataset training, validation, test;
};

TaskParts make_parts(const std::string& task, TaskOptions options, std::uint64_t seed);

// Of one model on the test data.
struct TestScore {
  double accuracy = 0;
  double recall = 0;  // on the steps whose target is not "0"
  double nodes = 0;   // inner and leaves
};

struct Trial {
  TestScore score;  // of the finished model
  // The paper's form and recipe: as trained, and pruned as in the paper (docs/paper.md). Beside them `score` is that of
  // our own simplification.
  std::optional<TestScore> raw, pruned;
  double seconds = 0;  // of training and simplification
};

// `answers`: (steps of the test data) numbers of classes. The nodes are 0.
TestScore score_answers(const Dataset& test, const std::vector<int>& answers);

// The commonest training target of each position, and a target drawn at random.
Trial run_naive(const TaskParts& parts);
Trial run_random(const TaskParts& parts, std::uint64_t seed);

// A fit as `remede train` does it.
Trial run_fit(const TaskParts& parts, const Config& config);

// A fit whose tree is also scored as trained and as pruned. REQUIRES: the recipe is paper_recipe(), or differs from it
// in numbers only.
Trial run_paper(const TaskParts& parts, const Config& config);

// The recipe of the best of three starts: splits learn three times faster, and every start has three times as many
// updates.
Recipe longer_paper_recipe();

}  // namespace remede
