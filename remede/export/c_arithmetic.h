// The arithmetic of the model (base/arithmetic.h) and the links of the objectives (objective/formulas.inc) as C text,
// in the same order of operations. $_ and $F are placeholders of c_text.cpp. Each function begins with an empty line.
#pragma once

#include <string>

#include "remede/objective/objective.h"

namespace remede {

std::string tanh_in_c();
std::string exp_in_c();
std::string sigmoid_in_c();  // uses exp
std::string bounded_in_c();

// $_link(float *y): raw outputs to the answer; empty where that changes nothing.
std::string link_text_in_c(const Objective& objective, int outputs);

}  // namespace remede
