// Functions of an exported program that turn the words of a column into inputs, one for each such column.
#pragma once

#include <string>

#include "remede/schema/schema.h"

namespace remede {

struct WordFunctions {
  std::string declarations;  // for the header; empty where all inputs are numbers
  std::string definitions;
};

// int NAME_set_COLUMN(float x[NAME_INPUTS], const char *word)
WordFunctions word_functions(const Schema& schema, const std::string& name);

}  // namespace remede
