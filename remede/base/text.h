// Numbers and names as a person reads them, and as each output format needs them. Deterministic: no locale, no libm.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace remede {

// At most `digits` significant digits, without trailing zeros: 0.5, 37.6, -0.0035, 123456, 1.2e-7. Digits before the
// decimal point are never dropped.
// NaN reads "missing".
std::string short_number(double value, int digits = 3);

// A share in 0 .. 1 as a percentage. Only 0 and 1 read 0% and 100%: 62%, 99.8%, >99.9%, 100%.
std::string percent(double share);

// 1234567 as 1,234,567.
std::string grouped(long long count);
// 1 node, 1,200 nodes.
std::string plural(long long count, const char* noun);

// Names come from files: control characters and broken UTF-8 must not reach a terminal or an XML reader.
std::string printable(std::string_view name);

// Number of code points of UTF-8 text: approximately the columns it takes in a terminal.
std::size_t width(std::string_view text);

// Pads with spaces on the right to `columns` characters.
std::string padded(std::string_view text, std::size_t columns);
// ... on the left, for numbers.
std::string padded_left(std::string_view text, std::size_t columns);

// Shortens to `columns` characters, ending in an ellipsis, when longer.
std::string clipped(std::string_view text, std::size_t columns);

std::string xml_escaped(std::string_view text);

// A value from a file as it may be shown in a message: one line, not too long, in quotes.
std::string shown(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace remede
