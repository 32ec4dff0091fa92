// Cross-validation: how well training does on data it has not seen. Each fold trains a model on its training part and
// scores it on its test part. Nothing of a test part reaches its model: what the words of a column count as is learned
// from the training part alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "remede/data/parts.h"
#include "remede/data/raw.h"
#include "remede/model/metrics.h"
#include "remede/train/config.h"
#include "remede/train/session.h"

namespace remede {

struct FoldOptions {
  std::size_t folds = 5;
  bool forward = false;  // train on the past and test on what follows
};

// The folds of a data set: `training` and `validation` (the test part) of each. Whole sequences are dealt to the folds,
// or whole groups where the data have groups. With `forward` every sequence is cut in time (forward_folds). Where there
// are fewer sequences than folds, they are cut into pieces, and data.notes says so. Throws Error where that is not
// possible.
std::vector<Split> make_folds(Dataset& data, const FoldOptions& options, std::uint64_t seed);

struct FoldResult {
  Scores scores;  // of the test part
  int nodes = 0;  // of the model
};

// A score over the folds in which it is defined. A figure that is not defined is NaN.
struct FoldFigure {
  std::string name;            // accuracy, balanced_accuracy, ..., or those of the objective, then rmse, mae, r2
  std::vector<double> values;  // (folds)
  double mean = 0;
  double sd = 0;  // standard deviation of a sample; NaN for fewer than two values
};

struct CrossValidation {
  Task task = Task::kClassification;
  std::vector<FoldResult> folds;  // those that were finished
  bool stopped = false;           // by the callback, before the last fold

  std::vector<FoldFigure> figures() const;
};

// `finished` is called after each fold with the result so far. The result does not depend on the number of threads.
// Throws Error where a fold cannot be trained or tested.
CrossValidation cross_validate(const RawDataset& data, const std::vector<Split>& folds, const Config& config,
                               const Callbacks& callbacks = {},
                               const std::function<void(const CrossValidation&)>& finished = nullptr);

// The same for data whose inputs are numbers already.
CrossValidation cross_validate(Dataset data, const FoldOptions& options, const Config& config,
                               const Callbacks& callbacks = {});

}  // namespace remede
