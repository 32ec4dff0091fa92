// Roles as text: a file of roles, and the lines a checkpoint keeps.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remede/data/dataset.h"

namespace remede {

// Reads a JSON object whose keys are the flags of the program without their dashes ("id", "target", "target-per", ...),
// its values texts, numbers, true, or lists of texts. What `roles` already says is kept. Throws Error naming the file.
void read_roles(const std::string& path, Roles& roles);

// The same as name and text, and back; what is not said is left out.
using RoleLines = std::vector<std::pair<std::string, std::string>>;
RoleLines role_lines(const Roles& roles);
// Whether `name` is one of the names that role_lines gives; the role is set.
bool take_role_line(const std::string& name, const std::string& text, Roles& roles);

char parse_separator(std::string_view text);  // comma, semicolon, tab, space, or the character itself
char parse_comment(std::string_view text);

}  // namespace remede
