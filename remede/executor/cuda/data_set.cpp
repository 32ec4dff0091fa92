#include "remede/executor/cuda/data_set.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "remede/base/error.h"

namespace remede::cuda {

DataSet::DataSet(const remede::Sequences& data) : has_label_(!data.label.empty()) {
  if (data.steps() > std::numeric_limits<std::uint32_t>::max())
    fail("GPU: expected data of at most {} steps, got {}", std::numeric_limits<std::uint32_t>::max(), data.steps());
  x_.put(data.x.data(), data.x.size() * sizeof(float));
  label_.put(data.label.data(), data.label.size() * sizeof(std::int32_t));
  value_.put(data.value.data(), data.value.size() * sizeof(float));
  weights_.put(data.weight.data(), data.weight.size() * sizeof(float));
  offset_.put(data.offset.data(), data.offset.size() * sizeof(std::int64_t));
  missing_ = std::any_of(data.x.begin(), data.x.end(), [](float v) { return std::isnan(v); });
  for (std::size_t s = 0; s < data.count(); ++s) {
    double sum = 0;
    for (auto t = data.offset[s]; t < data.offset[s + 1]; ++t)
      sum += static_cast<double>(data.weight[static_cast<std::size_t>(t)]);
    weight_.push_back(sum);
    all_ += sum;
    even_ = even_ && sum == weight_.front() && sum == std::floor(sum) && sum < (1 << 20);
    length_.push_back(static_cast<std::uint32_t>(data.length(s)));
    longest_ = std::max(longest_, data.length(s));
    ragged_ = ragged_ || length_.back() != length_.front();
  }
}

double DataSet::weight(std::span<const std::uint32_t> batch) const {
  if (batch.empty()) return 0;
  if (even_) return weight_.front() * static_cast<double>(batch.size());
  double sum = 0;
  for (const std::uint32_t s : batch) sum += weight_[s];
  return sum;
}

Sequences DataSet::on_device() const {
  return {x_.as<float>(), has_label_ ? label_.as<std::int32_t>() : nullptr, value_.as<float>(), weights_.as<float>(),
          offset_.as<std::int64_t>()};
}

// All sequences have the same length.
std::uint32_t DataSet::cut_evenly(std::size_t begin, const Cut& most, Batches& to) const {
  const auto length = static_cast<std::uint32_t>(longest_);
  const std::size_t count = std::max<std::size_t>(
      1, std::min(most.sequences, longest_ > 0 ? most.steps / longest_ : to.entries.size() - begin));
  std::uint32_t chunks = 0;
  for (std::size_t first = begin; first < to.entries.size(); first += count, ++chunks) {
    const auto size = static_cast<std::uint32_t>(std::min(count, to.entries.size() - first));
    for (std::uint32_t i = 0; i < size; ++i) to.entries[first + i].base = i * length;
    to.chunks.push_back({static_cast<std::uint32_t>(first), size, size * length});
  }
  return chunks;
}

std::uint32_t DataSet::cut(std::span<const std::uint32_t> batch, const Cut& most, Batches& to) const {
  const std::size_t begin = to.entries.size();
  to.entries.resize(begin + batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) to.entries[begin + i].sequence = batch[i];
  if (!ragged_) return cut_evenly(begin, most, to);
  std::stable_sort(to.entries.begin() + static_cast<std::ptrdiff_t>(begin), to.entries.end(),
                   [&](const Entry& a, const Entry& b) { return length_[a.sequence] > length_[b.sequence]; });
  std::uint32_t chunks = 0;
  for (std::size_t i = begin; i < to.entries.size(); ++i) {
    const std::uint32_t length = length_[to.entries[i].sequence];
    if (i == begin || to.chunks.back().steps + length > most.steps || to.chunks.back().count >= most.sequences) {
      to.chunks.push_back({static_cast<std::uint32_t>(i), 0, 0});
      ++chunks;
    }
    Chunk& chunk = to.chunks.back();
    to.entries[i].base = chunk.steps;
    chunk.steps += length;
    ++chunk.count;
  }
  return chunks;
}

DataSet::Cut DataSet::in_phases() const {
  constexpr std::size_t kLeastSteps = 1024, kGroups = 64;
  return {std::max(kLeastSteps, kGroups * longest_), std::numeric_limits<std::size_t>::max()};
}

DataSet::Cut DataSet::stepwise(int sequences) {
  return {std::numeric_limits<std::uint32_t>::max(), static_cast<std::size_t>(sequences)};
}

std::size_t DataSet::most_steps(std::size_t batch, const Cut& cut) const {
  return std::max(longest_, std::min(cut.steps, std::min({batch, count(), cut.sequences}) * longest_));
}

}  // namespace remede::cuda
