#include "remede/executor/parameters.h"

#include <algorithm>

#include "remede/base/arithmetic.h"

namespace remede {

const char* name(Group group) {
  static constexpr const char* kNames[kGroups] = {"index", "threshold", "output", "gate",
                                                  "write", "bias",      "rate",   "linear"};
  return kNames[static_cast<int>(group)];
}

std::size_t Shape::size(Group group) const {
  const auto product = [](int a, int b, int c) { return static_cast<std::size_t>(a) * b * c; };
  switch (group) {
    case Group::kIndex:
    case Group::kThreshold:
      return product(nodes(), n_v(), 1);
    case Group::kOutput:
      return product(leaves(), n_y, 1);
    case Group::kGate:
      return product(leaves(), n_m, 1);
    case Group::kWrite:
      return product(leaves(), n_m, n_w());
    case Group::kBias:
      return form.write_bias ? product(leaves(), n_m, 1) : 0;
    case Group::kRate:
      return form.write_rule == WriteRule::kBlend ? product(leaves(), n_m, 1) : 0;
    case Group::kLinear:
      return form.leaf_output == LeafOutput::kLinear ? product(leaves(), n_y, n_v()) : 0;
  }
  return 0;
}

std::size_t Shape::begin(Group group) const {
  std::size_t at = 0;
  for (int g = 0; g < static_cast<int>(group); ++g) at += size(static_cast<Group>(g));
  return at;
}

std::size_t Shape::total() const { return begin(Group::kLinear) + size(Group::kLinear); }

Tree harden(const Parameters<float>& p) {
  const Shape& shape = p.shape;
  Tree tree;
  tree.n_x = shape.n_x;
  tree.n_m = shape.n_m;
  tree.n_y = shape.n_y;
  tree.form = shape.form;
  const int nodes = shape.nodes();
  const auto n_v = static_cast<std::size_t>(shape.n_v());
  for (int i = 0; i < nodes; ++i) {
    const float* logits = p[Group::kIndex].data() + static_cast<std::size_t>(i) * n_v;
    const auto f = static_cast<std::size_t>(std::max_element(logits, logits + n_v) - logits);
    tree.feature.push_back(static_cast<std::int32_t>(f));
    tree.threshold.push_back(p[Group::kThreshold][static_cast<std::size_t>(i) * n_v + f]);
    tree.missing_right.push_back(p.missing_right[static_cast<std::size_t>(i)]);
    const auto child = [&](int c) { return c < nodes ? c : ~(c - nodes); };
    tree.left.push_back(child(2 * i + 1));
    tree.right.push_back(child(2 * i + 2));
  }
  const auto copy = [&](Group g, std::vector<float>& to) { to.assign(p[g].begin(), p[g].end()); };
  copy(Group::kOutput, tree.output);
  copy(Group::kLinear, tree.linear);
  copy(Group::kWrite, tree.write);
  copy(Group::kBias, tree.bias);
  for (const float c : p[Group::kGate]) tree.gate.push_back(c >= 0.0F ? 1 : 0);
  for (const float r : p[Group::kRate]) tree.blend.push_back(sigmoid(r));
  return tree;
}

}  // namespace remede
