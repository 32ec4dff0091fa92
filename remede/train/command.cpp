#include "remede/train/command.h"

#include "remede/base/error.h"
#include "remede/train/config.h"

namespace remede {
namespace {

// For a shell: in single quotes where it is more than letters, digits and a few signs.
std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() &&
                     word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,:/+-") ==
                         std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string train_command(const Model& model) {
  if (model.training.settings.empty()) return "";
  for (const std::string& note : model.training.notes)
    if (note.starts_with("started from")) return "";  // the model it started from is not known
  Config config;
  try {
    config = config_from_settings(model.training.settings, "model");
  } catch (const Error&) {
    return "";
  }
  const Schema& schema = model.schema;
  std::string command = "remede train TRAINING.csv -o model.json";
  command += " --id " + shell_quoted(schema.id.empty() ? "none" : schema.id) + " --time " +
             shell_quoted(schema.time.empty() ? "none" : schema.time);
  for (const std::string& target : schema.targets) command += " --target " + shell_quoted(target);
  command += schema.task == Task::kClassification ? " --task classification" : " --task regression";
  if (schema.target_per == TargetPer::kSequence) command += " --target-per sequence";
  if (schema.horizon > 0) command += fmt::format(" --horizon {}", schema.horizon);
  if (schema.time_gap) command += " --time-gap";
  for (const std::string& column : schema.ignore) command += " --ignore " + shell_quoted(column);
  for (const std::string& column : schema.categorical) command += " --categorical " + shell_quoted(column);
  for (const HyperParameter& parameter : hyper_parameters())
    if (parameter.saved() && parameter.get(config) != parameter.get(Config()))
      command += " " + parameter.flag() + (parameter.is_switch() ? "" : " " + shell_quoted(parameter.get(config)));
  return command;
}

}  // namespace remede
