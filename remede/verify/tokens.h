// Cuts the text of a property into words, numbers and signs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace remede {

struct Token {
  enum class Kind { kWord, kQuoted, kNumber, kSign, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  double number = 0;   // kNumber
  std::size_t at = 0;  // first character, from 0

  bool is(std::string_view word) const { return (kind == Kind::kWord || kind == Kind::kSign) && text == word; }
};

// Throws Error with the place. The last token is kEnd.
std::vector<Token> cut_tokens(std::string_view text, const std::string& what);

}  // namespace remede
