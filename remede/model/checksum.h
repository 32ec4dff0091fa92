// A number that two models share only if they give the same answers: computed from what prediction reads (inputs and
// their codes, fill, objective, classes, trees), not from names of cells, notes or the record of training. Exported
// programs and saved states carry it, so that neither is used with another model.
#pragma once

#include <cstdint>

#include "remede/model/model.h"

namespace remede {

std::uint64_t checksum(const Model& model);

}  // namespace remede
