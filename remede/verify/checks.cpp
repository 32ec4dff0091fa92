#include "remede/verify/checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "remede/base/random.h"
#include "remede/model/names.h"
#include "remede/model/predict.h"
#include "remede/verify/inputs.h"
#include "remede/verify/quantities.h"

namespace remede {
namespace {

constexpr double kClosureWork = 4e7;
constexpr double kTrendWork = 2e6;

Formula nothing_asked() {
  Formula formula;
  formula.root = formula.add(Op::kTrue, {});
  return formula;
}

std::vector<Formula> assumed(const Model& model, const VerifyOptions& options) {
  std::vector<Formula> formulas;
  for (const std::string& text : options.assumptions) formulas.push_back(parse_assumption(model, text));
  return formulas;
}

// A box with everything that floats allow.
ProofState anything(const CheckedSystem& system) {
  ProofState state{{{}, {}}, system.monitor->start()};
  for (const MemorySlot& slot : system.slots) state.box.slot.push_back(slot.limit);
  return state;
}

bool has_no_bound(const MemorySlot& slot, const Range& range) {
  constexpr float kGrown = 0x1p60F;  // stores and averages in any sensible unit stay far below
  if (slot.kind == SlotKind::kAdded) return range.low <= -kAddLimit || range.high >= kAddLimit;
  if (slot.kind == SlotKind::kStore || slot.kind == SlotKind::kAverage)
    return range.low <= -kGrown || range.high >= kGrown;
  return false;
}

// Answer o at a leaf rises (1), falls (-1) or stays (0) with an input; 2: not known.
int slope_at(const Tree& tree, int leaf, int input, int o) {
  const auto l = static_cast<std::size_t>(leaf), i = static_cast<std::size_t>(input), at = static_cast<std::size_t>(o);
  const auto n_y = static_cast<std::size_t>(tree.n_y), n_x = static_cast<std::size_t>(tree.n_x),
             n_m = static_cast<std::size_t>(tree.n_m);
  if (tree.has_laws()) {
    for (std::size_t k = 0; k < n_m; ++k)
      if (tree.cells.input[k * n_x + i] != 0.0F || tree.cells.tap_input[k * n_x + i] != 0.0F) return 2;
    float weight = tree.cells.linear[at * (n_x + 2 * n_m) + i];
    const float own =
        tree.cells.leaf_linear.empty() ? 0.0F : tree.cells.leaf_linear[(l * n_y + at) * (n_x + 2 * n_m) + i];
    if (weight * own < 0.0F) return 2;
    weight = weight == 0.0F ? own : weight;
    return weight > 0.0F ? 1 : weight < 0.0F ? -1 : 0;
  }
  if (tree.form.leaf_output == LeafOutput::kConstant) return 0;
  const float weight = tree.linear[(l * n_y + at) * (n_x + n_m) + i];
  return weight > 0.0F ? 1 : weight < 0.0F ? -1 : 0;
}

bool reads_input(const Tree& tree, int input) {
  if (std::find(tree.feature.begin(), tree.feature.end(), input) != tree.feature.end()) return true;
  for (int leaf = 0; leaf < tree.leaf_count(); ++leaf)
    for (int o = 0; o < tree.n_y; ++o)
      if (slope_at(tree, leaf, input, o) != 0) return true;
  return false;
}

// What an answer does along one input: at every reachable leaf, and from leaf to leaf, where the input decides between
// two subtrees, the answers of one side against those of the other.
class TrendProof {
 public:
  TrendProof(const Model& model, const std::vector<std::vector<Range>>& leaf_answer)
      : tree_(model.trees[0]), answer_(leaf_answer) {}

  // Never falls (sign 1) or never rises (sign -1).
  bool proved(int input, int o, int sign) const {
    for (int leaf = 0; leaf < tree_.leaf_count(); ++leaf)
      if (reached(leaf) && slope_at(tree_, leaf, input, o) != 0 && slope_at(tree_, leaf, input, o) != sign)
        return false;
    for (std::size_t n = 0; n < tree_.feature.size(); ++n) {
      if (tree_.feature[n] != input) continue;
      for (const int left : leaves(tree_.left[n]))
        for (const int right : leaves(tree_.right[n])) {
          if (!reached(left) || !reached(right)) continue;
          const Range &a = answer_[static_cast<std::size_t>(left)][static_cast<std::size_t>(o)],
                      &b = answer_[static_cast<std::size_t>(right)][static_cast<std::size_t>(o)];
          if (a.nan || b.nan || (sign > 0 ? a.high > b.low : a.low < b.high)) return false;
        }
    }
    return true;
  }

 private:
  bool reached(int leaf) const { return !answer_[static_cast<std::size_t>(leaf)].empty(); }
  std::vector<int> leaves(std::int32_t child) const {
    if (child < 0) return {~child};
    std::vector<int> all = leaves(tree_.left[static_cast<std::size_t>(child)]);
    for (const int leaf : leaves(tree_.right[static_cast<std::size_t>(child)])) all.push_back(leaf);
    return all;
  }

  const Tree& tree_;
  const std::vector<std::vector<Range>>& answer_;  // (leaves, n_y); empty: not reached
};

// Pairs of steps that differ in one input: +1 and -1 for answers that were seen to rise and to fall with it.
class TrendSamples {
 public:
  TrendSamples(const Model& model, const CheckedSystem& system) : model_(model), runner_(system), system_(system) {}

  void run(std::uint64_t work) {
    Random random(1);
    const auto n_x = static_cast<std::size_t>(model_.n_x()), n_y = static_cast<std::size_t>(model_.n_y());
    rises.assign(n_x, std::vector<bool>(n_y)), falls = rises;
    for (std::uint64_t done = 0; done < work;) {
      Configuration at = runner_.start();
      for (std::size_t t = 1 + random.below(12); t > 0; --t) {
        StepInput input = draw(random);
        const Configuration before = at;
        runner_.step(input, at);
        const std::vector<float> answer = runner_.answer(0);
        const std::size_t moved = random.below(n_x);
        const InputColumn& column = system_.columns[static_cast<std::size_t>(system_.column_of[moved])];
        done += 50 + 4 * n_x;
        if (column.words || std::isnan(input.x[moved])) continue;
        StepInput other = input;
        other.x[moved] = number(random, moved);
        if (!(other.x[moved] > input.x[moved])) continue;
        Configuration after = before;
        runner_.step(other, after);
        for (std::size_t o = 0; o < n_y; ++o) {
          if (runner_.answer(0)[o] > answer[o]) rises[moved][o] = true;
          if (runner_.answer(0)[o] < answer[o]) falls[moved][o] = true;
        }
      }
    }
  }
  std::vector<std::vector<bool>> rises, falls;  // (inputs, n_y)

 private:
  float number(Random& random, std::size_t input) {
    const InputColumn& column = system_.columns[static_cast<std::size_t>(system_.column_of[input])];
    const Range& range = column.options[random.below(column.options.size())].range[0];
    std::vector<float> cuts;
    for (const Tree& tree : model_.trees)
      for (std::size_t n = 0; n < tree.feature.size(); ++n)
        if (tree.feature[n] == static_cast<std::int32_t>(input)) cuts.push_back(tree.threshold[n]);
    float v = static_cast<float>(random.normal()) * (random.below(2) == 0 ? 1.0F : 30.0F);
    if (!cuts.empty() && random.below(2) == 0)
      v = cuts[random.below(cuts.size())] + static_cast<float>(random.normal()) * 0.1F;
    const bool narrow = range.low > -1e6F && range.high < 1e6F;
    if (narrow && random.below(2) == 0) v = range.low + static_cast<float>(random.uniform()) * (range.high - range.low);
    return std::clamp(v, range.low, range.high);
  }
  StepInput draw(Random& random) {
    StepInput input{std::vector<float>(system_.n_x()), std::vector<int>(system_.columns.size())};
    for (std::size_t c = 0; c < system_.columns.size(); ++c) {
      const InputColumn& column = system_.columns[c];
      const std::size_t option = random.below(column.options.size());
      input.option[c] = static_cast<int>(option);
      for (std::size_t k = 0; k < column.inputs.size(); ++k) {
        const auto i = static_cast<std::size_t>(column.inputs[k]);
        const Range& range = column.options[option].range[k];
        input.x[i] = !range.has_numbers() ? std::numeric_limits<float>::quiet_NaN()
                     : column.words       ? range.low
                                          : number(random, i);
      }
    }
    return input;
  }

  const Model& model_;
  ConcreteRunner runner_;
  const CheckedSystem& system_;
};

void check_trends(const Model& model, const CheckedSystem& system, const std::vector<std::vector<Range>>& leaf_answer,
                  const VerifyOptions& options, ModelChecks& checks) {
  const auto n_y = static_cast<std::size_t>(model.n_y());
  checks.trend.assign(static_cast<std::size_t>(model.n_x()), std::vector<Trend>(n_y, Trend::kUndecided));
  TrendSamples samples(model, system);
  samples.run(static_cast<std::uint64_t>(kTrendWork * options.effort));
  const bool values = model.trees.size() == 1 && has_identity_link(model.objective()) && !model.classifies() &&
                      model.trees[0].form.output_order == OutputOrder::kZero;
  const bool constant = model.trees.size() == 1 && model.classifies() &&
                        model.trees[0].form.leaf_output == LeafOutput::kConstant && !model.trees[0].has_laws() &&
                        model.trees[0].form.output_order == OutputOrder::kZero;
  const TrendProof proof(model, leaf_answer);
  for (int i = 0; i < model.n_x(); ++i)
    for (std::size_t o = 0; o < n_y; ++o) {
      Trend& trend = checks.trend[static_cast<std::size_t>(i)][o];
      const bool read =
          std::any_of(model.trees.begin(), model.trees.end(), [&](const Tree& tree) { return reads_input(tree, i); });
      if (!read) {
        trend = Trend::kNone;
      } else if (samples.rises[static_cast<std::size_t>(i)][o] && samples.falls[static_cast<std::size_t>(i)][o]) {
        trend = Trend::kBoth;
      } else if (values || constant) {
        if (proof.proved(i, static_cast<int>(o), 1))
          trend = Trend::kRises;
        else if (proof.proved(i, static_cast<int>(o), -1))
          trend = Trend::kFalls;
      }
    }
}

}  // namespace

std::vector<std::string> assumptions_from(const Model& model, const Sequences& data) {
  std::vector<std::string> texts;
  const auto n_x = static_cast<std::size_t>(model.n_x());
  const std::vector<InputColumn> columns = all_inputs(model.schema);
  for (std::size_t i = 0; i < n_x; ++i) {
    const std::string& name = model.schema.inputs[i];
    const InputCode* const code = model.schema.code_of(name);
    if (code != nullptr && !code->gap) continue;
    const auto found = find_quantity(model, columns, name, true);
    if (!found || found->kind != AtomKind::kInput || found->index != static_cast<int>(i))
      continue;  // a name of two things
    Range range = Range::none();
    for (std::size_t t = 0; t < data.steps(); ++t) {
      const float v = data.x[t * n_x + i];
      range = std::isnan(v) ? Range{range.low, range.high, true} : join(range, Range{v, v, range.nan});
    }
    if (range.empty()) continue;
    const std::string quoted = quoted_name(name);
    const std::string numbers = range.has_numbers() ? fmt::format("{} in {}..{}", quoted, range.low, range.high) : "";
    const std::string missing = range.nan ? quoted + " missing" : "";
    texts.push_back(numbers + (!numbers.empty() && !missing.empty() ? " or " : "") + missing);
  }
  return texts;
}

const char* trend_text(Trend trend) {
  switch (trend) {
    case Trend::kNone:
      return "does not depend on";
    case Trend::kRises:
      return "never falls with";
    case Trend::kFalls:
      return "never rises with";
    case Trend::kBoth:
      return "rises and falls with";
    case Trend::kUndecided:
      return "undecided for";
  }
  return "";
}

ModelChecks check_model(const Model& model, const VerifyOptions& options) {
  const CheckedSystem system({&model}, nothing_asked(), assumed(model, options));
  Invariant found;
  for (const std::size_t boxes : {std::size_t{8}, std::size_t{1}}) {
    found = close_invariant(system, {boxes, 0, static_cast<std::uint64_t>(kClosureWork * options.effort)});
    if (found.closed) break;
  }
  ModelChecks checks;
  checks.closed = found.closed;
  const std::vector<ProofState> states = found.closed ? found.states : std::vector<ProofState>{anything(system)};
  const Range none = Range::none();
  checks.answer.assign(static_cast<std::size_t>(model.n_y()), none);
  std::vector<std::set<int>> reached(model.trees.size());
  std::vector<std::vector<Range>> leaf_answer(static_cast<std::size_t>(model.trees[0].leaf_count()));
  std::vector<bool> said(static_cast<std::size_t>(model.n_y()));
  std::vector<Range> slot(system.slots.size(), none);
  BoxStepper stepper(system);
  for (const ProofState& state : states)
    stepper.step(state.box, state.monitor, stepper.any_input(), [&](const Successor& next) {
      auto& at_leaf = leaf_answer[static_cast<std::size_t>(next.leaf[0])];
      if (at_leaf.empty()) at_leaf.assign(next.answer.size(), none);
      for (std::size_t o = 0; o < next.answer.size(); ++o) {
        checks.answer[o] = join(checks.answer[o], next.answer[o]);
        at_leaf[o] = join(at_leaf[o], next.answer[o]);
      }
      for (std::size_t t = 0; t < next.leaf.size(); ++t) reached[t].insert(next.leaf[t]);
      for (std::size_t k = 0; k < next.says.size(); ++k)
        if (next.says[k] != 0) said[k] = true;
      for (std::size_t i = 0; i < slot.size(); ++i) slot[i] = join(slot[i], next.to.slot[i]);
    });
  std::size_t first = 0;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Tree& tree = model.trees[t];
    const std::vector<std::string> names = cell_names(model, tree);
    for (std::size_t k = 0; k < names.size(); ++k)
      checks.cells.push_back({model.trees.size() > 1 ? fmt::format("{}.{}", t + 1, names[k]) : names[k],
                              slot[first + k], has_no_bound(system.slots[first + k], slot[first + k])});
    first +=
        static_cast<std::size_t>(tree.memory_size() + (tree.form.output_order == OutputOrder::kFirst ? tree.n_y : 0));
    checks.unreachable.emplace_back();
    for (int leaf = 0; leaf < tree.leaf_count(); ++leaf)
      if (!reached[t].contains(leaf)) checks.unreachable.back().push_back(tree.inner_count() + leaf);
  }
  if (model.classifies())
    for (std::size_t k = 0; k < said.size(); ++k)
      if (!said[k]) checks.unsaid.push_back(model.schema.classes[k]);
  check_trends(model, system, leaf_answer, options, checks);
  return checks;
}

}  // namespace remede
