#include "cli/declared.h"

#include <sstream>

#include <fmt/format.h>

namespace remede {
namespace {

constexpr const char* kOneOf = "one of ";  // begins the name of the check, which CLI11 keeps; the words follow

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// get_validator() is not const, and throws behind the last.
std::vector<std::string> checked_words(const CLI::Option& option) {
  try {
    for (int i = 0;; ++i) {
      const std::string name = const_cast<CLI::Option&>(option).get_validator(i)->get_name();
      if (name.starts_with(kOneOf)) return split(name.substr(std::string(kOneOf).size()), ' ');
    }
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

DeclaredOption declared_option(const CLI::Option& option) {
  DeclaredOption d;
  for (const std::string& name : option.get_snames()) d.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) d.names.push_back("--" + name);
  if (d.names.empty()) d.positional = option.get_name(true);
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() > 0) d.value = type.empty() ? "VALUE" : type.substr(0, type.find(':'));
  d.default_value = option.get_default_str();
  d.help = option.get_description();
  d.group = option.get_group();
  d.choices = checked_words(option);
  if (d.choices.empty() && d.value.find('|') != std::string::npos) d.choices = split(d.value, '|');
  d.file = file_use(option);
  d.required = option.get_required();
  return d;
}

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("").name(kOneOf + fmt::format("{}", fmt::join(words, " ")));
}

DeclaredVerb declared(const CLI::App& verb) {
  DeclaredVerb d{verb.get_name(), verb.get_description(), verb.get_footer(), {}};
  for (const CLI::Option* option : verb.get_options())
    if (!option->get_group().empty()) d.options.push_back(declared_option(*option));
  return d;
}

std::vector<DeclaredVerb> declared_verbs(const CLI::App& app) {
  std::vector<DeclaredVerb> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* v) { return !v->get_group().empty(); }))
    verbs.push_back(declared(*verb));
  return verbs;
}

}  // namespace remede
