// The C text of a model: tables, and the few functions that walk them, of which only those that the model needs are
// written. The same text is C99 and, with `constexpr` in front of the functions, C++20.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remede/export/tables.h"

namespace remede {

// What differs between the languages.
struct CDialect {
  std::string prefix;                  // of every name: "model_"; empty inside a namespace
  std::string function;                // before every function: "static", "constexpr"
  std::string table;                   // before every table: "static MODEL_ROM const"
  std::string inputs, outputs, state;  // the constants: MODEL_INPUTS, MODEL_OUTPUTS, MODEL_STATE
  std::string bits_to_float;           // body of a function that returns the float with the bits of `bits`
};

struct CText {
  std::string tables;     // types and tables
  std::string functions;  // all but init() and step()
  std::string step;       // the body of step(), between its braces
  std::size_t table_bytes = 0;
  std::size_t local_bytes = 0;  // arrays on the stack during a step
};

CText c_text(const Model& model, const Tables& tables, const CDialect& dialect);

}  // namespace remede
