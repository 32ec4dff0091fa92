#include "remede/export/names.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"

namespace remede {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_char(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

// Everything but letters and digits as single underscores, none at the ends.
std::string underscored(std::string_view name) {
  std::string out;
  bool gap = false;
  for (const char c : name) {
    if (!is_letter(c) && !is_digit(c)) {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += '_';
    gap = false;
    out += c;
  }
  return out;
}

// The sign of a number, as in -1 or "lag = -1", as a word: without it -1 and 1 would be one name.
std::string signs_as_words(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool after_a_word = i > 0 && (is_letter(name[i - 1]) || is_digit(name[i - 1]));  // x-1, 2024-01-01
    const std::size_t digit = i + 1 < name.size() && name[i + 1] == '.' ? i + 2 : i + 1;
    const bool sign = name[i] == '-' && !after_a_word && digit < name.size() && is_digit(name[digit]);
    out += sign ? "_MINUS_" : std::string(1, name[i]);
  }
  return out;
}

// Of C and C++, and headers that exported programs include.
constexpr std::string_view kReserved[] = {
    "alignas",      "alignof",       "and",          "and_eq",    "asm",       "auto",
    "bitand",       "bitor",         "bool",         "break",     "case",      "catch",
    "char",         "class",         "co_await",     "co_return", "co_yield",  "compl",
    "concept",      "const",         "consteval",    "constexpr", "constinit", "const_cast",
    "continue",     "decltype",      "default",      "delete",    "do",        "double",
    "dynamic_cast", "else",          "enum",         "explicit",  "export",    "extern",
    "false",        "float",         "for",          "friend",    "goto",      "if",
    "inline",       "int",           "long",         "mutable",   "namespace", "new",
    "noexcept",     "not",           "not_eq",       "nullptr",   "operator",  "or",
    "or_eq",        "private",       "protected",    "public",    "register",  "reinterpret_cast",
    "requires",     "restrict",      "return",       "short",     "signed",    "sizeof",
    "static",       "static_assert", "static_cast",  "std",       "struct",    "switch",
    "template",     "this",          "thread_local", "throw",     "true",      "try",
    "typedef",      "typeid",        "typename",     "union",     "unsigned",  "using",
    "virtual",      "void",          "volatile",     "wchar_t",   "while",     "math",
    "stdbool",      "stdint",        "xor",          "xor_eq"};

// Functions of the C library, which a namespace of C++ cannot be called.
constexpr std::string_view kFunctions[] = {"acos", "asin", "atan",  "cbrt", "ceil",  "clock", "cos",    "cosh",
                                           "erf",  "exp",  "exp2",  "fabs", "floor", "fmod",  "gamma",  "hypot",
                                           "log",  "main", "log10", "log2", "pow",   "round", "signal", "sin",
                                           "sinh", "sqrt", "tan",   "tanh", "time",  "trunc"};

}  // namespace

bool is_identifier(std::string_view name) {
  const auto in = [&](const auto& list) { return std::find(std::begin(list), std::end(list), name) != std::end(list); };
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), is_word_char) &&
         !in(kReserved) && !in(kFunctions);
}

void check_export_name(const std::string& name) {
  constexpr std::size_t kMostName = 40;
  if (!is_identifier(name) || name.size() > kMostName)
    fail(
        "expected a name of at most {} letters, digits and underscores, beginning with a letter and no keyword or "
        "function of "
        "C, "
        "got {}",
        kMostName, shown(name));
}

std::string as_identifier(std::string_view name) {
  const std::string out = underscored(name);
  if (out.empty()) return "model";
  return is_identifier(out) ? out : "model_" + out;
}

std::string capitals(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::vector<std::string> capital_identifiers(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  std::unordered_set<std::string> taken;
  for (const std::string& name : names) {
    std::string base = underscored(capitals(signs_as_words(name)));
    if (base.empty()) base.push_back('_');  // a prefix stands before it
    std::string one = base;
    for (int i = 2; !taken.insert(one).second; ++i) one = fmt::format("{}_{}", base, i);
    out.push_back(std::move(one));
  }
  return out;
}

std::string in_comment(std::string_view text) {
  std::string out;
  for (const char c : clipped(printable(text), 80)) {
    if (!out.empty() &&
        ((out.back() == '*' && c == '/') || (out.back() == '/' && c == '*') || (out.back() == '?' && c == '?')))
      out += ' ';
    out += c == '\\' ? '/' : c;  // a backslash at the end of a line would join it to the next
  }
  return out;
}

std::string c_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\' || c == '?') {
      out += fmt::format("\\{:03o}", byte);  // three digits always: nothing that follows can belong to it
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string c_number(float value) {
  if (value == 0.0F) return std::signbit(value) ? "-0.0f" : "0.0f";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

}  // namespace remede
