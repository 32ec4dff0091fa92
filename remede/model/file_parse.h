// JSON from a file nobody vouches for.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace remede {

// Throws a one-line Error naming `where` for text that is not JSON, nests too deeply, repeats a key, or would take too
// much memory (file_limits.h). Objects keep the order of their keys.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& where);

}  // namespace remede
