// The last training: the model also learns from the data that were held out to choose it.
#pragma once

#include "remede/train/search.h"

namespace remede {

// The finalist, trained further from its best snapshot with falling learning rates on all data. Forms that hold single
// events exactly are left as they are, because further training can only lose what was found. So is one that `stop`
// interrupts.
Finalist polish(const Finalist& finalist, const TrainingData& everything, Device device = Device::kCpu,
                const std::function<bool()>& stop = {});

// The updates it makes, before --updates makes them fewer; 0 where it leaves the finalist as it is.
std::uint64_t polish_updates(const StartPlan& plan);

}  // namespace remede
