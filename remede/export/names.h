// Names of columns and classes as identifiers and comments of another language. Names come from files: whatever bytes
// they hold, what is written here compiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace remede {

// Letters, digits and underscores, beginning with a letter; not a keyword of C or C++.
bool is_identifier(std::string_view name);
// Throws Error where a program cannot have this name.
void check_export_name(const std::string& name);
// The name with everything else replaced by underscores: "my-model" gives my_model, "" gives model.
std::string as_identifier(std::string_view name);

// One identifier in capitals for each name, all different: "wind = NW" gives WIND_NW, its repetition WIND_NW_2,
// "-1" MINUS_1.
std::vector<std::string> capital_identifiers(const std::vector<std::string>& names);
std::string capitals(std::string_view name);  // a to z as A to Z

// One line that cannot end a comment.
std::string in_comment(std::string_view text);
// In double quotes, as C reads it.
std::string c_string(std::string_view text);
// The shortest text that a compiler reads as this float. REQUIRES: finite.
std::string c_number(float value);

}  // namespace remede
