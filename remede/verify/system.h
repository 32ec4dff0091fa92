// What is explored: one model (or two on the same inputs), the columns that feed it, and a property with its monitor.
//
// A configuration is the floats that the models carry from step to step (the slots) and the state of the monitor. The
// slots are, for each model in turn, those of predict.h (state_size); then the previous value of every input whose
// change the property or an assumption speaks of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "remede/model/model.h"
#include "remede/verify/formula.h"
#include "remede/verify/inputs.h"
#include "remede/verify/monitor.h"

namespace remede {

struct ModelPart {
  const Model* model = nullptr;
  std::vector<int> input;  // (n_x of the model) the system's input
  std::size_t first_slot = 0;
};

enum class SlotKind : std::uint8_t { kAdded, kBlended, kStore, kAverage, kFlag, kOutput, kPrevious };

struct MemorySlot {
  SlotKind kind = SlotKind::kAdded;
  std::vector<float> cuts;  // rising: where tests and the property cut its values
  Range limit;              // it never leaves this
};

struct CheckedSystem {
  CheckedSystem(std::vector<const Model*> models, const Formula& property, const std::vector<Formula>& assumptions);

  Schema schema;  // of the inputs of all models
  std::vector<ModelPart> parts;
  std::vector<InputColumn> columns;            // what the assumptions leave
  std::vector<int> column_of;                  // (inputs)
  std::vector<std::vector<float>> input_cuts;  // (inputs) rising: where the property cuts their values
  // (inputs) rising: where a proof cuts them besides, so that cells written from the same input stay related
  std::vector<std::vector<float>> extra_cuts;
  std::vector<MemorySlot> slots;
  std::vector<int> previous;  // (inputs) the slot of the previous value, or -1
  std::unique_ptr<Monitor> monitor;
  std::vector<Formula> assumed;  // every assumption, in parts; those about one column are in `columns` and not watched

  std::size_t n_x() const { return static_cast<std::size_t>(schema.n_x()); }
  bool two() const { return parts.size() > 1; }
};

// Fills extra_cuts: where the argument of a write or law that reads one input passes a few round numbers. False: no
// input is cut.
bool cut_at_writes(CheckedSystem& system);

// Where the truth of a comparison with a number changes: values at and above each cut differ from those below.
void add_cuts(Compare compare, float value, std::vector<float>& cuts);
// Sorted, each once.
void sort_cuts(std::vector<float>& cuts);

// Number of the region of cuts that v lies in.
std::size_t region_of(const std::vector<float>& cuts, float v);
// The numbers from cut to cut; regions are 0 .. cuts.size().
Range region_range(const std::vector<float>& cuts, std::size_t region);

// 1, 0, or -1: both are possible.
int truth_on(const Range& range, Compare compare, float value);

}  // namespace remede
