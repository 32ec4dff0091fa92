// A model in DOT, the language of Graphviz.
#pragma once

#include <string>
#include <string_view>

#include "remede/analysis/observe.h"
#include "remede/model/model.h"

namespace remede {

struct DotOptions {
  int terms = 3;                       // longest sum written out; 0: no limit
  const Observations* seen = nullptr;  // counts and scores at the leaves
};

std::string to_dot(const Model& model, const DotOptions& options = {});

// Text as a quoted DOT string: quotes and backslashes escaped, line breaks kept, left-aligned where there are several.
std::string dot_quoted(std::string_view text);

}  // namespace remede
