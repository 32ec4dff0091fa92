// Compiled once per instruction set, like executor/cpu/kernel.cpp.
#include "remede/executor/laws/kernel.h"

#include <algorithm>
#include <cmath>

#include "remede/base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "remede/executor/laws/kernel.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, so that each target sees them again.
#include "remede/base/vector-inl.h"
#include "remede/executor/laws/kernel-inl.h"

#if HWY_ONCE
namespace remede::laws {
namespace {

using RunBlock = void (*)(const Program&, const float*, const Block&, const Objective&, float, float*, Scratch&, Sums&);
using RunGradient = double (*)(const Program&, const float*, const Block&, const float*, const Objective&, float,
                               float*, Scratch&, double*);
using Disturb = void (*)(const float*, std::size_t, std::size_t, const Disturbance&, float*);

RunBlock chosen_run_block() {
  static const RunBlock chosen = REMEDE_CHOOSE_KERNEL(run_law_block);
  return chosen;
}

RunGradient chosen_run_gradient() {
  static const RunGradient chosen = REMEDE_CHOOSE_KERNEL(run_law_gradient);
  return chosen;
}
Disturb chosen_disturb() {
  static const Disturb chosen = REMEDE_CHOOSE_KERNEL(disturb_inputs);
  return chosen;
}

Terms used_terms(const Parameters& p, Group group, std::size_t row, std::size_t width, std::int32_t source,
                 std::vector<Term>& terms) {
  Terms range{static_cast<std::int32_t>(terms.size()), 0};
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t at = p.shape.at(group, row * width + i);
    if (p.used[at] != 0) terms.push_back({static_cast<std::int32_t>(at), source + static_cast<std::int32_t>(i)});
  }
  range.end = static_cast<std::int32_t>(terms.size());
  return range;
}

// The terms of the answers once more, by cell: in the order of the outputs, the leaves' own after the common ones.
void list_readers(Program& program) {
  const Shape& s = program.shape;
  const auto read = [&](const Terms& terms, std::int32_t source, std::size_t output, std::int32_t leaf) {
    for (std::int32_t i = terms.begin; i < terms.end; ++i)
      if (const Term& term = program.term[static_cast<std::size_t>(i)]; term.source == source)
        program.reader.push_back({term.weight, static_cast<std::int32_t>(output), leaf});
  };
  const auto n_y = static_cast<std::size_t>(s.n_y);
  for (std::int32_t source = s.n_x; source < s.n_z(); ++source) {
    Terms readers{static_cast<std::int32_t>(program.reader.size()), 0};
    for (std::size_t o = 0; o < n_y; ++o) {
      read(program.answer[o], source, o, -1);
      for (std::size_t row = o; row < program.leaf_answer.size(); row += n_y)
        read(program.leaf_answer[row], source, o, static_cast<std::int32_t>(row / n_y));
    }
    readers.end = static_cast<std::int32_t>(program.reader.size());
    program.read_by.push_back(readers);
  }
}

}  // namespace

Program program_of(const Parameters& p, bool learn_index) {
  Program program;
  const Shape& s = program.shape = p.shape;
  const auto k_n = static_cast<std::size_t>(s.cells()), n_x = static_cast<std::size_t>(s.n_x);
  for (std::size_t k = 0; k < k_n; ++k) {
    program.input.push_back(used_terms(p, Group::kInput, k, n_x, 0, program.term));
    program.earlier.push_back(used_terms(p, Group::kEarlier, k, k_n, s.n_x, program.term));
    program.tap.push_back(used_terms(p, Group::kTapInput, k, n_x, 0, program.term));
    program.tap_level.push_back(p.used[s.at(Group::kTapLevel, k)]);
    std::uint8_t shifted = 0;
    for (std::size_t l = 0; l < static_cast<std::size_t>(s.leaves()); ++l)
      shifted = static_cast<std::uint8_t>(shifted | p.used[s.at(Group::kTapLeaf, l * k_n + k)]);
    program.tap_leaf.push_back(shifted);
  }
  const auto n_z = static_cast<std::size_t>(s.n_z()), n_y = static_cast<std::size_t>(s.n_y);
  for (std::size_t o = 0; o < n_y; ++o)
    program.answer.push_back(used_terms(p, Group::kLinear, o, n_z, 0, program.term));
  if (s.leaf_linear)
    for (std::size_t row = 0; row < static_cast<std::size_t>(s.leaves()) * n_y; ++row)
      program.leaf_answer.push_back(used_terms(p, Group::kLeafLinear, row, n_z, 0, program.term));
  list_readers(program);
  for (int i = 0; i < s.nodes(); ++i) program.feature.push_back(p.feature(i));
  program.missing_right = p.missing_right;
  program.side = p.side;
  program.learn_index = learn_index;
  return program;
}

void run_block(const Program& program, const float* values, const Block& block, const Objective& objective,
               float smoothing, float* level, Scratch& scratch, Sums& sums) {
  chosen_run_block()(program, values, block, objective, smoothing, level, scratch, sums);
}

double run_gradient(const Program& program, const float* values, const Block& block, const float* x,
                    const Objective& objective, float smoothing, float* level, Scratch& scratch, double* gradient) {
  return chosen_run_gradient()(program, values, block, x, objective, smoothing, level, scratch, gradient);
}

void disturb(const Block& block, const Disturbance& by, AlignedVector<float>& to) {
  to.resize(block.x.size());
  chosen_disturb()(block.x.data(), by.first.size(), by.steady.size(), by, to.data());
}

Sums run_all(const Program& program, const float* values, const LaneData& data, float smoothing, Scratch& scratch) {
  Sums sums;
  AlignedVector<float> level(static_cast<std::size_t>(program.shape.cells()) * kLanes);
  for (const Block& block : data.blocks) {
    if (std::none_of(block.from.begin(), block.from.end(), [](std::int32_t f) { return f == kCarried; }))
      std::fill(level.begin(), level.end(), 0.0F);
    run_block(program, values, block, data.objective, smoothing, level.data(), scratch, sums);
  }
  return sums;
}

}  // namespace remede::laws
#endif  // HWY_ONCE
