#include "remede/export/fixed.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/export/fixed_scales.h"
#include "remede/export/names.h"
#include "remede/model/checksum.h"

namespace remede {
namespace {

constexpr int kFixedVersion = 1;   // of the interface
constexpr int kNodesPerUnit = 16;  // of the table of tanh

void expect_simple(const Model& model, const Tables& tables) {
  const char* const known = "export in fixed point: expected one tree whose leaves write its cells, got";
  if (model.trees.size() > 1) fail("{} {} trees", known, model.trees.size());
  if (model.trees[0].has_laws()) fail("{} cells with laws", known);
  if (model.trees[0].form.output_order == OutputOrder::kFirst) fail("{} outputs that are added up", known);
  if (!tables.linear.empty() && !has_identity_link(model.objective()))
    fail("export in fixed point: expected constant answers, or linear ones in regression, got linear leaves with {}",
         model.classifies() ? "softmax" : "another link");
}

// The constants of a program as C tables.
class FixedTables {
 public:
  explicit FixedTables(const std::string& prefix) : prefix_(prefix) {}

  template <typename T>
  void add(const char* comment, const char* type, const std::string& name, const std::vector<T>& values) {
    constexpr std::size_t kWidth = 100;
    text_ += fmt::format("\n/* {} */\nstatic const {} {}_{}[{}] = {{\n", comment, type, prefix_, name,
                         std::max<std::size_t>(values.size(), 1));
    std::string line = "   ";
    for (std::size_t i = 0; i < std::max<std::size_t>(values.size(), 1); ++i) {
      const std::string one = values.empty() ? "0" : integer(static_cast<std::int64_t>(values[i]));
      if (line.size() + one.size() + 2 > kWidth) {
        text_ += line + "\n";
        line = "   ";
      }
      line += fmt::format(" {}{}", one, i + 1 < values.size() ? "," : "");
    }
    text_ += line + "\n};\n";
  }
  const std::string& text() const { return text_; }

 private:
  static std::string integer(std::int64_t value) {
    return value > 2147483647 || value < -2147483647 ? fmt::format("{}LL", value) : fmt::format("{}", value);
  }
  std::string prefix_;
  std::string text_;
};

std::vector<std::int64_t> tanh_table(const FixedScales& scales) {
  std::vector<std::int64_t> table;
  for (int i = 0; i <= 8 * kNodesPerUnit; ++i)
    table.push_back(scales.rounded(std::tanh(static_cast<double>(i) / kNodesPerUnit), scales.places));
  return table;
}

struct SumTables {
  std::vector<int> begin = {0}, bits, operand, shift;
  std::vector<std::int64_t> constant, weight;

  void add(const FixedSum& sum) {
    for (const FixedSum::Term& term : sum.terms) {
      operand.push_back(term.value);
      weight.push_back(term.weight);
      shift.push_back(term.shift);
    }
    begin.push_back(static_cast<int>(operand.size()));
    bits.push_back(sum.bits);
    constant.push_back(sum.constant);
  }
};

std::string tables_text(const Model& model, const Tables& t, const FixedScales& scales, const std::string& name) {
  FixedTables out(name);
  const std::string value = name + "_value", wide = name + "_wide";
  std::vector<std::int64_t> threshold, fill, blend;
  std::vector<int> test, left, right, write_begin = {0}, cell;
  for (const Tables::Node& node : t.nodes) {
    threshold.push_back(
        scales.threshold(double{node.threshold}, scales.value_bits[static_cast<std::size_t>(node.value)]));
    test.push_back(2 * node.value + (node.missing_right ? 1 : 0));
    left.push_back(node.left);
    right.push_back(node.right);
  }
  for (int i = 0; i < t.inputs; ++i)
    fill.push_back(scales.rounded(double{model.fill[static_cast<std::size_t>(i)]},
                                  scales.value_bits[static_cast<std::size_t>(i)]));
  SumTables sums;
  for (const std::vector<FixedWrite>& leaf : scales.writes) {
    for (const FixedWrite& write : leaf) {
      sums.add(write.argument);
      cell.push_back(write.cell);
      blend.push_back(write.blends ? write.blend : -1);
    }
    write_begin.push_back(static_cast<int>(cell.size()));
  }
  for (const FixedSum& answer : scales.answers) sums.add(answer);
  out.add("Nodes: the least value that goes right.", value.c_str(), "threshold", threshold);
  out.add("Nodes: twice the number of the tested value, plus 1 where a missing one goes right.", "uint16_t", "test",
          test);
  out.add("Nodes: children; a leaf is -1 - child.", "int16_t", "left", left);
  out.add("Nodes: children; a leaf is -1 - child.", "int16_t", "right", right);
  if (scales.answers.empty()) out.add("Answers of the leaves.", value.c_str(), "output", scales.constants);
  if (!scales.answers.empty()) out.add("Binary places of the answers.", "int8_t", "output_bits", scales.output_bits);
  out.add("Where the writes of each leaf begin.", "uint16_t", "leaf_writes", write_begin);
  out.add("Writes: the cell.", "uint16_t", "write_cell", cell);
  out.add("Writes: the share of the new value; -1: it is added.", value.c_str(), "write_blend", blend);
  out.add("Cells: binary places of what is added, beyond those of the cell.", "int8_t", "cell_shift", [&] {
    std::vector<int> shifts;
    for (std::size_t v = static_cast<std::size_t>(t.inputs); v < scales.value_bits.size(); ++v)
      shifts.push_back(scales.places - scales.value_bits[v]);
    return shifts;
  }());
  out.add("Sums, of the writes and then of the answers: where their terms begin.", "uint16_t", "sum", sums.begin);
  out.add("Sums: binary places.", "int8_t", "sum_bits", sums.bits);
  out.add("Sums: the constant.", wide.c_str(), "sum_constant", sums.constant);
  out.add("Terms: weights.", value.c_str(), "weight", sums.weight);
  out.add("Terms: the values, first the inputs, then the memory.", "uint16_t", "operand", sums.operand);
  out.add("Terms: binary places of the product beyond those of the sum.", "uint8_t", "term_shift", sums.shift);
  out.add("What a missing input counts as in sums.", value.c_str(), "fill", fill);
  if (!cell.empty()) out.add("tanh at 0, 1/16, ..., 8.", value.c_str(), "tanh_table", tanh_table(scales));
  return out.text();
}

// $ stands for the name, @ for it in capitals.
std::string named(std::string_view text, const std::string& name) {
  std::string out;
  for (const char c : text) out += c == '$' ? name : c == '@' ? capitals(name) : std::string(1, c);
  return out;
}

constexpr std::string_view kShift = R"(
/* value 2^-bits towards zero; to the left where bits is negative. */
static $_wide $_shift($_wide value, int bits)
{
    if (bits < 0) {
        return value * (($_wide)1 << -bits);
    }
    if (bits > @_WIDE_BITS) {
        return 0;
    }
    return (value >= 0) ? (value >> bits) : -(-value >> bits);
}

static $_value $_limited($_wide value)
{
    if (value > @_MOST) {
        return @_MOST;
    }
    return (value < -@_MOST) ? ($_value)-@_MOST : ($_value)value;
}
)";

constexpr std::string_view kTanh = R"(
static $_wide $_product($_wide a, $_wide b)
{
    return $_shift(a * b, @_PLACES);
}

/* From the next entry of the table by three terms of Taylor's series, with tanh' = 1 - tanh^2. */
static $_wide $_tanh($_wide argument)
{
    const $_wide a = (argument < 0) ? -argument : argument;
    const int node = (int)((a + (($_wide)1 << (@_ARGUMENT_BITS - 5))) >> (@_ARGUMENT_BITS - 4));
    const $_wide d = (a - (($_wide)node << (@_ARGUMENT_BITS - 4))) * 8; /* in the places of the result */
    const $_wide t = $_tanh_table[node];
    const $_wide one = ($_wide)1 << @_PLACES;
    const $_wide square = $_product(t, t);
    const $_wide slope = one - square;
    $_wide r = $_product(slope, square - (one / 3));
    r = $_product(r, d) - $_product(t, slope);
    r = $_product(r, d) + slope;
    r = t + $_product(r, d);
    return (argument < 0) ? -r : r;
}
)";

constexpr std::string_view kSum = R"(
static $_value $_read(const $_state *s, const $_value *x, uint16_t number)
{
    if (number >= @_INPUTS) {
        return s->m[number - @_INPUTS];
    }
    return (x[number] == @_MISSING) ? $_fill[number] : x[number];
}

static $_wide $_add_up(const $_state *s, const $_value *x, uint16_t number)
{
    $_wide sum = $_sum_constant[number];
    uint16_t i;
    for (i = $_sum[number]; i < $_sum[number + 1u]; i++) {
        sum += $_shift(($_wide)$_weight[i] * $_read(s, x, $_operand[i]), $_term_shift[i]);
    }
    return sum;
}
)";

constexpr std::string_view kWrite = R"(
/* tanh of a sum. */
static $_wide $_written(const $_state *s, const $_value *x, uint16_t write)
{
    const $_wide sum = $_add_up(s, x, write);
    const int bits = $_sum_bits[write];
    if (bits < @_WIDE_BITS - 3) { /* else it is below 8 */
        const $_wide limit = (bits < -3) ? 1 : $_shift(8, -bits);
        if (sum >= limit) {
            return @_MOST;
        }
        if (sum <= -limit) {
            return -@_MOST;
        }
    }
    return $_tanh($_shift(sum, bits - @_ARGUMENT_BITS));
}
)";

constexpr std::string_view kLeaf = R"(
static uint16_t $_leaf(const $_state *s, const $_value *x)
{
    int16_t node = @_ROOT;
    while (node >= 0) {
        const uint16_t number = (uint16_t)($_test[node] >> 1u);
        const bool is_input = number < @_INPUTS;
        bool right;
        if (is_input && (x[number] == @_MISSING)) {
            right = ($_test[node] & 1u) != 0u;
        } else {
            right = (is_input ? x[number] : s->m[number - @_INPUTS]) >= $_threshold[node];
        }
        node = right ? $_right[node] : $_left[node];
    }
    return (uint16_t)(-1 - node);
}
)";

std::string step_text(const Tables& t, const FixedScales& scales) {
  const bool writes = !t.writes.empty();
  std::string out = "    const uint16_t leaf = $_leaf(s, x);\n    uint16_t k;\n";
  if (writes) out += fmt::format("    uint16_t w;\n    $_value next[{}];\n", t.most_writes());
  if (scales.answers.empty()) {
    out += "    for (k = 0u; k < @_OUTPUTS; k++) {\n        y[k] = $_output[(leaf * @_OUTPUTS) + k];\n    }\n";
  } else {
    out += fmt::format(
        "    for (k = 0u; k < @_OUTPUTS; k++) {{\n"
        "        const uint16_t sum = (uint16_t)({}u + (leaf * @_OUTPUTS) + k);\n"
        "        y[k] = $_limited($_shift($_add_up(s, x, sum), $_sum_bits[sum] - $_output_bits[k]));\n    }}\n",
        t.writes.size());
  }
  if (!writes) return out;
  out +=
      "    k = 0u;\n    for (w = $_leaf_writes[leaf]; w < $_leaf_writes[leaf + 1u]; w++) {\n"
      "        const $_wide m = s->m[$_write_cell[w]];\n        const $_wide u = $_written(s, x, w);\n"
      "        if ($_write_blend[w] < 0) {\n"
      "            next[k] = $_limited(m + $_shift(u, $_cell_shift[$_write_cell[w]]));\n        } else {\n"
      "            next[k] = $_limited(m + $_product($_write_blend[w], u - m));\n        }\n        k++;\n    }\n"
      "    k = 0u;\n    for (w = $_leaf_writes[leaf]; w < $_leaf_writes[leaf + 1u]; w++) {\n"
      "        s->m[$_write_cell[w]] = next[k];\n        k++;\n    }\n";
  return out;
}

std::string power_of_two(int bits) {
  return bits >= 0 ? fmt::format("{}.0", std::int64_t{1} << bits)
                   : fmt::format("(1.0 / {}.0)", std::int64_t{1} << -bits);
}

std::string scale_macros(const std::string& prefix, const std::vector<std::string>& names, const std::vector<int>& bits,
                         int places) {
  std::string out;
  const std::vector<std::string> identifiers = capital_identifiers(names);
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format("#define {}{} {}\n#define {}{}_SCALE {} /* {}: within +-{:.6g} */\n", prefix, identifiers[i], i,
                       prefix, identifiers[i], power_of_two(bits[i]), in_comment(names[i]),
                       std::ldexp(1.0, places - bits[i]));
  return out;
}

std::string bound_text(const Model& model, const Tables& t, const FixedBound& bound, int steps) {
  std::string out =
      fmt::format("   Distance from the answers of the library in the first {} steps of a sequence, at most:\n", steps);
  const std::vector<std::string> names = model.classifies() ? model.schema.classes : model.output_names();
  for (std::size_t o = 0; o < names.size(); ++o)
    out += fmt::format("     {}: {:.3g}\n", in_comment(names[o]), bound.output[o]);
  out +=
      "   while inputs lie in their ranges and are rounded to the nearest integer, cells lie in theirs, and no tested "
      "value comes\n   closer to its threshold than this:\n";
  std::vector<std::uint8_t> tested(bound.margin.size());
  for (const Tables::Node& node : t.nodes) tested[static_cast<std::size_t>(node.value)] = 1;
  for (std::size_t v = 0; v < tested.size(); ++v)
    if (tested[v] != 0)
      out += fmt::format("     {}: {:.3g}\n",
                         v < model.schema.inputs.size() ? in_comment(model.schema.inputs[v])
                                                        : fmt::format("m{}", v - model.schema.inputs.size() + 1),
                         bound.margin[v]);
  return out;
}

}  // namespace

FixedProgram to_fixed_c(const Model& model, const std::string& name, FixedType type, const FixedRanges& ranges,
                        int steps) {
  check_export_name(name);
  const Tables t = make_tables(model);
  expect_simple(model, t);
  const FixedScales scales(model, t, type, ranges);
  FixedProgram made;
  made.bound = scales.bound(steps);
  made.input_bits.assign(scales.value_bits.begin(), scales.value_bits.begin() + t.inputs);
  made.cell_bits.assign(scales.value_bits.begin() + t.inputs, scales.value_bits.end());
  made.output_bits = scales.output_bits;
  const bool q15 = type == FixedType::kQ15;
  const std::string big = capitals(name), x = t.inputs > 0 ? big + "_INPUTS" : "";
  const std::string about = fmt::format(
      "   A decision tree with memory in fixed point ({}), exported by remede as C99. Do not edit; export the model "
      "again.\n   No floating point, no heap, no recursion, no libm.\n\n{}",
      q15 ? "Q15: 16 bits" : "Q31: 32 bits", bound_text(model, t, made.bound, steps));
  const std::string step = fmt::format("void {0}_step({0}_state *s, const {0}_value {1}, {0}_value y[{2}_OUTPUTS])",
                                       name, t.inputs > 0 ? fmt::format("x[{}_INPUTS]", big) : "*x", big);
  made.program.header = fmt::format(
      "/* {0}.h\n{1}*/\n#ifndef {2}_H\n#define {2}_H\n\n#include <stdint.h>\n\n"
      "#define {2}_FIXED_VERSION {3} /* of the interface */\n#define {2}_CHECKSUM 0x{4:016x}ULL /* of the model */\n"
      "#define {2}_INPUTS {5}u\n#define {2}_OUTPUTS {6}u\n#define {2}_STATE {7}u\n\n"
      "typedef {8} {0}_value;\n#define {2}_MOST {9}\n#define {2}_MISSING (-{2}_MOST - 1) /* a missing input */\n\n"
      "/* Places of the inputs in x. x[i] is a value times its scale, rounded and cut off at +-{2}_MOST. */\n{10}\n"
      "/* Places of the answers in y. A value is y[i] divided by its scale. */\n{11}\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "typedef struct {{\n    {0}_value m[{12}];\n}} {0}_state;\n\n/* Before the first step of a sequence. */\n"
      "void {0}_init({0}_state *s);\n\n/* The next step. */\n{13};\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
      name, about, big, kFixedVersion, checksum(model), t.inputs, t.outputs, t.state, q15 ? "int16_t" : "int32_t",
      q15 ? "32767" : "2147483647", scale_macros(big + "_X_", model.schema.inputs, made.input_bits, scales.places),
      scale_macros(big + "_Y_", model.classifies() ? model.schema.classes : model.output_names(), made.output_bits,
                   scales.places),
      std::max(t.state, 1), step);
  std::string source = fmt::format(
      "/* {0}.c\n{1}*/\n#include \"{0}.h\"\n\n#include <stdbool.h>\n\n#if {2}_FIXED_VERSION != {3}\n"
      "#error \"{0}.h: expected version {3} of the interface: export the model again\"\n#endif\n"
      "#if {2}_CHECKSUM != 0x{4:016x}ULL\n#error \"{0}.h and {0}.c are of different models: export the model "
      "again\"\n#endif\n\ntypedef {5} {0}_wide;\n#define {2}_PLACES {6}\n#define {2}_WIDE_BITS {7}\n"
      "#define {2}_ARGUMENT_BITS {8}\n#define {2}_ROOT {9}\n",
      name, about, big, kFixedVersion, checksum(model), q15 ? "int32_t" : "int64_t", scales.places, scales.wide,
      scales.argument_bits, t.trees[0].root);
  source += tables_text(model, t, scales, name);
  source += named(kLeaf, name);
  const bool sums = !t.writes.empty() || !scales.answers.empty();
  if (sums) source += named(kShift, name) + named(kSum, name);
  if (!t.writes.empty()) source += named(kTanh, name) + named(kWrite, name);
  source += named(
      "\nvoid $_init($_state *s)\n{\n    uint16_t i;\n    for (i = 0u; i < sizeof(s->m) / sizeof(s->m[0]); i++) {\n"
      "        s->m[i] = 0;\n    }\n}\n\n",
      name);
  source += step + "\n{\n" + named(step_text(t, scales), name) + "}\n";
  made.program.source = std::move(source);
  return made;
}

}  // namespace remede
