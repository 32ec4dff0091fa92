// Exact steps on the leaves of a tree: writes that change nothing, cells that nothing reads, options that no leaf uses,
// and, over all trees, unused inputs.
//
// A term weight * v of a sum can go where it never changes the sum's bits: where v is always 0, or the weight is 0 and
// v always finite (0 * inf is NaN). Adding a zero of either sign changes a sum only if the sum is -0, which it can be
// only if it starts so.
#pragma once

#include <vector>

#include "remede/simplify/draft.h"
#include "remede/simplify/reach.h"

namespace remede {

// Sets the weights of closed gates to zero and -0 in writes to 0, so that equal leaves are equal bit for bit. Removes
// nothing, so it is not reported.
void canonicalise(Tree& tree);

// These say whether they changed tree t. REQUIRES: `reach` is of this tree, with the same leaves and cells.
bool close_idle_writes(Draft& draft, int t, const Reach& reach);
bool zero_idle_weights(Draft& draft, int t, const Reach& reach);

// Removes the cells that no test, no linear leaf and no write of a cell that stays reads. `reach` no longer fits the
// tree where this returns true.
bool drop_unread_cells(Draft& draft, int t, const Reach& reach);

// Turns off the options of the leaf form that no leaf uses.
bool lower_form(Draft& draft, int t, const Reach& reach);

// Removes the inputs that no tree uses, at least one stays. reach: (trees), of the trees as they are.
bool drop_unused_inputs(Draft& draft, const std::vector<Reach>& reach);

}  // namespace remede
