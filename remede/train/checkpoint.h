// A fit in progress as a file: killed at any moment, it is continued from here to the same bits. Written atomically,
// with a checksum; for this machine and this version only (docs/checkpoint.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/train/config.h"

namespace remede {

struct Checkpoint {
  std::vector<std::pair<std::string, std::string>> settings;  // of the configuration (config.h)
  std::uint64_t data = 0;                                     // fingerprint of what it learns from
  std::string state;                                          // what the recipe saved
  std::vector<std::pair<std::string, std::string>> notes;     // the caller's own: paths and the like
};

// Equal data give equal numbers, different data almost surely different ones. `seed` chains several data sets.
std::uint64_t fingerprint(const Dataset& data, std::uint64_t seed = 0);

std::string to_bytes(const Checkpoint& checkpoint);
// Throws Error naming `where` when the bytes are not a whole checkpoint of this version.
Checkpoint checkpoint_from_bytes(std::string_view bytes, const std::string& where);

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path);
Checkpoint load_checkpoint(const std::string& path);

// Throws Error naming what differs when the checkpoint is of other data or other settings.
void expect_same(const Checkpoint& checkpoint, const Config& config, std::uint64_t data);

}  // namespace remede
