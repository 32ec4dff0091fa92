#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/draw/canvas.h"
#include "remede/draw/dot.h"
#include "remede/draw/json.h"
#include "remede/draw/machine.h"

namespace remede {
namespace {

std::string answer_text(const Machine& machine, int output) {
  return fmt::format("say \"{}\"", machine.outputs[static_cast<std::size_t>(output)]);
}

std::string go_text(const Machine& machine, const MachineTransition& t) {
  if (t.to < 0) return "the end";
  if (t.to == t.from) return "stay";
  return "go to " + machine.states[static_cast<std::size_t>(t.to)].name;
}

}  // namespace

std::vector<const MachineTransition*> shown_transitions(const Machine& machine, int from) {
  std::vector<const MachineTransition*> shown;
  std::int64_t all = 0;
  for (const MachineTransition& t : machine.transitions)
    if (t.from == from) all += t.count;
  for (const MachineTransition& t : machine.transitions)
    if (t.from == from && (machine.steps == 0 || t.count > 0 || all == 0)) shown.push_back(&t);
  return shown;
}

std::vector<int> shown_states(const Machine& machine) {
  constexpr std::size_t kMaxShownStates = 24;
  std::vector<int> order;
  for (std::size_t s = 0; s < machine.states.size(); ++s)
    if (s == 0 || machine.steps == 0 || machine.states[s].steps > 0) order.push_back(static_cast<int>(s));
  if (order.size() <= kMaxShownStates) return order;
  std::stable_sort(order.begin() + 1, order.end(), [&](int a, int b) {
    return machine.states[static_cast<std::size_t>(a)].steps > machine.states[static_cast<std::size_t>(b)].steps;
  });
  order.resize(kMaxShownStates);
  std::sort(order.begin(), order.end());
  return order;
}

std::string machine_summary(const Machine& machine) {
  const std::string states = plural(static_cast<long long>(machine.states.size()), "state");
  const char* const says = machine.formulas ? "selects the formula of the model" : "agrees with the model";
  const std::string judged = fmt::format("on {} of {} steps", percent(machine.agreement), grouped(machine.steps));
  const char* const limited =
      machine.limited ? " The search ended at its work limit: a smaller or closer machine may exist." : "";
  switch (machine.kind) {
    case MachineKind::kExact:
      return fmt::format("A machine of {}. Exact: every input symbol was tried in every reachable memory.", states);
    case MachineKind::kLearned:
      return fmt::format("A machine of {}. On its own it {} {}.{}", states, says, judged, limited);
    case MachineKind::kRegions:
      return fmt::format("{}. {} of memory {} visited in {} steps.",
                         machine.limited ? "No small machine was found before the search ended at its work limit"
                                         : "No small machine explains the model: its memory counts or averages",
                         plural(static_cast<long long>(machine.states.size()), "region"),
                         machine.states.size() == 1 ? "was" : "were", grouped(machine.steps));
    case MachineKind::kPossible:
      return fmt::format("{} of memory can be reached (interval analysis, without data).",
                         plural(static_cast<long long>(machine.states.size()), "region"));
  }
  return "";
}

std::string machine_text(const Machine& machine, bool colours) {
  const auto paint = [&](const char* code, const std::string& t) {
    return colours ? fmt::format("\x1b[{}m{}\x1b[0m", code, t) : t;
  };
  std::string text = machine_summary(machine) + "\n";
  for (const std::string& note : machine.notes) text += note + ".\n";
  const std::vector<int> states = shown_states(machine);
  for (const int s : states) {
    const MachineState& state = machine.states[static_cast<std::size_t>(s)];
    text += fmt::format("\n{}  {}{}", paint("1", state.name), paint("36", state.memory),
                        s == 0 ? (state.memory.empty() ? "the beginning" : ", the beginning") : "");
    if (machine.steps > 0)
      text += fmt::format("  [{} of the steps, {} in a row, at most {}]",
                          percent(static_cast<double>(state.steps) / static_cast<double>(machine.steps)),
                          short_number(state.mean_stay, 2), grouped(state.longest_stay));
    text += "\n";
    std::size_t widest = 0;
    for (const MachineTransition* t : shown_transitions(machine, s))
      widest = std::max(widest, width(condition_text(machine, *t)));
    for (const MachineTransition* t : shown_transitions(machine, s))
      text += fmt::format("   {}  {}, {}\n", padded(condition_text(machine, *t), widest),
                          paint("32", answer_text(machine, t->output)), go_text(machine, *t));
  }
  if (states.size() < machine.states.size())
    text += fmt::format("\n... and {} more, {}\n", machine.states.size() - states.size(),
                        machine.kind == MachineKind::kRegions ? "visited less" : "hardly or never visited");
  return text;
}

std::string machine_dot(const Machine& machine) {
  std::string text = fmt::format(
      "digraph machine {{\n  rankdir=LR;\n  label={};\n  labelloc=t;\n  fontname=\"Helvetica\";\n"
      "  node [fontname=\"Helvetica\", fontsize=11, shape=box, style=\"rounded,filled\", fillcolor=\"{}\", "
      "color=\"{}\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=10, color=\"{}\"];\n  begin [shape=point];\n  begin -> A;\n",
      dot_quoted(machine_summary(machine)), ink::kCell.light, ink::kCellLine.light, ink::kSoft.light);
  bool end = false;
  const std::vector<int> states = shown_states(machine);
  for (const int s : states) {
    const MachineState& state = machine.states[static_cast<std::size_t>(s)];
    text += fmt::format("  {} [label={}];\n", state.name,
                        dot_quoted(state.memory.empty() ? state.name : state.name + ": " + state.memory));
    for (const MachineTransition* t : shown_transitions(machine, s)) {
      if (t->to >= 0 && std::find(states.begin(), states.end(), t->to) == states.end()) continue;
      end = end || t->to < 0;
      text += fmt::format("  {} -> {} [label={}];\n", state.name,
                          t->to < 0 ? "end" : machine.states[static_cast<std::size_t>(t->to)].name,
                          dot_quoted(condition_text(machine, *t) + ": " + answer_text(machine, t->output)));
    }
  }
  if (end) text += "  end [shape=doublecircle, label=\"\", width=0.15];\n";
  return text + "}\n";
}

std::string machine_json(const Machine& machine) {
  using Json = nlohmann::ordered_json;
  Json states = Json::array(), transitions = Json::array();
  for (const MachineState& s : machine.states) {
    Json range = Json::object();
    for (std::size_t i = 0; i < machine.slots.size(); ++i)
      range[machine.slots[i]] = {json_number(s.range[i].low), json_number(s.range[i].high)};
    states.push_back({{"name", s.name},
                      {"memory", s.memory},
                      {"range", range},
                      {"steps", s.steps},
                      {"mean_stay", s.mean_stay},
                      {"longest_stay", s.longest_stay}});
  }
  for (const MachineTransition& t : machine.transitions) {
    Json when = Json::array();
    for (const InputBox& box : t.when) {
      Json bounds = Json::object();
      for (const InputBound& b : box)
        bounds[machine.inputs[static_cast<std::size_t>(b.input)]] = {json_number(b.low), json_number(b.high)};
      when.push_back(bounds);
    }
    transitions.push_back({{"from", machine.states[static_cast<std::size_t>(t.from)].name},
                           {"to", t.to < 0 ? Json(nullptr) : Json(machine.states[static_cast<std::size_t>(t.to)].name)},
                           {"says", machine.outputs[static_cast<std::size_t>(t.output)]},
                           {"when", when},
                           {"condition", condition_text(machine, t)},
                           {"count", t.count}});
  }
  const char* const kinds[] = {"exact", "learned", "regions", "possible"};
  return json_text({{"kind", kinds[static_cast<std::size_t>(machine.kind)]},
                    {"summary", machine_summary(machine)},
                    {"agreement", machine.steps > 0 ? Json(machine.agreement) : Json(nullptr)},
                    {"steps", machine.steps},
                    {"limited", machine.limited},
                    {"start", machine.states.front().name},
                    {"notes", machine.notes},
                    {"states", states},
                    {"transitions", transitions}});
}

}  // namespace remede
