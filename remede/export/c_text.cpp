#include "remede/export/c_text.h"

#include <fmt/format.h>

#include "remede/export/c_arithmetic.h"
#include "remede/export/c_writer.h"
#include "remede/export/names.h"

namespace remede {
namespace {

std::string indented(const std::string& text, int levels) {
  std::string out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    out += std::string(static_cast<std::size_t>(4 * levels), ' ') + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace

void CWriter::write_readers() {
  std::string body;
  const bool out = !t_.cells.empty();
  if (t_.inputs > 0 && t_.state == 0) {
    body = "    return v->x[i];\n";
  } else if (t_.inputs == 0 && !out) {
    body = "    return v->m[i];\n";
  } else {
    const std::string memory = t_.inputs == 0 ? "i" : "i - $INPUTS";
    body = "    float value;\n";
    std::string also;
    if (t_.inputs > 0) {
      body += "    if (i < $INPUTS) {\n        value = v->x[i];\n    }";
      also = " else ";
    } else {
      also = "    ";
    }
    if (out) {
      body += also + "if (i < ($INPUTS + $STATE)) {\n        value = v->m[" + memory + "];\n    }";
      body += " else {\n        value = v->out[i - ($INPUTS + $STATE)];\n    }\n";
    } else {
      body += also + "{\n        value = v->m[" + memory + "];\n    }\n";
    }
    body += "    return value;\n";
  }
  out_.functions += "\n$F float $_raw(const $_values *v, $_size i)\n{\n" + body + "}\n";
  if (has_nodes())
    out_.functions +=
        "\n$F $_size $_find(const $_values *v, $_child root)\n{\n    $_child at = root;\n    while (at >= 0) {\n"
        "        const float value = $_raw(v, ($_size)($_nodes[at].test / 2u));\n        bool right;\n"
        "        if (value != value) {\n            right = ($_nodes[at].test % 2u) != 0u;\n        } else {\n"
        "            right = value >= $_nodes[at].threshold;\n        }\n        at = right ? $_nodes[at].right : "
        "$_nodes[at].left;\n    }\n"
        "    return ($_size)(-1 - at);\n}\n";
  if (!has_sums()) return;
  const bool filled = std::any_of(model_.fill.begin(), model_.fill.end(), [](float v) { return v != 0.0F; });
  if (t_.inputs > 0) {
    const char* const is_input = t_.state == 0 ? "" : " && (i < $INPUTS)";
    out_.functions += fmt::format(
        "\n/* With missing inputs replaced. */\n$F float $_known(const $_values *v, $_size i)\n{{\n"
        "    float value = $_raw(v, i);\n    if ((value != value){}) {{\n        value = {};\n    }}\n"
        "    return value;\n}}\n",
        is_input, filled ? "$_fill[i]" : "0.0f");
  }
  out_.functions += fmt::format(
      "\n/* From left to right; every product and every sum is rounded once. */\n"
      "$F float $_sum(float constant, const $_values *v, $_size begin, $_size end)\n{{\n    float sum = constant;\n"
      "    $_size i;\n    for (i = begin; i < end; i++) {{\n        const float product = $_weight[i] * {}(v, "
      "$_operand[i]);\n"
      "        sum = sum + product;\n    }}\n    return sum;\n}}\n",
      t_.inputs > 0 ? "$_known" : "$_raw");
}

void CWriter::write_leaf_functions() {
  if (t_.writes.empty()) return;
  std::string update;
  if (t_.any_blend() && t_.any_add()) {
    update =
        "        if ($_write_blend[w] < 0.0f) {\n            *cell = *cell + u[w - begin];\n        } else {\n"
        "            const float change = $_write_blend[w] * (u[w - begin] - *cell);\n"
        "            *cell = *cell + change;\n        }\n";
  } else if (t_.any_blend()) {
    update =
        "        const float change = $_write_blend[w] * (u[w - begin] - *cell);\n        *cell = *cell + change;\n";
  } else {
    update = "        *cell = *cell + u[w - begin];\n";
  }
  out_.functions += fmt::format(
      "\n/* All writes of a leaf read the memory before the step. */\n"
      "$F void $_write(float *m, const $_values *v, $_size leaf)\n{{\n    float u[{}];\n"
      "    const $_size begin = $_leaf_writes[leaf];\n    const $_size end = $_leaf_writes[leaf + 1u];\n    $_size w;\n"
      "    for (w = begin; w < end; w++) {{\n"
      "        u[w - begin] = $_tanh($_sum($_write_bias[w], v, $_write_terms[w], $_write_terms[w + 1u]));\n    }}\n"
      "    for (w = begin; w < end; w++) {{\n        float *const cell = &m[$_write_cell[w]];\n{}    }}\n}}\n",
      t_.most_writes(), update);
  out_.local_bytes += sizeof(float) * static_cast<std::size_t>(t_.most_writes());
}

void CWriter::write_laws() {
  if (t_.cells.empty()) return;
  const Tables::TreeForm& first = t_.trees.front();
  add_tree_counts("Trees: the first cell with a law.", "cell", [](const auto& tree) { return tree.first_cell; });
  add_tree_counts("Trees: cells with laws.", "cells", [](const auto& tree) { return tree.cells; });
  add_tree_counts("Trees: where their memory begins.", "state", [](const auto& tree) { return tree.state; });
  const bool rows = !t_.tap_kind.empty() || !t_.tap_offset.empty();
  std::string body = fmt::format("    const $_size count = {};\n    $_size k;\n", of_tree("cells", first.cells));
  if (rows) {
    add_tree_counts("Trees: where their taps begin.", "tap", [](const auto& tree) { return tree.offsets; });
    add_tree_counts("Trees: the first leaf.", "leaf", [](const auto& tree) { return tree.first_leaf; });
    body += fmt::format("    const $_size row = ($_size)({} + ((leaf - {}) * count));\n", of_tree("tap", first.offsets),
                        of_tree("leaf", first.first_leaf));
  }
  if (t_.any_first()) {
    add_tree_counts("Trees: the flag that their first step is over, plus 1; 0: none.", "flag",
                    [](const auto& tree) { return tree.flag + 1; });
    body += fmt::format("    const $_size flag = {};\n    const bool begins = (flag > 0u) && (m[flag - 1u] == 0.0f);\n",
                        of_tree("flag", first.flag + 1));
  }
  body += fmt::format(
      "    for (k = 0u; k < count; k++) {{\n        const $_size c = ($_size)({} + k);\n"
      "        const $_size terms = ($_size)(2u * c);\n        const uint8_t law = $_cell_law[c];\n"
      "        float *const level = &m[{} + k];\n        float share = $_cell_tap[c];\n        float in;\n",
      of_tree("cell", first.first_cell), of_tree("state", first.state));
  if (t_.any_moving_tap()) {
    body += "        if (law < 8u) {\n";
    body += "            share = $_sum(share, v, $_cell_terms[terms + 1u], $_cell_terms[terms + 2u]);\n";
    if (!t_.tap_offset.empty())
      body +=
          "            if ($_tap_offset[row + k] != 0.0f) {\n                share = share + $_tap_offset[row + k];\n"
          "            }\n";
    body += "            share = $_sigmoid($_bounded(share));\n        }\n";
  }
  if (!t_.tap_kind.empty())
    body +=
        "        if ($_tap_kind[row + k] == 1u) {\n            share = 0.0f;\n        } else if ($_tap_kind[row + k] "
        "== "
        "2u) {\n            share = 1.0f;\n        } else {\n            /* as it is */\n        }\n";
  body +=
      "        in = $_bounded($_sum($_cell_bias[c], v, $_cell_terms[terms], $_cell_terms[terms + 1u]));\n"
      "        if (((law % 4u) != 1u) && !(in > 0.0f)) {\n            in = 0.0f;\n        }\n"
      "        if ((law % 4u) == 0u) {\n            const float sum = *level + in;\n            out[k] = share * sum;\n"
      "            *level = sum - out[k];\n        } else {\n";
  const char* const average = "const float change = share * (in - *level);\n{0}*level = *level + change;\n";
  if (t_.any_first()) {
    body +=
        "            if (((law % 8u) >= 4u) && begins) {\n                *level = in;\n            } else {\n         "
        "       " +
        fmt::format(fmt::runtime(average), "                ") + "            }\n";
  } else {
    body += "            " + fmt::format(fmt::runtime(average), "            ");
  }
  body += "            out[k] = *level;\n        }\n    }\n";
  if (t_.any_first()) body += "    if (flag > 0u) {\n        m[flag - 1u] = 1.0f;\n    }\n";
  const std::string parameters = fmt::format("float *m, const $_values *v{}{}, float *out",
                                             several_ ? ", $_size tree" : "", rows ? ", $_size leaf" : "");
  out_.functions +=
      fmt::format("\n/* The cells in order, each with its law. */\n$F void $_move({})\n{{\n{}}}\n", parameters, body);
}

void CWriter::write_functions() {
  const std::string link = t_.linked ? "" : link_text_in_c(model_.objective(), t_.outputs);
  const bool sigmoids = t_.any_moving_tap();
  if (!t_.writes.empty()) out_.functions += tanh_in_c();
  if (sigmoids || link.find("$_exp") != std::string::npos) out_.functions += exp_in_c();
  if (sigmoids) out_.functions += sigmoid_in_c();
  if (!t_.cells.empty()) out_.functions += bounded_in_c();
  out_.functions += link;
  if (has_nodes() || has_sums()) write_readers();
  write_leaf_functions();
  write_laws();
}

// Outputs of the leaf to `raw`.
std::string CWriter::answer_steps() const {
  std::string text =
      fmt::format("for (o = 0u; o < $OUTPUTS; o++) {{\n    const $_size at = ($_size)((leaf * $OUTPUTS) + o);\n");
  if (!t_.shared.empty() && several_) text += "    const $_size row = ($_size)((tree * $OUTPUTS) + o);\n";
  text += "    float value = $_output[at];\n";
  const char* const row = several_ ? "row" : "o";
  if (!t_.shared.empty())
    text += fmt::format("    value = $_sum(value, &v, $_shared[{0}], $_shared[{0} + 1u]);\n", row);
  if (!t_.linear.empty()) text += "    value = $_sum(value, &v, $_linear[at], $_linear[at + 1u]);\n";
  if (t_.linear.empty() && t_.shared.empty()) {
    text.resize(text.rfind("    float value"));
    return text + fmt::format("    {}[o] = $_output[at];\n}}\n", several_ ? "raw" : "y");
  }
  return text + fmt::format("    {}[o] = value;\n}}\n", several_ ? "raw" : "y");
}

void CWriter::write_step() {
  using Form = Tables::TreeForm;
  const bool laws = any(&Form::laws), writes = !t_.writes.empty(), mixed = laws && !all(&Form::laws);
  const bool first_order = any(&Form::first_order);
  const bool moves = !t_.cells.empty();
  if (moves && mixed)
    add_tree_counts("Trees: 1 where cells have laws.", "laws", [](const auto& tree) { return tree.laws ? 1 : 0; });
  if (first_order)
    add_tree_counts("Trees: where their last outputs are, plus 1; 0: nowhere.", "last",
                    [](const auto& tree) { return tree.last + 1; });
  std::string head, body;
  if (has_nodes() || has_sums()) head += "$_values v;\n";
  if (moves) head += fmt::format("float out[{}] = {{0.0f}};\n", t_.most_cells());
  if (several_) head += "float raw[$OUTPUTS];\n$_size tree;\n";
  head += "$_size leaf;\n$_size o;\n";
  out_.local_bytes +=
      sizeof(float) * static_cast<std::size_t>((moves ? t_.most_cells() : 0) + (several_ ? t_.outputs : 0));
  if (has_nodes()) {
    body += several_ ? "leaf = $_find(&v, $_root[tree]);\n" : "leaf = $_find(&v, 0);\n";
  } else {
    body += several_ ? "leaf = tree;\n" : "leaf = 0u;\n";
  }
  const bool rows = !t_.tap_kind.empty() || !t_.tap_offset.empty();
  const std::string move = fmt::format("$_move(s->m, &v{}{}, out);\n", several_ ? ", tree" : "", rows ? ", leaf" : "");
  if (moves) body += mixed ? "if ($_tree_laws[tree] == 1u) {\n    " + move + "}\n" : move;
  body += answer_steps();
  if (writes) body += "$_write(s->m, &v, leaf);\n";
  const char* const raw = several_ ? "raw" : "y";
  if (first_order) {
    const bool some = !all(&Form::first_order);
    const std::string last = fmt::format(
        "for (o = 0u; o < $OUTPUTS; o++) {{\n    float *const last = &s->m[({} - 1u) + o];\n"
        "    *last = *last + {}[o];\n    {}[o] = *last;\n}}\n",
        of_tree("last", t_.trees.front().last + 1), raw, raw);
    body += some ? "if ($_tree_last[tree] > 0u) {\n" + indented(last, 1) + "}\n" : last;
  }
  if (!t_.linked && !link_text_in_c(model_.objective(), t_.outputs).empty()) body += fmt::format("$_link({});\n", raw);
  if (several_) {
    body += "for (o = 0u; o < $OUTPUTS; o++) {\n    y[o] = (tree == 0u) ? raw[o] : (y[o] + raw[o]);\n}\n";
    body = fmt::format("for (tree = 0u; tree < {}u; tree++) {{\n{}}}\n", t_.trees.size(), indented(body, 1));
    body += fmt::format("for (o = 0u; o < $OUTPUTS; o++) {{\n    y[o] = y[o] / {};\n}}\n",
                        c_number(static_cast<float>(t_.trees.size())));
  }
  std::string set;
  if (has_nodes() || has_sums()) {
    set += "v.x = x;\nv.m = s->m;\n";
    if (moves) set += "v.out = out;\n";
  } else {
    set += "(void)x;\n(void)s;\n";
  }
  out_.step = indented(head + set + body, 1);
}

CText c_text(const Model& model, const Tables& tables, const CDialect& dialect) {
  return CWriter(model, tables, dialect).write();
}

}  // namespace remede
