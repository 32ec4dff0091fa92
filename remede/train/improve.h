// Exact moves on the finished, small tree: improvements that surrogate derivatives cannot find. Each move is judged by
// running the whole sequences again and kept only if neither training nor validation data are predicted worse.
#pragma once

#include <functional>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

struct ImproveOptions {
  bool gates = true;       // open or close one write
  bool writes = true;      // make one write stronger or weaker
  bool features = true;    // let one split test another feature
  bool thresholds = true;  // shift one threshold
  bool missing = true;     // send missing values to the other side of one split
  bool settle = true;      // writes become jumps: whole-numbered, saturated, overwriting, where nothing is lost by it
  bool centre = true;      // put every threshold in the middle of the values it may take without loss
  int passes = 3;          // over all moves
  // Mean loss that a move must save where it saves no mistake; of values, in parts of a constant answer's loss.
  double gain = 1e-5;
  double effort = 150;         // of the judge: times as many steps as there are data
  std::function<bool()> stop;  // true: no further moves
  bool refit = true;           // constant leaves answer what is best on the training steps that reach them
};

// Improves every tree of the model in place. The sequences are in the model's own units.
void improve(Model& model, const Sequences& training, const Sequences& validation, const ImproveOptions& options = {});

}  // namespace remede
