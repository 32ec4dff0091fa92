#include "remede/data/dataset.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "remede/base/error.h"
#include "remede/data/columns.h"
#include "remede/data/csv.h"
#include "remede/data/order.h"
#include "remede/data/target.h"

namespace remede {
namespace {

// The place where a categorical column will part ways with a numeric one.
float read_input(CsvReader& csv, std::size_t column) {
  double value = 0.0;
  if (!csv.number(value))
    fail("{}: expected a number, got {}; leave the column out with --ignore {}", csv.where(column),
         shown(csv.last_cell()), shown(csv.columns()[column]));
  const auto rounded = static_cast<float>(value);
  if (std::isnan(rounded)) return std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(rounded)) fail("{}: expected {}, got {}", csv.where(column), kFittingNumber, value);
  return rounded;
}

// All rows of the table into columns; nothing is in order yet.
struct Table {
  std::vector<float> x;  // (rows, n_x)
  RowSorter rows;
  TargetReader target;
};

// How many rows there will be, by those read so far: vectors that need not grow need not be copied.
void reserve_rest(const CsvReader& csv, std::size_t n_x, Table& table) {
  const double share = static_cast<double>(csv.bytes_used()) / static_cast<double>(csv.bytes_in_all());
  const auto rows = static_cast<std::size_t>(static_cast<double>(table.rows.rows()) / share * 1.02);
  table.x.reserve(rows * n_x);
  table.rows.reserve(rows);
  table.target.reserve(rows);
}

void read_rows(CsvReader& csv, const ColumnLayout& layout, Table& table) {
  constexpr std::size_t kRowsToJudgeBy = 4096;
  const std::size_t columns = layout.column.size();
  const std::size_t n_x = layout.inputs.size();
  while (csv.next_row()) {
    table.rows.begin_row(csv.line());
    table.target.begin_row();
    table.x.resize(table.x.size() + n_x);
    float* const x = table.x.data() + table.x.size() - n_x;
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
          x[slot] = read_input(csv, c);
          break;
        case ColumnPart::kTarget:
          table.target.read(csv, c, slot);
          break;
      }
    }
    table.rows.end_row();
    if (table.rows.rows() == kRowsToJudgeBy && csv.bytes_in_all() > 0) reserve_rest(csv, n_x, table);
  }
  if (table.rows.rows() == 0) fail("{}: expected rows of data after the header, got none", csv.name());
}

// A column without any value is no error (a sensor may be off), but worth a word.
void note_empty_inputs(Dataset& data) {
  const Sequences& s = data.sequences;
  const auto n_x = static_cast<std::size_t>(s.n_x);
  for (std::size_t k = 0; k < n_x; ++k) {
    std::size_t at = k;
    while (at < s.x.size() && std::isnan(s.x[at])) at += n_x;
    if (at >= s.x.size())
      data.notes.push_back(fmt::format("column {} has no value in any row", shown(data.schema.inputs[k])));
  }
}

// `schema`: what is known; task and classes are added where they are to be found.
Dataset assemble(Table& table, ColumnLayout& layout, Schema schema) {
  Dataset data;
  data.schema = std::move(schema);
  Sequences& sequences = data.sequences;
  if (!layout.targets.empty()) table.target.finish(data.schema, sequences);
  StepOrder order = table.rows.finish();
  sequences.x = std::move(table.x);
  sequences.n_x = data.schema.n_x();
  sequences.n_y = data.schema.n_y();
  if (!order.as_in_file) {
    put_in_order(sequences.x, layout.inputs.size(), order.row);
    put_in_order(sequences.label, 1, order.row);
    put_in_order(sequences.value, layout.targets.size(), order.row);
    put_in_order(sequences.weight, 1, order.row);
  }
  sequences.offset = std::move(order.offset);
  data.ids = std::move(order.ids);
  data.times = std::move(order.times);
  data.row = std::move(order.row);
  data.notes = std::move(layout.notes);
  data.schema.id = layout.id;
  data.schema.time = layout.time;
  note_empty_inputs(data);
  return data;
}

}  // namespace

Dataset read_dataset(ByteSource source, const Roles& roles) {
  CsvReader csv(std::move(source));
  ColumnLayout layout = lay_out(csv.name(), csv.columns(), roles);
  Table table{{}, RowSorter(csv.name(), layout.id, layout.time), TargetReader(csv.name(), layout.targets, roles.task)};
  read_rows(csv, layout, table);
  Schema schema;
  schema.inputs = layout.inputs;
  schema.targets = layout.targets;
  return assemble(table, layout, std::move(schema));
}

Dataset read_dataset(ByteSource source, const Schema& schema, const Roles& roles, bool need_target) {
  CsvReader csv(std::move(source));
  ColumnLayout layout = lay_out(csv.name(), csv.columns(), roles, schema, need_target);
  Table table{
      {}, RowSorter(csv.name(), layout.id, layout.time), TargetReader(csv.name(), layout.targets, schema, need_target)};
  read_rows(csv, layout, table);
  return assemble(table, layout, schema);
}

Dataset read_dataset(const std::string& path, const Roles& roles) { return read_dataset(open_bytes(path), roles); }

Dataset read_dataset(const std::string& path, const Schema& schema, const Roles& roles, bool need_target) {
  return read_dataset(open_bytes(path), schema, roles, need_target);
}

void write_dataset(const std::string& path, const Dataset& data) {
  const Schema& schema = data.schema;
  const Sequences& sequences = data.sequences;
  const bool with_id = !data.ids.empty();
  const bool with_time = !data.times.empty();
  CsvWriter csv(path);
  if (with_id) csv.text(schema.id);
  if (with_time) csv.text(schema.time);
  for (const std::string& name : schema.inputs) csv.text(name);
  if (sequences.has_targets())
    for (const std::string& name : schema.targets) csv.text(name);
  csv.end_row();
  const auto n_x = static_cast<std::size_t>(sequences.n_x);
  const auto write_targets = [&](std::size_t step) {
    const bool there = sequences.weight[step] > 0.0F;
    if (schema.task == Task::kClassification) {
      csv.text(there ? schema.classes[static_cast<std::size_t>(sequences.label[step])] : "");
      return;
    }
    const std::size_t n_y = schema.targets.size();
    for (std::size_t k = 0; k < n_y; ++k)
      csv.number(there ? sequences.value[step * n_y + k] : std::numeric_limits<float>::quiet_NaN());
  };
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (auto step = static_cast<std::size_t>(sequences.offset[s]);
         step < static_cast<std::size_t>(sequences.offset[s + 1]); ++step) {
      if (with_id) csv.text(data.ids[s]);
      if (with_time) csv.text(data.times[step]);
      for (std::size_t k = 0; k < n_x; ++k) csv.number(sequences.x[step * n_x + k]);
      if (sequences.has_targets()) write_targets(step);
      csv.end_row();
    }
  csv.commit();
}

}  // namespace remede
