// Exact steps on the splits of one tree: branches that nothing reaches go, and splits that make no difference.
#pragma once

#include "remede/simplify/draft.h"
#include "remede/simplify/reach.h"

namespace remede {

// Both bypass splits of tree t (see edit.h), note what they remove, and say whether they removed anything. REQUIRES:
// `reach` is of this tree.
bool remove_impossible(Draft& draft, int t, const Reach& reach);
// Leaves may serve more states afterwards: what `reach` says of single leaves no longer holds. REQUIRES: closed gates
// have zero weights (see tidy.h).
bool merge_alike(Draft& draft, int t, const Reach& reach);

}  // namespace remede
