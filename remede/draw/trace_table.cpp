#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "remede/analysis/rows.h"
#include "remede/analysis/wording.h"
#include "remede/base/text.h"
#include "remede/draw/table.h"
#include "remede/draw/trace.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

constexpr std::size_t kMaxInputs = 5;  // with more, values stand in the path only
constexpr std::size_t kMaxCells = 6;   // of more, some are shown
constexpr std::size_t kPathWidth = 56;
constexpr std::size_t kReadsWidth = 32;

std::string step_text(const Trace& trace, int number) {
  return fmt::format("{} {}", trace.step_name, trace.steps[static_cast<std::size_t>(number)].name);
}

// The path as one condition per feature: "x1 < 0.5", "0.13 <= m1 < 0.8"; a star where a test of it was pivotal.
std::string path_text(const Wording& words, const TreeStep& step, bool with_values) {
  std::set<int> shown;  // tests that could have gone the other way
  for (const View::Node& n : words.view.nodes)
    if (!n.is_leaf()) shown.insert(n.id);
  std::vector<std::string> parts;
  std::set<int> done;
  for (const PathTest& first : step.path) {
    if (!shown.contains(first.node) || !done.insert(first.feature).second) continue;
    Range range = Range::all();
    bool pivotal = false;
    for (const PathTest& t : step.path) {
      if (t.feature != first.feature || !shown.contains(t.node)) continue;
      const bool missing_right = words.tree->missing_right[static_cast<std::size_t>(t.node)] != 0;
      range = t.right ? right_part(range, t.threshold, missing_right) : left_part(range, t.threshold, missing_right);
      pivotal = pivotal || t.pivotal;
    }
    std::string one = std::isnan(first.value) ? words.feature[static_cast<std::size_t>(first.feature)] + " missing"
                                              : range_text(words, first.feature, range);
    if (with_values && !words.is_cell(first.feature) && !std::isnan(first.value))
      one += fmt::format(" ({})", short_number(first.value));
    parts.push_back(one + (pivotal ? "*" : ""));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "m1 and m3", "m1 to m4": cells in the order of the tree.
std::string cells_text(const Wording& words, const std::set<int>& cells) {
  const auto name = [&words](int k) { return words.feature[static_cast<std::size_t>(words.tree->n_x + k)]; };
  const bool run = cells.size() > 2 && *cells.rbegin() - *cells.begin() + 1 == static_cast<int>(cells.size());
  if (run) return fmt::format("{} to {}", name(*cells.begin()), name(*cells.rbegin()));
  std::string text;
  for (const int k : cells) text += fmt::format("{}{}", text.empty() ? "" : " and ", name(k));
  return text;
}

// "m1 and m2 from step 1" for what the path, the answer and the writes used.
std::string reads_text(const Wording& words, const Trace& trace, const TreeStep& step) {
  std::map<int, std::set<int>> cells;  // by the step that wrote them
  for (const MemoryRead& r : step.reads)
    if (r.written_at >= 0 && words.view.cell_in_use(r.cell)) cells[r.written_at].insert(r.cell);
  std::string text;
  for (const auto& [written_at, read] : cells)
    text +=
        fmt::format("{}{} from {}", text.empty() ? "" : ", ", cells_text(words, read), step_text(trace, written_at));
  return text;
}

std::string cell_text(const TreeStep& step, int k) {
  const auto i = static_cast<std::size_t>(k);
  const std::string before = short_number(step.before[i]), after = short_number(step.after[i]);
  return step.written[i] ? fmt::format("{} -> {}", before, after) : before;
}

std::string values_text(std::span<const float> values) {
  std::string text;
  for (const float v : values) text += (text.empty() ? "" : ", ") + short_number(v);
  return text;
}

std::string answer_of(const Wording& words, std::span<const float> output) {
  if (words.model->schema.task == Task::kRegression) return values_text(output);
  const auto best = static_cast<std::size_t>(arg_max(output));
  return fmt::format("{} ({})", words.classes[best], percent(static_cast<double>(output[best])));
}

std::string target_of(const Wording& words, const TraceStep& step) {
  if (!step.has_target) return "";
  return step.label >= 0 ? words.classes[static_cast<std::size_t>(step.label)] : values_text(step.value);
}

bool any_target(const Trace& trace) {
  return std::any_of(trace.steps.begin(), trace.steps.end(), [](const TraceStep& s) { return s.has_target; });
}

std::vector<float> probabilities(const Wording& words, std::vector<float> output) {
  apply_link(words.model->objective(), output);
  return output;
}

// Inputs that the tree asks or computes with.
std::vector<int> inputs_in_use(const Wording& words) {
  const Tree& tree = *words.tree;
  std::set<int> used;
  for (const View::Node& n : words.view.nodes) {
    if (!n.is_leaf() && tree.feature[static_cast<std::size_t>(n.id)] < tree.n_x)
      used.insert(tree.feature[static_cast<std::size_t>(n.id)]);
    for (int f = 0; n.is_leaf() && f < tree.n_x; ++f) {
      for (int k = 0; k < tree.n_m; ++k)
        if (tree.has_laws() ? words.view.cell_in_use(k) && law_uses(tree, k, f)
                            : writes(words, n.leaf(), k) && write_weight(tree, n.leaf(), k, f) != 0)
          used.insert(f);
      for (int o = 0; o < tree.n_y; ++o)
        if (answer_uses(tree, n.leaf(), o, f)) used.insert(f);
    }
  }
  return {used.begin(), used.end()};
}

// A column of words, made from the inputs of its codes.
struct WordColumn {
  std::string name;
  std::vector<std::pair<int, const InputCode*>> codes;  // number of the input, and its code
};

// Takes the inputs that are made of words out of `inputs`, and gives their columns.
std::vector<WordColumn> take_word_columns(const Schema& schema, std::vector<int>& inputs) {
  std::vector<WordColumn> columns;
  const auto code_at = [&](int input) {
    const InputCode* const code = schema.code_of(schema.inputs[static_cast<std::size_t>(input)]);
    return code != nullptr && !code->gap ? code : nullptr;
  };
  for (const int input : inputs)
    if (const InputCode* const code = code_at(input);
        code != nullptr && std::none_of(columns.begin(), columns.end(),
                                        [&](const WordColumn& c) { return c.name == printable(code->column); }))
      columns.push_back({printable(code->column), {}});
  for (int i = 0; i < static_cast<int>(schema.inputs.size()); ++i)
    for (WordColumn& column : columns)
      if (const InputCode* const code = code_at(i); code != nullptr && printable(code->column) == column.name)
        column.codes.emplace_back(i, code);
  std::erase_if(inputs, [&](int input) { return code_at(input) != nullptr; });
  return columns;
}

// The word that the inputs stand for; several where they do not tell them apart.
std::string word_at(const WordColumn& column, const std::vector<float>& x) {
  const auto value = [&](int input) { return x[static_cast<std::size_t>(input)]; };
  if (std::all_of(column.codes.begin(), column.codes.end(), [&](const auto& c) { return std::isnan(value(c.first)); }))
    return "missing";
  std::vector<std::string> found;
  std::set<std::string> all;  // each code may know other words
  for (const auto& c : column.codes) all.insert(c.second->words.begin(), c.second->words.end());
  for (const std::string& word : all) {
    const bool fits = std::all_of(column.codes.begin(), column.codes.end(), [&](const auto& c) {
      const auto at = std::find(c.second->words.begin(), c.second->words.end(), word);
      if (at != c.second->words.end())
        return c.second->values[static_cast<std::size_t>(at - c.second->words.begin())] == value(c.first);
      return c.second->other ? *c.second->other == value(c.first) : std::isnan(value(c.first));
    });
    if (fits) found.push_back(printable(word));
  }
  constexpr std::size_t kMostWords = 3;
  if (found.empty()) return "other";
  if (found.size() > kMostWords) return fmt::format("{} or {} more", found[0], found.size() - 1);
  return fmt::format("{}", fmt::join(found, " or "));
}

// Cells in use, by their numbers.
std::vector<int> cells_in_use(const Wording& words) {
  std::vector<int> cells;
  for (int k = 0; k < words.tree->n_m; ++k)
    if (words.view.cell_in_use(k)) cells.push_back(k);
  return cells;
}

// The largest weight that an answer gives to what cell k holds or releases. REQUIRES: cells with laws
double weight_of(const Tree& tree, int k) {
  const auto width = static_cast<std::size_t>(tree.n_x + 2 * tree.n_m);
  double most = 0;
  for (const std::vector<float>* weights : {&tree.cells.linear, &tree.cells.leaf_linear})
    for (std::size_t row = 0; row < weights->size(); row += width)
      for (const int slot : {tree.n_x + k, tree.n_x + tree.n_m + k})
        most = std::max(most, std::abs(static_cast<double>((*weights)[row + static_cast<std::size_t>(slot)])));
  return most;
}

// About how far cell k moves a score of the answer in this trace: that weight times the range of what it held.
double moved_by(const Tree& tree, const Trace& trace, std::size_t number, int k) {
  Range held = Range::none();
  for (const TraceStep& step : trace.steps)
    held = join(held, Range::point(step.trees[number].after[static_cast<std::size_t>(k)]));
  return weight_of(tree, k) * (static_cast<double>(held.high) - static_cast<double>(held.low));
}

// The cells that have a column: of many with laws, those that move the answer most, else the first.
std::vector<int> shown_cells(const Wording& words, const Trace& trace, std::size_t number) {
  std::vector<int> cells = cells_in_use(words);
  if (cells.size() <= kMaxCells) return cells;
  if (words.tree->has_laws()) {
    std::map<int, double> moved;
    for (const int k : cells) moved[k] = moved_by(*words.tree, trace, number, k);
    std::stable_sort(cells.begin(), cells.end(), [&](int a, int b) { return moved[a] > moved[b]; });
  }
  cells.resize(kMaxCells);
  std::sort(cells.begin(), cells.end());
  return cells;
}

std::string tree_table(const Wording& words, const Trace& trace, std::size_t tree, bool colours) {
  std::vector<int> inputs = inputs_in_use(words);
  const std::vector<int> cells = shown_cells(words, trace, tree);
  const bool with_values = inputs.size() > kMaxInputs;
  const std::vector<WordColumn> word_columns = take_word_columns(words.model->schema, inputs);
  if (with_values) inputs.clear();
  const bool reads = !words.tree->has_laws();  // cells with laws read the step before, always
  const bool splits = words.view.nodes.size() > 1;
  const bool single = words.model->trees.size() == 1;
  const bool targets = single && any_target(trace);
  Table table;
  table.add_column(trace.step_name, Table::Align::kRight);
  for (const int f : inputs) table.add_column(words.feature[static_cast<std::size_t>(f)], Table::Align::kRight);
  for (const WordColumn& column : word_columns) table.add_column(column.name);
  if (splits) table.add_column("path", Table::Align::kLeft, kPathWidth);
  if (!cells.empty() && reads) table.add_column("reads", Table::Align::kLeft, kReadsWidth, "36");
  for (const int k : cells)
    table.add_column(words.feature[static_cast<std::size_t>(words.tree->n_x + k)], Table::Align::kLeft, 0, "36");
  table.add_column("says", Table::Align::kLeft, 0, "32");
  if (targets) table.add_column("target");
  for (const TraceStep& s : trace.steps) {
    const TreeStep& step = s.trees[tree];
    std::vector<std::string> row = {s.name};
    for (const int f : inputs) row.push_back(short_number(s.x[static_cast<std::size_t>(f)]));
    for (const WordColumn& column : word_columns) row.push_back(word_at(column, s.x));
    if (splits) row.push_back(path_text(words, step, with_values));
    if (!cells.empty() && reads) row.push_back(reads_text(words, trace, step));
    for (const int k : cells) row.push_back(cell_text(step, k));
    row.push_back(answer_of(words, single ? s.output : probabilities(words, step.output)));
    if (targets) row.push_back(target_of(words, s) + (is_wrong(s) ? "  wrong" : ""));
    table.add_row(std::move(row), is_wrong(s) && single ? "31" : "");
  }
  std::string text = table.text(colours);
  if (const std::size_t all = cells_in_use(words).size(); all > cells.size())
    text += fmt::format("{} of {} cells are shown{}.\n", cells.size(), all,
                        words.tree->has_laws() ? ": those that move the answer most here" : "");
  return text;
}

std::string model_table(const Wording& words, const Trace& trace, bool colours) {
  Table table;
  table.add_column(trace.step_name, Table::Align::kRight);
  table.add_column("says", Table::Align::kLeft, 0, "32");
  table.add_column("target");
  for (const TraceStep& s : trace.steps)
    table.add_row({s.name, answer_of(words, s.output), target_of(words, s) + (is_wrong(s) ? "  wrong" : "")},
                  is_wrong(s) ? "31" : "");
  return table.text(colours);
}

}  // namespace

std::string trace_table(const Model& model, const Trace& trace, bool colours) {
  std::string text =
      fmt::format("Sequence {}, {} steps. *: had this test gone the other way, the answer would be another.\n\n",
                  printable(trace.id), grouped(static_cast<long long>(trace.steps.size())));
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    if (model.trees.size() > 1) text += fmt::format("Tree {}\n", t + 1);
    text += tree_table(make_wording(model, t), trace, t, colours) + (model.trees.size() > 1 ? "\n" : "");
  }
  if (model.trees.size() > 1)
    text += fmt::format("All {} trees together\n", model.trees.size()) +
            model_table(make_wording(model, 0), trace, colours);
  return text;
}

}  // namespace remede
