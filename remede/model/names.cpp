#include "remede/model/names.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"

namespace remede {
namespace {

// "m", unless an input is called m1 or the like.
std::string cell_prefix(const Schema& schema) {
  for (const char* const prefix : {"m", "mem", "cell", "memory"}) {
    const std::string p = prefix;
    const bool taken = std::any_of(schema.inputs.begin(), schema.inputs.end(), [&](const std::string& name) {
      return name.size() > p.size() && name.starts_with(p) &&
             std::all_of(name.begin() + static_cast<std::ptrdiff_t>(p.size()), name.end(),
                         [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
    });
    if (!taken) return p;
  }
  return "memory_";
}

struct FoundCell {
  std::size_t tree = 0, cell = 0;
};

FoundCell find_cell(const std::vector<std::vector<std::string>>& names, const std::string& wanted) {
  std::vector<FoundCell> found;
  for (std::size_t t = 0; t < names.size(); ++t)
    for (std::size_t k = 0; k < names[t].size(); ++k)
      if (names[t][k] == wanted || fmt::format("{}.{}", t + 1, names[t][k]) == wanted) found.push_back({t, k});
  if (found.size() == 1) return found[0];
  if (found.size() > 1)
    fail("expected the tree of cell '{}' as well, such as '{}.{}', got the name alone: {} trees have it", wanted,
         found[0].tree + 1, wanted, found.size());
  std::vector<std::string> known;
  for (std::size_t t = 0; t < names.size(); ++t)
    for (const std::string& name : names[t])
      known.push_back(names.size() > 1 ? fmt::format("{}.{}", t + 1, name) : name);
  constexpr std::size_t kMostListed = 12;
  const std::string more = known.size() > kMostListed ? ", ..." : "";
  if (known.size() > kMostListed) known.resize(kMostListed);
  fail("expected the name of a cell{}, got '{}'",
       known.empty() ? ", but the model has none" : fmt::format(" ({}{})", fmt::join(known, ", "), more), wanted);
}

void check_new_name(const Model& model, const std::string& name) {
  if (name.empty() || !is_utf8(name) ||
      std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    fail("expected a name in UTF-8 without control characters for a cell, got {}", shown(name));
  if (std::find(model.schema.inputs.begin(), model.schema.inputs.end(), name) != model.schema.inputs.end())
    fail("expected a name for a cell that no input has, got '{}'", name);
}

}  // namespace

std::vector<std::string> cell_names(const Model& model, const Tree& tree) {
  if (!tree.cell_name.empty()) return tree.cell_name;
  std::vector<std::string> names;
  const std::string prefix = cell_prefix(model.schema);
  for (int k = 0; k < tree.n_m; ++k) names.push_back(prefix + std::to_string(k + 1));
  return names;
}

void rename_cells(Model& model, const std::vector<std::pair<std::string, std::string>>& names) {
  std::vector<std::vector<std::string>> now;
  for (const Tree& tree : model.trees) now.push_back(cell_names(model, tree));
  std::vector<std::vector<std::string>> next = now;
  for (const auto& [from, to] : names) {
    const FoundCell found = find_cell(now, from);
    check_new_name(model, to);
    std::string& name = next[found.tree][found.cell];
    if (name != now[found.tree][found.cell]) fail("expected one new name for cell '{}', got several", from);
    name = to;
  }
  for (std::size_t t = 0; t < next.size(); ++t) {
    std::vector<std::string> sorted = next[t];
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) fail("expected names of cells that differ, got '{}' twice", *twice);
    if (next[t] != now[t]) model.trees[t].cell_name = next[t];
  }
}

}  // namespace remede
