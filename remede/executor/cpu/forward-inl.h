// Forward over a block of 16 sequences, and the loss. Included once per target by kernel.cpp.
#if defined(REMEDE_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_FORWARD_INL_H_
#undef REMEDE_FORWARD_INL_H_
#else
#define REMEDE_FORWARD_INL_H_
#endif

#include <cmath>

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/dense-inl.h"
#include "remede/executor/cpu/kernel.h"
#include "remede/executor/cpu/leaf-inl.h"
#include "remede/executor/cpu/paths-inl.h"
#include "remede/objective/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// 16 sequences, longest first, so that the lanes still alive at a step are the first ones.
struct Block {
  std::size_t steps = 0;  // of the longest
  std::array<std::size_t, kLanes> length{};
  std::size_t alive(std::size_t t) const {  // number of lanes with a step t
    std::size_t n = kLanes;
    while (n > 0 && length[n - 1] <= t) --n;
    return n;
  }
  bool missing = false;  // some input is NaN
  int targets = 1;       // numbers of a target
};

// The loss alone needs no step again: long sequences go through in parts of so many steps.
constexpr std::size_t kPart = 512;

template <typename Vector>
void at_least(Vector& v, std::size_t n) {
  if (v.size() < n) v.resize(n);
}

// Makes room for a block; the scratch grows, it never shrinks.
inline void reserve(const PreparedTree& tree, std::size_t steps, int target_width, Scratch& s) {
  const Shape& shape = tree.shape;
  const std::size_t n_m = shape.n_m, n_y = shape.n_y;
  const std::size_t places = 2U * shape.leaves() + 2;
  at_least(s.v, (steps + 1) * tree.v_step());
  at_least(s.u, steps * n_m * kLanes);
  at_least(s.y, steps * n_y * kLanes);
  at_least(s.target, steps * target_width * kLanes);
  at_least(s.weight, steps * kLanes);
  at_least(s.leaf, steps * kLanes);
  at_least(s.f, static_cast<std::size_t>(tree.row) * kLanes);
  at_least(s.v_rows, static_cast<std::size_t>(tree.node_row) * kLanes);
  at_least(s.r, static_cast<std::size_t>(shape.depth + 1) * kLanes);
  at_least(s.q, n_m * kLanes * 3);
  at_least(s.memory, n_m * kLanes);
  at_least(s.of_leaf, static_cast<std::size_t>(tree.stride + cpu::kOverRead) * kLanes);
  if (tree.dense) {
    at_least(s.right, steps * shape.nodes());
    at_least(s.active, steps * places);
    at_least(s.need, places);
    at_least(s.tested, static_cast<std::size_t>(shape.depth) * kLanes);
    at_least(s.values, places * kLanes);
  }
}

// Lays rows of `width` numbers a step, one sequence per lane, out in lanes: to[t * stride + k * 16 + lane]; zeros where
// a lane has no step. Returns whether some number is NaN.
template <typename T>
HWY_INLINE bool load_lanes(const T* const* from, const Block& b, int width, std::size_t stride, float* to) {
  bool nan = false;
  for (std::size_t lane = 0; lane < kLanes; lane += 4) {
    std::size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
    // Four lanes by four numbers at a time, as long as all four lanes go on.
    const hn::FixedTag<T, 4> dt;
    const hn::FixedTag<float, 4> d4;
    const hn::RebindToUnsigned<decltype(d4)> du;
    const auto shortest = static_cast<int>(b.length[lane + 3]);
    auto lost = hn::Zero(du);
    int t = 0, k = 0;
    const auto next = [&](auto row) {
      hn::Store(row, d4, to + static_cast<std::size_t>(t) * stride + static_cast<std::size_t>(k) * kLanes + lane);
      if (++k == width) k = 0, ++t;
    };
    const auto read = [&](std::size_t l, int at) {
      if constexpr (std::is_same_v<T, float>)
        return hn::LoadU(d4, from[l] + at);
      else
        return hn::ConvertTo(d4, hn::LoadU(dt, from[l] + at));
    };
    for (int at = 0; at + 4 <= shortest * width; at += 4) {
      hn::Vec<decltype(d4)> row[4] = {read(lane, at), read(lane + 1, at), read(lane + 2, at), read(lane + 3, at)};
      for (const auto& each : row) lost = hn::Or(lost, hn::BitCast(du, hn::VecFromMask(d4, hn::IsNaN(each))));
      turn4(d4, row);
      for (const auto& each : row) next(each);
    }
    nan |= !hn::AllTrue(du, hn::Eq(lost, hn::Zero(du)));
    done = static_cast<std::size_t>(t);
#endif
    for (std::size_t l = lane; l < lane + 4; ++l) {
      for (std::size_t s = done; s < b.steps; ++s)
        for (int f = 0; f < width; ++f) {
          const float value =
              s < b.length[l]
                  ? static_cast<float>(from[l][s * static_cast<std::size_t>(width) + static_cast<std::size_t>(f)])
                  : 0.0F;
          nan |= value != value;
          to[s * stride + static_cast<std::size_t>(f) * kLanes + l] = value;
        }
    }
  }
  return nan;
}

// Lays the steps from `begin` on, at most `most`, of these sequences out in lanes; lanes without a step hold zeros.
inline Block load_block(const PreparedTree& tree, const cpu::Piece& piece, std::span<const std::uint32_t> numbers,
                        std::size_t begin, std::size_t most, Scratch& s) {
  const Sequences& data = *piece.data;
  Block b;
  const bool classes = classifies(tree.objective);
  b.targets = classes ? 1 : data.n_y;
  const int n_x = tree.shape.n_x, n_v = tree.shape.n_v();
  const float *x[kLanes] = {}, *weight[kLanes] = {}, *value[kLanes] = {};
  const std::int32_t* label[kLanes] = {};
  for (std::size_t lane = 0; lane < numbers.size(); ++lane) {
    const std::size_t length = data.length(numbers[lane]);
    b.length[lane] = std::min(length - std::min(begin, length), most);
    const auto first = static_cast<std::size_t>(data.offset[numbers[lane]]) + (b.length[lane] > 0 ? begin : 0);
    x[lane] = data.x.data() + first * static_cast<std::size_t>(n_x);
    weight[lane] = data.weight.data() + first;
    if (classes)
      label[lane] = data.label.data() + first;
    else
      value[lane] = data.value.data() + first * static_cast<std::size_t>(b.targets);
  }
  b.steps = b.length[0];
  reserve(tree, b.steps, b.targets, s);
  b.missing = load_lanes(x, b, n_x, tree.v_step(), s.v.data());
  for (std::size_t t = 0; t < b.steps;
       ++t) {  // behind v a one, for the sums of the nodes, and zeros up to the next step's
    float* behind = s.v.data() + t * tree.v_step() + n_v * kLanes;
    store(set(1.0F), behind);
    for (int k = n_v + 1; k < tree.node_row; ++k) store(set(0.0F), behind + (k - n_v) * kLanes);
  }
  load_lanes(weight, b, 1, kLanes, s.weight.data());
  if (classes)
    load_lanes(label, b, 1, kLanes, s.target.data());
  else
    load_lanes(value, b, b.targets, static_cast<std::size_t>(b.targets) * kLanes, s.target.data());
  if (b.missing) {  // splits see NaN, everything else the filled value
    at_least(s.split_v, (b.steps + 1) * tree.v_step());
    std::copy_n(s.v.data(), (b.steps + 1) * tree.v_step(), s.split_v.data());
    for (std::size_t t = 0; t < b.steps; ++t)
      for (int k = 0; k < n_x; ++k)
        for (int lane = 0; lane < kLanes; ++lane) {
          float& missing = s.v[t * tree.v_step() + static_cast<std::size_t>(k * kLanes + lane)];
          if (missing != missing) missing = piece.fill.empty() ? 0.0F : piece.fill[k];
        }
  }
  return b;
}

HWY_NOINLINE void forward_step(const PreparedTree& tree, const Block& b, Scratch& s, std::size_t t) {
  const Shape& shape = tree.shape;
  const int n_x = shape.n_x, n_m = shape.n_m, n_y = shape.n_y, n_v = shape.n_v(), n_w = shape.n_w();
  const float* v = s.v.data() + t * tree.v_step();
  float* next = s.v.data() + (t + 1) * tree.v_step();
  const auto of_leaf = [&](int at) { return load(s.of_leaf.data() + at * kLanes); };
  const auto at = [&](Group g) { return tree.at[static_cast<int>(g)]; };
  const Reached reached(tree, s.leaf.data() + t * kLanes);
  leaf_columns(reached, 0, at(Group::kGate), s.of_leaf.data());
  leaf_columns(reached, tree.gate, tree.blend_slope - tree.gate, s.of_leaf.data());
  for (int k = 0; k < n_y; ++k) {
    Wide y = of_leaf(at(Group::kOutput) + k);
    if (shape.form.leaf_output == LeafOutput::kLinear)
      for (int f = 0; f < n_v; ++f) y = add(y, mul(of_leaf(at(Group::kLinear) + k * n_v + f), load(v + f * kLanes)));
    float* out = s.y.data() + (t * n_y + k) * kLanes;
    if (shape.form.output_order == OutputOrder::kFirst && t > 0) y = add(load(out - n_y * kLanes), y);
    store(y, out);
  }
  for (int k = 0; k < n_m; ++k) {
    Wide a = shape.form.write_bias ? of_leaf(at(Group::kBias) + k) : set(0.0F);
    for (int f = 0; f < n_w; ++f) a = add(a, mul(of_leaf(at(Group::kWrite) + k * n_w + f), load(v + f * kLanes)));
    const Wide u = tanh(a), m = load(v + (n_x + k) * kLanes);
    store(u, s.u.data() + (t * n_m + k) * kLanes);
    const Wide change = shape.form.write_rule == WriteRule::kBlend ? mul(of_leaf(tree.blend + k), sub(u, m)) : u;
    const WideMask open = gt(of_leaf(tree.gate + k), set(0.0F));
    const Wide after = select(open, add(m, change), m);
    store(after, next + (n_x + k) * kLanes);
    if (b.missing) store(after, s.split_v.data() + (t + 1) * tree.v_step() + (n_x + k) * kLanes);
  }
}

// ASSIGNS the memory that the block's sequences start from.
inline void load_memory(const PreparedTree& tree, const Carry* carry, std::span<const std::uint32_t> numbers,
                        Scratch& s) {
  const auto n_m = static_cast<std::size_t>(tree.shape.n_m);
  at_least(s.memory, n_m * kLanes);
  std::fill_n(s.memory.data(), n_m * kLanes, 0.0F);
  if (carry == nullptr) return;
  for (std::size_t lane = 0; lane < numbers.size(); ++lane)
    for (std::size_t k = 0; k < n_m; ++k) s.memory[k * kLanes + lane] = carry->before[numbers[lane] * n_m + k];
}

// The memory that a lane's sequence ends the block with, cell by cell.
template <typename Visit>
inline void each_end(const PreparedTree& tree, const Block& b, const Scratch& s, std::size_t lane, const Visit& visit) {
  const auto n_x = static_cast<std::size_t>(tree.shape.n_x), n_v = static_cast<std::size_t>(tree.shape.n_v());
  for (std::size_t k = n_x; k < n_v; ++k) visit(k - n_x, s.v[b.length[lane] * tree.v_step() + k * kLanes + lane]);
}

// From the memory in s.memory.
HWY_NOINLINE void forward(const PreparedTree& tree, const Block& b, Scratch& s) {
  const int n_x = tree.shape.n_x;
  std::copy_n(s.memory.data(), tree.shape.n_m * kLanes, s.v.data() + n_x * kLanes);
  if (b.missing) std::copy_n(s.memory.data(), tree.shape.n_m * kLanes, s.split_v.data() + n_x * kLanes);
  const float* split = b.missing ? s.split_v.data() : s.v.data();
  const std::size_t places = 2U * tree.shape.leaves() + 2;
  for (std::size_t t = 0; t < b.steps; ++t) {
    std::int32_t* leaf = s.leaf.data() + t * kLanes;
    const std::uint32_t alive = (1U << b.alive(t)) - 1U;
    if (tree.dense) {
      std::uint16_t* right = s.right.data() + t * tree.shape.nodes();
      compare_all(tree, split + t * tree.v_step(), b.missing, right);
      std::uint16_t* active = s.active.data() + t * places;
      spread_active(tree, alive, right, active);
      reached_leaves(tree, active + tree.shape.nodes(), leaf);
    } else {
      follow_paths(tree, split + t * tree.v_step(), alive, b.missing, leaf);
    }
    forward_step(tree, b, s, t);
  }
}

// Adds the block's loss, and turns s.y into the derivative of the loss by the outputs. Its steps begin at `first`.
template <typename Formula>
HWY_NOINLINE void loss(const PreparedTree& tree, const Block& b, Scratch& s, BatchLoss& total, std::size_t first = 0) {
  const int n_y = tree.shape.n_y;
  const Wide zero = set(0.0F);
  Wide loss_sum = zero, weight_sum = zero, correct_sum = zero;
  for (std::size_t t = first; t < first + b.steps; ++t) {
    float* y = s.y.data() + t * n_y * kLanes;
    const Wide weight = load(s.weight.data() + t * kLanes);
    const WideMask counts = gt(weight, zero);  // a lane without a target may hold anything: keep it out of the sums
    if (bits(counts) == 0) {
      std::fill_n(y, n_y * kLanes, 0.0F);
      continue;
    }
    const float* target = s.target.data() + t * static_cast<std::size_t>(b.targets) * kLanes;
    const auto step = Formula::run(tree.objective, Step<Wide, float>{y, target, n_y, b.targets, weight});
    weight_sum = add(weight_sum, weight);
    correct_sum = add(correct_sum, mul(weight, step.correct));
    loss_sum = add(loss_sum, keep(counts, mul(weight, step.loss)));
  }
  alignas(64) float lanes[3][kLanes];
  store(loss_sum, lanes[0]);
  store(weight_sum, lanes[1]);
  store(correct_sum, lanes[2]);
  for (int lane = 0; lane < kLanes; ++lane) {
    total.loss += static_cast<double>(lanes[0][lane]);
    total.weight += static_cast<double>(lanes[1][lane]);
    total.correct += static_cast<double>(lanes[2][lane]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif
