#include "remede/verify/monitor.h"

#include <algorithm>

namespace remede {

Monitor::Monitor(const Formula& property, const std::vector<Formula>& assumptions) {
  const auto take = [&](const Formula& from) {
    std::vector<int> done(from.nodes.size(), -1);
    return copy_from(from, from.root, done);
  };
  property_ = take(property);
  // `always` at the top changes nothing: a sequence ends at the first step at which the property is false.
  while (formula_.nodes[static_cast<std::size_t>(property_)].op == Op::kAlways)
    property_ = formula_.nodes[static_cast<std::size_t>(property_)].child[0];
  for (const Formula& assumption : assumptions) assumed_.push_back(take(assumption));
  // Counters only of what is read.
  std::vector<std::uint8_t> read(formula_.nodes.size(), 0);
  read[static_cast<std::size_t>(property_)] = 1;
  for (const int node : assumed_) read[static_cast<std::size_t>(node)] = 1;
  for (std::size_t i = formula_.nodes.size(); i-- > 0;)
    if (read[i] != 0)
      for (const int child : formula_.nodes[i].child) read[static_cast<std::size_t>(child)] = 1;
  slot_.assign(formula_.nodes.size(), -1);
  double last = 0;
  for (std::size_t i = 0; i < formula_.nodes.size(); ++i) {
    const FormulaNode& node = formula_.nodes[i];
    if (node.op >= Op::kPreviously && read[i] != 0) slot_[i] = static_cast<int>(size_++);
    if (node.op == Op::kAtom && formula_.atoms[static_cast<std::size_t>(node.atom)].kind == AtomKind::kStep)
      last = std::max(last, static_cast<double>(formula_.atoms[static_cast<std::size_t>(node.atom)].value) + 2);
  }
  last_step_ = static_cast<std::uint16_t>(last);
  if (last_step_ > 0) ++size_;  // the last counter is the number of the step
}

int Monitor::copy_from(const Formula& from, int node, std::vector<int>& done) {
  int& at = done[static_cast<std::size_t>(node)];
  if (at >= 0) return at;
  FormulaNode copy = from.nodes[static_cast<std::size_t>(node)];
  for (int& child : copy.child) child = copy_from(from, child, done);
  if (copy.op == Op::kAtom) return at = formula_.add_atom(from.atoms[static_cast<std::size_t>(copy.atom)]);
  if (copy.op == Op::kAutomaton) {
    formula_.acceptors.push_back(from.acceptors[static_cast<std::size_t>(copy.states)]);
    copy.states = static_cast<int>(formula_.acceptors.size()) - 1;
  }
  formula_.nodes.push_back(copy);
  return at = static_cast<int>(formula_.nodes.size()) - 1;
}

bool Monitor::evaluate(std::size_t i, const std::vector<std::uint8_t>& truth, const MonitorState& before,
                       MonitorState& after, const std::vector<std::uint8_t>& value) const {
  const FormulaNode& node = formula_.nodes[i];
  const auto child = [&](std::size_t c) { return value[static_cast<std::size_t>(node.child[c])] != 0; };
  const auto slot = static_cast<std::size_t>(std::max(slot_[i], 0));
  if (node.op >= Op::kPreviously && slot_[i] < 0) return true;  // nobody reads it
  const std::uint16_t old = slot_[i] < 0 ? std::uint16_t{0} : before[slot];
  const auto count = static_cast<std::uint16_t>(node.count);
  switch (node.op) {
    case Op::kTrue:
      return true;
    case Op::kAtom: {
      const Atom& atom = formula_.atoms[static_cast<std::size_t>(node.atom)];
      if (atom.kind == AtomKind::kStep)
        return compare_numbers(static_cast<float>(after.back()), atom.compare, atom.value);
      return truth[static_cast<std::size_t>(node.atom)] != 0;
    }
    case Op::kNot:
      return !child(0);
    case Op::kAnd:
      return child(0) && child(1);
    case Op::kOr:
      return child(0) || child(1);
    case Op::kPreviously:
      after[slot] = child(0) ? 1 : 0;
      return old != 0;
    case Op::kOnce:
      after[slot] = old != 0 || child(0) ? 1 : 0;
      return after[slot] != 0;
    case Op::kAlways:
      after[slot] = old != 0 || !child(0) ? 1 : 0;
      return after[slot] == 0;
    case Op::kSince:
      after[slot] = child(1) || (old != 0 && child(0)) ? 1 : 0;
      return after[slot] != 0;
    case Op::kWithin:  // steps left in which it still counts, this one included
      after[slot] = child(0)  ? static_cast<std::uint16_t>(count + 1)
                    : old > 0 ? static_cast<std::uint16_t>(old - 1)
                              : std::uint16_t{0};
      return after[slot] > 0;
    case Op::kFor:  // steps in a row
      after[slot] = !child(0) ? std::uint16_t{0} : old < count ? static_cast<std::uint16_t>(old + 1) : count;
      return after[slot] >= count;
    case Op::kDeadline:  // steps that the oldest unanswered premise has waited, this one included
      after[slot] = child(1)   ? std::uint16_t{0}
                    : old > 0  ? static_cast<std::uint16_t>(std::min<int>(old + 1, count + 1))
                    : child(0) ? std::uint16_t{1}
                               : std::uint16_t{0};
      return after[slot] <= count;
    case Op::kAutomaton: {
      const Acceptor& acceptor = formula_.acceptors[static_cast<std::size_t>(node.states)];
      after[slot] = old;
      for (std::size_t s = 0; s < node.child.size(); ++s)
        if (child(s)) {
          after[slot] = static_cast<std::uint16_t>(acceptor.next[old][s]);
          break;
        }
      return acceptor.accepts[after[slot]];
    }
  }
  return true;
}

Monitor::Outcome Monitor::step(const std::vector<std::uint8_t>& truth, MonitorState& state) const {
  MonitorState after = state;
  if (last_step_ > 0) after.back() = static_cast<std::uint16_t>(std::min<int>(state.back() + 1, last_step_));
  std::vector<std::uint8_t> value(formula_.nodes.size(), 0);
  for (std::size_t i = 0; i < formula_.nodes.size(); ++i) value[i] = evaluate(i, truth, state, after, value) ? 1 : 0;
  Outcome outcome;
  for (const int node : assumed_) outcome.allowed = outcome.allowed && value[static_cast<std::size_t>(node)] != 0;
  outcome.holds = value[static_cast<std::size_t>(property_)] != 0;
  state = std::move(after);
  return outcome;
}

}  // namespace remede
