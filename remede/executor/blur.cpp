#include "remede/executor/blur.h"

#include "remede/base/random.h"

namespace remede {
namespace {

constexpr std::uint64_t kNoiseSeed = 0x6e6f697365;  // noise is drawn apart from the start's own numbers,
constexpr std::uint64_t kOffsetSeed = 0x6f6666;     // and offsets apart from it
constexpr float kUniformSpread = 1.7320508F;        // half width of a uniform distribution of standard deviation 1

}  // namespace

Blur::Blur(const StartPlan& plan, const TrainingData& data)
    : data_(&data), seed_(plan.seed ^ kNoiseSeed), stream_(plan.stream << 32U) {
  for (std::size_t f = 0; f < static_cast<std::size_t>(data.training.n_x); ++f) {
    const float width = kUniformSpread * data.quantiles.spread(f);
    noise_.push_back(plan.noise * width);
    offset_.push_back(plan.offset * width);
  }
  shift_.resize(offset_.size());
}

std::uint64_t Blur::drawn(std::uint64_t epoch) const { return Random(seed_, stream_ + epoch).bits(); }

const Sequences& Blur::batch(std::span<const std::uint32_t> numbers, std::uint64_t epoch) {
  batch_ = select(data_->training, numbers);
  const std::uint64_t drawn = this->drawn(epoch);
  const std::size_t n_x = shift_.size();
  float* x = batch_.x.data();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    add(drawn, numbers[i], {x, batch_.length(i) * n_x});
    x += batch_.length(i) * n_x;
  }
  return batch_;
}

void Blur::add(std::uint64_t drawn, std::uint32_t number, std::span<float> x) {
  Random offsets(drawn ^ kOffsetSeed, number);
  for (std::size_t f = 0; f < shift_.size(); ++f)
    shift_[f] = offset_[f] * static_cast<float>(offsets.uniform(-1.0, 1.0));
  Random random(drawn, number);
  std::uint64_t bits = 0;
  for (std::size_t i = 0, f = 0; i < x.size(); ++i, f = f + 1 == shift_.size() ? 0 : f + 1) {
    if (i % 4 == 0) bits = random.bits();
    const float part = (static_cast<float>(bits & 0xffffU) - 32767.5F) / 32768.0F;  // in -1 .. 1
    x[i] = x[i] + shift_[f] + noise_[f] * part;
    bits >>= 16U;
  }
}

}  // namespace remede
