#include "remede/analysis/trace.h"

#include <charconv>
#include <cmath>

#include "remede/analysis/rows.h"
#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

// The last writers of one tree's cells.
struct LiveTree {
  const Tree* tree = nullptr;
  std::vector<float> m, y;      // m: (memory_size)
  std::vector<int> written_at;  // (n_m) -1: none
};

float value_of(const Tree& tree, const float* x, const float* m, int feature) {
  return feature < tree.n_x ? x[feature] : m[feature - tree.n_x];
}

bool goes_right(const Tree& tree, std::size_t node, float value) {
  return std::isnan(value) ? tree.missing_right[node] != 0 : value >= tree.threshold[node];
}

int leaf_below(const Tree& tree, std::int32_t node, const float* x, const float* m) {
  while (node >= 0) {
    const auto i = static_cast<std::size_t>(node);
    node = goes_right(tree, i, value_of(tree, x, m, tree.feature[i])) ? tree.right[i] : tree.left[i];
  }
  return ~node;
}

// What a leaf adds to the answer at (x, m): its part of the step, from a running answer of zero.
std::vector<float> leaf_answer(const Model& model, const Tree& tree, int leaf, const float* x, std::vector<float> m) {
  std::vector<float> y(static_cast<std::size_t>(tree.n_y));
  act(tree, leaf, x, model.fill.data(), m.data(), y.data());
  return y;
}

// Would the other leaf have answered otherwise? previous: (n_y) the running answer of the first order form, or zeros.
bool answers_differ(const Model& model, std::vector<float> a, std::vector<float> b,
                    const std::vector<float>& previous) {
  for (std::size_t o = 0; o < a.size(); ++o) {
    a[o] += previous[o];
    b[o] += previous[o];
  }
  return model.schema.task == Task::kClassification ? arg_max(a) != arg_max(b) : a != b;
}

std::vector<PathTest> find_path(const LiveTree& live, const float* x) {
  const Tree& tree = *live.tree;
  std::vector<PathTest> path;
  for (std::int32_t node = tree.root(); node >= 0;) {
    const auto i = static_cast<std::size_t>(node);
    PathTest test{
        node, tree.feature[i], value_of(tree, x, live.m.data(), tree.feature[i]), tree.threshold[i], false, -1, false};
    test.right = goes_right(tree, i, test.value);
    if (test.feature >= tree.n_x) test.written_at = live.written_at[static_cast<std::size_t>(test.feature - tree.n_x)];
    path.push_back(test);
    node = test.right ? tree.right[i] : tree.left[i];
  }
  return path;
}

// Flips each test of the path, follows the other side to its leaf and compares the answers.
void find_pivots(const Model& model, const LiveTree& live, TreeStep& step, const float* x) {
  const Tree& tree = *live.tree;
  const std::vector<float> answer = leaf_answer(model, tree, step.leaf, x, live.m);
  const std::vector<float> previous =
      tree.form.output_order == OutputOrder::kFirst ? live.y : std::vector<float>(live.y.size(), 0.0F);
  for (std::size_t i = 0; i < step.path.size(); ++i) {
    PathTest& test = step.path[i];
    const auto node = static_cast<std::size_t>(test.node);
    const int other = leaf_below(tree, test.right ? tree.left[node] : tree.right[node], x, live.m.data());
    test.pivotal = answers_differ(model, answer, leaf_answer(model, tree, other, x, live.m), previous);
    if (test.pivotal) step.decided = static_cast<int>(i);
  }
}

// Does an answer of the leaf use the cell; does a write of the leaf, or the law of another cell?
bool answer_reads(const Tree& tree, int leaf, int k) {
  for (int o = 0; o < tree.n_y; ++o)
    if (answer_uses(tree, leaf, o, tree.n_x + k)) return true;
  return false;
}

bool write_reads(const Tree& tree, int leaf, int k) {
  for (int to = 0; to < tree.n_m; ++to) {
    if (!moves_cell(tree, leaf, to)) continue;
    if (tree.has_laws() ? law_uses(tree, to, tree.n_x + k) : write_weight(tree, leaf, to, tree.n_x + k) != 0)
      return true;
  }
  return false;
}

std::vector<MemoryRead> find_reads(const LiveTree& live, const TreeStep& step) {
  const Tree& tree = *live.tree;
  std::vector<std::uint8_t> tested(static_cast<std::size_t>(tree.n_m), 0);
  for (const PathTest& test : step.path)
    if (test.feature >= tree.n_x) tested[static_cast<std::size_t>(test.feature - tree.n_x)] = 1;
  std::vector<MemoryRead> reads;
  for (int k = 0; k < tree.n_m; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const auto add = [&](ReadUse use) { reads.push_back({k, use, live.m[i], live.written_at[i]}); };
    if (tested[i]) add(ReadUse::kTest);
    if (answer_reads(tree, step.leaf, k)) add(ReadUse::kAnswer);
    if (write_reads(tree, step.leaf, k)) add(ReadUse::kWrite);
  }
  return reads;
}

TreeStep trace_step(const Model& model, LiveTree& live, const float* x, int number) {
  const Tree& tree = *live.tree;
  TreeStep step_;
  step_.path = find_path(live, x);
  step_.leaf = find_leaf(tree, x, live.m.data());
  find_pivots(model, live, step_, x);
  step_.reads = find_reads(live, step_);
  const auto levels = static_cast<std::ptrdiff_t>(tree.n_m);
  step_.before.assign(live.m.begin(), live.m.begin() + levels);
  step(tree, x, model.fill.data(), live.m.data(), live.y.data());
  step_.after.assign(live.m.begin(), live.m.begin() + levels);
  step_.output = live.y;
  for (int k = 0; k < tree.n_m; ++k) {
    step_.written.push_back(moves_cell(tree, step_.leaf, k) ? 1 : 0);
    if (step_.written.back()) live.written_at[static_cast<std::size_t>(k)] = number;
  }
  return step_;
}

void add_targets(Trace& trace, bool classes, const Sequences& data, std::size_t sequence) {
  const auto first = static_cast<std::size_t>(data.offset[sequence]), n_y = static_cast<std::size_t>(data.n_y);
  for (std::size_t t = 0; t < trace.steps.size() && data.has_targets(); ++t) {
    TraceStep& s = trace.steps[t];
    s.has_target = data.weight[first + t] > 0;
    if (!s.has_target) continue;
    if (classes)
      s.label = data.label[first + t];
    else
      s.value.assign(data.value.data() + (first + t) * n_y, data.value.data() + (first + t + 1) * n_y);
  }
}

}  // namespace

Trace trace(const Model& model, std::span<const float> x) {
  const auto n_x = static_cast<std::size_t>(model.n_x());
  const std::size_t steps = x.size() / n_x;
  std::vector<LiveTree> live;
  for (const Tree& tree : model.trees)
    live.push_back({&tree, std::vector<float>(static_cast<std::size_t>(tree.memory_size())),
                    std::vector<float>(static_cast<std::size_t>(tree.n_y)),
                    std::vector<int>(static_cast<std::size_t>(tree.n_m), -1)});
  Sequences one;
  one.n_x = model.n_x();
  one.x.assign(x.begin(), x.end());
  one.offset.push_back(static_cast<std::int64_t>(steps));
  const Predictions predictions = predict(model, one);
  Trace result{"1", "step", {}};
  for (std::size_t t = 0; t < steps; ++t) {
    TraceStep s;
    s.name = std::to_string(t + 1);
    s.x.assign(x.begin() + static_cast<std::ptrdiff_t>(t * n_x),
               x.begin() + static_cast<std::ptrdiff_t>((t + 1) * n_x));
    for (LiveTree& l : live) s.trees.push_back(trace_step(model, l, s.x.data(), static_cast<int>(t)));
    const auto n_y = static_cast<std::ptrdiff_t>(model.n_y()), at = static_cast<std::ptrdiff_t>(t) * n_y;
    s.output.assign(predictions.output.begin() + at, predictions.output.begin() + at + n_y);
    result.steps.push_back(std::move(s));
  }
  return result;
}

Trace trace(const Model& model, const Dataset& data, std::size_t sequence) {
  const Sequences& all = data.sequences;
  const auto first = static_cast<std::size_t>(all.offset[sequence]), n_x = static_cast<std::size_t>(all.n_x);
  Trace result = trace(model, std::span(all.x).subspan(first * n_x, all.length(sequence) * n_x));
  result.id = data.ids.empty() ? std::to_string(sequence + 1) : std::string(data.ids[sequence]);
  if (!data.times.empty()) {
    result.step_name = printable(data.schema.time);
    for (std::size_t t = 0; t < result.steps.size(); ++t) result.steps[t].name = printable(data.times[first + t]);
  }
  add_targets(result, model.classifies(), all, sequence);
  return result;
}

std::size_t find_sequence(const Dataset& data, const std::string& name) {
  for (std::size_t s = 0; s < data.ids.size(); ++s)
    if (data.ids[s] == name) return s;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const std::size_t count = data.sequences.count();
  if (error == std::errc{} && end == name.data() + name.size() && number >= 1 && number <= count) return number - 1;
  fail("expected the id of a sequence, or its number from 1 to {}, got '{}'", count, name);
}

bool is_wrong(const TraceStep& step) {
  return step.has_target && step.label >= 0 && arg_max(step.output) != step.label;
}

}  // namespace remede
