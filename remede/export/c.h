// A model as a standalone program without this library: in C99 for controllers, or as a header for C++20.
//
// Both give the bits of model/predict.h for every input, missing (NaN) and infinite ones included; where an answer is
// not a number, which NaN it is depends on the processor. They use neither heap, recursion nor libm.
#pragma once

#include <string>

#include "remede/model/model.h"

namespace remede {

struct CProgram {
  std::string header;  // NAME.h
  std::string source;  // NAME.c
};

// Throws Error where `name` is no identifier.
CProgram to_c(const Model& model, const std::string& name);

// NAME.hpp: namespace NAME with a constexpr step().
std::string to_cpp(const Model& model, const std::string& name);

}  // namespace remede
