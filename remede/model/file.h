// The model file: versioned JSON (docs/file-format.md), written atomically, checked in every number when read.
#pragma once

#include <string>
#include <string_view>

#include "remede/model/model.h"

namespace remede {

std::string to_json(const Model& model);
// Throws Error naming `where` for anything that is not a sound model: never a crash, never a huge allocation.
Model model_from_json(std::string_view text, const std::string& where);

void save_model(const Model& model, const std::string& path);
Model load_model(const std::string& path);

}  // namespace remede
