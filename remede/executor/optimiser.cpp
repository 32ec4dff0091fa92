#include "remede/executor/optimiser.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "remede/base/vector_targets.h"

// The kernel below is compiled once per vector instruction set and chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "remede/executor/optimiser.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef REMEDE_TRAIN_OPTIMISER_ONCE
#define REMEDE_TRAIN_OPTIMISER_ONCE
namespace remede {

// One update of n numbers, and what is the same for all of them.
struct AdamStep {
  std::size_t n = 0;
  const float* gradient = nullptr;
  const float* rate = nullptr;
  float* value = nullptr;
  float* mean = nullptr;
  float* square = nullptr;
  float clip = 1;    // factor on the gradient
  float factor = 1;  // on the rates: schedule and bias correction
  float small = 0;   // kSmall, bias corrected
};

}  // namespace remede
#endif

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

HWY_INLINE V without_traces(V mean) {
  return hn::IfThenElseZero(hn::Ge(hn::Abs(mean), hn::Set(D(), Adam::kVanished)), mean);
}

// Of a whole register. Each lane computes what Adam is: no fused operation, no approximation.
HWY_INLINE void move(const AdamStep& s, std::size_t i) {
  const D d;
  const V gradient = hn::Mul(hn::Set(d, s.clip), hn::LoadU(d, s.gradient + i));
  const V mean = without_traces(hn::Add(hn::Mul(hn::Set(d, Adam::kFirst), hn::LoadU(d, s.mean + i)),
                                        hn::Mul(hn::Set(d, 1.0F - Adam::kFirst), gradient)));
  const V square = without_traces(hn::Add(hn::Mul(hn::Set(d, Adam::kSecond), hn::LoadU(d, s.square + i)),
                                          hn::Mul(hn::Set(d, 1.0F - Adam::kSecond), hn::Mul(gradient, gradient))));
  const V rate = hn::Mul(hn::LoadU(d, s.rate + i), hn::Set(d, s.factor));
  const V change = hn::Div(hn::Mul(rate, mean), hn::Add(hn::Sqrt(square), hn::Set(d, s.small)));
  hn::StoreU(mean, d, s.mean + i);
  hn::StoreU(square, d, s.square + i);
  hn::StoreU(hn::Sub(hn::LoadU(d, s.value + i), change), d, s.value + i);
}

void run_adam(const AdamStep& s) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t i = 0;
  for (; i + lanes <= s.n; i += lanes) move(s, i);
  if (i == s.n) return;
  float rest[5][16] = {};  // the last numbers, in a register of their own
  const std::size_t bytes = (s.n - i) * sizeof(float);
  const float* from[5] = {s.gradient, s.rate, s.value, s.mean, s.square};
  for (int k = 0; k < 5; ++k) std::memcpy(rest[k], from[k] + i, bytes);
  move({lanes, rest[0], rest[1], rest[2], rest[3], rest[4], s.clip, s.factor, s.small}, 0);
  float* to[3] = {s.value, s.mean, s.square};
  for (int k = 0; k < 3; ++k) std::memcpy(to[k] + i, rest[k + 2], bytes);
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace remede {

using RunAdam = void (*)(const AdamStep&);

static RunAdam choose_kernel() { return REMEDE_CHOOSE_KERNEL(run_adam); }

float clip_factor(std::span<const float> gradient, float limit) {
  constexpr std::size_t kSums = 16;  // independent sums: fast, and in an order that is ours
  float sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= gradient.size(); i += kSums)
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += gradient[i + k] * gradient[i + k];
  for (std::size_t k = 0; i < gradient.size(); ++i, ++k) sums[k] += gradient[i] * gradient[i];
  double sum = 0;
  for (const float s : sums) sum += static_cast<double>(s);
  if (!std::isfinite(
          sum)) {  // their squares may be too large for a float: a gradient that explodes is cut like any other
    sum = 0;
    for (const float g : gradient) sum += static_cast<double>(g) * static_cast<double>(g);
  }
  if (!std::isfinite(sum)) return std::numeric_limits<float>::quiet_NaN();
  const double norm = std::sqrt(sum);
  const auto most = static_cast<double>(limit);
  return limit > 0.0F && norm > most ? static_cast<float>(most / norm) : 1.0F;
}

Adam::Adam(const Shape& shape, const Rates& rates)
    : rate_(shape.total()), mean_(shape.total()), square_(shape.total()) {
  for (std::size_t g = 0; g < kGroups; ++g) {
    const auto begin = rate_.begin() + static_cast<std::ptrdiff_t>(shape.begin(static_cast<Group>(g)));
    std::fill_n(begin, shape.size(static_cast<Group>(g)), rates[g]);
  }
}

Adam::Step Adam::next(float factor) {
  first_power_ *= static_cast<double>(kFirst);
  second_power_ *= static_cast<double>(kSecond);
  const double second = std::sqrt(1.0 - second_power_);
  const double correction = second / (1.0 - first_power_);
  return {static_cast<float>(static_cast<double>(factor) * correction),
          static_cast<float>(second * static_cast<double>(kSmall))};
}

void Adam::update(Parameters<float>& parameters, const Parameters<float>& gradient, float clip, float factor) {
  const Step step = next(factor);
  static const RunAdam run = choose_kernel();
  run({rate_.size(), gradient.values.data(), rate_.data(), parameters.values.data(), mean_.data(), square_.data(), clip,
       step.factor, step.small});
}

void Adam::shrink(std::span<float> values, float amount) {
  for (float& v : values) v = std::max(std::abs(v) - amount, 0.0F) * (v < 0.0F ? -1.0F : 1.0F);
}

void Adam::forget(std::size_t begin, std::size_t end) {
  for (std::vector<float>* known : {&mean_, &square_}) std::fill(known->data() + begin, known->data() + end, 0.0F);
}

void Adam::forget() {
  forget(0, rate_.size());
  first_power_ = second_power_ = 1;
}

void Adam::save(ByteWriter& to) const {
  to.put(mean_);
  to.put(square_);
  to.put(first_power_);
  to.put(second_power_);
}

void Adam::load(ByteReader& from) {
  from.get(mean_, rate_.size());
  from.get(square_, rate_.size());
  from.get(first_power_);
  from.get(second_power_);
}

}  // namespace remede
#endif
