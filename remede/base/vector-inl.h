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
#include <utility>

#include "hwy/highway.h"
#include "remede/base/arithmetic.h"
#include "remede/base/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kLanes>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr D d{};
constexpr DI di{};
constexpr int kN = static_cast<int>(hn::MaxLanes(D()));  // lanes of a register
constexpr int kK = kLanes / kN;                          // registers of a Wide

// Practically every x86 machine has at least SSE4, so the portable copy is there for tests: loops that are not unrolled
// halve the time that it takes to compile.
#undef REMEDE_EACH
#if HWY_TARGET == HWY_SCALAR && defined(__x86_64__)
#define REMEDE_EACH _Pragma("GCC unroll 1") for (int i = 0; i < kK; ++i)
#else
#define REMEDE_EACH for (int i = 0; i < kK; ++i)
#endif

// visit(0), ..., visit(kCount - 1), with constants: so that arrays of vectors stay in registers. Compilers do not
// unroll every loop in time for that.
#undef REMEDE_INLINED
#define REMEDE_INLINED __attribute__((always_inline))
template <int... kIndex, typename Visit>
HWY_INLINE void call_each(std::integer_sequence<int, kIndex...> /*numbers*/, const Visit& visit) {
  (visit(std::integral_constant<int, kIndex>()), ...);
}
template <int kCount, typename Visit>
HWY_INLINE void each_of(const Visit& visit) {
  call_each(std::make_integer_sequence<int, kCount>(), visit);
}

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
HWY_INLINE Wide load_unaligned(const float* p) {
  Wide w;
  REMEDE_EACH w.v[i] = hn::LoadU(d, p + i * kN);
  return w;
}
HWY_INLINE void store(const Wide& a, float* p) { REMEDE_EACH hn::Store(a.v[i], d, p + i * kN); }
HWY_INLINE Wide set(float x) {
  Wide w;
  REMEDE_EACH w.v[i] = hn::Set(d, x);
  return w;
}

#define REMEDE_BINARY(name, Op)                        \
  HWY_INLINE Wide name(const Wide& a, const Wide& b) { \
    Wide w;                                            \
    REMEDE_EACH w.v[i] = hn::Op(a.v[i], b.v[i]);       \
    return w;                                          \
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

// Highway's own != gives different results for NaN on different machines; this does not.
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

// x cut off at -limit and limit; NaN stays NaN.
HWY_INLINE Wide within(const Wide& x, float limit) {
#if defined(__x86_64__) && HWY_TARGET != HWY_SCALAR
  // These instructions answer with their second operand where one is NaN.
  Wide w;
  REMEDE_EACH w.v[i] = hn::Max(hn::Set(d, -limit), hn::Min(hn::Set(d, limit), x.v[i]));
  return w;
#else
  const Wide low = select(gt(x, set(limit)), set(limit), x);
  return select(lt(low, set(-limit)), set(-limit), low);
#endif
}

HWY_INLINE Wide tanh(Wide x) {
  using C = TanhConstants;
  x = within(x, C::kLimit);
  const Wide s = mul(x, x);
  Wide p = set(C::kP[5]);
  for (int i = 4; i >= 0; --i) p = add(mul(p, s), set(C::kP[i]));
  Wide q = set(C::kQ[3]);
  for (int i = 2; i >= 0; --i) q = add(mul(q, s), set(C::kQ[i]));
  return within(div(mul(x, p), q), 1.0F);
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
    for (int lane = 0; lane < kLanes; ++lane) to[lane * n + k] = from[k * kLanes + lane];
}
HWY_INLINE void take_columns(const float* const* rows, int at, int n, float* to) {
  for (int k = 0; k < n; ++k)
    for (int lane = 0; lane < kLanes; ++lane) to[k * kLanes + lane] = rows[lane][at + k];
}
HWY_INLINE void add_scaled(float scale, const float* from, int n, float* to) {
  for (int k = 0; k < n; ++k) to[k] += scale * from[k];
}
template <typename To>
HWY_INLINE void add_lanes(const float* from, int n, int count, const To& to) {
  for (int lane = 0; lane < count; ++lane)
    for (int k = 0; k < n; ++k) to(lane)[k] += from[k * kLanes + lane];
}

#else

// Turns four rows of four, in every four lanes of the registers: afterwards row[i] holds what was at i in each of them.
// Moves only.
template <class DF, typename VF = hn::Vec<DF> >
HWY_INLINE void turn4(DF df, VF* row) {
  const hn::RebindToUnsigned<hn::RepartitionToWide<DF> > d2;
  const auto ab0 = hn::BitCast(d2, hn::InterleaveLower(df, row[0], row[1])),
             ab1 = hn::BitCast(d2, hn::InterleaveUpper(df, row[0], row[1]));
  const auto ce0 = hn::BitCast(d2, hn::InterleaveLower(df, row[2], row[3])),
             ce1 = hn::BitCast(d2, hn::InterleaveUpper(df, row[2], row[3]));
  row[0] = hn::BitCast(df, hn::InterleaveLower(d2, ab0, ce0));
  row[1] = hn::BitCast(df, hn::InterleaveUpper(d2, ab0, ce0));
  row[2] = hn::BitCast(df, hn::InterleaveLower(d2, ab1, ce1));
  row[3] = hn::BitCast(df, hn::InterleaveUpper(d2, ab1, ce1));
}

// from: (n, kLanes), n a multiple of 4. Calls visit(tag, k, lane, the numbers of the lane from k on, as many as the tag
// says), lanes in order for each k; eight numbers at a time where registers hold them: a row stored in parts cannot be
// loaded at once without a wait.
template <typename Visit>
HWY_INLINE void each_turned(const float* from, int n, const Visit& visit) {
  const hn::FixedTag<float, 4> d4;
  using Four = hn::Vec<decltype(d4)>;
  const auto turned = [&](int k, int lane, Four* row) {
    for (int i = 0; i < 4; ++i) row[i] = hn::Load(d4, from + (k + i) * kLanes + lane);
    turn4(d4, row);
  };
  int k = 0;
#if HWY_MAX_BYTES >= 32
  const hn::FixedTag<float, 8> d8;
  for (; k + 8 <= n; k += 8)
    for (int lane = 0; lane < kLanes; lane += 4) {
      Four low[4], high[4];
      turned(k, lane, low);
      turned(k + 4, lane, high);
      for (int i = 0; i < 4; ++i) visit(d8, k, lane + i, hn::Combine(d8, high[i], low[i]));
    }
#endif
  for (; k < n; k += 4)
    for (int lane = 0; lane < kLanes; lane += 4) {
      Four row[4];
      turned(k, lane, row);
      for (int i = 0; i < 4; ++i) visit(d4, k, lane + i, row[i]);
    }
}

// from: (n, kLanes) -> to: (kLanes, n), n a multiple of 4.
HWY_INLINE void turn(const float* from, int n, float* to) {
  each_turned(from, n, [&](auto dv, int k, int lane, auto some) { hn::StoreU(some, dv, to + lane * n + k); });
}

// The four numbers from `at` on of every fourth row, side by side in one register.
HWY_INLINE V every_fourth(const float* const* rows, int at) {
  const hn::FixedTag<float, 4> d4;
  const auto four = [&](int row) { return hn::LoadU(d4, rows[row] + at); };
#if HWY_MAX_BYTES >= 32
  const hn::FixedTag<float, 8> d8;
  const auto eight = [&](int row) { return hn::Combine(d8, four(row + 4), four(row)); };
#if HWY_MAX_BYTES >= 64
  return hn::Combine(d, eight(8), eight(0));
#else
  return eight(0);
#endif
#else
  return four(0);
#endif
}

// rows: (kLanes) of numbers -> to: (n, kLanes), those from `at` on. n is rounded up to a multiple of 4.
HWY_INLINE void take_columns(const float* const* rows, int at, int n, float* to) {
  for (int k = 0; k < n; k += 4)
    for (int i = 0; i < kK; ++i) {
      V four[4];
      for (int j = 0; j < 4; ++j) four[j] = every_fourth(rows + i * kN + j, at + k);
      turn4(d, four);
      for (int j = 0; j < 4; ++j) hn::Store(four[j], d, to + (k + j) * kLanes + i * kN);
    }
}

// Adds the first `count` lanes of from (n, kLanes), each to its row: to(lane) points to n numbers, n a multiple of 4.
template <typename To>
HWY_INLINE void add_lanes(const float* from, int n, int count, const To& to) {
  each_turned(from, n, [&](auto dv, int k, int lane, auto some) {
    if (lane >= count) return;
    float* at = to(lane) + k;
    hn::StoreU(hn::Add(hn::LoadU(dv, at), some), dv, at);
  });
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

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif
