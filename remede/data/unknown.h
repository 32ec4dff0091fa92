// Targets of a class that the schema does not know (Dataset::unknown), where they are to count as wrong.
#pragma once

#include <cstdint>

#include "remede/data/dataset.h"

namespace remede {

// The label of a step whose class the schema does not know: no answer is right there.
inline constexpr std::int32_t kUnknownClass = -1;

// The data with these targets back in their steps, as kUnknownClass. It is for figures that only ask whether an answer
// is right; evaluate() takes the data as they were read. Where nothing else has a target they stay out.
Dataset with_unknown_targets(Dataset data);

}  // namespace remede
