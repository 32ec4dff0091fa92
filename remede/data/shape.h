// What is made of the columns once the steps are in order: targets of sequences, targets ahead, inputs from times and
// targets.
#pragma once

#include "remede/data/raw.h"

namespace remede {

// Adds the input "TIME_gap". Throws Error without a time column, and for times that are neither numbers nor dates.
void add_time_gap(RawDataset& raw);

// Adds the present targets as inputs. REQUIRES: before shape_targets.
void add_history(RawDataset& raw);

// Steps whose class the schema does not know get no weight and are counted. `names`: of some of these classes.
// `needed`: the data are read for their targets, and a note says so.
// REQUIRES: after shape_targets.
void set_aside_unknown(Dataset& data, const std::vector<std::string>& names, bool needed);

// Shifts the targets by the schema's horizon, and moves the last one of a sequence to its last step where there is one
// per sequence. Nothing is left: Error where targets are needed, else the data have none.
void shape_targets(Dataset& data, bool needed);

}  // namespace remede
