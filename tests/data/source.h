// Bytes in memory as a file, handed out in pieces of any size.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "remede/data/csv.h"
#include "support/error_of.h"

namespace remede::testing {

inline ByteSource bytes_of(std::string text, std::size_t piece = static_cast<std::size_t>(-1),
                           const std::string& name = "data.csv") {
  const auto kept = std::make_shared<std::string>(std::move(text));
  const auto at = std::make_shared<std::size_t>(0);
  return {name, kept->size(), [kept, at, piece](char* to, std::size_t room) {
            const std::size_t n = std::min({piece, room, kept->size() - *at});
            std::memcpy(to, kept->data() + *at, n);
            *at += n;
            return n;
          }};
}

}  // namespace remede::testing
