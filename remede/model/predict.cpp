#include "remede/model/predict.h"

#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/model/limits.h"

namespace remede {
namespace {

// What input i counts as in arithmetic.
float known(float x, float fill) { return std::isnan(x) ? fill : x; }

// constant + sum of row[i] * v[i], v = x (missing filled), then the first `cells` cells of m.
float weighted_sum(float constant, const float* row, const float* x, const float* fill, int n_x, const float* m,
                   int cells) {
  float sum = constant;
  for (int i = 0; i < n_x; ++i) sum = sum + row[i] * known(x[i], fill[i]);
  for (int k = 0; k < cells; ++k) sum = sum + row[n_x + k] * m[k];
  return sum;
}

// y: (n_y) assigned, or added to in the first order form.
void answer(const Tree& tree, std::size_t leaf, const float* x, const float* fill, const float* m, float* y) {
  const auto n_v = static_cast<std::size_t>(tree.n_v());
  for (int o = 0; o < tree.n_y; ++o) {
    const std::size_t at = leaf * static_cast<std::size_t>(tree.n_y) + static_cast<std::size_t>(o);
    float value = tree.output[at];
    if (tree.form.leaf_output == LeafOutput::kLinear)
      value = weighted_sum(value, tree.linear.data() + at * n_v, x, fill, tree.n_x, m, tree.n_m);
    y[o] = tree.form.output_order == OutputOrder::kFirst ? y[o] + value : value;
  }
}

// The value cell k is moved by, or towards.
float written_value(const Tree& tree, std::size_t at, const float* x, const float* fill, const float* m) {
  const float constant = tree.form.write_bias ? tree.bias[at] : 0.0F;
  const int cells = tree.form.write_reads == WriteReads::kInputsAndMemory ? tree.n_m : 0;
  const float* row = tree.write.data() + at * static_cast<std::size_t>(tree.n_w());
  return tanh(weighted_sum(constant, row, x, fill, tree.n_x, m, cells));
}

// Kept out of write_memory(), whose other path takes a few nanoseconds.
[[gnu::noinline]] void move_by_laws(const Tree& tree, int leaf, const FilledInputs& x, float* m) {
  float outputs[kMostCells];
  step_cells(tree, leaf, x, m, outputs);
}

// The cells move before the answer is given, which reads them after the step.
void act_by_laws(const Tree& tree, int leaf, const FilledInputs& x, float* m, float* y) {
  float outputs[kMostCells];
  step_cells(tree, leaf, x, m, outputs);
  for (int o = 0; o < tree.n_y; ++o) {
    const float value = cell_answer(tree, leaf, o, x, outputs, m);
    y[o] = tree.form.output_order == OutputOrder::kFirst ? y[o] + value : value;
  }
}

}  // namespace

int find_leaf(const Tree& tree, const float* x, const float* m) {
  std::int32_t node = tree.root();
  while (node >= 0) {
    const auto i = static_cast<std::size_t>(node);
    const std::int32_t f = tree.feature[i];
    const float v = f < tree.n_x ? x[f] : m[f - tree.n_x];
    const bool right = std::isnan(v) ? tree.missing_right[i] != 0 : v >= tree.threshold[i];
    node = right ? tree.right[i] : tree.left[i];
  }
  return ~node;
}

void write_memory(const Tree& tree, int leaf, const float* x, const float* fill, float* m) {
  if (tree.has_laws()) return move_by_laws(tree, leaf, {x, fill}, m);
  const std::size_t first = static_cast<std::size_t>(leaf) * static_cast<std::size_t>(tree.n_m);
  float written[kMostCells];  // every write reads the memory before the step, so none lands before all are computed
  for (int k = 0; k < tree.n_m; ++k) {
    const std::size_t at = first + static_cast<std::size_t>(k);
    if (tree.gate[at] != 0) written[k] = written_value(tree, at, x, fill, m);
  }
  for (int k = 0; k < tree.n_m; ++k) {
    const std::size_t at = first + static_cast<std::size_t>(k);
    if (tree.gate[at] == 0) continue;
    m[k] = tree.form.write_rule == WriteRule::kBlend ? m[k] + tree.blend[at] * (written[k] - m[k]) : m[k] + written[k];
  }
}

void act(const Tree& tree, int leaf, const float* x, const float* fill, float* m, float* y) {
  if (tree.has_laws()) {
    act_by_laws(tree, leaf, {x, fill}, m, y);
    return;
  }
  answer(tree, static_cast<std::size_t>(leaf), x, fill, m, y);
  write_memory(tree, leaf, x, fill, m);
}

int step(const Tree& tree, const float* x, const float* fill, float* m, float* y) {
  const int leaf = find_leaf(tree, x, m);
  act(tree, leaf, x, fill, m, y);
  return leaf;
}

int arg_max(std::span<const float> y) { return static_cast<int>(std::max_element(y.begin(), y.end()) - y.begin()); }

std::size_t state_size(const Model& model) {
  std::size_t size = 0;
  for (const Tree& tree : model.trees)
    size +=
        static_cast<std::size_t>(tree.memory_size() + (tree.form.output_order == OutputOrder::kFirst ? tree.n_y : 0));
  return size;
}

void step(const Model& model, const float* x, float* state, float* scratch, float* y, std::int32_t* leaf) {
  const auto n_y = static_cast<std::size_t>(model.n_y());
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Tree& tree = model.trees[t];
    float* m = state;
    state += tree.memory_size();
    if (tree.form.output_order ==
        OutputOrder::kFirst) {  // the running output is state; probabilities are made of a copy
      leaf[t] = step(tree, x, model.fill.data(), m, state);
      std::copy_n(state, n_y, scratch);
      state += n_y;
    } else {
      leaf[t] = step(tree, x, model.fill.data(), m, scratch);
    }
    apply_link(model.objective(), {scratch, n_y});
    for (std::size_t o = 0; o < n_y; ++o) y[o] = t == 0 ? scratch[o] : y[o] + scratch[o];
  }
  const auto count = static_cast<float>(model.trees.size());
  for (std::size_t o = 0; o < n_y; ++o) y[o] = y[o] / count;
}

Predictions predict(const Model& model, const Sequences& sequences, int threads) {
  if (sequences.n_x != model.n_x())
    fail("expected sequences with the {} inputs of the model, got {}", model.n_x(), sequences.n_x);
  const std::size_t steps = sequences.steps();
  const auto n_x = static_cast<std::size_t>(model.n_x());
  const auto n_y = static_cast<std::size_t>(model.n_y());
  Predictions predictions;
  predictions.output.resize(steps * n_y);
  predictions.leaf.resize(steps * model.trees.size());
  parallel_for(sequences.count(), threads, [&](std::size_t s, int) {
    std::vector<float> state(state_size(model));
    std::vector<float> scratch(n_y);
    std::vector<std::int32_t> leaf(model.trees.size());
    for (auto t = static_cast<std::size_t>(sequences.offset[s]); t < static_cast<std::size_t>(sequences.offset[s + 1]);
         ++t) {
      step(model, sequences.x.data() + t * n_x, state.data(), scratch.data(), predictions.output.data() + t * n_y,
           leaf.data());
      for (std::size_t i = 0; i < leaf.size(); ++i) predictions.leaf[i * steps + t] = leaf[i];
    }
  });
  return predictions;
}

}  // namespace remede
