// Regular languages: a model against a finite automaton.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/base/json.h"
#include "remede/base/text.h"
#include "remede/verify/quantities.h"
#include "remede/verify/tokens.h"
#include "remede/verify/verify.h"

namespace remede {
namespace {

using LanguageJson = nlohmann::ordered_json;

constexpr std::size_t kMostLanguageStates = 10000;
constexpr std::size_t kMostSymbols = 64;

const LanguageJson& needed(const LanguageJson& json, const char* key, const std::string& where) {
  if (!json.is_object() || !json.contains(key)) fail("{}: expected the key \"{}\", got none", where, key);
  return json.at(key);
}

// A name or a number, as text.
std::string plain_text(const LanguageJson& json, const std::string& where) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer()) return std::to_string(json.get<long long>());
  if (json.is_number()) return fmt::format("{}", json.get<double>());
  fail("{}: expected a text or a number, got {}", where, shown(json.dump()));
}

std::vector<std::string> texts(const LanguageJson& json, const std::string& where, std::size_t most) {
  if (!json.is_array() || json.empty() || json.size() > most)
    fail("{}: expected a list of 1 to {} names, got {}", where, most,
         json.is_array() ? std::to_string(json.size()) : shown(json.dump()));
  std::vector<std::string> all;
  for (const LanguageJson& one : json) all.push_back(plain_text(one, where));
  if (std::set<std::string>(all.begin(), all.end()).size() != all.size())
    fail("{}: expected different names, got one twice", where);
  return all;
}

std::size_t number_of(const std::vector<std::string>& names, const std::string& name, const std::string& where) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail("{}: expected one of the names given before, got {}", where, shown(name));
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

Language read_language(const std::string& path) {
  return language_from_json(read_json_file(path, std::size_t{16} << 20), path);
}

Language language_from_json(const std::string& text, const std::string& path) {
  const LanguageJson json = parse_json(text, path);
  const auto at = [&](const char* key) { return fmt::format("{}: {}", path, key); };
  Language language;
  language.alphabet = texts(needed(json, "alphabet", path), at("alphabet"), kMostSymbols);
  std::vector<std::string> states = texts(needed(json, "states", path), at("states"), kMostLanguageStates);
  const std::size_t start =
      number_of(states, json.contains("start") ? plain_text(json["start"], at("start")) : states[0], at("start"));
  if (json.contains("input")) language.input = plain_text(json["input"], at("input"));
  if (json.contains("accept")) language.accept = plain_text(json["accept"], at("accept"));
  // State 0 is the start: the two change places.
  const auto place = [&](std::size_t state) { return state == start ? 0 : state == 0 ? start : state; };
  language.acceptor.accepts.assign(states.size(), false);
  const LanguageJson& accepting = needed(json, "accepting", path);
  if (!accepting.is_array()) fail("{}: expected a list of states, got {}", at("accepting"), shown(accepting.dump()));
  for (const LanguageJson& one : accepting)
    language.acceptor.accepts[place(number_of(states, plain_text(one, at("accepting")), at("accepting")))] = true;
  const LanguageJson& transitions = needed(json, "transitions", path);
  if (!transitions.is_object())
    fail("{}: expected an object of states, got {}", at("transitions"), shown(transitions.dump()));
  language.acceptor.next.assign(states.size(), std::vector<int>(language.alphabet.size(), 0));
  for (std::size_t s = 0; s < states.size(); ++s) {
    const LanguageJson& row = needed(transitions, states[s].c_str(), at("transitions"));
    const std::string where = fmt::format("{}: transitions of {}", path, shown(states[s]));
    for (std::size_t a = 0; a < language.alphabet.size(); ++a)
      language.acceptor.next[place(s)][a] = static_cast<int>(
          place(number_of(states, plain_text(needed(row, language.alphabet[a].c_str(), where), where), where)));
  }
  return language;
}

Verification verify_language(const Model& model, const Language& language, const VerifyOptions& options) {
  if (!model.classifies())
    fail("expected a model that predicts classes to compare with an automaton, got a regression");
  const std::vector<InputColumn> columns = all_inputs(model.schema);
  if (language.input.empty() && columns.size() != 1)
    fail("expected the automaton to name its \"input\", since the model has {} columns, got none", columns.size());
  const std::string input = language.input.empty() ? columns[0].name : language.input;
  const auto& classes = model.schema.classes;
  if (language.accept.empty() && classes.size() != 2)
    fail("expected the automaton to name the class to \"accept\", since the model has {} classes, got none",
         classes.size());
  const std::string accept = language.accept.empty() ? classes[1] : language.accept;
  Formula formula = parse_formula(model, fmt::format("says '{}'", accept), "automaton");
  std::vector<int> symbols;
  std::string allowed;
  for (const std::string& symbol : language.alphabet) {
    const auto tokens = cut_tokens(symbol, "automaton");
    const std::string value = tokens[0].kind == Token::Kind::kNumber ? symbol : quoted_name(symbol);
    const Formula one = parse_formula(model, fmt::format("{} = {}", quoted_name(input), value), "automaton");
    symbols.push_back(formula.add_atom(one.atoms[0]));
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", value);
  }
  formula.acceptors.push_back(language.acceptor);
  const int says = formula.root, accepts = formula.add(Op::kAutomaton, symbols);
  const int both = formula.add(Op::kAnd, {says, accepts});
  const int neither = formula.add(Op::kNot, {formula.add(Op::kOr, {says, accepts})});
  formula.root = formula.add(Op::kOr, {both, neither});
  VerifyOptions with = options;
  with.assumptions.push_back(fmt::format("{} in {{{}}}", quoted_name(input), allowed));
  Verification result = verify_formula(model, formula, with);
  result.property = fmt::format("says {} exactly when the automaton accepts", accept);
  return result;
}

}  // namespace remede
