// A data set cut into parts for training and validation or for the folds of a cross-validation, without leakage: a
// sequence (or a group of them) is in one part only, and what words count as is learned from the training part alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/data/raw.h"
#include "remede/data/split.h"

namespace remede {

// "sequence": whole sequences at random; "time": the last targets of every sequence are for validation, and both parts
// keep all steps before them; else the name of a column. Its values say training (or train), validation (valid, val)
// and test (left out) for every row; or they are groups, and whole groups are drawn at random. A sequence in which the
// value changes is cut there.
struct Parts {
  Dataset training;
  Dataset validation;
  bool by_share = true;  // false: a column said which rows are for what, and the share was not used
};
// REQUIRES: read with the column as the group, where `by` names one.
Parts parts_of(RawDataset raw, const std::string& by, double validation_share, std::uint64_t seed);
Parts read_parts(const std::string& path, Roles roles, const std::string& by, double validation_share,
                 std::uint64_t seed);

// A share of the data for a test at the very end, never used for training or selection: whole sequences at random
// (where each has one label, of every class alike); of a single sequence the last targets, and then what is learned
// from ends before the first of them, while the test runs through the whole sequence from its beginning. Throws Error
// where nothing would be left for one of the two. Both are raw: what words count as is learned from a part of the
// training data only (encode_for_fit).
struct TestParts {
  RawDataset training;
  RawDataset test;
};
TestParts hold_out_test(const RawDataset& raw, double share, std::uint64_t seed);

// Cuts sequences where the group changes; each piece starts from empty memory. Without groups nothing is done.
void cut_by_group(Dataset& data);

// The sequences of each fold, rising. By group where there are groups; else each class dealt out evenly where a
// sequence has one label. Throws Error with fewer sequences (or groups) than folds.
std::vector<std::vector<std::uint32_t>> deal_folds(const Dataset& data, std::size_t folds, std::uint64_t seed);

// Every sequence is cut in time into `folds` + 1 pieces, each from empty memory; the k-th fold learns from the first k
// of each and is tested on the next: what it is tested on is always later than what it learned from. Throws Error where
// a sequence has fewer steps.
std::vector<Split> forward_folds(Dataset& data, std::size_t folds);

// Cuts every sequence into pieces, so that there are at least `count` of them; false where there are enough already.
bool cut_into(Dataset& data, std::size_t count);

}  // namespace remede
