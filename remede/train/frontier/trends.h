// What users know about single inputs: as one grows, the answer never falls (or never rises). Cells come in two sorts
// then: those that may read such inputs, whose every effect on the answer grows with them, and the others.
#pragma once

#include <cstdint>
#include <vector>

#include "remede/engine/laws/parameters.h"
#include "remede/train/frontier/problem.h"

namespace remede::frontier {

// Whether cell k may read inputs with a trend: the first half of the cells, rounded up.
bool reads_trends(const std::vector<Trend>& trend, int k, int cells);

// (total) The sign that each number must have, 0: any.
std::vector<std::int8_t> signs_of(const std::vector<Trend>& trend, const laws::Shape& shape);

// Takes out of use every number that could turn the answer against a trend. Splits never test inputs with a trend nor
// cells that read them.
void forbid(const std::vector<Trend>& trend, laws::Parameters& parameters);

}  // namespace remede::frontier
