// Cells side by side, first part: how the steps of some sequences are laid out. Included once per target by
// cells-inl.h.
#if defined(REMEDE_CELLS_LAYOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_CELLS_LAYOUT_INL_H_
#undef REMEDE_CELLS_LAYOUT_INL_H_
#else
#define REMEDE_CELLS_LAYOUT_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/forward-inl.h"
#include "remede/executor/cpu/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

using cpu::CellLayout;

// A sequence on its way through the tree, and where in the scratch its steps stand.
struct Walk {
  std::size_t steps = 0;
  std::size_t end = 0;           // no target stands from this step on
  float* v = nullptr;            // (steps + 1, v_step)
  float* split = nullptr;        // the same with missing inputs as NaN; v itself where there are none
  float* sums = nullptr;         // (steps, kLanes) of the reached leaf
  float* u = nullptr;            // (steps, kLanes) their tanh
  float* a = nullptr;            // (steps, kLanes) the derivative of the loss by them
  std::int32_t* leaf = nullptr;  // (steps)
  std::size_t block = 0;         // of 16 steps, in the scratch's y, target and weight: the sequence's first
};

// Steps of so many sequences are computed in turn: the processor works on one while it waits for another.
constexpr std::size_t kWalks = 8;
// Backward takes so many of them at a time. Sums of a group come before those of the next.
constexpr std::size_t kGroup = 4;

// The steps [begin, begin + most) of some sequences, and where they stand in the scratch.
struct Walks {
  std::array<Walk, kWalks> each;
  std::size_t count = 0;
  std::size_t longest = 0;  // steps
  Block block;              // steps: blocks of sixteen
};

// The first n numbers at p, then zeros. Reads nothing behind them.
HWY_INLINE V load_some(const float* p, std::size_t n) {
#if HWY_TARGET != HWY_SCALAR && HWY_MAX_BYTES >= 32
  return hn::MaskedLoad(hn::FirstN(d, n), d, p);
#else
  alignas(64) float some[kN] = {};
  std::copy_n(p, n, some);
  return hn::Load(d, some);
#endif
}

// Lays the inputs x (walk.steps, n_x) out in the rows of v, behind them a one and zeros. Returns whether one is
// missing, or infinite: sums of infinite numbers may leave no number in memory, and splits then treat it as missing.
HWY_INLINE bool lay_out_inputs(const CellLayout& at, const float* x, const Walk& walk) {
  constexpr auto kRegister = static_cast<std::size_t>(kN);
  const auto n_x = static_cast<std::size_t>(at.n_x);
  V missing = hn::Zero(d);
  for (std::size_t f = kLanes; f < at.v_step; f += kRegister) {
    alignas(64) float behind[kRegister] = {};
    if (f - kLanes <= n_x && n_x < f - kLanes + kRegister) behind[n_x - (f - kLanes)] = 1.0F;
    const V one = hn::Load(d, behind);
    const std::size_t n = n_x - std::min(n_x, f - kLanes);
    const float* from = x + (f - kLanes);
    float* to = walk.v + f;
    for (std::size_t t = 0; t < walk.steps; ++t, to += at.v_step) {
      const V some = n >= kRegister ? hn::LoadU(d, from + t * n_x) : load_some(from + t * n_x, n);
      __builtin_prefetch(from + (t + 24) * n_x);
      missing = hn::Or(missing, hn::VecFromMask(d, hn::Not(hn::IsFinite(some))));
      hn::Store(hn::Or(some, one), d, to);
    }
  }
  return !hn::AllFalse(d, hn::MaskFromVec(missing));
}

// Of a walk with missing inputs: v keeps them for the splits, everything else reads the filled value.
HWY_NOINLINE void fill_missing(const CellLayout& at, std::span<const float> fill, const Walk& walk) {
  for (std::size_t t = 0; t < walk.steps; ++t) {
    float *v = walk.v + t * at.v_step + kLanes, *split = walk.split + t * at.v_step + kLanes;
    std::copy_n(v, at.v_step - kLanes, split);
    for (std::size_t f = 0; f < static_cast<std::size_t>(at.n_x); ++f)
      if (v[f] != v[f]) v[f] = fill.empty() ? 0.0F : fill[f];
  }
}

// Lays targets and weights of the steps from `first` of the data on out, in blocks of sixteen steps.
HWY_NOINLINE void lay_out_targets(const PreparedTree& tree, const Sequences& data, std::size_t first, int targets,
                                  Walk& walk, Scratch& s) {
  const bool classes = classifies(tree.objective);
  const auto wide = static_cast<std::size_t>(targets);
  walk.end = 0;
  for (std::size_t begin = 0; begin < walk.steps; begin += kLanes) {
    const std::size_t block = walk.block + begin / kLanes, here = std::min<std::size_t>(kLanes, walk.steps - begin);
    float *weight = s.weight.data() + block * kLanes, *target = s.target.data() + block * wide * kLanes;
    const std::size_t from = first + begin;
    if (here < kLanes) {
      std::fill_n(weight, kLanes, 0.0F);
      std::fill_n(target, wide * kLanes, 0.0F);
    }
    std::copy_n(data.weight.data() + from, here, weight);
    const std::uint32_t count = bits(gt(load(weight), set(0.0F)));
    if (count != 0) walk.end = begin + static_cast<std::size_t>(std::bit_width(count));
    for (std::size_t i = 0; i < here; ++i)
      if (classes)
        target[i] = static_cast<float>(data.label[from + i]);
      else
        for (std::size_t k = 0; k < wide; ++k) target[k * kLanes + i] = data.value[(from + i) * wide + k];
  }
}

// Makes room for some sequences and says where in it each of them stands.
HWY_INLINE Walks make_room(const PreparedTree& tree, const Sequences& data, std::span<const std::uint32_t> numbers,
                           std::size_t begin, std::size_t most, Scratch& s) {
  const CellLayout& at = tree.cells;
  Walks walks;
  walks.count = numbers.size();
  walks.block.targets = classifies(tree.objective) ? 1 : data.n_y;
  std::size_t steps = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Walk& walk = walks.each[i];
    const std::size_t length = data.length(numbers[i]);
    walk.steps = std::min(length - std::min(begin, length), most);
    walk.block = walks.block.steps;
    walks.block.steps += (walk.steps + kLanes - 1) / kLanes;
    steps += walk.steps + 1;
    walks.longest = std::max(walks.longest, walk.steps);
  }
  at_least(s.v, steps * at.v_step);
  for (AlignedVector<float>* lanes : {&s.u, &s.cell_columns, &s.cell_a}) at_least(*lanes, steps * kLanes);
  at_least(s.leaf, steps + kLanes);  // sixteen are read at a time
  at_least(s.y, walks.block.steps * static_cast<std::size_t>(at.n_y) * kLanes);
  at_least(s.weight, walks.block.steps * kLanes);
  at_least(s.target, walks.block.steps * static_cast<std::size_t>(walks.block.targets) * kLanes);
  std::size_t first = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Walk& walk = walks.each[i];
    walk.v = walk.split = s.v.data() + first * at.v_step;
    walk.sums = s.cell_columns.data() + first * kLanes;
    walk.u = s.u.data() + first * kLanes;
    walk.a = s.cell_a.data() + first * kLanes;
    walk.leaf = s.leaf.data() + first;
    first += walk.steps + 1;
  }
  return walks;
}

// From the memory in s.memory (sequences, kLanes).
HWY_NOINLINE Walks lay_out_together(const PreparedTree& tree, const cpu::Piece& piece,
                                    std::span<const std::uint32_t> numbers, std::size_t begin, std::size_t most,
                                    Scratch& s) {
  const CellLayout& at = tree.cells;
  const Sequences& data = *piece.data;
  Walks walks = make_room(tree, data, numbers, begin, most, s);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Walk& walk = walks.each[i];
    const std::size_t first = static_cast<std::size_t>(data.offset[numbers[i]]) + (walk.steps > 0 ? begin : 0);
    const bool missing = lay_out_inputs(at, data.x.data() + first * static_cast<std::size_t>(at.n_x), walk);
    std::copy_n(s.memory.data() + i * kLanes, kLanes, walk.v);
    lay_out_targets(tree, data, first, walks.block.targets, walk, s);
    if (!missing) continue;
    at_least(s.split_v, s.v.size());
    walk.split = s.split_v.data() + (walk.v - s.v.data());
    std::copy_n(walk.v, kLanes, walk.split);
    fill_missing(at, piece.fill, walk);
  }
  return walks;
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif
