#include "remede/export/c.h"

#include <algorithm>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/export/c_text.h"
#include "remede/export/names.h"
#include "remede/export/words.h"
#include "remede/model/checksum.h"

namespace remede {
namespace {

// Of what exported programs promise: it grows when an older caller would misunderstand a newer program.
constexpr int kProgramVersion = 1;

// What a program costs and how it is to be compiled: the comment at its top.
std::string description(const Model& model, const Tables& tables, const CText& text, const char* language) {
  const std::string what = model.classifies()
                               ? fmt::format("the probabilities of {}",
                                             model.n_y() == 1 ? "1 class" : fmt::format("{} classes", model.n_y()))
                               : plural(model.n_y(), "value");
  return fmt::format(
      "   A decision tree with memory, exported by remede as {}. Do not edit; export the model again.\n\n"
      "   A step reads {} and gives {}.\n"
      "   In the worst case it makes {} of an input or a cell with a threshold.\n"
      "   Tables: {} bytes. State: {} bytes. Local arrays: {} bytes. No heap, no recursion, no libm.\n\n"
      "   The answers are those of remede, bit for bit, where float is IEEE 754 binary32 with subnormal numbers and "
      "each\n"
      "   operation is rounded once, to nearest. Compile with -ffp-contract=off and without -ffast-math: a product and "
      "a\n"
      "   sum must not be fused. The pragmas see to it for GCC and Clang.\n",
      language, plural(tables.inputs, "input"), what, plural(tables.comparisons(), "comparison"),
      grouped(static_cast<long long>(text.table_bytes)), 4 * tables.state, text.local_bytes);
}

// What y holds, as identifiers.
std::vector<std::string> answer_names(const Model& model) {
  return model.classifies() ? model.schema.classes : model.output_names();
}

const char* answer_words(const Model& model) { return model.classifies() ? "classes' probabilities" : "values"; }

std::string checksum_text(const Model& model) { return fmt::format("0x{:016x}ULL", checksum(model)); }

// enum { PREFIX_RAIN = 0, ... }
std::string enumeration(const char* begin, const std::string& prefix, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::vector<std::string> identifiers = capital_identifiers(names);
  std::string text = fmt::format("{} {{\n", begin);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("    {}{} = {}{} /* {} */\n", prefix, identifiers[i], i, i + 1 < names.size() ? "," : "",
                        in_comment(names[i]));
  return text + "};\n";
}

const char* const kGuards =
    "#if defined(__FAST_MATH__)\n"
    "#error \"expected a build without -ffast-math: missing values are NaN, and sums keep their order\"\n"
    "#endif\n"
    "#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD != 0) && (FLT_EVAL_METHOD != 16)\n"
    "#error \"expected arithmetic of float in float (on x86: -mfpmath=sse -msse2)\"\n"
    "#endif\n";

// The parts of a C program, and what its macros begin with.
struct CParts {
  const Model& model;
  const std::string& name;
  std::string big;  // the name in capitals
  Tables tables;
  CText text;
  WordFunctions words;
  std::string about;
  std::string checksum;

  std::string step_prototype() const {
    const std::string x = tables.inputs > 0 ? fmt::format("const float x[{}_INPUTS]", big) : "const float *x";
    return fmt::format("void {0}_step({0}_state *s, {1}, float y[{2}_OUTPUTS])", name, x, big);
  }
};

std::string header_text(const CParts& p) {
  const Model& model = p.model;
  std::string out = fmt::format(
      "/* {0}.h\n{1}*/\n#ifndef {2}_H\n#define {2}_H\n\n"
      "#define {2}_VERSION {3} /* of the interface */\n#define {2}_CHECKSUM {4} /* of the model */\n"
      "#define {2}_INPUTS {5}\n#define {2}_OUTPUTS {6}\n#define {2}_STATE {7} /* floats */\n\n",
      p.name, p.about, p.big, kProgramVersion, p.checksum, p.tables.inputs, p.tables.outputs, p.tables.state);
  if (p.tables.inputs > 0)
    out += fmt::format("/* Places of the inputs in x; a missing value is NaN. */\n{}\n",
                       enumeration("enum", p.big + "_X_", model.schema.inputs));
  out += fmt::format("/* Places of the {} in y. */\n{}\n", answer_words(model),
                     enumeration("enum", p.big + "_Y_", answer_names(model)));
  out += fmt::format(
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "/* What is remembered between steps: the floats of remede's Stream, in its order. One for each sequence; it "
      "may\n"
      "   be copied and saved. */\n"
      "typedef struct {{\n    float m[{1}];{2}\n}} {0}_state;\n\n"
      "/* Before the first step of a sequence. */\nvoid {0}_init({0}_state *s);\n\n"
      "/* The next step. */\n{3};\n{4}\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
      p.name, std::max(p.tables.state, 1), p.tables.state == 0 ? " /* not used */" : "", p.step_prototype(),
      p.words.declarations);
  return out;
}

std::string source_text(const CParts& p) {
  std::string out = fmt::format(
      "/* {0}.c\n{1}*/\n#include \"{0}.h\"\n\n#include <float.h>\n{2}#include <stdbool.h>\n#include <stdint.h>\n\n",
      p.name, p.about, p.words.definitions.empty() ? "" : "#include <math.h> /* for NAN */\n");
  out += fmt::format(
      "#if {0}_VERSION != {1}\n#error \"{2}.h: expected version {1} of the interface: export the model "
      "again\"\n#endif\n"
      "#if {0}_CHECKSUM != {3}\n#error \"{2}.h and {2}.c are of different models: export the model again\"\n#endif\n",
      p.big, kProgramVersion, p.name, p.checksum);
  out += kGuards;
  out +=
      "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC optimize (\"fp-contract=off\")\n#else\n"
      "#pragma STDC FP_CONTRACT OFF\n#endif\n\n";
  out += fmt::format(
      "/* Where constants are kept: on AVR in flash. */\n#if defined(__AVR__) && defined(__FLASH)\n"
      "#define {0}_ROM __flash\n#else\n#define {0}_ROM\n#endif\n\n",
      p.big);
  out += p.text.tables + p.text.functions;
  out += fmt::format(
      "\nvoid {0}_init({0}_state *s)\n{{\n    uint32_t i;\n    for (i = 0u; i < {1}u; i++) {{\n        s->m[i] = "
      "0.0f;\n"
      "    }}\n}}\n\n{2}\n{{\n{3}}}\n",
      p.name, std::max(p.tables.state, 1), p.step_prototype(), p.text.step);
  return out + p.words.definitions;
}

}  // namespace

CProgram to_c(const Model& model, const std::string& name) {
  check_export_name(name);
  const std::string big = capitals(name);
  const CDialect dialect = {name + "_",
                            "static",
                            fmt::format("static {}_ROM const", big),
                            big + "_INPUTS",
                            big + "_OUTPUTS",
                            big + "_STATE",
                            "    union {\n        uint32_t bits;\n        float value;\n    } both;\n"
                            "    both.bits = bits;\n    return both.value;\n"};
  CParts parts = {
      model, name, big, make_tables(model), {}, word_functions(model.schema, name), {}, checksum_text(model)};
  parts.text = c_text(model, parts.tables, dialect);
  parts.about = description(model, parts.tables, parts.text, "C99");
  return {header_text(parts), source_text(parts)};
}

std::string to_cpp(const Model& model, const std::string& name) {
  check_export_name(name);
  const Tables tables = make_tables(model);
  const CDialect dialect = {"tree_",
                            "constexpr",
                            "inline constexpr",
                            "kInputs",
                            "kOutputs",
                            "kState",
                            "    return std::bit_cast<float>(bits);\n"};
  const CText text = c_text(model, tables, dialect);
  const std::string big = capitals(name);
  std::string out = fmt::format("// {}.hpp\n/*\n{}*/\n", name, description(model, tables, text, "a header for C++20"));
  out += fmt::format(
      "#ifndef {0}_HPP\n#define {0}_HPP\n\n#include <array>\n#include <bit>\n#include <cfloat>\n#include <cstdint>\n\n",
      big);
  out += kGuards;
  out +=
      "#if defined(__clang__)\n#pragma float_control(push)\n#pragma STDC FP_CONTRACT OFF\n#elif defined(__GNUC__)\n"
      "#pragma GCC push_options\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n\n";
  out += fmt::format(
      "namespace {} {{\n\ninline constexpr int kVersion = {};\ninline constexpr std::uint64_t kChecksum = "
      "{};\n"
      "inline constexpr int kInputs = {};\ninline constexpr int kOutputs = {};\ninline constexpr int kState = {};\n\n",
      name, kProgramVersion, checksum_text(model), tables.inputs, tables.outputs, tables.state);
  if (tables.inputs > 0)
    out += "// Places of the inputs in x; a missing value is NaN.\n" +
           enumeration("enum Input : int", "X_", model.schema.inputs) + "\n";
  out += fmt::format("// Places of the {} in y.\n", answer_words(model)) +
         enumeration("enum Output : int", "Y_", answer_names(model)) + "\n";
  out += fmt::format(
      "// What is remembered between steps. One for each sequence; it may be copied and saved.\nstruct State {{\n"
      "  float m[{}] = {{}};{}\n}};\n\nnamespace detail {{\n\nusing std::int16_t;\nusing std::int32_t;\nusing "
      "std::int8_t;\n"
      "using std::uint16_t;\nusing std::uint32_t;\nusing std::uint8_t;\n\n",
      std::max(tables.state, 1), tables.state == 0 ? "  // not used" : "");
  out += text.tables + text.functions;
  out += fmt::format(
      "\nconstexpr void tree_step(State *s, const float *x, float *y)\n{{\n{}}}\n\n}}  // namespace detail\n\n",
      text.step);
  out +=
      "// The next step. A new State is one before the first step.\n"
      "constexpr std::array<float, kOutputs> step(State& state, const std::array<float, kInputs>& x) {\n"
      "  std::array<float, kOutputs> y = {};\n  detail::tree_step(&state, x.data(), y.data());\n  return y;\n}\n\n";
  out += fmt::format("}}  // namespace {}\n\n", name);
  out +=
      "#if defined(__clang__)\n#pragma float_control(pop)\n#elif defined(__GNUC__)\n#pragma GCC "
      "pop_options\n#endif\n\n#endif\n";
  return out;
}

}  // namespace remede
