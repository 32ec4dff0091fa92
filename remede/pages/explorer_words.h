// The parts of the explorer's data that put a model into words and pictures.
#pragma once

#include <nlohmann/json.hpp>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

// A list with an object per tree: names, the texts of tests, answers and writes, the nodes that can be reached, the
// picture.
nlohmann::ordered_json words_json(const Model& model, const Sequences& data);

// The state machine: its picture, and its rules, so that the page can walk it beside the model. Null where there is no
// memory.
nlohmann::ordered_json machine_part_json(const Model& model, const Sequences& data);

}  // namespace remede
