// What the words of a column count as in a model.
#pragma once

#include <optional>
#include <string_view>

#include "remede/schema/schema.h"

namespace remede {

// Whether all its words are true, false, yes or no: such words match in any case, and 1 and 0 stand for them.
bool has_boolean_words(const InputCode& code);
// What a word of the column counts as: its value, or `other`; nothing: as missing.
std::optional<float> value_of_word(const InputCode& code, std::string_view word);

}  // namespace remede
