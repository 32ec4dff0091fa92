#include "remede/simplify/report.h"

#include <cstddef>

#include <fmt/format.h>

namespace remede {
namespace {

struct Words {
  const char* name;
  const char* reason;
};

constexpr Words kWords[kCauses] = {
    {"contradicted", "contradicted by the tests above"},
    {"impossible", "for values that the memory never holds"},
    {"alike", "with equivalent sides"},
    {"unread", "never read"},
    {"idle", "without effect"},
    {"unused", "never used"},
    {"form", "an option that no leaf uses"},
    {"unvisited", "never visited by the data"},
    {"collapsed", "replaced by one of their sides"},
    {"closed", "not needed for the data"},
    {"rounded", "rounded"},
    {"small", "too small to matter"},
};

}  // namespace

bool is_exact(Cause cause) { return cause <= Cause::kForm; }
const char* name(Cause cause) { return kWords[static_cast<std::size_t>(cause)].name; }
const char* reason(Cause cause) { return kWords[static_cast<std::size_t>(cause)].reason; }

std::string tree_prefix(const Model& model, int tree) {
  return model.trees.size() > 1 ? fmt::format("tree {}: ", tree + 1) : "";
}

std::string test_text(const Tree& tree, const Schema& schema, std::span<const int> cells, std::int32_t node) {
  const auto i = static_cast<std::size_t>(node);
  const std::int32_t f = tree.feature[i];
  if (f < tree.n_x) return fmt::format("{} >= {}", schema.inputs[static_cast<std::size_t>(f)], tree.threshold[i]);
  if (!tree.cell_name.empty())
    return fmt::format("{} >= {}", tree.cell_name[static_cast<std::size_t>(f - tree.n_x)], tree.threshold[i]);
  return fmt::format("m{} >= {}", cells[static_cast<std::size_t>(f - tree.n_x)] + 1, tree.threshold[i]);
}

}  // namespace remede
