// What a model meets on data: the ranges of its inputs, of its cells' levels and of their taps' shares. They are saved
// with the model, for words and pictures.
#pragma once

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

// Replaces the model's ranges by those on these data: 5% of the steps lie below, 5% above. Of very many steps an even
// selection is looked at. Without steps the ranges become empty.
void note_ranges(Model& model, const Sequences& data);

}  // namespace remede
