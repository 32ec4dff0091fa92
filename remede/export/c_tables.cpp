#include "remede/base/text.h"
#include "remede/export/c_writer.h"

namespace remede {

// x1, m2: as people call it.
std::string CWriter::value_words(int value) const {
  if (value < t_.inputs) return in_comment(model_.schema.inputs[static_cast<std::size_t>(value)]);
  for (std::size_t t = t_.trees.size(); t-- > 0;) {
    const int k = value - t_.inputs - t_.trees[t].state;
    if (k < 0) continue;
    const Tree& tree = model_.trees[t];
    const std::string name =
        tree.cell_name.empty() ? fmt::format("m{}", k + 1) : in_comment(tree.cell_name[static_cast<std::size_t>(k)]);
    return several_ ? fmt::format("{}.{}", t + 1, name) : name;
  }
  return "";
}

void CWriter::write_types() {
  std::size_t most = std::max({t_.terms.size(), t_.output.size() + 1, t_.writes.size(), 2 * t_.cells.size() + 1,
                               t_.tap_kind.size(), t_.tap_offset.size(), t_.nodes.size()});
  most = std::max(most, static_cast<std::size_t>(t_.inputs + t_.state + t_.most_cells()));
  const char* const type = most < std::numeric_limits<std::uint16_t>::max() ? "uint16_t" : "uint32_t";
  out_.tables += fmt::format("typedef {} $_size;\n", type);
  if (has_nodes() || has_sums()) {
    out_.tables += "\n/* What a step reads. */\ntypedef struct {\n    const float *x;\n    const float *m;\n";
    if (!t_.cells.empty()) out_.tables += "    const float *out; /* of the cells, in this step */\n";
    out_.tables += "} $_values;\n";
  }
}

void CWriter::write_nodes() {
  if (!has_nodes()) return;
  const IntegerType child = signed_type(-t_.leaves(), static_cast<std::int64_t>(t_.nodes.size()));
  int most = 0;
  for (const Tables::Node& node : t_.nodes) most = std::max(most, 2 * node.value + 1);
  const IntegerType test = unsigned_type(most);
  out_.tables += fmt::format(
      "\n/* A child: a node from 0 on, or the leaf -1 - child. test: twice the number of the value that is tested,\n"
      "   plus 1 where a missing value goes right. */\n"
      "typedef {} $_child;\ntypedef struct {{\n    float threshold;\n    {} test;\n    $_child left;\n"
      "    $_child right;\n}} $_node;\n\n$T $_node $_nodes[{}] = {{\n",
      child.name, test.name, t_.nodes.size());
  for (std::size_t i = 0; i < t_.nodes.size(); ++i) {
    const Tables::Node& node = t_.nodes[i];
    out_.tables += fmt::format("    {{{}, {}u, {}, {}}}{} /* {}: {} >= {} */\n", c_number(node.threshold),
                               2 * node.value + (node.missing_right ? 1 : 0), node.left, node.right,
                               i + 1 < t_.nodes.size() ? "," : "", i, value_words(node.value),
                               short_number(static_cast<double>(node.threshold), 4));
  }
  out_.tables += "};\n";
  const std::size_t align = sizeof(float);
  out_.table_bytes += t_.nodes.size() * ((sizeof(float) + test.bytes + 2 * child.bytes + align - 1) / align * align);
  if (!several_) return;
  std::vector<int> roots;
  for (const Tables::TreeForm& tree : t_.trees) roots.push_back(tree.root);
  add_table("Where each tree begins.", "$_child", child.bytes, "root", roots,
            [](int root) { return fmt::format("{}", root); });
}

void CWriter::write_answers() {
  add_floats(t_.linked ? "Answers of the leaves." : "Raw outputs of the leaves.", "output", t_.output);
  if (!t_.linear.empty()) add_counts("Terms that leaves add to their outputs: where they begin.", "linear", t_.linear);
  if (!t_.shared.empty())
    add_counts("Terms that all leaves add to the outputs: where they begin.", "shared", t_.shared);
}

void CWriter::write_tables() {
  write_nodes();
  write_answers();
  if (!t_.writes.empty()) {
    std::vector<float> bias, blend;
    std::vector<int> cell;
    for (const Tables::Write& write : t_.writes) {
      bias.push_back(write.bias);
      blend.push_back(write.blend);
      cell.push_back(write.at);
    }
    add_counts("Where the writes of each leaf begin.", "leaf_writes", t_.write_begin);
    add_counts("Writes: the cell.", "write_cell", cell);
    add_floats("Writes: the constant.", "write_bias", bias);
    if (t_.any_blend())
      add_floats(
          t_.any_add() ? "Writes: the share of the new value; -1: it is added." : "Writes: the share of the new value.",
          "write_blend", blend);
    add_counts("Writes: where their terms begin.", "write_terms", t_.write_terms);
  }
  if (!t_.cells.empty()) write_law_tables();
  if (has_sums()) {
    std::vector<float> weights;
    std::vector<int> values;
    for (const Tables::Term& term : t_.terms) {
      weights.push_back(term.weight);
      values.push_back(term.value);
    }
    add_floats("Terms of sums: weights.", "weight", weights);
    add_counts("Terms of sums: the values, first the inputs, then the memory.", "operand", values);
  }
  const bool filled = std::any_of(model_.fill.begin(), model_.fill.end(), [](float v) { return v != 0.0F; });
  if (has_sums() && filled) add_floats("What a missing input counts as in sums.", "fill", model_.fill);
}

void CWriter::write_law_tables() {
  std::vector<int> law;
  std::vector<float> bias, tap;
  for (const Tables::Cell& cell : t_.cells) {
    law.push_back(static_cast<int>(cell.law) + (cell.first ? 4 : 0) + (cell.fixed ? 8 : 0));
    bias.push_back(cell.bias);
    tap.push_back(cell.tap);
  }
  add_counts("Cells: 0 store, 1 average, 2 positive average; + 4: starts at its first value; + 8: constant share.",
             "cell_law", law);
  add_floats("Cells: the constant of what comes in.", "cell_bias", bias);
  add_floats("Cells: the constant of the tap, or the share.", "cell_tap", tap);
  add_counts("Cells: where the terms of what comes in and of the tap begin.", "cell_terms", t_.cell_terms);
  if (!t_.tap_kind.empty()) add_counts("Taps at the leaves: 1 closed, 2 open.", "tap_kind", t_.tap_kind);
  if (!t_.tap_offset.empty()) add_floats("What leaves add to taps.", "tap_offset", t_.tap_offset);
}

}  // namespace remede
