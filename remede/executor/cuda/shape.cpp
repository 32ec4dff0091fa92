#include "remede/executor/cuda/shape.h"

#include <algorithm>

namespace remede::cuda {
namespace {

constexpr int kMostTables = 8;                // more than threads can fill do not help, and all are added up
constexpr std::size_t kSharedReserve = 2048;  // bytes that kernels need beside the arena

int up_to_four(int n) { return (n + 3) / 4 * 4; }

// Gives out places one after the other, each at a multiple of four.
class Places {
 public:
  int take(int count) {
    const int at = end_;
    end_ += up_to_four(count);
    return at;
  }
  int end() const { return end_; }

 private:
  int end_ = 0;
};

void place_record(Layout& l) {
  Places record;
  l.v = record.take(l.n_v + 1);
  l.g = record.take(l.n_y);
  l.gate = record.take(l.n_m);
  l.write = record.take(l.n_m);
  l.rate = record.take(l.blends ? l.n_m : 0);
  l.split = record.take(l.depth);
  l.slopes = record.take(l.depth * l.cells);
  l.base = record.take(l.depth);
  l.direct = record.take(l.linear ? l.n_m : 0);
  l.record = record.end();
}

// The rows of a table of sums, the units that fill them, and where each parameter of a leaf finds its sum.
void place_sums(const Shape& shape, DeviceShape& to) {
  Layout& l = to.layout;
  const int one = l.v + l.n_v;
  l.node_pitch = up_to_four(l.n_v + 1);
  l.leaf_begin = l.nodes * l.node_pitch;
  for (int d = 0; d < l.depth; ++d)
    for (int f = 0; f < l.node_pitch; f += 4)
      to.units.push_back({l.v + f, l.split + d, l.depth - d, l.node_pitch, f - l.node_pitch});
  Places row;
  struct Rows {
    Group group;
    int vector, width;  // in the record
    int factors;        // the inputs and cells it is multiplied by, each with a row of its own; 0: by 1
  };
  const Rows rows[] = {{Group::kOutput, l.g, l.n_y, 0},        {Group::kLinear, l.g, l.n_y, l.n_v},
                       {Group::kGate, l.gate, l.n_m, 0},       {Group::kRate, l.rate, l.n_m, 0},
                       {Group::kWrite, l.write, l.n_m, l.n_w}, {Group::kBias, l.write, l.n_m, 0}};
  to.slot.resize(shape.total());
  std::vector<SumUnit> leaf_units;
  for (const Rows& r : rows) {
    if (shape.size(r.group) == 0) continue;
    const int factors = std::max(1, r.factors);
    for (int f = 0; f < factors; ++f) {
      const int at = row.take(r.width);
      for (int k = 0; k < r.width; k += 4)
        leaf_units.push_back({r.vector + k, r.factors > 0 ? l.v + f : one, 0, 0, at + k});
      const std::size_t per_leaf = shape.size(r.group) / static_cast<std::size_t>(l.leaves);
      for (int k = 0; k < r.width; ++k)
        for (int j = 0; j < l.leaves; ++j)
          to.slot[shape.begin(r.group) + static_cast<std::size_t>(j) * per_leaf +
                  static_cast<std::size_t>(k * factors + f)] = static_cast<std::uint32_t>(at + k);
    }
  }
  l.leaf_pitch = row.end();
  for (SumUnit& unit : leaf_units) {
    unit.pitch = l.leaf_pitch;
    unit.begin += l.leaf_begin - l.leaves * l.leaf_pitch;
    to.units.push_back(unit);
  }
  for (const Rows& r : rows) {
    const std::size_t per_leaf = shape.size(r.group) / static_cast<std::size_t>(l.leaves);
    for (std::size_t i = 0; i < shape.size(r.group); ++i)
      to.slot[shape.begin(r.group) + i] +=
          static_cast<std::uint32_t>(l.leaf_begin) + static_cast<std::uint32_t>(i / per_leaf * l.leaf_pitch);
  }
  l.sums_size = l.leaf_begin + l.leaves * l.leaf_pitch;
  l.units = static_cast<int>(to.units.size());
}

void place_arena(int lanes, Layout& l) {
  Places arena;
  const int cells = l.leaves * l.n_m;
  l.node = arena.take(2 * l.nodes);
  l.output = arena.take(l.leaves * l.n_y);
  l.gate_value = arena.take(cells);
  l.gate_slope = arena.take(cells);
  l.rate_value = arena.take(l.blends ? cells : 0);
  l.blend = arena.take(l.blends ? cells : 0);
  l.bias = arena.take(l.has_bias ? cells : 0);
  l.write_pitch = l.n_w | 1;
  l.writes = arena.take(cells * l.write_pitch);
  l.linear_pitch = l.n_v | 1;
  l.linears = arena.take(l.linear ? l.leaves * l.n_y * l.linear_pitch : 0);
  l.scratch_pitch = (2 * l.n_x + 2 * l.n_m) | 1;
  l.scratch = arena.take(kThreads / lanes * l.scratch_pitch);
  if (l.n_m <= 8) {
    const int bases = l.direct - l.base;
    l.stage_rate = bases;
    l.stage_direct = l.stage_rate + (l.blends ? l.cells : 0);
    l.stage_pitch = (l.rate + l.stage_direct + (l.linear ? l.cells : 0)) | 1;
    l.stage_warp = 32 * (l.stage_pitch + l.cells + 1);
    l.stage = arena.take(kThreads / 32 * l.stage_warp);
  }
  l.sums = arena.end();
  l.arena = arena.end();
}

}  // namespace

bool fits_device(const Shape& shape, const GradientForm& form) {
  if (form.index == IndexGradient::kEntmax) return false;
  // Places are counted in int.
  return shape.depth <= kMostDepth && shape.n_m <= kMostCells && shape.total() < (1U << 26U) &&
         shape.n_v() < (1 << 16) && shape.n_y < (1 << 16);
}

int batch_class(std::size_t batch) {
  constexpr int kLeast = 32, kMost = 512;
  int up = kLeast;
  while (up < kMost && static_cast<std::size_t>(up) < batch) up *= 2;
  return up;
}

int length_class(std::size_t longest) {
  constexpr int kMost = 256;  // more leave no room for what a batch of 32 sequences adds to the sums
  int up = 8;
  while (up <= kMost && static_cast<std::size_t>(up) < longest) up *= 2;
  return up <= kMost ? up : 0;
}

DeviceShape device_shape(const Shape& shape, const GradientForm& form, const DataForm& data, int batch,
                         const DeviceLimits& limits) {
  DeviceShape to;
  Layout& l = to.layout;
  l.depth = shape.depth;
  l.nodes = shape.nodes();
  l.leaves = shape.leaves();
  l.n_x = shape.n_x;
  l.n_m = shape.n_m;
  l.n_y = shape.n_y;
  l.n_v = shape.n_v();
  l.n_w = shape.n_w();
  l.n_t = data.targets;
  l.n_g = shift_invariant({.loss = data.loss}) && l.n_y > 1 ? l.n_y - 1 : l.n_y;
  l.missing = data.missing ? 1 : 0;
  l.blends = shape.form.write_rule == WriteRule::kBlend ? 1 : 0;
  l.reads_memory = shape.form.write_reads == WriteReads::kInputsAndMemory ? 1 : 0;
  l.has_bias = shape.form.write_bias ? 1 : 0;
  l.linear = shape.form.leaf_output == LeafOutput::kLinear ? 1 : 0;
  l.first_order = shape.form.output_order == OutputOrder::kFirst ? 1 : 0;
  l.softsign = form.split == SplitGradient::kSoftsign ? 1 : 0;
  l.softmax = form.index == IndexGradient::kSoftmax ? 1 : 0;
  l.effects = form.mix == Mix::kEffects ? 1 : 0;
  l.slope = form.slope;
  for (int g = 0; g < kGroups; ++g) l.begin[g] = static_cast<int>(shape.begin(static_cast<Group>(g)));
  l.begin[kGroups] = static_cast<int>(shape.total());
  l.cells = up_to_four(l.n_m);
  place_record(l);
  place_sums(shape, to);
  to.variant = l.n_m <= 4    ? Variant{4, 1, true}
               : l.n_m <= 8  ? Variant{8, 1, true}
               : l.n_m <= 16 ? Variant{16, 1, true}
                             : Variant{32, 2, true};
  place_arena(to.variant.lanes, l);
  const auto floats = static_cast<int>((limits.shared - kSharedReserve) / sizeof(float));
  if (l.arena + l.sums_size > floats) {
    to.variant = l.n_m <= 8 ? Variant{8, 1, false} : Variant{32, 2, false};
    place_arena(to.variant.lanes, l);
  }
  const int room = to.variant.shared ? (floats - l.arena) / l.sums_size : kMostTables;
  l.tables = std::clamp(std::min(kThreads / l.units, room), 1, kMostTables);
  l.arena += l.tables * l.sums_size;
  to.loss = data.loss;
  to.batch = batch;
  to.longest = data.longest;
  to.shared = static_cast<int>(limits.shared - kSharedReserve);
  if (limits.tensor_cores) to.step = stepper(l, batch, to.longest, to.shared);
  return to;
}

}  // namespace remede::cuda
