// What kernel.cpp compiles once per instruction set.
#if defined(REMEDE_LAWS_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_LAWS_KERNEL_INL_H_
#undef REMEDE_LAWS_KERNEL_INL_H_
#else
#define REMEDE_LAWS_KERNEL_INL_H_
#endif

#include "remede/executor/laws/backward-inl.h"
#include "remede/executor/laws/forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede::HWY_NAMESPACE {

void run_law_block(const lw::Program& program, const float* values, const lw::Block& block, const Objective& objective,
                   float smoothing, float* level, lw::Scratch& scratch, lw::Sums& sums) {
  LawRun(program, values, block, block.x.data(), objective, smoothing, scratch).forward<true>(level, sums);
}

double run_law_gradient(const lw::Program& program, const float* values, const lw::Block& block, const float* x,
                        const Objective& objective, float smoothing, float* level, lw::Scratch& scratch,
                        double* gradient) {
  LawGradient run(program, values, block, x, objective, smoothing, scratch);
  lw::Sums none;
  const double weight = run.forward<false>(level, none);
  run.backward(gradient);
  return weight;
}

void disturb_inputs(const float* x, std::size_t rows, std::size_t n_x, const lw::Disturbance& by, float* to) {
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t input = row % n_x;
    const Wide offset = mul(set(by.offset[input]), load_unaligned(by.steady[input]));
    const Wide noise = mul(set(by.noise), load_unaligned(by.normal + by.first[row]));
    store(add(load(x + row * kLanes), add(offset, noise)), to + row * kLanes);
  }
}

}  // namespace remede::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
