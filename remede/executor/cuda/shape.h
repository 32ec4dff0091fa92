// How a start of a given shape lies in the device's memory.
#pragma once

#include <cstdint>
#include <vector>

#include "remede/executor/cuda/device.h"
#include "remede/executor/cuda/stepper.h"
#include "remede/executor/engine.h"

namespace remede::cuda {

struct DeviceShape {
  Layout layout{};
  Variant variant;
  Loss loss = Loss::kCrossEntropy;
  int batch = 0, longest = 0, shared = 0;  // what `step` was made for
  Stepper step;                            // of kernels that are compiled for it; threads == 0: they take the phases
  std::vector<std::uint32_t> slot;         // (total)
  std::vector<SumUnit> units;
};

// Whether the device takes such a start.
bool fits_device(const Shape& shape, const GradientForm& form);

// What of the data matters to a layout.
struct DataForm {
  int targets = 1;       // of a step
  bool missing = false;  // some input is
  int longest = 0;       // steps of a sequence, a class; 0: many
  Loss loss = Loss::kCrossEntropy;
  bool operator==(const DataForm&) const = default;
};

// Kernels are compiled for classes of batch sizes: the smallest that takes this one.
int batch_class(std::size_t batch);

// The same for the steps of the longest sequence.
int length_class(std::size_t longest);

// batch: a class. REQUIRES: fits_device(shape, form).
DeviceShape device_shape(const Shape& shape, const GradientForm& form, const DataForm& data, int batch,
                         const DeviceLimits& limits);

}  // namespace remede::cuda
