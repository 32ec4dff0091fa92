// What users know about single inputs: as one grows, the answer never falls (or never rises). Cells come in two sorts
// then: those that may read such inputs, whose every effect on the answer grows with them, and the others.
#pragma once

#include <cstdint>
#include <vector>

#include "remede/executor/laws/parameters.h"
#include "remede/schema/schema.h"
#include "remede/train/config.h"
#include "remede/train/frontier/problem.h"

namespace remede::frontier {

// (n_x) What the configuration says of the inputs. Throws Error for a name that is no input, or is given twice, and for
// more than two classes.
std::vector<Trend> trends_of(const Config& config, const Schema& schema);

// Whether cell k may read inputs with a trend: the first half of the cells, rounded up.
bool reads_trends(const std::vector<Trend>& trend, int k, int cells);

// (total) The sign that each number must have, 0: any.
std::vector<std::int8_t> signs_of(const std::vector<Trend>& trend, const laws::Shape& shape);

// Takes out of use every number that could turn the answer against a trend. Splits never test inputs with a trend nor
// cells that read them.
void forbid(const std::vector<Trend>& trend, laws::Parameters& parameters);

}  // namespace remede::frontier
