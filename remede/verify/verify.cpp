#include "remede/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/model/names.h"
#include "remede/verify/search.h"

namespace remede {
namespace {

// Units of BoxStepper::work, about 3e7 a second.
constexpr double kQuickSearch = 3e6;
constexpr double kAllSearch = 3e7;
constexpr double kLevelsWork = 2e7;
constexpr double kInvariantWork = 6e7;
constexpr double kLongSearch = 2e7;
constexpr double kAlongWork = 4e6;
constexpr double kShortenWork = 2e6;
constexpr std::uint64_t kSearchSeed = 1;

std::uint64_t scaled(double work, const VerifyOptions& options) {
  return static_cast<std::uint64_t>(work * std::clamp(options.effort, 1e-3, 1e6));
}

// A model whose rows are sequences of their own takes one step.
std::vector<Formula> all_assumptions(const Model& model, const VerifyOptions& options) {
  std::vector<Formula> formulas;
  for (const std::string& text : options.assumptions) formulas.push_back(parse_assumption(model, text));
  if (model.schema.id == "row") {
    Formula one;
    one.root = one.add_atom({AtomKind::kStep, 0, Compare::kAtMost, 1.0F, ""});
    formulas.push_back(std::move(one));
  }
  return formulas;
}

// What the times of a file leave of the times since the step before: they are differences of doubles.
void round_gaps(const CheckedSystem& system, std::vector<StepInput>& sequence) {
  for (const InputColumn& column : system.columns) {
    if (!column.gap) continue;
    const auto input = static_cast<std::size_t>(column.inputs[0]);
    double time = 0;
    for (StepInput& step : sequence) {
      const double next = time + (std::isnan(step.x[input]) ? 0.0 : static_cast<double>(step.x[input]));
      if (!std::isnan(step.x[input])) step.x[input] = static_cast<float>(next - time);
      time = next;
    }
  }
}

bool report_failure(const CheckedSystem& system, const FoundSequence& found, const VerifyOptions& options,
                    Verification& result) {
  if (!found.found) return false;
  std::vector<StepInput> sequence =
      found.shortest ? found.sequence : shortened(system, found.sequence, scaled(kShortenWork, options));
  round_gaps(system, sequence);
  ConcreteRunner runner(system);
  const std::size_t step = runner.violation(sequence);
  if (step == 0) return false;
  sequence.resize(step);
  result.verdict = Decision::kFails;
  result.counterexample = std::move(sequence);
  result.shortest = found.shortest;
  return true;
}

ProofState point_state(const Configuration& at, const CheckedSystem& system) {
  ProofState state{{{}, {}}, at.monitor};
  for (const float v : at.slot)
    state.box.slot.push_back(
        std::isnan(v) ? Range{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), true}
                      : Range::point(v));
  if (system.two())
    for (std::size_t i = 0; i < at.slot.size(); ++i) state.box.same.push_back(static_cast<int>(i));
  return state;
}

std::string monitor_text(const MonitorState& state) {
  return state.empty() ? "" : fmt::format("; the property's counters are {}", fmt::join(state, ", "));
}

void decide(CheckedSystem& system, const VerifyOptions& options, Verification& result) {
  if (has_few_inputs(system)) {
    FoundSequence all = search_all(system, scaled(kAllSearch, options));
    result.depth = all.depth;
    if (report_failure(system, all, options, result)) return;
    if (all.complete) {
      result.verdict = Decision::kHolds;
      result.exact = true;
      for (const Configuration& at : all.reached) result.invariant.push_back(point_state(at, system));
      return;
    }
  } else if (report_failure(system, search_some(system, scaled(kQuickSearch, options), kSearchSeed), options, result)) {
    // A shorter one may exist; the way of boxes shows where.
    const Levels levels = explore_levels(system, scaled(kLevelsWork / 4, options));
    result.shortest = levels.depth + 1 >= result.counterexample.size();
    if (result.shortest || levels.violation.empty()) return;
    Verification shorter;
    if (report_failure(system, search_along(system, levels.violation, scaled(kAlongWork, options), kSearchSeed),
                       options, shorter) &&
        shorter.counterexample.size() < result.counterexample.size()) {
      result.counterexample = shorter.counterexample;
      result.shortest = levels.depth + 1 >= result.counterexample.size();
    }
    return;
  }
  Levels levels = explore_levels(system, scaled(kLevelsWork, options));
  result.depth = std::max(result.depth, levels.depth);
  if (levels.proved) {
    result.verdict = Decision::kHolds;
    result.invariant = std::move(levels.reached);
    result.halvings = 4;
    return;
  }
  if (!levels.violation.empty() &&
      report_failure(system, search_along(system, levels.violation, scaled(kAlongWork, options), kSearchSeed), options,
                     result)) {
    result.shortest = levels.depth + 1 >= result.counterexample.size();
    return;
  }
  Invariant invariant = find_invariant(system, scaled(kInvariantWork, options));
  if (invariant.proved) {
    result.verdict = Decision::kHolds;
    result.invariant = std::move(invariant.states);
    result.halvings = invariant.halvings;
    return;
  }
  if (report_failure(system, search_some(system, scaled(kLongSearch, options), kSearchSeed + 1), options, result))
    return;
  if (invariant.closed) {
    const ProofState& at = invariant.states[invariant.stuck];
    result.stuck =
        fmt::format("a violation seems possible where {}{}", box_text(system, at.box), monitor_text(at.monitor));
  } else {
    result.stuck = "the limit of work was reached before the boxes were closed under steps";
  }
}

Verification verify_models(const std::vector<const Model*>& models, const Formula& formula,
                           const VerifyOptions& options) {
  auto system = std::make_shared<CheckedSystem>(models, formula, all_assumptions(*models[0], options));
  Verification result;
  result.meaning = formula_text(*models[0], formula, formula.root);
  result.formula = formula;
  decide(*system, options, result);
  result.system = std::move(system);
  return result;
}

}  // namespace

const char* name(Decision verdict) {
  return verdict == Decision::kHolds ? "holds" : verdict == Decision::kFails ? "fails" : "undecided";
}

std::vector<Verification> verify(const Model& model, const std::vector<std::string>& properties,
                                 const VerifyOptions& options) {
  std::vector<Formula> formulas;
  for (std::size_t i = 0; i < properties.size(); ++i)
    formulas.push_back(
        parse_formula(model, properties[i], properties.size() == 1 ? "property" : fmt::format("property {}", i + 1)));
  all_assumptions(model, options);  // refused before anything is computed
  std::vector<Verification> results;
  for (std::size_t i = 0; i < properties.size(); ++i) {
    results.push_back(verify_models({&model}, formulas[i], options));
    results.back().property = properties[i];
  }
  return results;
}

Verification verify_formula(const Model& model, const Formula& formula, const VerifyOptions& options) {
  return verify_models({&model}, formula, options);
}

Verification verify_equal(const Model& a, const Model& b, const VerifyOptions& options) {
  if (a.schema.task != b.schema.task || !(a.objective() == b.objective()))
    fail("expected two models of the same task and objective to compare, got different ones");
  if (a.schema.classes != b.schema.classes || (!a.classifies() && a.schema.targets != b.schema.targets))
    fail("expected two models with the same {} in the same order, got different ones",
         a.classifies() ? "classes" : "targets");
  Formula formula;
  formula.root = formula.add_atom({AtomKind::kEqual, 0, Compare::kIs, 0, ""});
  Verification result = verify_models({&a, &b}, formula, options);
  result.property = "both models give the same answers";
  return result;
}

std::string input_text(const CheckedSystem& system, const StepInput& input) {
  std::vector<std::string> parts;
  for (std::size_t c = 0; c < system.columns.size(); ++c) {
    const InputColumn& column = system.columns[c];
    const InputOption& option = column.options[static_cast<std::size_t>(input.option[c])];
    const float v = input.x[static_cast<std::size_t>(column.inputs[0])];
    const std::string value = column.words    ? (option.missing ? "missing" : option.word)
                              : std::isnan(v) ? "missing"
                                              : fmt::format("{}", v);
    parts.push_back(fmt::format("{} = {}", printable(column.name), printable(value)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string box_text(const CheckedSystem& system, const MemoryBox& box) {
  std::vector<std::string> parts;
  std::size_t slot = 0;
  const auto add = [&](const std::string& what) {
    const Range& range = box.slot[slot++];
    std::string text = !range.has_numbers()      ? fmt::format("{} is not a number", what)
                       : range.low == range.high ? fmt::format("{} = {}", what, range.low)
                                                 : fmt::format("{} is from {} to {}", what, range.low, range.high);
    if (range.has_numbers() && range.nan) text += " or not a number";
    parts.push_back(std::move(text));
  };
  for (std::size_t p = 0; p < system.parts.size(); ++p)
    for (std::size_t t = 0; t < system.parts[p].model->trees.size(); ++t) {
      const Model& model = *system.parts[p].model;
      const Tree& tree = model.trees[t];
      const std::string tree_part =
          (p > 0 ? "the other model's " : "") + (model.trees.size() > 1 ? fmt::format("{}.", t + 1) : std::string());
      for (const std::string& cell : cell_names(model, tree)) add(tree_part + printable(cell));
      if (tree.memory_size() > tree.n_m) ++slot;
      if (tree.form.output_order == OutputOrder::kFirst)
        for (int o = 0; o < tree.n_y; ++o) add(fmt::format("{}the running output {}", tree_part, o + 1));
    }
  constexpr std::size_t kMostParts = 12;
  if (parts.size() > kMostParts) {
    const std::size_t more = parts.size() - kMostParts;
    parts.resize(kMostParts);
    return fmt::format("{}, and {} more", fmt::join(parts, ", "), more);
  }
  return parts.empty() ? "the model has no memory" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace remede
