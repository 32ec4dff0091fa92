#include "remede/export/words.h"

#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "remede/export/names.h"
#include "remede/schema/words.h"

namespace remede {
namespace {

struct CodedColumn {
  std::string name;
  std::vector<std::pair<std::size_t, const InputCode*>> inputs;  // place in x
};

std::vector<CodedColumn> columns_of_words(const Schema& schema) {
  std::vector<CodedColumn> columns;
  const CodeIndex codes(schema.codes);
  for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
    const InputCode* const code = codes.find(schema.inputs[i]);
    if (code == nullptr || code->gap) continue;
    std::size_t at = 0;
    while (at < columns.size() && columns[at].name != code->column) ++at;
    if (at == columns.size()) columns.push_back({code->column, {}});
    columns[at].inputs.emplace_back(i, code);
  }
  return columns;
}

std::string definition(const CodedColumn& column, const std::string& prototype, const std::string& name) {
  std::string text = fmt::format("\n{}\n{{\n    int known = 0;\n", prototype);
  for (const auto& [at, code] : column.inputs)
    text += fmt::format("    x[{}] = {};\n", at, code->other ? c_number(*code->other) : "NAN");
  text += "    if ((word == (const char *)0) || (word[0] == '\\0')) {\n";
  for (const auto& [at, code] : column.inputs) text += fmt::format("        x[{}] = NAN;\n", at);
  text += "        known = 1;\n    }\n";
  for (const auto& [at, code] : column.inputs)
    for (std::size_t w = 0; w < code->words.size(); ++w)
      text += fmt::format("    if ({}_is(word, {}, {})) {{\n        x[{}] = {};\n        known = 1;\n    }}\n", name,
                          c_string(code->words[w]), has_boolean_words(*code) ? "true" : "false", at,
                          c_number(code->values[w]));
  return text + "    return known;\n}\n";
}

}  // namespace

WordFunctions word_functions(const Schema& schema, const std::string& name) {
  WordFunctions functions;
  const std::vector<CodedColumn> columns = columns_of_words(schema);
  if (columns.empty()) return functions;
  functions.declarations =
      "\n/* Set the inputs that are made from a column of words. An empty word is a missing value. Give 1, or 0 where\n"
      "   the model does not use the word (it was not among the training data, or simplification removed its input);\n"
      "   its inputs are then what they are for other words. */\n";
  functions.definitions = fmt::format(
      "\nstatic char {0}_lower(char c)\n{{\n    return ((c >= 'A') && (c <= 'Z')) ? (char)(c + ('a' - 'A')) : c;\n}}\n"
      "\nstatic bool {0}_is(const char *word, const char *known, bool any_case)\n{{\n    uint16_t i = 0u;\n"
      "    if (word == (const char *)0) {{\n        return false;\n    }}\n"
      "    while ((word[i] != '\\0') && ((word[i] == known[i]) ||\n"
      "                                 (any_case && ({0}_lower(word[i]) == {0}_lower(known[i]))))) {{\n        i++;\n "
      "   }}\n"
      "    return (word[i] == '\\0') && (known[i] == '\\0');\n}}\n",
      name);
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const CodedColumn& column : columns) names.push_back(column.name);
  const std::vector<std::string> identifiers = capital_identifiers(names);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::string prototype =
        fmt::format("int {}_set_{}(float x[{}_INPUTS], const char *word)", name, identifiers[c], capitals(name));
    functions.declarations += fmt::format("{}; /* {} */\n", prototype, in_comment(columns[c].name));
    functions.definitions += definition(columns[c], prototype, name);
  }
  return functions;
}

}  // namespace remede
