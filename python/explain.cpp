// What the verbs describe, show, explain, evaluate, report and simplify say of data and models, as text and for
// programs.
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.h"
#include "python/frame.h"
#include "remede/analysis/importance.h"
#include "remede/analysis/trace.h"
#include "remede/base/error.h"
#include "remede/data/describe.h"
#include "remede/data/unknown.h"
#include "remede/draw/description.h"
#include "remede/draw/dot.h"
#include "remede/draw/importance.h"
#include "remede/draw/machine.h"
#include "remede/draw/rules.h"
#include "remede/draw/scores.h"
#include "remede/draw/svg.h"
#include "remede/draw/text.h"
#include "remede/model/batch.h"
#include "remede/model/ranges.h"
#include "remede/pages/explorer.h"
#include "remede/pages/report.h"
#include "remede/pages/sample.h"
#include "remede/simplify/simplify.h"
#include "remede/train/command.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

using TextAndJson = std::tuple<std::string, std::string>;

void expect_some_steps(const Dataset& data) {
  if (data.sequences.steps() == 0) fail("expected at least one step, got none");
}

// Text, JSON, notes of the reader, and what is wrong with the data: then the first two say what can be said all the
// same, or are empty.
std::tuple<std::string, std::string, std::vector<std::string>, std::string> describe_tables(const nb::list& tables,
                                                                                            const RoleLines& lines,
                                                                                            bool guess) {
  Roles roles = roles_of(lines, guess);
  roles.need_target = false;
  std::vector<TableSource> sources = sources_of(tables), again = sources_of(tables);
  const nb::gil_scoped_release release;
  std::optional<RawDataset> raw;
  try {
    raw = read_raw(std::move(sources), roles);
  } catch (const Error& error) {
    const Survey seen = survey(std::move(again), roles.format);
    if (seen.columns.empty()) return {"", "", {}, error.what()};
    return {survey_text(seen), survey_json(seen, error.what()), {}, error.what()};
  }
  const Description d = describe(*raw, roles);
  std::string complaint;
  try {
    learn_code(*raw);  // what cannot be trained is refused here, too
  } catch (const Error& error) {
    complaint = error.what();
  }
  return {description_text(d), description_json(d), raw->data.notes, complaint};
}

TextAndJson evaluate_data(const Model& model, const Dataset& data, int threads) {
  const Scores scores =
      evaluate(model.objective(), predict_batch(model, data.sequences, threads), data.sequences, data.unknown);
  return {scores_text(model.schema, scores), scores_json(model.schema, scores, data.unknown.count)};
}

TextAndJson importance_of(const Model& model, const Dataset& data, std::uint64_t seed, int threads) {
  expect_some_steps(data);
  ImportanceOptions options;
  options.seed = seed;
  options.threads = threads;
  const Importance importance = find_importance(model, with_unknown_targets(data).sequences, options);
  return {importance_text(importance), importance_json(importance)};
}

auto machine_of(const Model& model, const Dataset* data) {
  const Machine machine = data != nullptr ? find_machine(model, data->sequences) : possible_machine(model);
  return std::make_tuple(machine_text(machine), machine_json(machine), machine_svg(machine), machine_dot(machine));
}

TextAndJson rules_of(const Model& model, const Dataset* data) {
  std::optional<Observations> seen;
  if (data != nullptr) seen = observe(model, with_unknown_targets(*data).sequences);
  const Observations* const counts = seen ? &*seen : nullptr;
  return {rules_text(model, counts), rules_json(model, counts)};
}

// The model as `remede show` shows it: text, SVG or DOT; with data what reaches each leaf.
std::string show_model(const Model& given, const std::string& format, const Dataset* data) {
  Model model = given;
  std::optional<Observations> seen;
  if (data != nullptr) {
    seen = observe(model, with_unknown_targets(*data).sequences);
    note_ranges(model, data->sequences);
  }
  const Observations* const counts = seen ? &*seen : nullptr;
  if (format == "svg") {
    SvgOptions options;
    options.seen = counts;
    return to_svg(model, options);
  }
  if (format == "dot") {
    DotOptions options;
    options.seen = counts;
    return to_dot(model, options);
  }
  TextOptions options;
  options.seen = counts;
  return to_text(model, options);
}

std::string explorer_of(const Model& model, const Dataset& data, std::size_t sequences, std::uint64_t seed,
                        const std::string& data_name, int threads) {
  ExplorerOptions options;
  options.sample.most_sequences = sequences;
  options.sample.seed = seed;
  options.data_name = data_name;
  options.threads = threads;
  return explorer_page(model, data, options);
}

std::string report_of(const Model& model, const Dataset& data, const std::string& model_name,
                      const std::string& data_name, int threads) {
  ReportOptions options;
  options.model_name = model_name;
  options.data_name = data_name;
  options.command = train_command(model);
  options.threads = threads;
  return report_page(model, data, options);
}

std::tuple<Model, std::string, std::string> simplify_model(const Model& model, const Dataset* data,
                                                           const Dataset* validation, bool exact, int round_digits,
                                                           bool drop_small, bool keep_inputs) {
  SimplifyOptions options;
  options.collapse = !exact;
  options.round_digits = round_digits;
  options.drop_small = drop_small;
  options.exact.drop_inputs = !keep_inputs;
  const Simplified result = simplify(model, options, data != nullptr ? &data->sequences : nullptr,
                                     validation != nullptr ? &validation->sequences : nullptr);
  return {result.model, summary(result), removals_json(result)};
}

}  // namespace

void bind_explain(nb::module_& module) {
  const auto free = nb::call_guard<nb::gil_scoped_release>();
  module.def("describe", &describe_tables, nb::arg("tables"), nb::arg("roles"), nb::arg("guess"),
             "How tables are interpreted: text, JSON, notes, and what is wrong with them or nothing.");
  module.def("evaluate", &evaluate_data, nb::arg("model"), nb::arg("data"), nb::arg("threads"), free,
             "Scores as text and as JSON.");
  module.def("importance", &importance_of, nb::arg("model"), nb::arg("data"), nb::arg("seed"), nb::arg("threads"), free,
             "Importance as text and as JSON.");
  module.def("machine", &machine_of, nb::arg("model"), nb::arg("data").none(), free,
             "The state machine as text, JSON, SVG and DOT.");
  module.def("rules", &rules_of, nb::arg("model"), nb::arg("data").none(), free, "Rules as text and as JSON.");
  module.def("show", &show_model, nb::arg("model"), nb::arg("format"), nb::arg("data").none(), free,
             "The model as text, svg or dot.");
  module.def("explorer", &explorer_of, nb::arg("model"), nb::arg("data"), nb::arg("sequences"), nb::arg("seed"),
             nb::arg("data_name"), nb::arg("threads"), free, "The interactive page.");
  module.def("report", &report_of, nb::arg("model"), nb::arg("data"), nb::arg("model_name"), nb::arg("data_name"),
             nb::arg("threads"), free, "The report.");
  module.def("simplify", &simplify_model, nb::arg("model"), nb::arg("data").none(), nb::arg("validation").none(),
             nb::arg("exact"), nb::arg("round_digits"), nb::arg("drop_small"), nb::arg("keep_inputs"), free,
             "A smaller model, and what was removed as text and as JSON.");
  module.def(
      "worst_sequence",
      [](const Model& model, const Dataset& data, int threads) {
        expect_some_steps(data);
        return worst_sequence(model, with_unknown_targets(data).sequences, threads).sequence;
      },
      nb::arg("model"), nb::arg("data"), nb::arg("threads"), free, "The sequence that the model does worst on.");
  module.def("find_sequence", &find_sequence, nb::arg("data"), nb::arg("name"),
             "The number of the sequence with this id.");
}

}  // namespace remede::python
