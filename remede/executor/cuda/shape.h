// How a start of a given shape lies in the device's memory.
#pragma once

#include <cstdint>
#include <vector>

#include "remede/executor/cuda/device.h"
#include "remede/executor/engine.h"

namespace remede::cuda {

struct DeviceShape {
  Layout layout{};
  Variant variant;
  std::vector<std::uint32_t> slot;  // (total)
  std::vector<SumUnit> units;
};

// Whether the device takes such a tree.
bool fits_device(const Shape& shape);

// What of the data matters to a layout.
struct DataForm {
  int targets = 1;       // of a step
  bool missing = false;  // some input is
  bool operator==(const DataForm&) const = default;
};

// shared: bytes of shared memory that a block may have. REQUIRES: fits_device(shape).
DeviceShape device_shape(const Shape& shape, const GradientForm& form, const DataForm& data, std::size_t shared);

}  // namespace remede::cuda
