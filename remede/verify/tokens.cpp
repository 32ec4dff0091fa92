#include "remede/verify/tokens.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "remede/base/error.h"
#include "remede/base/text.h"

namespace remede {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_sign(char c) { return std::string_view("()<>=!,{}[]'\"`").find(c) != std::string_view::npos; }
bool starts_range(std::string_view text, std::size_t at) {
  return at + 1 < text.size() && text[at] == '.' && text[at + 1] == '.';
}

// The end of the number that starts here, or `at` where none does. A dot belongs to it only before a digit: 0..5.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  const auto digits = [&](std::size_t from) {
    while (from < text.size() && is_digit(text[from])) ++from;
    return from;
  };
  std::size_t to = at + (text[at] == '-' || text[at] == '+' ? 1 : 0);
  const std::size_t whole = to;
  to = digits(to);
  bool any = to > whole;
  if (to + 1 < text.size() && text[to] == '.' && is_digit(text[to + 1])) to = digits(to + 1), any = true;
  if (!any) return at;
  if (to < text.size() && (text[to] == 'e' || text[to] == 'E')) {
    std::size_t power = to + 1;
    if (power < text.size() && (text[power] == '-' || text[power] == '+')) ++power;
    if (digits(power) > power) to = digits(power);
  }
  return to;
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_blank(text[at]) && !is_sign(text[at]) && !starts_range(text, at)) ++at;
  return at;
}

Token cut_quoted(std::string_view text, std::size_t at, const std::string& what) {
  const char close = text[at] == '[' ? ']' : text[at];
  const std::size_t end = text.find(close, at + 1);
  if (end == std::string_view::npos)
    fail("{}: expected {} to close the name that begins at character {}, got the end", what, close, at + 1);
  return {Token::Kind::kQuoted, std::string(text.substr(at + 1, end - at - 1)), 0, at};
}

Token cut_number(std::string_view text, std::size_t at, std::size_t end, const std::string& what) {
  Token token{Token::Kind::kNumber, std::string(text.substr(at, end - at)), 0, at};
  const char* const first = token.text.data() + (token.text[0] == '+' ? 1 : 0);
  const auto result = std::from_chars(first, token.text.data() + token.text.size(), token.number);
  if (result.ec != std::errc{} || !std::isfinite(static_cast<float>(token.number)))
    fail("{}: expected a number that fits a float, got {} at character {}", what, shown(token.text), at + 1);
  return token;
}

}  // namespace

std::vector<Token> cut_tokens(std::string_view text, const std::string& what) {
  if (!is_utf8(text)) fail("{}: expected text in UTF-8, got other bytes", what);
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    const char c = text[at];
    if (c == '[' || c == '\'' || c == '"' || c == '`') {
      tokens.push_back(cut_quoted(text, at, what));
      at += tokens.back().text.size() + 2;
      continue;
    }
    const std::size_t number_end = end_of_number(text, at), word_end = end_of_word(text, at);
    if (number_end > at && number_end == word_end) {
      tokens.push_back(cut_number(text, at, number_end, what));
      at = number_end;
    } else if (starts_range(text, at)) {
      tokens.push_back({Token::Kind::kSign, "..", 0, at});
      at += 2;
    } else if (word_end > at) {
      tokens.push_back({Token::Kind::kWord, std::string(text.substr(at, word_end - at)), 0, at});
      at = word_end;
    } else {
      const bool two = at + 1 < text.size() && text[at + 1] == '=' && (c == '<' || c == '>' || c == '!' || c == '=');
      tokens.push_back({Token::Kind::kSign, std::string(text.substr(at, two ? 2 : 1)), 0, at});
      at += two ? 2 : 1;
    }
  }
  tokens.push_back({Token::Kind::kEnd, "", 0, text.size()});
  return tokens;
}

}  // namespace remede
