#include "remede/train/blur.h"

#include <utility>

#include "remede/base/random.h"

namespace remede {
namespace {

constexpr std::uint64_t kNoiseSeed = 0x6e6f697365;  // noise is drawn apart from the start's own numbers,
constexpr std::uint64_t kOffsetSeed = 0x6f6666;     // and offsets apart from it
constexpr float kUniformSpread = 1.7320508F;        // half width of a uniform distribution of standard deviation 1

template <typename T>
void append(const std::vector<T>& from, std::int64_t begin, std::int64_t end, std::vector<T>& to) {
  if (!from.empty()) to.insert(to.end(), from.begin() + begin, from.begin() + end);
}

}  // namespace

Blur::Blur(const StartPlan& plan, const TrainingData& data) : data_(&data), seed_(plan.seed ^ kNoiseSeed), stream_(plan.stream << 32U) {
  for (std::size_t f = 0; f < static_cast<std::size_t>(data.training.n_x); ++f) {
    const float width = kUniformSpread * data.quantiles.spread(f);
    noise_.push_back(plan.noise * width);
    offset_.push_back(plan.offset * width);
  }
  shift_.resize(offset_.size());
  batch_.n_x = data.training.n_x;
  batch_.n_y = data.training.n_y;
}

const Sequences& Blur::batch(std::span<const std::uint32_t> numbers, std::uint64_t epoch) {
  const std::uint64_t drawn = Random(seed_, stream_ + epoch).bits();
  batch_.offset.resize(1);
  batch_.x.clear();
  batch_.label.clear();
  batch_.value.clear();
  batch_.weight.clear();
  for (const std::uint32_t s : numbers) add(s, drawn);
  return batch_;
}

void Blur::release() {
  Sequences empty;
  empty.n_x = batch_.n_x;
  empty.n_y = batch_.n_y;
  batch_ = std::move(empty);
}

void Blur::add(std::uint32_t number, std::uint64_t drawn) {
  const Sequences& all = data_->training;
  const std::int64_t begin = all.offset[number], end = all.offset[number + 1];
  append(all.label, begin, end, batch_.label);
  append(all.value, begin * all.n_y, end * all.n_y, batch_.value);
  append(all.weight, begin, end, batch_.weight);
  batch_.offset.push_back(batch_.offset.back() + end - begin);

  Random offsets(drawn ^ kOffsetSeed, number);
  for (std::size_t f = 0; f < shift_.size(); ++f) shift_[f] = offset_[f] * static_cast<float>(offsets.uniform(-1.0, 1.0));
  Random random(drawn, number);
  std::uint64_t bits = 0;
  const std::size_t n_x = shift_.size(), values = static_cast<std::size_t>(end - begin) * n_x;
  const float* from = all.x.data() + static_cast<std::size_t>(begin) * n_x;
  batch_.x.resize(batch_.x.size() + values);
  float* to = batch_.x.data() + batch_.x.size() - values;
  for (std::size_t i = 0, f = 0; i < values; ++i, f = f + 1 == n_x ? 0 : f + 1) {
    if (i % 4 == 0) bits = random.bits();
    const float part = (static_cast<float>(bits & 0xffffU) - 32767.5F) / 32768.0F;  // in -1 .. 1
    to[i] = from[i] + shift_[f] + noise_[f] * part;
    bits >>= 16U;
  }
}

}  // namespace remede
