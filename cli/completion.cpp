// remede completion SHELL: a script that completes verbs, flags, their words and file names. All of it comes from the
// options as the verbs declare them.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/verbs.h"

namespace remede {
namespace {

using Verbs = std::vector<DeclaredVerb>;

std::string names_of(const Verbs& verbs) {
  std::vector<std::string> names;
  for (const DeclaredVerb& verb : verbs) names.push_back(verb.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// 'it'\''s', for all three shells.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// What bash offers for the value of an option, or for an argument.
std::string bash_values(const DeclaredOption& option) {
  if (!option.choices.empty())
    return fmt::format("words {}", in_quotes(fmt::format("{}", fmt::join(option.choices, " "))));
  return option.file == FileUse::kNone ? "nothing" : "files";
}

std::string bash_verb(const DeclaredVerb& verb) {
  std::vector<std::string> flags;
  std::string cases, arguments;
  int number = 0;
  for (const DeclaredOption& option : verb.options) {
    if (!option.positional.empty()) {
      arguments += fmt::format("        {}) {} ;;\n", ++number, bash_values(option));
      continue;
    }
    flags.insert(flags.end(), option.names.begin(), option.names.end());
    if (!option.value.empty())
      cases += fmt::format("        {}) {} ;;\n", fmt::join(option.names, " | "), bash_values(option));
  }
  return fmt::format(
      "    {})\n      case $previous in\n{}        *)\n          if [[ $current == -* ]]; then words {}; return; fi\n"
      "          case $argument in\n{}          *) files ;;\n          esac ;;\n      esac ;;\n",
      verb.name, cases, in_quotes(fmt::format("{}", fmt::join(flags, " "))), arguments);
}

// The number of the argument is that of the words after the verb that are no flags, nor values of flags that take one.
std::string bash_script(const Verbs& verbs) {
  std::string text = R"(# bash completion for remede; `source <(remede completion bash)`
_remede() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb='' argument=1 i word skip=no
  words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
  files() { compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); }
  nothing() { COMPREPLY=(); }
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [ -z "$verb" ]; then
      [[ $word == -* ]] || verb=$word
    elif [ $skip = yes ]; then
      skip=no
    elif [[ $word == -* ]]; then
      case $verb/$word in
)";
  for (const DeclaredVerb& verb : verbs)
    for (const DeclaredOption& option : verb.options)
      if (!option.value.empty() && option.positional.empty())
        for (const std::string& name : option.names)
          text += fmt::format("        {}/{}) skip=yes ;;\n", verb.name, name);
  text += fmt::format(R"(      esac
    else
      argument=$((argument + 1))
    fi
  done
  case $verb in
    '') words {} ;;
)",
                      in_quotes(names_of(verbs) + " --help --version"));
  for (const DeclaredVerb& verb : verbs) text += bash_verb(verb);
  return text + "  esac\n}\ncomplete -F _remede remede\n";
}

// In the specifications of _arguments, colons and brackets stand for themselves only behind a backslash.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_values(const DeclaredOption& option) {
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  return option.file == FileUse::kNone ? " " : "_files";
}

std::string zsh_script(const Verbs& verbs) {
  std::string text =
      "#compdef remede\n# zsh completion for remede; put it into a folder of $fpath as _remede\n_remede() {\n";
  text += "  local -a verbs=(\n";
  for (const DeclaredVerb& verb : verbs)
    text += fmt::format("    {}\n", in_quotes(verb.name + ":" + zsh_text(verb.help)));
  text += "  )\n  if ((CURRENT == 2)); then _describe verb verbs; return; fi\n";
  text += "  local verb=$words[2]\n  shift words\n  ((CURRENT--))\n  case $verb in\n";
  for (const DeclaredVerb& verb : verbs) {
    text += fmt::format("    {})\n      _arguments -s", verb.name);
    for (const DeclaredOption& option : verb.options) {
      if (!option.positional.empty()) {
        text += fmt::format(" \\\n        {}", in_quotes(fmt::format("{}:{}:{}", option.required ? "" : ":",
                                                                     zsh_text(option.positional), zsh_values(option))));
        continue;
      }
      const std::string value =
          option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), zsh_values(option));
      for (const std::string& name : option.names)
        text += fmt::format(" \\\n        {}", in_quotes(fmt::format("{}[{}]{}", name, zsh_text(option.help), value)));
    }
    text += " ;;\n";
  }
  return text + "  esac\n}\n_remede \"$@\"\n";
}

std::string fish_script(const Verbs& verbs) {
  std::string text = "# fish completion for remede; put it into ~/.config/fish/completions as remede.fish\n";
  const std::string names = names_of(verbs);
  text += "complete -c remede -f\n";
  for (const DeclaredVerb& verb : verbs)
    text += fmt::format("complete -c remede -n 'not __fish_seen_subcommand_from {}' -a {} -d {}\n", names, verb.name,
                        in_quotes(verb.help));
  for (const DeclaredVerb& verb : verbs)
    for (const DeclaredOption& option : verb.options) {
      text += fmt::format("complete -c remede -n '__fish_seen_subcommand_from {}'", verb.name);
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      const bool takes_value = !option.value.empty() && option.positional.empty();
      if (!option.choices.empty())
        text += fmt::format(" {}-a {}", takes_value ? "-x " : "",
                            in_quotes(fmt::format("{}", fmt::join(option.choices, " "))));
      else if (option.file != FileUse::kNone)
        text += takes_value ? " -r -F" : " -F";
      else if (takes_value)
        text += " -x";
      text += fmt::format(" -d {}\n", in_quotes(option.help));
    }
  return text;
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("completion", "Print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  verb->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("SHELL")
      ->check(one_of({"bash", "zsh", "fish"}));
  verb->footer(
      "Examples:\n"
      "  source <(remede completion bash)                                     this session\n"
      "  remede completion zsh > ~/.zfunc/_remede                             a folder of $fpath\n"
      "  remede completion fish > ~/.config/fish/completions/remede.fish");
  on_run(*verb, [&app, shell] {
    const Verbs verbs = declared_verbs(app);
    put(*shell == "bash" ? bash_script(verbs) : *shell == "zsh" ? zsh_script(verbs) : fish_script(verbs));
  });
}

}  // namespace remede
