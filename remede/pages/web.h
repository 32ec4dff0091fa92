// The files of web/, compiled in (web.cmake), and what it takes to put a page together from them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace remede {

struct WebFile {
  std::string_view name;
  std::string_view text;
};

std::span<const WebFile> web_files();

// The file of this name. REQUIRES: there is one
std::string_view web_file(std::string_view name);

// The file with every {{name}} replaced: by the text of that name, else by the file of that name.
std::string filled_page(std::string_view file, const std::vector<std::pair<std::string, std::string>>& texts);

// JSON for a <script> element: nothing in it can end the element.
std::string script_safe(std::string_view json);

// Numbers as base64 of their bytes, little-endian: compact, and read back without parsing.
std::string base64(std::span<const float> values);
std::string base64(std::span<const std::int32_t> values);

}  // namespace remede
