// Lossy steps, done only when asked for and only as far as the judge accepts: weights that hardly matter become 0, and
// numbers lose digits. The numbers of leaves and cells stay.
#pragma once

#include "remede/simplify/collapse.h"
#include "remede/simplify/draft.h"

namespace remede {

// Weights of writes and linear leaves: of one input or cell altogether, then of each leaf the smallest, as many as
// possible. A weight counts as large as its feature usually is. Whether anything changed.
bool drop_small(Draft& draft, Judge& judge);

// Thresholds, outputs and weights to `digits` significant decimal digits, or as few more as are accepted. REQUIRES:
// digits > 0
bool round_numbers(Draft& draft, Judge& judge, int digits);

// The nearest float to `value` written with so many significant digits.
float rounded(float value, int digits);

}  // namespace remede
