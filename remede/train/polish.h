// The last touch where data are few: what was held out to choose the model is learned from, too.
#pragma once

#include "remede/train/search.h"

namespace remede {

// The finalist, trained on from its best with falling rates on all the data. Forms that hold single events exactly are
// left as they are: there a fresh nudge can only lose what was found. So is one that `stop` interrupts.
Finalist polish(const Finalist& finalist, const TrainingData& everything, Device device = Device::kCpu,
                const std::function<bool()>& stop = {});

// The updates it makes, before --updates makes them fewer; 0 where it leaves the finalist as it is.
std::uint64_t polish_updates(const StartPlan& plan);

}  // namespace remede
