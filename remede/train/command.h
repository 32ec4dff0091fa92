// The command that trains a model again.
#pragma once

#include <string>

#include "remede/model/model.h"

namespace remede {

// The settings that differ from the defaults, as flags. Empty for a model that keeps no settings, or those of another
// version.
std::string train_command(const Model& model);

}  // namespace remede
