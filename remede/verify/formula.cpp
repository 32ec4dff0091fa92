#include "remede/verify/formula.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/model/names.h"
#include "remede/verify/inputs.h"
#include "remede/verify/quantities.h"

namespace remede {
namespace {

// Words of the language, which are names only in brackets.
constexpr std::string_view kKeywords[] = {"always", "and",  "false",      "implies", "never", "not",  "once",
                                          "or",     "says", "previously", "since",   "step",  "true", "unless"};

std::string named(const std::string& name) {
  const bool plain = !name.empty() && name.find_first_of(" \t()<>=!,{}[]'\"`") == std::string::npos &&
                     std::find(std::begin(kKeywords), std::end(kKeywords), name) == std::end(kKeywords);
  return plain ? name : quoted_name(name);
}

const char* sign_of(Compare compare) {
  switch (compare) {
    case Compare::kAtLeast:
      return ">=";
    case Compare::kAbove:
      return ">";
    case Compare::kAtMost:
      return "<=";
    case Compare::kBelow:
      return "<";
    case Compare::kIs:
      return "=";
    case Compare::kIsNot:
      return "!=";
  }
  return "?";
}

std::string cell_text(const Model& model, int slot) {
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Tree& tree = model.trees[t];
    if (slot < tree.n_m) {
      const std::string name = cell_names(model, tree)[static_cast<std::size_t>(slot)];
      return named(model.trees.size() > 1 ? fmt::format("{}.{}", t + 1, name) : name);
    }
    slot -= tree.memory_size() + (tree.form.output_order == OutputOrder::kFirst ? tree.n_y : 0);
  }
  return "?";
}

std::string atom_text(const Model& model, const Atom& atom) {
  const auto i = static_cast<std::size_t>(atom.index);
  const auto input = [&](const std::string& name) { return named(name_of_input(model, name)); };
  const auto compared = [&](const std::string& name) {
    return fmt::format("{} {} {}", name, sign_of(atom.compare), atom.value);
  };
  switch (atom.kind) {
    case AtomKind::kInput:
      return compared(input(model.schema.inputs[i]));
    case AtomKind::kMissing:
      return input(model.schema.inputs[i]) + " missing";
    case AtomKind::kWord: {
      const std::string name = input(all_inputs(model.schema)[i].name);
      return atom.word.empty() ? name + " missing" : fmt::format("{} = {}", name, named(atom.word));
    }
    case AtomKind::kChange:
      return fmt::format("{} changes by at most {}", input(model.schema.inputs[i]), atom.value);
    case AtomKind::kSays:
      return "says " + named(model.schema.classes[i]);
    case AtomKind::kProbability:
      return compared(fmt::format("p({})", named(model.schema.classes[i])));
    case AtomKind::kAnswer:
      return compared(named(model.output_names()[i]));
    case AtomKind::kCell:
      return compared(cell_text(model, atom.index));
    case AtomKind::kStep:
      return compared("step");
    case AtomKind::kEqual:
      return "both models give the same answer";
  }
  return "?";
}

}  // namespace

bool compare_numbers(float left, Compare compare, float right) {
  switch (compare) {
    case Compare::kAtLeast:
      return left >= right;
    case Compare::kAbove:
      return left > right;
    case Compare::kAtMost:
      return left <= right;
    case Compare::kBelow:
      return left < right;
    case Compare::kIs:
      return left == right;
    case Compare::kIsNot:
      return left < right || left > right;
  }
  return false;
}

int Formula::add(Op op, std::vector<int> child, int count) {
  nodes.push_back({op, std::move(child), -1, count, 0});
  return static_cast<int>(nodes.size()) - 1;
}

int Formula::add_atom(const Atom& atom) {
  const auto found = std::find(atoms.begin(), atoms.end(), atom);
  const auto number = static_cast<int>(found - atoms.begin());
  if (found == atoms.end()) atoms.push_back(atom);
  nodes.push_back({Op::kAtom, {}, number, 0, 0});
  return static_cast<int>(nodes.size()) - 1;
}

std::vector<std::string> property_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    lines.emplace_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
  }
  return lines;
}

std::string formula_text(const Model& model, const Formula& formula, int node) {
  const FormulaNode& n = formula.nodes[static_cast<std::size_t>(node)];
  const auto child = [&](std::size_t i) { return formula_text(model, formula, n.child[i]); };
  const char* const steps = n.count == 1 ? "step" : "steps";
  switch (n.op) {
    case Op::kTrue:
      return "true";
    case Op::kAtom:
      return atom_text(model, formula.atoms[static_cast<std::size_t>(n.atom)]);
    case Op::kNot:
      return fmt::format("not {}", child(0));
    case Op::kAnd:
      return fmt::format("({} and {})", child(0), child(1));
    case Op::kOr:
      return fmt::format("({} or {})", child(0), child(1));
    case Op::kPreviously:
      return fmt::format("previously {}", child(0));
    case Op::kOnce:
      return fmt::format("once {}", child(0));
    case Op::kAlways:
      return fmt::format("always {}", child(0));
    case Op::kSince:
      return fmt::format("({} since {})", child(0), child(1));
    case Op::kWithin:
      return fmt::format("({} in the last {} {})", child(0), n.count, steps);
    case Op::kFor:
      return fmt::format("({} for {} {})", child(0), n.count, steps);
    case Op::kDeadline:
      return fmt::format("({} implies {} then or at one of the {} {} after)", child(0), child(1), n.count, steps);
    case Op::kAutomaton:
      return "the automaton accepts";
  }
  return "?";
}

}  // namespace remede
