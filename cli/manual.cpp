// remede manual [VERB]: manual pages in the language of man(7), made from the options as the verbs declare them. The
// build writes them (cli/CMakeLists.txt), and `cmake --install` puts them where man looks.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/verbs.h"

namespace remede {
namespace {

// A backslash, a hyphen and a dot or quote that begins a line mean something to troff.
std::string roff(const std::string& text) {
  std::string result;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    begins = c == '\n';
  }
  return result;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string heading(const std::string& page, const std::string& summary) {
  return fmt::format(".TH \"{}\" \"1\" \"\" \"remede {}\" \"remede\"\n.SH NAME\n{} \\- {}\n", upper(page),
                     REMEDE_VERSION, roff(page), roff(summary));
}

std::string as_written(const std::string& title, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n.nf\n{}\n.fi\n", title, roff(text));
}

std::string synopsis(const DeclaredVerb& verb) {
  std::string text = fmt::format(".SH SYNOPSIS\n.B remede {}\n", roff(verb.name));
  for (const DeclaredOption& option : verb.options) {
    if (option.positional.empty()) continue;
    const std::string name = "\\fI" + roff(upper(option.positional)) + "\\fR";
    text += option.required ? name + "\n" : "[" + name + "]\n";
  }
  return text + "[\\fIOPTIONS\\fR]\n";
}

std::string option_text(const DeclaredOption& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
  if (names.empty()) names.push_back("\\fI" + roff(upper(option.positional)) + "\\fR");
  std::string text = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!option.value.empty() && option.positional.empty()) text += " \\fI" + roff(option.value) + "\\fR";
  text += "\n" + roff(option.help) + (option.help.ends_with('.') ? "" : ".");
  if (!option.choices.empty() && option.value.find('|') == std::string::npos)
    text += fmt::format(" One of {}.", roff(fmt::format("{}", fmt::join(option.choices, ", "))));
  if (!option.default_value.empty()) text += fmt::format(" The default is {}.", roff(option.default_value));
  return text + "\n";
}

std::string verb_page(const DeclaredVerb& verb) {
  std::string text = heading("remede-" + verb.name, verb.help) + synopsis(verb);
  std::vector<std::string> groups;
  for (const DeclaredOption& option : verb.options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  text += ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    text += fmt::format(".SS {}\n", roff(group));
    for (const DeclaredOption& option : verb.options)
      if (option.group == group) text += option_text(option);
  }
  return text + as_written("NOTES", verb.footer) + ".SH SEE ALSO\n.BR remede (1)\n";
}

std::string overview_page(const CLI::App& app) {
  const std::string description = app.get_description();
  const std::size_t line = description.find('\n');
  std::string text = heading("remede", "decision trees that remember");
  text += ".SH SYNOPSIS\n.B remede\n\\fIVERB\\fR [\\fIARGUMENTS\\fR]\n.SH DESCRIPTION\n" +
          roff(description.substr(line + 1));
  text += ".SH VERBS\n";
  for (const DeclaredVerb& verb : declared_verbs(app))
    text += fmt::format(".TP\n\\fBremede\\-{}\\fR(1)\n{}.\n", roff(verb.name), roff(verb.help));
  text += ".SH OPTIONS\n";
  for (const DeclaredOption& option : declared(app).options) text += option_text(option);
  text += as_written("EXAMPLES", app.get_footer());
  return text +
         ".SH EXIT STATUS\n0: success; 1: bad data, a bad model, or an error of the system; 2: bad usage; 128 + N: "
         "signal N "
         "stopped a fit, and the best model so far was saved.\n";
}

}  // namespace

void add_manual(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("manual", "Print the manual page of a verb, or of the program, for man");
  const auto name = std::make_shared<std::string>();
  const auto list = std::make_shared<bool>(false);
  verb->add_option("verb", *name, "The verb; without it, the program")->type_name("VERB");
  verb->add_flag("--list", *list, "Print the names of the verbs that have a page, one per line");
  verb->footer("Example:\n  remede manual train | man -l -");
  on_run(*verb, [&app, name, list] {
    std::vector<std::string> known;
    for (const DeclaredVerb& v : declared_verbs(app)) {
      if (v.name == *name) return put(verb_page(v));
      known.push_back(v.name);
    }
    if (*list) return put(fmt::format("{}\n", fmt::join(known, "\n")));
    if (name->empty()) return put(overview_page(app));
    throw UsageError(fmt::format("manual: unknown verb '{}'{}", *name, suggestion(*name, known)));
  });
}

}  // namespace remede
