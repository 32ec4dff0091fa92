// 16 floats, whatever the width of the machine's registers: the vector type of the kernels and of the batch predictor.
// Included once per target by files that use Highway's foreach_target; hence no ordinary include guard.
//
// Every function of this file rounds exactly as its scalar counterpart in base/arithmetic.h does.
#if defined(REMEDE_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_VECTOR_INL_H_
#undef REMEDE_VECTOR_INL_H_
#else
#define REMEDE_VECTOR_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "remede/base/arithmetic.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr D d{};
constexpr DI di{};
constexpr int kN = static_cast<int>(hn::MaxLanes(D()));  // lanes of a register
constexpr int kK = 16 / kN;                              // registers of a Wide

#define REMEDE_EACH for (int i = 0; i < kK; ++i)

struct Wide {
  V v[kK];
};
struct WideMask {
  M m[kK];
};

HWY_INLINE Wide load(const float* p) {
  Wide w;
  REMEDE_EACH w.v[i] = hn::Load(d, p + i * kN);
  return w;
}
HWY_INLINE void store(const Wide& a, float* p) {
  REMEDE_EACH hn::Store(a.v[i], d, p + i * kN);
}
HWY_INLINE Wide set(float x) {
  Wide w;
  REMEDE_EACH w.v[i] = hn::Set(d, x);
  return w;
}

#define REMEDE_BINARY(name, Op)                      \
  HWY_INLINE Wide name(const Wide& a, const Wide& b) { \
    Wide w;                                          \
    REMEDE_EACH w.v[i] = hn::Op(a.v[i], b.v[i]);     \
    return w;                                        \
  }
REMEDE_BINARY(add, Add)
REMEDE_BINARY(sub, Sub)
REMEDE_BINARY(mul, Mul)
REMEDE_BINARY(div, Div)
#undef REMEDE_BINARY

// a * b + c in one rounding where the machine has it: for the backward pass only.
HWY_INLINE Wide fused(const Wide& a, const Wide& b, const Wide& c) {
  Wide w;
  REMEDE_EACH w.v[i] = hn::MulAdd(a.v[i], b.v[i], c.v[i]);
  return w;
}
HWY_INLINE Wide abs(const Wide& a) {
  Wide w;
  REMEDE_EACH w.v[i] = hn::Abs(a.v[i]);
  return w;
}
HWY_INLINE Wide select(const WideMask& m, const Wide& yes, const Wide& no) {
  Wide w;
  REMEDE_EACH w.v[i] = hn::IfThenElse(m.m[i], yes.v[i], no.v[i]);
  return w;
}
HWY_INLINE Wide keep(const WideMask& m, const Wide& yes) {
  Wide w;
  REMEDE_EACH w.v[i] = hn::IfThenElseZero(m.m[i], yes.v[i]);
  return w;
}

#define REMEDE_COMPARE(name, Op)                           \
  HWY_INLINE WideMask name(const Wide& a, const Wide& b) { \
    WideMask m;                                            \
    REMEDE_EACH m.m[i] = hn::Op(a.v[i], b.v[i]);           \
    return m;                                              \
  }
REMEDE_COMPARE(ge, Ge)
REMEDE_COMPARE(gt, Gt)
REMEDE_COMPARE(lt, Lt)
REMEDE_COMPARE(eq, Eq)
#undef REMEDE_COMPARE

// Highway's own != is false for NaN on some machines and true on others: this is how to ask.
HWY_INLINE WideMask is_nan(const Wide& a) {
  WideMask m;
  REMEDE_EACH m.m[i] = hn::IsNaN(a.v[i]);
  return m;
}

// One bit per lane.
HWY_INLINE std::uint32_t bits(const WideMask& m) {
  std::uint32_t all = 0;
  REMEDE_EACH {
    std::uint8_t bytes[8] = {0};
    hn::StoreMaskBits(d, m.m[i], bytes);
    std::uint64_t part = 0;  // one copy, so that the bits stay in a register
    std::memcpy(&part, bytes, sizeof(part));
    all |= static_cast<std::uint32_t>(part) << (i * kN);
  }
  return all;
}
HWY_INLINE WideMask mask(std::uint32_t all) {
  WideMask m;
  REMEDE_EACH {
    const std::uint64_t part = (all >> (i * kN)) & ((std::uint64_t{1} << kN) - 1);
    std::uint8_t bytes[8];
    std::memcpy(bytes, &part, sizeof(part));
    m.m[i] = hn::LoadMaskBits(d, bytes);
  }
  return m;
}

HWY_INLINE Wide tanh(Wide x) {
  using C = TanhConstants;
  x = select(gt(x, set(C::kLimit)), set(C::kLimit), x);
  x = select(lt(x, set(-C::kLimit)), set(-C::kLimit), x);
  const Wide s = mul(x, x);
  Wide p = set(C::kP[5]);
  for (int i = 4; i >= 0; --i) p = add(mul(p, s), set(C::kP[i]));
  Wide q = set(C::kQ[3]);
  for (int i = 2; i >= 0; --i) q = add(mul(q, s), set(C::kQ[i]));
  Wide r = div(mul(x, p), q);
  r = select(gt(r, set(1.0F)), set(1.0F), r);
  return select(lt(r, set(-1.0F)), set(-1.0F), r);
}

HWY_INLINE Wide exp(Wide x) {
  using C = ExpConstants;
  const WideMask low = lt(x, set(C::kLowest));
  x = select(low, set(C::kLowest), x);
  x = select(gt(x, set(C::kHighest)), set(C::kHighest), x);
  const Wide n = sub(add(mul(x, set(C::kLog2e)), set(C::kRound)), set(C::kRound));
  Wide r = sub(x, mul(n, set(C::kLn2High)));
  r = sub(r, mul(n, set(C::kLn2Low)));
  Wide p = set(C::kP[5]);
  for (int i = 4; i >= 0; --i) p = add(mul(p, r), set(C::kP[i]));
  p = add(add(mul(mul(p, r), r), r), set(1.0F));
  Wide w;
  REMEDE_EACH {
    const auto k = hn::ConvertTo(di, n.v[i]);
    w.v[i] = hn::Mul(p.v[i], hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(k, hn::Set(di, 127)))));
  }
  w = select(low, set(0.0F), w);
  return select(is_nan(n), n, w);
}

HWY_INLINE Wide sigmoid(const Wide& x) {
  const Wide zero = set(0.0F), one = set(1.0F);
  const WideMask negative = lt(x, zero);
  const Wide e = exp(select(negative, x, sub(zero, x)));
  return div(select(negative, e, one), add(one, e));
}

// Natural logarithm, within 3e-7 (absolute for results below 1, relative above). REQUIRES: x >= 1 and finite.
HWY_INLINE Wide log(const Wide& x) {
  Wide w;
  REMEDE_EACH {
    const auto raw = hn::BitCast(di, x.v[i]);
    // Adding the distance from sqrt(1/2) to 1 before taking the exponent centres the mantissa on 1.
    const auto shifted = hn::Add(raw, hn::Set(di, 0x3f800000 - 0x3f3504f3));
    const auto k = hn::Sub(hn::ShiftRight<23>(shifted), hn::Set(di, 127));
    const V m = hn::BitCast(d, hn::Sub(raw, hn::ShiftLeft<23>(k)));
    const V s = hn::Div(hn::Sub(m, hn::Set(d, 1.0F)), hn::Add(m, hn::Set(d, 1.0F)));
    const V z = hn::Mul(s, s);
    V p = hn::Set(d, 1.0F / 9);
    p = hn::Add(hn::Mul(p, z), hn::Set(d, 1.0F / 7));
    p = hn::Add(hn::Mul(p, z), hn::Set(d, 1.0F / 5));
    p = hn::Add(hn::Mul(p, z), hn::Set(d, 1.0F / 3));
    p = hn::Add(hn::Mul(p, z), hn::Set(d, 1.0F));
    w.v[i] = hn::Add(hn::Mul(hn::ConvertTo(d, k), hn::Set(d, 0.6931471806F)), hn::Mul(hn::Add(s, s), p));
  }
  return w;
}

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void turn(const float* from, int n, float* to) {
  for (int k = 0; k < n; ++k)
    for (int lane = 0; lane < 16; ++lane) to[lane * n + k] = from[k * 16 + lane];
}
HWY_INLINE void add_scaled(float scale, const float* from, int n, float* to) {
  for (int k = 0; k < n; ++k) to[k] += scale * from[k];
}
HWY_INLINE void add_row(const float* from, int n, float* to) {
  for (int k = 0; k < n; ++k) to[k] += from[k];
}

#else

// from: (n, 16) -> to: (16, n), n a multiple of 4. Moves only.
HWY_INLINE void turn(const float* from, int n, float* to) {
  const hn::FixedTag<float, 4> d4;
  const hn::RebindToUnsigned<hn::RepartitionToWide<decltype(d4)>> d2;
  for (int k = 0; k < n; k += 4) {
    for (int lane = 0; lane < 16; lane += 4) {
      const float* p = from + k * 16 + lane;
      const auto a = hn::Load(d4, p), b = hn::Load(d4, p + 16), c = hn::Load(d4, p + 32), e = hn::Load(d4, p + 48);
      const auto ab0 = hn::BitCast(d2, hn::InterleaveLower(d4, a, b)), ab1 = hn::BitCast(d2, hn::InterleaveUpper(d4, a, b));
      const auto ce0 = hn::BitCast(d2, hn::InterleaveLower(d4, c, e)), ce1 = hn::BitCast(d2, hn::InterleaveUpper(d4, c, e));
      float* out = to + lane * n + k;
      hn::Store(hn::BitCast(d4, hn::InterleaveLower(d2, ab0, ce0)), d4, out);
      hn::Store(hn::BitCast(d4, hn::InterleaveUpper(d2, ab0, ce0)), d4, out + n);
      hn::Store(hn::BitCast(d4, hn::InterleaveLower(d2, ab1, ce1)), d4, out + 2 * n);
      hn::Store(hn::BitCast(d4, hn::InterleaveUpper(d2, ab1, ce1)), d4, out + 3 * n);
    }
  }
}

// to[0..n) += scale * from[0..n), n a multiple of 4, both on 16-byte boundaries.
HWY_INLINE void add_scaled(float scale, const float* from, int n, float* to) {
  const hn::CappedTag<float, 8> d8;
  const hn::FixedTag<float, 4> d4;
  int k = 0;
  if (hn::Lanes(d8) == 8) {
    const auto s = hn::Set(d8, scale);
    for (; k + 8 <= n; k += 8) hn::StoreU(hn::MulAdd(s, hn::LoadU(d8, from + k), hn::LoadU(d8, to + k)), d8, to + k);
  }
  const auto s = hn::Set(d4, scale);
  for (; k < n; k += 4) hn::Store(hn::MulAdd(s, hn::Load(d4, from + k), hn::Load(d4, to + k)), d4, to + k);
}

HWY_INLINE void add_row(const float* from, int n, float* to) {
  int k = 0;
  for (; k + kN <= n; k += kN) hn::StoreU(hn::Add(hn::LoadU(d, from + k), hn::LoadU(d, to + k)), d, to + k);
  const hn::CappedTag<float, 4> d4;
  for (; k < n; k += static_cast<int>(hn::Lanes(d4)))
    hn::StoreU(hn::Add(hn::LoadU(d4, from + k), hn::LoadU(d4, to + k)), d4, to + k);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif
