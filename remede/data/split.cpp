#include "remede/data/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "remede/base/error.h"
#include "remede/base/random.h"

namespace remede {
namespace {

void check_share(double share) {
  if (!(share > 0.0 && share < 1.0)) fail("expected a share of validation data between 0 and 1, got {}", share);
}

// Sizes of the parts: rounded, each at least one while there are enough, never more than `count` in all.
std::vector<std::size_t> part_sizes(std::size_t count, std::span<const double> shares) {
  std::vector<std::size_t> sizes;
  double sum = 0.0;
  std::size_t used = 0;
  for (const double share : shares) {
    sum += share;  // rounding the running sum leaves no rounding error at the end
    const auto end = std::min(count, static_cast<std::size_t>(std::floor(sum * static_cast<double>(count) + 0.5)));
    sizes.push_back(end - used);
    used = end;
  }
  for (std::size_t& size : sizes) {
    if (size > 0) continue;
    std::size_t& largest = *std::max_element(sizes.begin(), sizes.end());
    if (used < count) {
      ++used;
    } else if (largest > 1) {
      --largest;
    } else {
      break;
    }
    size = 1;
  }
  return sizes;
}

std::vector<std::vector<std::uint32_t>> deal(std::vector<std::uint32_t> numbers, std::span<const double> shares,
                                             Random& random) {
  random.shuffle(std::span<std::uint32_t>(numbers));
  std::vector<std::vector<std::uint32_t>> parts;
  auto at = numbers.begin();
  for (const std::size_t size : part_sizes(numbers.size(), shares)) {
    const auto end = at + static_cast<std::ptrdiff_t>(size);
    parts.emplace_back(at, end);
    std::sort(parts.back().begin(), parts.back().end());
    at = end;
  }
  return parts;
}

// Each class apart; what rounds to less than a sequence is settled over all classes together.
Split split_classes(const Sequences& all, const std::vector<std::int32_t>& labels, double share, Random& random) {
  std::vector<std::uint32_t> order(all.count());
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(std::span<std::uint32_t>(order));
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });
  const double start =
      random.uniform();  // every 1/share-th of the sequences in the order of classes, from a random place on
  Split split;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto turns = [&](std::size_t n) { return std::floor(static_cast<double>(n) * share + start); };
    (turns(i + 1) > turns(i) ? split.validation : split.training).push_back(order[i]);
  }
  if (split.validation.empty()) {
    split.validation.push_back(split.training.back());
    split.training.pop_back();
  } else if (split.training.empty()) {
    split.training.push_back(split.validation.back());
    split.validation.pop_back();
  }
  std::sort(split.training.begin(), split.training.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

void append_steps(Sequences& to, const Sequences& from, std::int64_t begin, std::int64_t end) {
  const auto append = [&](auto& target, const auto& source, int width) {
    if (!source.empty()) target.insert(target.end(), source.begin() + begin * width, source.begin() + end * width);
  };
  append(to.x, from.x, from.n_x);
  append(to.label, from.label, 1);
  append(to.value, from.value, from.n_y);
  append(to.weight, from.weight, 1);
  to.offset.push_back(to.offset.back() + end - begin);
}

}  // namespace

std::optional<std::vector<std::int32_t>> sequence_labels(const Sequences& all) {
  if (all.label.empty()) return std::nullopt;
  std::vector<std::int32_t> labels;
  for (std::size_t s = 0; s < all.count(); ++s) {
    std::int32_t label = -1;
    for (auto t = static_cast<std::size_t>(all.offset[s]); t < static_cast<std::size_t>(all.offset[s + 1]); ++t) {
      if (all.weight[t] == 0.0F) continue;
      if (label >= 0 && all.label[t] != label) return std::nullopt;
      label = all.label[t];
    }
    if (label < 0) return std::nullopt;
    labels.push_back(label);
  }
  return labels;
}

std::vector<std::vector<std::uint32_t>> split_parts(std::size_t count, std::span<const double> shares,
                                                    std::uint64_t seed) {
  double sum = 0.0;
  for (const double share : shares) {
    if (!(share > 0.0)) fail("expected positive shares of the data, got {}", share);
    sum += share;
  }
  if (!(sum <= 1.0 + 1e-9)) fail("expected shares of the data that sum to at most 1, got {}", sum);
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  Random random(seed);
  return deal(std::move(numbers), shares, random);
}

Split split(const Sequences& all, double validation_share, std::uint64_t seed) {
  check_share(validation_share);
  if (all.count() < 2) fail("expected at least two sequences to split, got {}", all.count());
  if (const auto labels = sequence_labels(all)) {
    Random random(seed);
    return split_classes(all, *labels, validation_share, random);
  }
  const double shares[] = {1.0 - validation_share, validation_share};
  auto parts = split_parts(all.count(), shares, seed);
  return {std::move(parts[0]), std::move(parts[1])};
}

Sequences cut(const Sequences& all, std::size_t max_length) {
  Sequences pieces = none_like(all);
  for (std::size_t s = 0; s < all.count(); ++s) {
    const std::size_t length = all.length(s);
    const std::size_t count = std::max<std::size_t>(1, (length + max_length - 1) / max_length);
    for (std::size_t p = 0; p < count; ++p) {
      const auto begin = static_cast<std::int64_t>(length / count * p + std::min(p, length % count));
      const auto end = static_cast<std::int64_t>(length / count * (p + 1) + std::min(p + 1, length % count));
      append_steps(pieces, all, all.offset[s] + begin, all.offset[s] + end);
    }
  }
  return pieces;
}

TimeSplit split_by_time(const Sequences& all, double validation_share) {
  check_share(validation_share);
  TimeSplit split{none_like(all), none_like(all)};
  for (std::size_t s = 0; s < all.count(); ++s) {
    const auto length = static_cast<std::int64_t>(all.length(s));
    auto later = static_cast<std::int64_t>(std::floor(static_cast<double>(length) * validation_share + 0.5));
    later = std::clamp<std::int64_t>(later, length > 1 ? 1 : 0, std::max<std::int64_t>(length - 1, 0));
    append_steps(split.training, all, all.offset[s], all.offset[s + 1] - later);
    if (later > 0) append_steps(split.validation, all, all.offset[s + 1] - later, all.offset[s + 1]);
  }
  return split;
}

}  // namespace remede
