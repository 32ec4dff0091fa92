#include "remede/schema/words.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace remede {
namespace {

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_letter(x) == lower_letter(y); });
}

}  // namespace

bool has_boolean_words(const InputCode& code) {
  constexpr std::string_view kWords[] = {"false", "no", "true", "yes"};
  return std::all_of(code.words.begin(), code.words.end(), [&](const std::string& word) {
    return std::any_of(std::begin(kWords), std::end(kWords),
                       [&](std::string_view known) { return same_in_any_case(word, known); });
  });
}

std::optional<float> value_of_word(const InputCode& code, std::string_view word) {
  auto at = std::find(code.words.begin(), code.words.end(), word);
  const bool number = word == "0" || word == "1";
  if (at == code.words.end() && has_boolean_words(code))
    at = std::find_if(code.words.begin(), code.words.end(), [&](const std::string& known) {
      const bool yes = same_in_any_case(known, "true") || same_in_any_case(known, "yes");
      return number ? yes == (word == "1") : same_in_any_case(word, known);
    });
  return at == code.words.end() ? code.other : code.values[static_cast<std::size_t>(at - code.words.begin())];
}

}  // namespace remede
