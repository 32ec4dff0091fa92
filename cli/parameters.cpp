#include "cli/parameters.h"

#include "cli/common.h"
#include "remede/base/error.h"
#include "remede/base/json.h"

namespace remede {

void add_parameter_flags(CLI::App& verb, GivenParameters& given) {
  for (const HyperParameter& parameter : hyper_parameters()) {
    const auto take = [&given, &parameter, name = verb.get_name()](const std::string& given_text) {
      Config scratch;
      const std::string text = parameter.name == "recipe" ? recipe_argument(given_text) : given_text;
      try {
        parameter.set(scratch, text);
      } catch (const Error& error) {
        throw UsageError(fmt::format("{}: {}", name, error.what()));
      }
      given.emplace_back(&parameter, text);
    };
    if (parameter.is_switch()) {
      verb.add_flag_callback(
              parameter.flag(), [take] { take("yes"); }, std::string(parameter.help))
          ->group(std::string(parameter.group));
      continue;
    }
    verb.add_option_function<std::string>(parameter.flag(), take, std::string(parameter.help))
        ->type_name(std::string(parameter.placeholder))
        ->default_str(parameter.get(Config()))
        ->group(std::string(parameter.group));
  }
}

bool is_recipe_file(const std::string& name_or_path) {
  return name_or_path.ends_with(".json") || name_or_path.find('/') != std::string::npos;
}

std::string recipe_argument(const std::string& name_or_path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // a recipe has about 100 fields
  return is_recipe_file(name_or_path) ? read_json_file(name_or_path, kMostBytes) : name_or_path;
}

void apply_parameters(const GivenParameters& given, const std::string& verb, Config& config) {
  for (const auto& [parameter, text] : given) parameter->set(config, text);
  try {
    check(config);
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", verb, error.what()));
  }
}

void take_task_of(const Config& config, Roles& roles) {
  if (!roles.task && config.objective && task_of({*config.objective}) == Task::kRegression)
    roles.task = Task::kRegression;
}

}  // namespace remede
