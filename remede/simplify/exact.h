// The exact steps together, to a fixpoint: every prediction stays the same, bit for bit, for every input.
#pragma once

#include "remede/simplify/draft.h"
#include "remede/simplify/reach.h"

namespace remede {

struct ExactOptions {
  bool drop_inputs = true;  // inputs that nothing uses leave the schema
  ReachOptions reach;
};

// Trees are sound before and after. Whether anything was removed.
bool simplify_exactly(Draft& draft, const ExactOptions& options);

}  // namespace remede
