// Deep trees: only the nodes that some lane is on or needs (Visit), listed level by level. Included once per target by kernel.cpp.
#if defined(REMEDE_VISITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_VISITS_INL_H_
#undef REMEDE_VISITS_INL_H_
#else
#define REMEDE_VISITS_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/engine/cpu/kernel.h"
#include "remede/engine/cpu/leaf-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// Lanes that go right at node i.
HWY_INLINE std::uint32_t right_lanes(const PreparedTree& tree, int i, const float* v, bool missing) {
  const Wide value = load(v + tree.feature[i] * 16);
  std::uint32_t right = bits(ge(value, set(tree.threshold[i])));
  if (missing && tree.missing_right[i] != 0) right |= bits(ne(value, value));
  return right;
}

// The leaves that the lanes reach.
HWY_NOINLINE void descend(const PreparedTree& tree, const float* v, std::uint32_t alive, bool missing, Reached& reached) {
  std::int32_t node[2][17];
  std::uint32_t lanes[2][17];
  int count = 1, now = 0;
  node[0][0] = 0;
  lanes[0][0] = alive;
  for (int level = 0; level < tree.shape.depth; ++level) {
    int next = 0;
    for (int e = 0; e < count; ++e) {
      const std::int32_t i = node[now][e];
      const std::uint32_t on = lanes[now][e], right = right_lanes(tree, i, v, missing) & on;
      node[1 - now][next] = 2 * i + 1;
      lanes[1 - now][next] = on & ~right;
      next += (on & ~right) != 0;
      node[1 - now][next] = 2 * i + 2;  // the 17th place takes what is not kept
      lanes[1 - now][next] = right;
      next += right != 0;
    }
    count = next;
    now = 1 - now;
  }
  reached.count = count;
  for (int e = 0; e < count; ++e) {
    reached.leaf[e] = node[now][e] - tree.shape.nodes();
    reached.lanes[e] = lanes[now][e];
    reached.row[e] = tree.leaf_row(reached.leaf[e]);
  }
}

// Where the visits of each level begin in Scratch::visits; level `depth` holds the leaves.
struct Levels {
  int begin[34];
};

// Lists the visits of a step and ASSIGNS to s.r, level by level, how far each lane is from its node's threshold.
HWY_NOINLINE void visit(const PreparedTree& tree, const float* v, std::uint32_t alive, bool missing, Scratch& s, Levels& levels) {
  Visit* visits = s.visits.data();
  visits[0] = {0, static_cast<std::uint16_t>(alive), 0, 0, -1, -1, 0};
  levels.begin[0] = 0;
  int end = 1;
  for (int level = 0; level < tree.shape.depth; ++level) {
    const int begin = levels.begin[level], stop = end;
    levels.begin[level + 1] = stop;
    Wide z = set(0.0F);
    for (int p = begin; p < stop; ++p) {
      Visit& w = visits[p];
      const std::uint32_t right = right_lanes(tree, w.node, v, missing);
      const std::uint32_t active = w.active, need = w.need;
      w.right = static_cast<std::uint16_t>(right);
      z = select(mask(active), sub(load(v + tree.feature[w.node] * 16), set(tree.threshold[w.node])), z);
      const std::uint32_t need_left = active | (need & ~right), need_right = active | (need & right);
      visits[end] = {2 * w.node + 1, static_cast<std::uint16_t>(active & ~right), static_cast<std::uint16_t>(need_left), 0, -1, -1, end};
      w.left_child = need_left != 0 ? end : -1;
      end += need_left != 0;
      visits[end] = {2 * w.node + 2, static_cast<std::uint16_t>(active & right), static_cast<std::uint16_t>(need_right), 0, -1, -1, end};
      w.right_child = need_right != 0 ? end : -1;
      end += need_right != 0;
    }
    store(z, s.r.data() + level * 16);
  }
  levels.begin[tree.shape.depth + 1] = end;
}

// ASSIGNS the worth of every visited leaf to s.values (visits, 16).
HWY_NOINLINE void visit_worths(const PreparedTree& tree, const Levels& levels, const StepView& step, Scratch& s) {
  const int end = levels.begin[tree.shape.depth + 1];
  for (int p = levels.begin[tree.shape.depth]; p < end; p += kTogether) {
    const int count = std::min(kTogether, end - p);
    std::int32_t leaf[kTogether];
    for (int i = 0; i < count; ++i) leaf[i] = s.visits[p + i].node - tree.shape.nodes();
    leaf_worths(tree, leaf, count, step, s.values.data() + p * 16);
  }
}

// Walks back up: turns s.r into the derivative by each decision on the path, and ADDS to `back` what goes into memory.
HWY_NOINLINE void visit_decisions(const PreparedTree& tree, const Levels& levels, Scratch& s, float* back) {
  Visit* visits = s.visits.data();
  float* values = s.values.data();
  for (int level = tree.shape.depth - 1; level >= 0; --level) {
    Wide gain = set(0.0F);
    for (int p = levels.begin[level]; p < levels.begin[level + 1]; ++p) {
      Visit& w = visits[p];
      if (w.left_child < 0) {
        w.value = visits[w.right_child].value;
      } else if (w.right_child < 0) {
        w.value = visits[w.left_child].value;
      } else {
        const Wide left = load(values + visits[w.left_child].value * 16), right = load(values + visits[w.right_child].value * 16);
        gain = select(mask(w.active), sub(right, left), gain);
        store(select(mask(w.right), right, left), values + p * 16);
      }
    }
    const Wide r = decision(tree, gain, load(s.r.data() + level * 16));
    store(r, s.r.data() + level * 16);
    for (int p = levels.begin[level]; p < levels.begin[level + 1]; ++p) {
      const int k = tree.feature[visits[p].node] - tree.shape.n_x;
      if (visits[p].active == 0 || k < 0) continue;
      store(add(load(back + k * 16), keep(mask(visits[p].active), r)), back + k * 16);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif
