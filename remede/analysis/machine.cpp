#include "remede/analysis/machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "remede/analysis/machine_parts.h"
#include "remede/analysis/refine.h"
#include "remede/base/text.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

// Two boxes that differ in one input only, and touch there, are one.
bool join(InputBox& a, const InputBox& b) {
  std::size_t differ = a.size();
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].input != b[i].input) return false;
    if (a[i] == b[i]) continue;
    if (differ < a.size()) return false;
    differ = i;
  }
  if (differ == a.size()) return true;
  if (a[differ].high != b[differ].low && b[differ].high != a[differ].low) return false;
  a[differ].low = std::min(a[differ].low, b[differ].low);
  a[differ].high = std::max(a[differ].high, b[differ].high);
  return true;
}

// The boxes of the ends of a rule, with bounds on every input, so that they can be compared.
void collect_boxes(const InputTree& rule, int node, InputBox box,
                   std::vector<std::pair<InputBox, const InputTree::Node*>>& ends) {
  const InputTree::Node& n = rule.nodes[static_cast<std::size_t>(node)];
  if (n.input < 0) {
    ends.emplace_back(std::move(box), &n);
    return;
  }
  InputBound& bound = box[static_cast<std::size_t>(n.input)];
  const InputBound whole = bound;
  bound.high = std::min(whole.high, n.threshold);
  collect_boxes(rule, n.left, box, ends);
  bound = whole;
  bound.low = std::max(whole.low, n.threshold);
  collect_boxes(rule, n.right, std::move(box), ends);
}

InputBox without_open_bounds(const InputBox& box) {
  InputBox kept;
  for (const InputBound& b : box)
    if (b.low != -kInfinity || b.high != kInfinity) kept.push_back(b);
  return kept;
}

void add_transitions(Machine& machine, int from) {
  InputBox whole;
  for (int f = 0; f < static_cast<int>(machine.inputs.size()); ++f) whole.push_back({f, -kInfinity, kInfinity});
  std::vector<std::pair<InputBox, const InputTree::Node*>> ends;
  collect_boxes(machine.rules[static_cast<std::size_t>(from)], 0, whole, ends);
  const std::size_t first = machine.transitions.size();
  for (const auto& [box, end] : ends) {
    const auto& outcome = end->outcome;
    const auto same = [&outcome](const MachineTransition& t) {
      return t.to == outcome.next && t.output == outcome.output;
    };
    auto at =
        std::find_if(machine.transitions.begin() + static_cast<std::ptrdiff_t>(first), machine.transitions.end(), same);
    if (at == machine.transitions.end())
      at = machine.transitions.insert(at, {from, end->outcome.next, end->outcome.output, {}, 0});
    at->when.push_back(box);
  }
  constexpr double kMostWork = 1e8;  // of one state
  WorkLimit work(kMostWork);
  for (std::size_t t = first; t < machine.transitions.size(); ++t)
    machine.transitions[t].when = joined_boxes(machine.transitions[t].when, work);
}

// States in the order in which they are first reached from the beginning; those never reached are left out.
void renumber(Grouping& g) {
  const auto count = static_cast<std::size_t>(g.count);
  std::vector<int> order = {g.state[0]}, number(count, -1);
  number[static_cast<std::size_t>(g.state[0])] = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const InputTree::Node& n : g.rules[static_cast<std::size_t>(order[i])].nodes)
      if (n.input < 0 && n.outcome.next >= 0 && number[static_cast<std::size_t>(n.outcome.next)] < 0) {
        number[static_cast<std::size_t>(n.outcome.next)] = static_cast<int>(order.size());
        order.push_back(n.outcome.next);
      }
  std::vector<InputTree> rules;
  for (const int s : order) {
    InputTree rule = g.rules[static_cast<std::size_t>(s)];
    for (InputTree::Node& n : rule.nodes)
      if (n.outcome.next >= 0) n.outcome.next = number[static_cast<std::size_t>(n.outcome.next)];
    rules.push_back(std::move(rule));
  }
  for (int& s : g.state) s = number[static_cast<std::size_t>(s)];
  g.rules = std::move(rules);
  g.count = static_cast<int>(order.size());
}

Machine assemble(const Model& model, const Experience& e, Grouping g, MachineKind kind) {
  renumber(g);
  Machine machine;
  machine.kind = kind;
  for (const std::string& name : model.schema.inputs) machine.inputs.push_back(printable(name));
  for (const Slot& s : e.slots) machine.slots.push_back(s.name);
  machine.outputs = e.outputs;
  machine.states.resize(static_cast<std::size_t>(g.count));
  machine.rules = std::move(g.rules);
  describe_states(machine, e, g.state);
  for (int s = 0; s < g.count; ++s) add_transitions(machine, s);
  machine.notes = describe_slots(model, e);
  return machine;
}

// Measures how long states last. It is given every step, in order, and every end of a sequence.
class Stays {
 public:
  explicit Stays(Machine& machine) : machine_(&machine), count_(machine.states.size(), 0) {}

  void step(int state) {
    if (state != state_) end();
    state_ = state;
    ++length_;
    ++machine_->states[static_cast<std::size_t>(state)].steps;
    ++machine_->steps;
  }
  void end() {
    if (state_ >= 0) {
      MachineState& s = machine_->states[static_cast<std::size_t>(state_)];
      s.longest_stay = std::max(s.longest_stay, length_);
      ++count_[static_cast<std::size_t>(state_)];
      s.mean_stay = static_cast<double>(s.steps) / static_cast<double>(count_[static_cast<std::size_t>(state_)]);
    }
    state_ = -1;
    length_ = 0;
  }

 private:
  Machine* machine_;
  std::vector<std::int64_t> count_;
  int state_ = -1;
  std::int64_t length_ = 0;
};

MachineTransition& find_transition(Machine& machine, int from, const Outcome& o) {
  for (MachineTransition& t : machine.transitions)
    if (t.from == from && t.to == o.next && t.output == o.output) return t;
  return machine.transitions.emplace_back(MachineTransition{from, o.next, o.output, {}, 0});
}

// The regions of memory that were visited, and the ways between them.
Machine region_machine(const Model& model, const Experience& e) {
  const Grouping g = group_by_region(e);
  Machine machine;
  machine.kind = MachineKind::kRegions;
  for (const std::string& name : model.schema.inputs) machine.inputs.push_back(printable(name));
  for (const Slot& s : e.slots) machine.slots.push_back(s.name);
  machine.outputs = e.outputs;
  machine.states.resize(static_cast<std::size_t>(g.count));
  describe_states(machine, e, g.state);
  machine.notes = describe_slots(model, e);
  Stays stays(machine);
  for (const ExperienceStep& s : e.steps) {
    const int from = g.state[static_cast<std::size_t>(s.before)];
    stays.step(from);
    if (s.after < 0)
      stays.end();
    else
      ++find_transition(machine, from, {s.output, g.state[static_cast<std::size_t>(s.after)]}).count;
  }
  std::stable_sort(machine.transitions.begin(), machine.transitions.end(),
                   [](const MachineTransition& a, const MachineTransition& b) { return a.count > b.count; });
  return machine;
}

// Runs the machine and the model side by side on the data.
void judge(Machine& machine, const Model& model, const Sequences& data, std::size_t most_steps) {
  AnswerNumbers answers(model);
  std::map<std::string, int> number;  // the machine's numbers of answers may differ from those of this run
  for (std::size_t i = 0; i < machine.outputs.size(); ++i) number.emplace(machine.outputs[i], static_cast<int>(i));
  std::vector<float> scratch(static_cast<std::size_t>(model.n_y())), y(scratch.size());
  std::vector<std::int32_t> leaves(model.trees.size());
  std::int64_t agreed = 0;
  Stays stays(machine);
  for (std::size_t s = 0; s < data.count() && machine.steps < static_cast<std::int64_t>(most_steps); ++s) {
    std::vector<float> memory(state_size(model));
    int state = 0;
    for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t) {
      const float* const x = data.x.data() + t * static_cast<std::size_t>(model.n_x());
      step(model, x, memory.data(), scratch.data(), y.data(), leaves.data());
      const int answer = answers.number(y.data(), leaves.data());
      const auto said = number.find(answers.names()[static_cast<std::size_t>(answer)]);
      const Outcome& o = machine.rules[static_cast<std::size_t>(state)].find(x).outcome;
      agreed += said != number.end() && said->second == o.output ? 1 : 0;
      ++find_transition(machine, state, o).count;
      stays.step(state);
      state = o.next < 0 ? state : o.next;
    }
    stays.end();
  }
  machine.agreement = machine.steps > 0 ? static_cast<double>(agreed) / static_cast<double>(machine.steps) : 0.0;
}

}  // namespace

std::vector<InputBox> joined_boxes(std::vector<InputBox> boxes, WorkLimit& work) {
  constexpr double kWorkOfBound = 2;
  for (bool changed = true; changed && !work.reached();) {
    changed = false;
    for (std::size_t i = 0; i < boxes.size() && !changed; ++i)
      for (std::size_t j = i + 1; j < boxes.size() && !changed; ++j)
        if (work.spend(kWorkOfBound * static_cast<double>(boxes[i].size())); join(boxes[i], boxes[j])) {
          boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(j));
          changed = true;
        }
  }
  for (InputBox& b : boxes) b = without_open_bounds(b);
  return boxes;
}

int Machine::next(int state, const float* x) const {
  const int to = rules[static_cast<std::size_t>(state)].find(x).outcome.next;
  return to < 0 ? state : to;
}

int Machine::output(int state, const float* x) const {
  return rules[static_cast<std::size_t>(state)].find(x).outcome.output;
}

namespace {

Machine found_machine(const Model& model, const Sequences& data, const MachineOptions& options) {
  constexpr std::size_t kMaxSymbolSteps = 24000;
  constexpr std::size_t kMaxEvaluatedSteps = 200000;
  constexpr double kNearlySettled = 0.05;  // share of misfits up to which an unfinished machine says more than regions
  const RefineOptions refine{options.most_states, options.tolerance, options.most_work};
  Machine machine;
  bool found = false;
  const std::vector<std::vector<float>> symbols = alphabet_of(model, data, options.most_symbols);
  if (!symbols.empty()) {
    const Experience tried = experience_of_symbols(model, symbols, kMaxSymbolSteps);
    Grouping g = tried.closed ? refine_exactly(tried, refine) : refine_by_cuts(tried, refine);
    found = g.settled && g.count <= static_cast<int>(options.most_states);
    const bool limited = g.limited;
    if (found)
      machine = assemble(model, tried, std::move(g), tried.closed ? MachineKind::kExact : MachineKind::kLearned);
    machine.limited = limited;
  }
  if (!found) {
    const Experience seen = experience_on(model, data, options.most_steps);
    Grouping g = refine_by_cuts(seen, refine);
    const bool limited = g.limited || machine.limited;
    const bool nearly = limited && g.misfit <= kNearlySettled * static_cast<double>(seen.steps.size());
    if (!g.settled && !nearly) {
      machine = region_machine(model, seen);
      machine.limited = limited;
      return machine;
    }
    machine = assemble(model, seen, std::move(g), MachineKind::kLearned);
    machine.limited = limited;
  }
  judge(machine, model, data, kMaxEvaluatedSteps);
  return machine;
}

}  // namespace

Machine find_machine(const Model& model, const Sequences& data, const MachineOptions& options) {
  Machine machine = found_machine(model, data, options);
  machine.formulas = AnswerNumbers(model).formulas();
  machine.missing.resize(machine.inputs.size());
  for (std::size_t v = 0; v < data.x.size(); ++v)
    if (std::isnan(data.x[v])) machine.missing[v % machine.missing.size()] = true;
  return machine;
}

}  // namespace remede
