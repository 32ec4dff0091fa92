#include "remede/executor/cuda/data_set.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "remede/base/error.h"

namespace remede::cuda {

DataSet::DataSet(const remede::Sequences& data, bool resident) : host_(&data), resident_(resident) {
  missing_ = std::any_of(data.x.begin(), data.x.end(), [](float v) { return std::isnan(v); });
  std::vector<Span> spans;
  for (std::size_t s = 0; s < data.count(); ++s) {
    double sum = 0;
    for (auto t = data.offset[s]; t < data.offset[s + 1]; ++t)
      sum += static_cast<double>(data.weight[static_cast<std::size_t>(t)]);
    weight_.push_back(sum);
    all_ += sum;
    even_ = even_ && sum == weight_.front() && sum == std::floor(sum) && sum < (1 << 20);
    length_.push_back(static_cast<std::uint32_t>(data.length(s)));
    spans.push_back({data.offset[s], length_.back()});
    longest_ = std::max(longest_, data.length(s));
    ragged_ = ragged_ || length_.back() != length_.front();
  }
  if (!resident) return;
  if (data.steps() > std::numeric_limits<std::uint32_t>::max())
    fail("GPU: expected data of at most {} steps, got {}", std::numeric_limits<std::uint32_t>::max(), data.steps());
  x_.put(data.x.data(), data.x.size() * sizeof(float));
  label_.put(data.label.data(), data.label.size() * sizeof(std::int32_t));
  value_.put(data.value.data(), data.value.size() * sizeof(float));
  weights_.put(data.weight.data(), data.weight.size() * sizeof(float));
  spans_.put(spans.data(), spans.size() * sizeof(Span));
}

std::size_t DataSet::step_bytes() const {
  const std::size_t targets = host_->label.empty() ? static_cast<std::size_t>(host_->n_y) : 1;
  return (static_cast<std::size_t>(host_->n_x) + targets + 1) * sizeof(float);
}

std::size_t DataSet::bytes(const remede::Sequences& data) {
  return (data.x.size() + data.label.size() + data.value.size() + data.weight.size()) * sizeof(float) +
         data.count() * sizeof(Span);
}

Sequences DataSet::on_device() const {
  return {x_.as<float>(), host_->label.empty() ? nullptr : label_.as<std::int32_t>(), value_.as<float>(),
          weights_.as<float>(), spans_.as<Span>()};
}

// The part lies in one piece: the spans of all sequences, inputs, classes or values, weights.
void DataSet::load(std::span<const std::span<const Entry>> entries, DataPart& to, void* stream) const {
  const remede::Sequences& data = *host_;
  to.wanted.assign(count(), 0);
  for (const std::span<const Entry> some : entries)
    for (const Entry& entry : some) to.wanted[entry.sequence] = 1;
  std::size_t steps = 0;
  for (std::size_t s = 0; s < count(); ++s) steps += to.wanted[s] != 0 ? length_[s] : 0;
  const auto n_x = static_cast<std::size_t>(data.n_x), n_y = static_cast<std::size_t>(data.n_y);
  const std::size_t labels = data.label.empty() ? 0 : 1, values = data.value.empty() ? 0 : n_y;
  to.host.reserve(count() * sizeof(Span) + steps * (n_x + labels + values + 1) * sizeof(float));
  Span* const spans = to.host.as<Span>();
  float* const x = reinterpret_cast<float*>(spans + count());
  auto* const label = reinterpret_cast<std::int32_t*>(x + steps * n_x);
  float* const value = x + steps * (n_x + labels);
  float* const weight = value + steps * values;
  std::size_t at = 0;
  for (std::size_t s = 0; s < count(); ++s) {
    if (to.wanted[s] == 0) continue;
    const auto from = static_cast<std::size_t>(data.offset[s]);
    const std::size_t length = length_[s];
    spans[s] = {static_cast<std::int64_t>(at), static_cast<std::int64_t>(length)};
    std::copy_n(data.x.data() + from * n_x, length * n_x, x + at * n_x);
    if (labels > 0) std::copy_n(data.label.data() + from, length, label + at);
    std::copy_n(data.value.data() + from * values, length * values, value + at * values);
    std::copy_n(data.weight.data() + from, length, weight + at);
    at += length;
  }
  const auto bytes = static_cast<std::size_t>(reinterpret_cast<char*>(weight + steps) - to.host.as<char>());
  to.device.put_later(to.host, bytes, stream);
  const auto on_device = [&](const auto* host) {
    using T = std::remove_cvref_t<decltype(*host)>;
    return reinterpret_cast<const T*>(to.device.as<char>() +
                                      (reinterpret_cast<const char*>(host) - to.host.as<char>()));
  };
  to.at = {on_device(x), labels > 0 ? on_device(label) : nullptr, on_device(value), on_device(weight),
           on_device(spans)};
}

double DataSet::weight(std::span<const std::uint32_t> batch) const {
  if (batch.empty()) return 0;
  if (even_) return weight_.front() * static_cast<double>(batch.size());
  double sum = 0;
  for (const std::uint32_t s : batch) sum += weight_[s];
  return sum;
}

// All sequences have the same length.
std::uint32_t DataSet::cut_evenly(std::size_t batch, const Cut& most, std::uint32_t first, Entry* entries,
                                  Chunk* chunks) const {
  const auto length = static_cast<std::uint32_t>(longest_);
  const std::size_t count =
      std::max<std::size_t>(1, std::min(most.sequences, longest_ > 0 ? most.steps / longest_ : batch));
  std::uint32_t made = 0;
  for (std::size_t begin = 0; begin < batch; begin += count, ++made) {
    const auto size = static_cast<std::uint32_t>(std::min(count, batch - begin));
    for (std::uint32_t i = 0; i < size; ++i) entries[begin + i].base = i * length;
    chunks[made] = {first + static_cast<std::uint32_t>(begin), size, size * length};
  }
  return made;
}

std::uint32_t DataSet::cut(std::span<const std::uint32_t> batch, const Cut& most, std::uint32_t first, Entry* entries,
                           Chunk* chunks) const {
  for (std::size_t i = 0; i < batch.size(); ++i) entries[i].sequence = batch[i];
  if (!ragged_) return cut_evenly(batch.size(), most, first, entries, chunks);
  std::stable_sort(entries, entries + batch.size(),
                   [&](const Entry& a, const Entry& b) { return length_[a.sequence] > length_[b.sequence]; });
  std::uint32_t made = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::uint32_t length = length_[entries[i].sequence];
    if (i == 0 || chunks[made - 1].steps + length > most.steps || chunks[made - 1].count >= most.sequences)
      chunks[made++] = {first + static_cast<std::uint32_t>(i), 0, 0};
    Chunk& chunk = chunks[made - 1];
    entries[i].base = chunk.steps;
    chunk.steps += length;
    ++chunk.count;
  }
  return made;
}

std::uint32_t DataSet::cut(std::span<const std::uint32_t> batch, const Cut& most, Batches& to) const {
  const std::size_t entries = to.entries.size(), chunks = to.chunks.size();
  to.entries.resize(entries + batch.size());
  to.chunks.resize(chunks + most_chunks(batch.size(), most));
  const std::uint32_t made =
      cut(batch, most, static_cast<std::uint32_t>(entries), to.entries.data() + entries, to.chunks.data() + chunks);
  to.chunks.resize(chunks + made);
  return made;
}

// A chunk that is followed by another has at least as many sequences as of the longest fit in it.
std::size_t DataSet::most_chunks(std::size_t batch, const Cut& cut) const {
  const std::size_t fit = longest_ > 0 ? std::min(cut.sequences, cut.steps / longest_) : cut.sequences;
  return batch / std::max<std::size_t>(1, fit) + 1;
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
