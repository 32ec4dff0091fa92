#include "remede/data/raw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "remede/base/error.h"
#include "remede/data/columns.h"
#include "remede/data/csv.h"
#include "remede/data/inputs.h"
#include "remede/data/number.h"
#include "remede/data/order.h"
#include "remede/data/shape.h"
#include "remede/data/target.h"
#include "remede/data/ts.h"

namespace remede {
namespace {

// All rows of all files as columns; nothing is in order yet.
struct Table {
  Column<float> x;  // (rows, inputs)
  RowSorter rows;
  TargetReader target;
  InputReader inputs;
  Column<float> weight;        // (rows) empty without a weight column
  Column<std::int32_t> group;  // (rows) empty without a group column
  Interner groups;
};

// How many rows there will be, by those read so far: vectors that need not grow need not be copied.
template <typename Rows>
void reserve_rest(const Rows& csv, std::size_t n_x, Table& table) {
  const double share = static_cast<double>(csv.bytes_used()) / static_cast<double>(csv.bytes_in_all());
  const auto rows = static_cast<std::size_t>(static_cast<double>(table.rows.rows()) / share * 1.02);
  table.x.reserve(rows * n_x);
  table.rows.reserve(rows);
  table.target.reserve(rows);
}

template <typename Rows>
float read_weight(Rows& csv, std::size_t column) {
  double value = 0.0;
  const bool number = csv.number(value);
  const auto rounded = static_cast<float>(value);
  if (!number || !std::isfinite(rounded) || rounded < 0.0F)
    fail("{}: expected a weight, 0 or more, got {}", csv.where(column),
         number && std::isfinite(rounded) ? fmt::format("{}", rounded)  // a frame may hold it in single precision
         : number && !std::isnan(value)   ? fmt::format("{}", value)
         : number                         ? "a missing value"
                                          : shown(csv.last_cell()));
  return rounded;
}

template <typename Rows>
std::int32_t read_group(Rows& csv, std::size_t column, Interner& groups) {
  const std::string_view text = csv.text();
  if (trim(text).empty()) fail("{}: expected the name of a group, got an empty cell", csv.where(column));
  return static_cast<std::int32_t>(groups.intern(text));
}

// The folder a file lies in: "bending1" for arem/bending1/dataset1.csv.
std::string folder_of(const std::string& path) {
  const std::size_t end = path.find_last_of('/');
  if (end == std::string::npos || end == 0) fail("{}: --target folder: expected a path with a folder, got none", path);
  const std::size_t before = path.find_last_of('/', end - 1);
  return path.substr(before == std::string::npos ? 0 : before + 1,
                     end - (before == std::string::npos ? 0 : before + 1));
}

// Rows: CsvReader or FrameReader.
template <typename Rows>
void read_rows(Rows& csv, const ColumnLayout& layout, bool only_file, Table& table) {
  constexpr std::size_t kRowsToJudgeBy = 4096;
  const std::size_t columns = layout.column.size();
  const std::size_t n_x = layout.inputs.size();
  const std::string folder = layout.folder ? folder_of(csv.name()) : "";
  const std::size_t rows_before = table.rows.rows();
  while (csv.next_row()) {
    table.rows.begin_row(csv.line());
    table.target.begin_row();
    table.x.resize(table.x.size() + n_x);
    float* const x = table.x.data() + table.x.size() - n_x;
    if (layout.file) table.rows.id(csv.name());
    if (layout.folder) table.target.read_folder(folder);
    for (std::size_t c = 0; c < columns; ++c) {
      const auto [part, slot] = layout.column[c];
      switch (part) {
        case ColumnPart::kSkip:
          csv.skip();
          break;
        case ColumnPart::kId:
          table.rows.id(csv.text());
          break;
        case ColumnPart::kTime:
          table.rows.time(csv.text());
          break;
        case ColumnPart::kInput:
          x[slot] = table.inputs.read(csv, c, slot);
          break;
        case ColumnPart::kTarget:
          table.target.read(csv, c, slot);
          break;
        case ColumnPart::kWeight:
          table.weight.push_back(read_weight(csv, c));
          break;
        case ColumnPart::kGroup:
          table.group.push_back(read_group(csv, c, table.groups));
          break;
      }
    }
    table.rows.end_row();
    if (only_file && table.rows.rows() == kRowsToJudgeBy && csv.bytes_in_all() > 0) reserve_rest(csv, n_x, table);
  }
  if (table.rows.rows() == rows_before) fail("{}: expected rows of data after the header, got none", csv.name());
}

// A column without any value is no error (a sensor may be off), but worth a word.
void note_empty_inputs(RawDataset& raw) {
  const Sequences& s = raw.data.sequences;
  const std::size_t n_x = raw.inputs.size();
  for (std::size_t k = 0; k < n_x; ++k) {
    std::size_t at = k;
    while (at < s.x.size() && std::isnan(s.x[at])) at += n_x;
    if (at >= s.x.size())
      raw.data.notes.push_back(fmt::format("column {} has no value in any row", shown(raw.inputs[k].name)));
  }
}

void put_all_in_order(const StepOrder& order, std::size_t targets, RawDataset& raw) {
  Sequences& sequences = raw.data.sequences;
  put_in_order(sequences.x, raw.inputs.size(), order.row);
  put_in_order(sequences.label, 1, order.row);
  put_in_order(sequences.value, targets, order.row);
  put_in_order(sequences.weight, 1, order.row);
  put_in_order(raw.step_weight, 1, order.row);
  put_in_order(raw.data.group, 1, order.row);
}

// `schema`: what is known; task and classes are added where they are to be found.
RawDataset assemble(Table& table, ColumnLayout& layout, Schema schema) {
  RawDataset raw;
  Dataset& data = raw.data;
  data.schema = std::move(schema);
  Sequences& sequences = data.sequences;
  if (!layout.targets.empty()) table.target.finish(data.schema, sequences);
  raw.unknown_classes = table.target.unknown();
  if (!sequences.weight.empty()) raw.step_weight = std::move(table.weight);
  StepOrder order = table.rows.finish();
  raw.inputs = table.inputs.finish();
  sequences.x = std::move(table.x);
  sequences.n_x = static_cast<int>(raw.inputs.size());
  sequences.n_y = data.schema.n_y();
  data.group = std::move(table.group);
  if (!order.as_in_file) put_all_in_order(order, layout.targets.size(), raw);
  sequences.offset = std::move(order.offset);
  data.ids = std::move(order.ids);
  data.times = std::move(order.times);
  data.row = std::move(order.row);
  data.notes = std::move(layout.notes);
  data.schema.id = layout.id;
  data.schema.time = layout.time;
  if (!order.moved_text.empty())
    data.notes.push_back(fmt::format(
        "column {}: rows are put in the order of texts such as {}, which have no date (--time none --ignore "
        "{} keeps the order of the rows)",
        shown(layout.time), shown(order.moved_text), layout.time));
  if (order.repeated_times > 0)
    data.notes.push_back(
        fmt::format("column {}: {} step{} the time of the step before; such rows keep their order (--strict-time "
                    "refuses them)",
                    shown(layout.time), order.repeated_times, order.repeated_times == 1 ? " has" : "s have"));
  const Texts groups = table.groups.take();
  for (std::size_t g = 0; g < groups.size(); ++g) data.groups.emplace_back(groups[g]);
  note_empty_inputs(raw);
  return raw;
}

// A weight is one of the target: it says nothing of the target as an input (add_history), which comes first.
void weigh(RawDataset& raw) {
  for (std::size_t t = 0; t < raw.step_weight.size(); ++t) raw.data.sequences.weight[t] *= raw.step_weight[t];
  raw.step_weight = {};
}

// Reads the first table with the layout that `lay` makes of its columns, the others like it.
template <typename Lay, typename Make>
RawDataset read_tables(std::vector<TableSource> tables, const Roles& roles, const Schema& schema, Lay lay, Make make,
                       const WholeTable* whole = nullptr) {
  std::optional<Table> table;
  ColumnLayout layout;
  std::string first_file;
  std::vector<std::string> first_columns;
  const bool several = tables.size() > 1;
  if (whole != nullptr) {
    first_file = whole->first_file;
    first_columns = whole->first_columns;
    layout = lay(first_file, first_columns, whole->several);
    table.emplace(make(first_file, layout));
  }
  const auto read = [&]<typename Rows>(Rows rows) {
    const bool first = !table;
    if (first) {
      layout = lay(rows.name(), rows.columns(), several);
      first_file = rows.name();
      first_columns = rows.columns();
      table.emplace(make(rows.name(), layout));
      if (rows.row_names())
        layout.notes.push_back(
            "rows have one cell more than the header has names: the first is taken for the name of the row");
    }
    table->rows.begin_file(rows.name(), Rows::kRowWord);
    table->target.begin_file(rows.name());
    read_rows(rows, first ? layout : lay_out_like(layout, first_file, first_columns, rows.name(), rows.columns()),
              !several, *table);
  };
  for (TableSource& source : tables) {
    if (auto* const frame = std::get_if<Frame>(&source)) {
      read(FrameReader(std::move(*frame)));
    } else {
      read(CsvReader(as_table(std::move(std::get<ByteSource>(source))), roles.format));
    }
  }
  return assemble(*table, layout, schema);
}

// What the inputs will be called once words are encoded must differ: later a model could not tell them apart.
void expect_distinct_inputs(const RawDataset& raw) {
  std::map<std::string, std::string> column_of;  // by name of the input
  const auto add = [&](const std::string& input, const std::string& column) {
    const auto [at, added] = column_of.emplace(input, column);
    if (!added)
      fail(
          "expected inputs with names that differ, got {} from column {} and from column {}: rename one of them, or "
          "leave it out with --ignore",
          shown(input), shown(at->second), shown(column));
  };
  for (const RawInput& input : raw.inputs) {
    add(input.gap ? gap_name(input.name) : input.name, input.name);
    if (input.words && input.known.size() > 2)
      for (const std::string& word : input.known) add(indicator_name(input.name, word), input.name);
  }
}

// The columns that the inputs of a model are made from, and which of them hold words.
struct NeededColumns {
  std::vector<std::string> names;
  std::vector<std::string> words;
  bool gap = false;
  bool history = false;  // the target is an input, too
};

NeededColumns needed_columns(const Schema& schema) {
  NeededColumns needed;
  const CodeIndex codes(schema.codes);
  std::unordered_set<std::string_view> seen;
  for (const std::string& input : schema.inputs) {
    const InputCode* const code = codes.find(input);
    if (code != nullptr && code->gap) {
      needed.gap = true;
      continue;
    }
    const std::string& column = code == nullptr ? input : code->column;
    if (schema.horizon > 0 && std::find(schema.targets.begin(), schema.targets.end(), column) != schema.targets.end()) {
      needed.history = true;
      continue;
    }
    if (!seen.insert(column).second) continue;
    needed.names.push_back(column);
    if (code != nullptr) needed.words.push_back(column);
  }
  return needed;
}

}  // namespace

Schema schema_of(const Roles& roles, const ColumnLayout& layout) {
  Schema schema;
  schema.target_per = roles.target_per.value_or(TargetPer::kStep);
  schema.horizon = roles.horizon.value_or(0);
  if (schema.horizon > 0 && schema.target_per == TargetPer::kSequence)
    fail(
        "--horizon {}: cannot be combined with --target-per sequence: with a horizon the target is also an input, so "
        "the "
        "label of a sequence would be known in advance",
        schema.horizon);
  schema.categorical = roles.categorical;
  schema.ignore = roles.ignore;
  schema.time_gap = roles.time_gap;
  schema.targets = layout.targets;
  schema.id = layout.id;
  schema.time = layout.time;
  return schema;
}

// What the option says, else the first file.
static std::optional<Task> task_of(const std::vector<TableSource>& tables, const Roles& roles) {
  const auto* const first = tables.empty() ? nullptr : std::get_if<ByteSource>(&tables[0]);
  return first == nullptr ? roles.task : stated_task(*first, roles);
}

// --categorical names the target: its values are classes.
static bool holds_words(const std::vector<std::string>& targets, const std::vector<std::string>& categorical) {
  return targets.size() == 1 && std::find(categorical.begin(), categorical.end(), targets[0]) != categorical.end();
}

// `whole`: null where the tables are all there is.
static RawDataset read_for_training(std::vector<TableSource> tables, const Roles& roles, const WholeTable* whole) {
  Schema schema;
  if (!tables.empty() && std::holds_alternative<ByteSource>(tables[0]))
    tables[0] = as_table(std::move(std::get<ByteSource>(tables[0])));
  const std::optional<Task> stated = task_of(tables, roles);
  const auto lay = [&](const std::string& name, const std::vector<std::string>& columns, bool several) {
    ColumnLayout layout = lay_out(name, columns, roles, several);
    schema = schema_of(roles, layout);
    return layout;
  };
  const auto make = [&](const std::string& name, const ColumnLayout& layout) {
    const bool words = !stated && holds_words(layout.targets, roles.categorical);
    const std::optional<Task> task = words ? Task::kClassification : stated;
    Table table{Column<float>(roles.store),
                RowSorter(layout.id, layout.time, roles.strict_time, roles.store),
                TargetReader(name, layout.targets, task, roles.store),
                InputReader(layout.inputs, roles.categorical, false),
                Column<float>(roles.store),
                Column<std::int32_t>(roles.store),
                {}};
    if (whole != nullptr) table.target.expect_part();
    return table;
  };
  RawDataset raw = read_tables(std::move(tables), roles, schema, lay, make, whole);  // lay() sets the schema
  raw.task_stated = stated.has_value() || holds_words(raw.data.schema.targets, roles.categorical);
  if (roles.time_gap) add_time_gap(raw);
  if (raw.data.schema.horizon > 0) add_history(raw);
  weigh(raw);
  shape_targets(raw.data, whole == nullptr);
  expect_distinct_inputs(raw);
  return raw;
}

RawDataset read_raw(std::vector<TableSource> tables, const Roles& roles) {
  return read_for_training(std::move(tables), roles, nullptr);
}

RawDataset read_raw_part(std::vector<TableSource> tables, const Roles& roles, const WholeTable& whole) {
  return read_for_training(std::move(tables), roles, &whole);
}

RawDataset read_raw(std::vector<TableSource> tables, const Schema& schema, const Roles& roles, bool need_target) {
  const NeededColumns needed = needed_columns(schema);
  const auto lay = [&](const std::string& name, const std::vector<std::string>& columns, bool several) {
    return lay_out(name, columns, roles, schema, needed.names, need_target || needed.history, several);
  };
  const auto make = [&](const std::string& name, const ColumnLayout& layout) {
    return Table{Column<float>(roles.store),
                 RowSorter(layout.id, layout.time, roles.strict_time, roles.store),
                 TargetReader(name, layout.targets, schema, need_target, roles.store),
                 InputReader(needed.names, needed.words, true),
                 Column<float>(roles.store),
                 Column<std::int32_t>(roles.store),
                 {}};
  };
  RawDataset raw = read_tables(std::move(tables), roles, schema, lay, make);
  raw.data.schema.target_per = roles.target_per.value_or(schema.target_per);
  raw.data.schema.horizon = schema.horizon;
  if (needed.gap) add_time_gap(raw);
  if (needed.history) add_history(raw);
  weigh(raw);
  shape_targets(raw.data, need_target);
  set_aside_unknown(raw.data, raw.unknown_classes, need_target);
  return raw;
}

}  // namespace remede
