#include "remede/export/c_arithmetic.h"

#include <iterator>
#include <span>

#include <fmt/format.h>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/export/names.h"
#include "remede/model/cells.h"

namespace remede {
namespace {

// name = (... (c5 * by + c4) * by + ...) + c0, a product and a sum in a line each.
std::string horner(const char* name, const char* by, std::span<const float> c) {
  std::string text = fmt::format("    {} = {};\n", name, c_number(c.back()));
  for (std::size_t i = c.size() - 1; i-- > 0;)
    text += fmt::format("    {0} = {0} * {1};\n    {0} = {0} + {2};\n", name, by, c_number(c[i]));
  return text;
}

}  // namespace

std::string tanh_in_c() {
  using C = TanhConstants;
  return fmt::format(
             "\n/* x P(x^2) / Q(x^2); within 4e-7 of tanh. */\n$F float $_tanh(float argument)\n{{\n"
             "    float x = argument;\n    float s;\n    float p;\n    float q;\n    float r;\n"
             "    if (x > {0}) {{\n        x = {0};\n    }}\n    if (x < -{0}) {{\n        x = -{0};\n    }}\n"
             "    s = x * x;\n",
             c_number(C::kLimit)) +
         horner("p", "s", C::kP) + horner("q", "s", C::kQ) +
         "    r = x * p;\n    r = r / q;\n    if (r > 1.0f) {\n        r = 1.0f;\n    }\n    if (r < -1.0f) {\n"
         "        r = -1.0f;\n    }\n    return r;\n}\n";
}

std::string exp_in_c() {
  using C = ExpConstants;
  return fmt::format(
             "\n$F float $_from_bits(uint32_t bits)\n{{\n$BITS}}\n"
             "\n/* 2^n e^r; within 2e-7 of exp, relative. */\n$F float $_exp(float argument)\n{{\n"
             "    float x = argument;\n    float n;\n    float r;\n    float p;\n    float t;\n"
             "    if (x < {0}) {{\n        return 0.0f;\n    }}\n    if (x > {1}) {{\n        x = {1};\n    }}\n"
             "    n = x * {2};\n    n = n + {3};\n    n = n - {3};\n    t = n * {4};\n    r = x - t;\n    t = n * "
             "{5};\n"
             "    r = r - t;\n",
             c_number(C::kLowest), c_number(C::kHighest), c_number(C::kLog2e), c_number(C::kRound),
             c_number(C::kLn2High), c_number(C::kLn2Low)) +
         horner("p", "r", C::kP) +
         "    p = p * r;\n    p = p * r;\n    p = p + r;\n    p = p + 1.0f;\n    if (n != n) {\n        return n;\n    "
         "}\n"
         "    return p * $_from_bits((uint32_t)((int32_t)n + 127) << 23u);\n}\n";
}

std::string sigmoid_in_c() {
  return "\n$F float $_sigmoid(float x)\n{\n    const float e = $_exp((x < 0.0f) ? x : -x);\n"
         "    return (x < 0.0f) ? (e / (1.0f + e)) : (1.0f / (1.0f + e));\n}\n";
}

std::string bounded_in_c() {
  return fmt::format(
      "\n$F float $_bounded(float argument)\n{{\n    float a = argument;\n    if (a > {0}) {{\n        a = {0};\n    "
      "}}\n"
      "    if (a < -{0}) {{\n        a = -{0};\n    }}\n    return (a == a) ? a : 0.0f;\n}}\n",
      c_number(kCellBound));
}

std::string link_text_in_c(const Objective& objective, int outputs) {
  if (has_identity_link(objective)) return "";
  const std::string positive =
      "\n/* exp, kept positive and finite. */\n$F float $_positive(float y)\n{\n    float a = y;\n"
      "    if (a < -80.0f) {\n        a = -80.0f;\n    }\n    if (a > 80.0f) {\n        a = 80.0f;\n    }\n"
      "    return $_exp(a);\n}\n";
  const std::string begin = "\n$F void $_link(float *y)\n{\n    $_size k;\n";
  switch (objective.loss) {
    case Loss::kCrossEntropy:
      return "\n/* Softmax. */" + begin +
             "    float most = y[0];\n    float sum = 0.0f;\n    for (k = 1u; k < $OUTPUTS; k++) {\n"
             "        if (y[k] > most) {\n            most = y[k];\n        }\n    }\n"
             "    for (k = 0u; k < $OUTPUTS; k++) {\n        y[k] = $_exp(y[k] - most);\n        sum = sum + y[k];\n   "
             " }\n"
             "    for (k = 0u; k < $OUTPUTS; k++) {\n        y[k] = y[k] / sum;\n    }\n}\n";
    case Loss::kPoisson:
      return positive + begin + "    for (k = 0u; k < $OUTPUTS; k++) {\n        y[k] = $_positive(y[k]);\n    }\n}\n";
    case Loss::kQuantile: {
      if (outputs == 1) return "";
      const int middle = point_output(objective, 0);
      std::string text = positive + "\n/* Quantiles from the middle one outwards. */" + begin;
      if (middle + 1 < outputs)
        text += fmt::format(
            "    for (k = {}u; k < $OUTPUTS; k++) {{\n        y[k] = y[k - 1u] + $_positive(y[k]);\n    }}\n",
            middle + 1);
      if (middle > 0)
        text += fmt::format(
            "    for (k = {}u; k > 0u; k--) {{\n        y[k - 1u] = y[k] - $_positive(y[k - 1u]);\n    }}\n", middle);
      return text + "}\n";
    }
    default:
      break;
  }
  fail("expected an objective that can be exported, got {}", word_of(objective));
}

}  // namespace remede
