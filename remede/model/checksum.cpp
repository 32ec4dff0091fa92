#include "remede/model/checksum.h"

#include <string>

#include "remede/model/file.h"

namespace remede {

std::uint64_t checksum(const Model& model) {
  Model bare;
  bare.schema.task = model.schema.task;
  bare.schema.inputs = model.schema.inputs;
  bare.schema.targets = model.schema.targets;
  bare.schema.classes = model.schema.classes;
  bare.schema.codes = model.schema.codes;
  bare.fill = model.fill;
  bare.own_objective = model.own_objective;
  bare.trees = model.trees;
  for (Tree& tree : bare.trees) {
    tree.cell_name.clear();
    tree.level_range.clear();
    tree.share_range.clear();
  }
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325ULL, kPrime = 0x100000001b3ULL;  // FNV-1a
  std::uint64_t hash = kOffset;
  for (const char c : to_json(bare)) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

}  // namespace remede
