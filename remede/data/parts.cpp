#include "remede/data/parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/base/text.h"
#include "remede/data/number.h"

namespace remede {
namespace {

constexpr std::string_view kTrainingWords[] = {"training", "train"};
constexpr std::string_view kValidationWords[] = {"validation", "valid", "val"};
constexpr std::string_view kTestWords[] = {"test"};

// The group of each sequence. REQUIRES: no sequence has two (cut_by_group).
std::vector<std::uint32_t> group_of_sequence(const Dataset& data) {
  std::vector<std::uint32_t> groups;
  for (std::size_t s = 0; s < data.sequences.count(); ++s)
    groups.push_back(static_cast<std::uint32_t>(data.group[static_cast<std::size_t>(data.sequences.offset[s])]));
  return groups;
}

// Whether every group says itself what it is for. Two that do, beside one that does not, are more likely a typing error
// than groups.
bool names_parts(const std::vector<std::string>& groups) {
  const std::string* other = nullptr;
  std::size_t parts = 0;
  for (const std::string& name : groups) {
    if (is_one_of(name, kTrainingWords) || is_one_of(name, kValidationWords) || is_one_of(name, kTestWords)) {
      ++parts;
    } else {
      other = &name;
    }
  }
  if (other != nullptr && parts > 1)
    fail(
        "--split: expected only the words training, validation and test in that column, or other groups, got {} beside "
        "them",
        shown(*other));
  return other == nullptr;
}

Split split_by_group(const Dataset& data, double share, std::uint64_t seed) {
  const std::vector<std::string>& names = data.groups;
  const bool said = names_parts(names);
  enum class Side : std::uint8_t { kTraining, kValidation, kNeither };
  std::vector<Side> side(names.size(), Side::kTraining);
  if (said) {
    for (std::size_t g = 0; g < names.size(); ++g)
      side[g] = is_one_of(names[g], kTrainingWords)     ? Side::kTraining
                : is_one_of(names[g], kValidationWords) ? Side::kValidation
                                                        : Side::kNeither;
  } else {
    if (names.size() < 2)
      fail("--split: expected at least two groups, got only {}", shown(names.empty() ? "" : names[0]));
    const double shares[] = {1.0 - share, share};
    const std::vector<std::vector<std::uint32_t>> parts = split_parts(names.size(), shares, seed);
    for (const std::uint32_t g : parts[1]) side[g] = Side::kValidation;
  }
  const std::vector<std::uint32_t> groups = group_of_sequence(data);
  Split split;
  for (std::uint32_t s = 0; s < groups.size(); ++s) {
    if (side[groups[s]] == Side::kTraining) split.training.push_back(s);
    if (side[groups[s]] == Side::kValidation) split.validation.push_back(s);
  }
  if (split.training.empty() || split.validation.empty())
    fail("--split: expected rows for training and for validation, got none for {}",
         split.training.empty() ? "training" : "validation");
  return split;
}

Dataset part_of(const Dataset& all, const std::vector<std::uint32_t>& numbers) {
  Dataset part;
  part.schema = all.schema;
  part.sequences = select(all.sequences, numbers);
  return part;
}

// The last targets of every sequence carry no weight; with `later` only they do.
Column<float> weights_by_time(const Sequences& all, double share, bool later) {
  Column<float> weight = all.weight;
  for (std::size_t s = 0; s < all.count(); ++s) {
    const auto begin = weight.begin() + all.offset[s];
    const auto end = weight.begin() + all.offset[s + 1];
    const auto targets = static_cast<std::size_t>(std::count_if(begin, end, [](float w) { return w > 0.0F; }));
    if (targets == 0) continue;
    const auto held = static_cast<std::size_t>(std::floor(share * static_cast<double>(targets) + 0.5));
    const std::size_t learned = targets - std::clamp<std::size_t>(held, targets > 1 ? 1 : 0, targets - 1);
    std::size_t seen = 0;
    for (auto w = begin; w != end; ++w) {
      if (*w == 0.0F) continue;
      if ((seen++ < learned) == later) *w = 0.0F;
    }
  }
  return weight;
}

Parts parts_by_time(RawDataset raw, double share) {
  Column<float> later = weights_by_time(raw.data.sequences, share, true);
  raw.data.sequences.weight = weights_by_time(raw.data.sequences, share, false);
  const Code code = learn_code(raw);
  Parts parts;
  parts.training = encode(std::move(raw), code);
  parts.validation = parts.training;
  parts.validation.sequences.weight = std::move(later);
  return parts;
}

// Cuts every sequence into so many pieces of nearly equal length, or into its steps where those are fewer.
void cut_each(Dataset& data, std::size_t pieces) {
  const Sequences& all = data.sequences;
  Column<std::int64_t> offset = {0};
  for (std::size_t s = 0; s < all.count(); ++s) {
    const std::size_t parts = std::min(pieces, std::max<std::size_t>(1, all.length(s)));
    for (std::size_t p = 1; p <= parts; ++p)
      offset.push_back(all.offset[s] + static_cast<std::int64_t>(all.length(s) * p / parts));
  }
  data.sequences.offset = std::move(offset);
  data.ids = {};
}

constexpr std::uint64_t kTestSeed = 0x74657374;  // the test part is drawn apart from the validation part

bool names_column(const std::string& by) { return by != "sequence" && by != "time"; }

// The first step of the last targets of the only sequence.
std::size_t begin_of_test(const Sequences& all, double share) {
  std::vector<std::size_t> targets;
  for (std::size_t t = 0; t < all.steps(); ++t)
    if (all.weight[t] > 0.0F) targets.push_back(t);
  if (targets.size() < 3)
    fail("--test: expected at least 3 targets, for training, validation and test, got {}", targets.size());
  const auto held = static_cast<std::size_t>(std::floor(share * static_cast<double>(targets.size()) + 0.5));
  return targets[targets.size() - std::clamp<std::size_t>(held, 1, targets.size() - 2)];
}

// Only the steps of the only sequence before this one.
void cut_from(std::size_t end, Sequences& s) {
  const auto cut = [end](auto& values, std::size_t width) {
    if (!values.empty()) values.resize(end * width);
  };
  cut(s.x, static_cast<std::size_t>(s.n_x));
  cut(s.label, 1);
  cut(s.value, static_cast<std::size_t>(s.n_y));
  cut(s.weight, 1);
  s.offset = {0, static_cast<std::int64_t>(end)};
}

}  // namespace

TestParts hold_out_test(const RawDataset& raw, double share, std::uint64_t seed) {
  const Sequences& all = raw.data.sequences;
  TestParts parts;
  if (all.count() > 1) {
    const Split sides = split(all, share, seed ^ kTestSeed);
    if (sides.training.empty() || sides.validation.empty())
      fail("--test: expected sequences for training and for the test, got {} in all", all.count());
    parts.training = select(raw, sides.training);
    parts.test = select(raw, sides.validation);
  } else {
    const std::size_t begin = begin_of_test(all, share);
    const std::uint32_t only[] = {0};
    parts.training = select(raw, only);
    cut_from(begin, parts.training.data.sequences);
    parts.test = select(raw, only);
    std::fill_n(parts.test.data.sequences.weight.begin(), begin, 0.0F);
  }
  parts.training.data.notes = raw.data.notes;
  return parts;
}

void cut_by_group(Dataset& data) {
  if (data.group.empty()) return;
  Column<std::int64_t> offset = {0};
  for (std::size_t s = 0; s < data.sequences.count(); ++s) {
    for (std::int64_t t = data.sequences.offset[s] + 1; t < data.sequences.offset[s + 1]; ++t)
      if (data.group[static_cast<std::size_t>(t)] != data.group[static_cast<std::size_t>(t) - 1]) offset.push_back(t);
    offset.push_back(data.sequences.offset[s + 1]);
  }
  if (offset.size() == data.sequences.offset.size()) return;
  data.sequences.offset = std::move(offset);
  data.ids = {};  // pieces have none
}

bool cut_into(Dataset& data, std::size_t count) {
  const std::size_t sequences = data.sequences.count();
  if (sequences >= count) return false;
  cut_each(data, (count + sequences - 1) / sequences);
  return true;
}

std::vector<Split> forward_folds(Dataset& data, std::size_t folds) {
  const std::size_t pieces = folds + 1, sequences = data.sequences.count();
  for (std::size_t s = 0; s < sequences; ++s)
    if (data.sequences.length(s) < pieces)
      fail("--forward: expected sequences of at least {} steps, one more than folds, got one of {}", pieces,
           data.sequences.length(s));
  cut_each(data, pieces);
  std::vector<Split> all(folds);
  for (std::size_t k = 0; k < folds; ++k)
    for (std::size_t s = 0; s < sequences; ++s) {
      for (std::size_t p = 0; p <= k; ++p) all[k].training.push_back(static_cast<std::uint32_t>(s * pieces + p));
      all[k].validation.push_back(static_cast<std::uint32_t>(s * pieces + k + 1));
    }
  return all;
}

Parts read_parts(const std::string& path, Roles roles, const std::string& by, double validation_share,
                 std::uint64_t seed) {
  if (names_column(by)) roles.group = by;
  return parts_of(read_raw(open_files(path), roles), by, validation_share, seed);
}

Parts parts_of(RawDataset raw, const std::string& by, double validation_share, std::uint64_t seed) {
  if (!(validation_share > 0.0 && validation_share < 1.0))
    fail("--split: expected a share of validation data between 0 and 1, got {}", validation_share);
  const bool column = names_column(by);
  if (by == "time") return parts_by_time(std::move(raw), validation_share);
  cut_by_group(raw.data);
  const Split parts =
      column ? split_by_group(raw.data, validation_share, seed) : split(raw.data.sequences, validation_share, seed);
  const Code code = learn_code(raw, parts.training);
  const Dataset all = encode(std::move(raw), code);
  Parts both{part_of(all, parts.training), part_of(all, parts.validation), !(column && names_parts(all.groups))};
  both.training.notes = all.notes;
  return both;
}

std::vector<std::vector<std::uint32_t>> deal_folds(const Dataset& data, std::size_t folds, std::uint64_t seed) {
  const bool grouped = !data.group.empty();
  const std::size_t count = grouped ? data.groups.size() : data.sequences.count();
  if (count < folds)
    fail("expected at least as many {} as folds ({}), got {}", grouped ? "groups" : "sequences", folds, count);
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  Random random(seed);
  random.shuffle(std::span<std::uint32_t>(order));
  std::vector<std::vector<std::uint32_t>> dealt(folds);
  if (grouped) {
    // The largest first, each to the fold that has the fewest sequences.
    const std::vector<std::uint32_t> group = group_of_sequence(data);
    std::vector<std::vector<std::uint32_t>> members(count);
    for (std::uint32_t s = 0; s < group.size(); ++s) members[group[s]].push_back(s);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return members[a].size() > members[b].size(); });
    for (const std::uint32_t g : order) {
      auto& fold = *std::min_element(dealt.begin(), dealt.end(),
                                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
      fold.insert(fold.end(), members[g].begin(), members[g].end());
    }
  } else {
    if (const auto labels = sequence_labels(data.sequences))
      std::stable_sort(order.begin(), order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return (*labels)[a] < (*labels)[b]; });
    for (std::size_t i = 0; i < order.size(); ++i) dealt[i % folds].push_back(order[i]);
  }
  for (auto& fold : dealt) std::sort(fold.begin(), fold.end());
  return dealt;
}

}  // namespace remede
