// The hyper-parameters as flags: --depth, --rate-index, ..., one for each line of parameters.def.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "remede/schema/roles.h"
#include "remede/train/config.h"
#include <CLI/CLI.hpp>

namespace remede {

// What was given on the command line, checked, in its order.
using GivenParameters = std::vector<std::pair<const HyperParameter*, std::string>>;

// `given` is filled while the command line is parsed and must live until the verb's callback has run.
void add_parameter_flags(CLI::App& verb, GivenParameters& given);

// What --recipe was given, as recipe_from_text() reads it: the name of a recipe, or the text of the file.
std::string recipe_argument(const std::string& name_or_path);
bool is_recipe_file(const std::string& name_or_path);  // else a name

// Sets them and checks the whole. Throws UsageError naming the verb.
void apply_parameters(const GivenParameters& given, const std::string& verb, Config& config);

// An objective of numbers says that the target is one, where nothing else is said.
void take_task_of(const Config& config, Roles& roles);

}  // namespace remede
