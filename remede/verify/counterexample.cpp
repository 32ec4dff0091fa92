// Sequences that break a property, as a table that is read like any data of the model.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "remede/data/csv.h"
#include "remede/verify/verify.h"

namespace remede {
namespace {

bool has_id_column(const Schema& schema) { return !schema.id.empty() && schema.id != "row" && schema.id != "file"; }

class CounterexampleTable {
 public:
  CounterexampleTable(const Schema& schema, const std::vector<InputColumn>& columns, const std::string& path)
      : schema_(schema), columns_(columns), csv_(path) {
    if (has_id_column(schema)) csv_.text(schema.id);
    if (!schema.time.empty()) csv_.text(schema.time);
    // A table of one column cannot have a row without a value, which would be a blank line. Readers pass over this one.
    numbered_ = schema.time.empty() && !has_id_column(schema);
    if (numbered_) csv_.text(free_name());
    for (const InputColumn& column : columns_)
      if (!column.gap) csv_.text(column.name);
    csv_.end_row();
  }

  // number: of the sequence, from 1.
  void add(std::size_t number, const Verification& one) {
    double time = 0;
    for (std::size_t t = 0; t < one.counterexample.size(); ++t) {
      const StepInput& step = one.counterexample[t];
      const bool has_gap = pass_time(step, time);
      if (has_id_column(schema_)) csv_.integer(static_cast<std::int64_t>(number));
      if (!schema_.time.empty()) csv_.text(has_gap ? fmt::format("{}", time) : fmt::format("{}", t));
      if (numbered_) csv_.integer(static_cast<std::int64_t>(t) + 1);
      for (std::size_t c = 0; c < columns_.size(); ++c)
        if (!columns_[c].gap) write_value(one, step, c);
      csv_.end_row();
    }
  }
  void commit() { csv_.commit(); }

 private:
  std::string free_name() const {
    std::string name = "row";
    while (std::any_of(columns_.begin(), columns_.end(), [&](const InputColumn& c) { return c.name == name; }))
      name += "_";
    return name;
  }
  // Adds the time since the step before, where the model reads it.
  bool pass_time(const StepInput& step, double& time) const {
    for (const InputColumn& column : columns_) {
      if (!column.gap) continue;
      const float gap = step.x[static_cast<std::size_t>(column.inputs[0])];
      time += std::isnan(gap) ? 0.0 : static_cast<double>(gap);
      return true;
    }
    return false;
  }
  void write_value(const Verification& one, const StepInput& step, std::size_t c) {
    if (c >= step.option.size()) {  // a column of another model that this one is compared with
      csv_.text("");
      return;
    }
    const InputOption& option = one.system->columns[c].options[static_cast<std::size_t>(step.option[c])];
    if (columns_[c].words)
      csv_.text(option.missing ? "" : option.word);
    else
      csv_.number(step.x[static_cast<std::size_t>(columns_[c].inputs[0])]);
  }

  const Schema& schema_;
  const std::vector<InputColumn>& columns_;
  CsvWriter csv_;
  bool numbered_ = false;
};

}  // namespace

std::size_t write_counterexamples(const Model& model, const std::vector<const Verification*>& failed,
                                  const std::string& path) {
  if (failed.empty()) return 0;
  const auto most = *std::max_element(failed.begin(), failed.end(), [](const Verification* a, const Verification* b) {
    return a->system->columns.size() < b->system->columns.size();
  });
  CounterexampleTable table(model.schema, most->system->columns, path);
  const std::size_t count = has_id_column(model.schema) ? failed.size() : 1;
  for (std::size_t f = 0; f < count; ++f) table.add(f + 1, *failed[f]);
  table.commit();
  return count;
}

}  // namespace remede
