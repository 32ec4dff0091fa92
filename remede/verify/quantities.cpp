#include "remede/verify/quantities.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/model/names.h"

namespace remede {
namespace {

std::optional<Atom> find_cell_slot(const Model& model, const std::string& name) {
  int slot = 0;
  std::optional<Atom> found;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Tree& tree = model.trees[t];
    const std::vector<std::string> names = cell_names(model, tree);
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (names[k] != name && fmt::format("{}.{}", t + 1, names[k]) != name) continue;
      if (found) fail("expected the tree of cell {} as well, such as 1.{}, got the name alone", shown(name), names[k]);
      found = Atom{AtomKind::kCell, slot + static_cast<int>(k), Compare::kAtLeast, 0, ""};
    }
    slot += tree.memory_size() + (tree.form.output_order == OutputOrder::kFirst ? tree.n_y : 0);
  }
  return found;
}

std::optional<Atom> find_numbered(const std::vector<std::string>& names, AtomKind kind, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return Atom{kind, static_cast<int>(at - names.begin()), Compare::kAtLeast, 0, ""};
}

std::optional<Atom> find_answer(const Model& model, const std::string& name) {
  return model.classifies() ? std::nullopt : find_numbered(model.output_names(), AtomKind::kAnswer, name);
}

std::optional<Atom> find_input(const Model& model, const std::vector<InputColumn>& columns, const std::string& name) {
  const int column = column_named(columns, name);
  if (column >= 0 && columns[static_cast<std::size_t>(column)].words)
    return Atom{AtomKind::kWord, column, Compare::kIs, 0, ""};
  return find_numbered(model.schema.inputs, AtomKind::kInput, name);
}

bool is_target_of_regression(const Model& model, const std::string& name) {
  const std::vector<std::string>& targets = model.schema.targets;
  return !model.classifies() && std::find(targets.begin(), targets.end(), name) != targets.end();
}

// The answers of quantiles have other names than the target, which may be an input.
void expect_no_target(const Model& model, const std::string& name) {
  if (is_target_of_regression(model, name) && find_numbered(model.schema.inputs, AtomKind::kInput, name))
    fail("expected an answer ({}) or the input {}{}, got {}", listed_names(model.output_names()), kInputPrefix,
         printable(name), shown(name));
}

}  // namespace

std::optional<Atom> find_quantity(const Model& model, const std::vector<InputColumn>& columns, const std::string& name,
                                  bool inputs_only) {
  if (!inputs_only) {
    if (const auto answer = find_answer(model, name)) return answer;
    expect_no_target(model, name);
  }
  if (const auto input = find_input(model, columns, name)) return input;
  if (name.starts_with(kInputPrefix))
    if (const auto input = find_input(model, columns, name.substr(kInputPrefix.size()))) return input;
  return find_cell_slot(model, name);
}

std::string name_of_input(const Model& model, const std::string& name) {
  return is_target_of_regression(model, name) ? std::string(kInputPrefix) + name : name;
}

std::string quoted_name(const std::string& name) {
  if (name.find(']') == std::string::npos) return "[" + name + "]";
  for (const char mark : {'"', '\'', '`'})
    if (name.find(mark) == std::string::npos) return mark + name + mark;
  fail("expected a name without one of ], \", ' and `, got {}", printable(name));
}

std::string known_quantities(const Model& model, const std::vector<InputColumn>& columns, bool inputs_only) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const InputColumn& column : columns)
    names.push_back(inputs_only ? column.name : name_of_input(model, column.name));
  if (!inputs_only) {
    if (!model.classifies())
      for (const std::string& name : model.output_names()) names.push_back(name);
    for (std::size_t t = 0; t < model.trees.size(); ++t)
      for (const std::string& cell : cell_names(model, model.trees[t]))
        names.push_back(model.trees.size() > 1 ? fmt::format("{}.{}", t + 1, cell) : cell);
  }
  return fmt::format("an input{} ({})", inputs_only ? "" : ", an answer or a cell", listed_names(names));
}

std::string listed_names(const std::vector<std::string>& names) {
  constexpr std::size_t kMostListed = 12;
  std::vector<std::string> few;
  for (std::size_t i = 0; i < names.size() && i < kMostListed; ++i) few.push_back(printable(names[i]));
  if (names.size() > kMostListed) few.emplace_back("...");
  return fmt::format("{}", fmt::join(few, ", "));
}

}  // namespace remede
