// A trained model to the smallest one that behaves the same (docs/simplify.md). Training ends with it.
//
// Exact steps keep every prediction bit for bit, for every input. With data, collapsing follows: a split gives way to
// one of its sides, and a write closes, where the data are predicted as well without it. Rounding and dropping small
// weights are done only when asked for.
#pragma once

#include <string>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"
#include "remede/simplify/collapse.h"
#include "remede/simplify/exact.h"
#include "remede/simplify/report.h"

namespace remede {

struct SimplifyOptions {
  ExactOptions exact;
  bool collapse = true;      // needs data
  bool close_writes = true;  // collapsing also closes writes that the data do not need
  int round_digits =
      0;  // above 0: numbers are rounded to as few significant digits from here on as the data allow; needs data
  bool drop_small = false;  // small weights of writes and linear leaves go where the data allow; needs data
  Tolerance tolerance;      // what "allow" means
};

struct Simplified {
  Model model;
  std::vector<Removal> removed;
  std::vector<int> inputs;  // (n_x) of each input its number in the model given
  int nodes_before = 0;
  int nodes_after = 0;
};

// Either data set may be null; both have the model's inputs and outputs, and count only where they carry targets.
// The result does not depend on the machine. Throws Error when the data do not fit the model.
Simplified simplify(const Model& model, const SimplifyOptions& options, const Sequences* training,
                    const Sequences* validation);

// The model without inputs that nothing reads: what is saved and shown after training. Every prediction stays the same.
Model without_unused_inputs(const Model& model);

// The sequences with only these inputs, in this order: data for a model that lost some.
Sequences select_inputs(const Sequences& sequences, const std::vector<int>& inputs);

// A few lines of text: how many nodes were removed for which reasons, and which cells, inputs and options.
std::string summary(const Simplified& result);

// The same for programs: every removal with its cause.
std::string removals_json(const Simplified& result);

}  // namespace remede
