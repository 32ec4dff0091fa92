#include "remede/schema/schema.h"

#include <algorithm>

namespace remede {

const InputCode* Schema::code_of(const std::string& input) const {
  const auto found = std::find_if(codes.begin(), codes.end(), [&](const InputCode& c) { return c.input == input; });
  return found == codes.end() ? nullptr : &*found;
}

}  // namespace remede
