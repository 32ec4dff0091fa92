#include "remede/pages/report.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "remede/analysis/cells.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/data/unknown.h"
#include "remede/draw/chart.h"
#include "remede/draw/machine.h"
#include "remede/draw/svg.h"
#include "remede/draw/text.h"
#include "remede/draw/trace.h"
#include "remede/model/ranges.h"
#include "remede/model/size.h"
#include "remede/pages/html.h"
#include "remede/pages/report_parts.h"
#include "remede/pages/sample.h"
#include "remede/pages/web.h"
#include "remede/verify/checks.h"

namespace remede {
namespace {

constexpr std::size_t kMaxDrawnNodes = 300;  // nodes of a tree in the report; a larger one is text
constexpr std::size_t kMaxTrees = 8;         // of a forest that are drawn
constexpr std::size_t kMaxTracedSteps = 40;  // steps of the run-through
constexpr std::size_t kMaxTracedInputs = 12;

bool any_target(const Sequences& data) {
  return std::any_of(data.weight.begin(), data.weight.end(), [](float w) { return w > 0; });
}

std::string head_figures(const Model& model, const Dataset& dataset, const Scores* scores) {
  const Sequences& data = dataset.sequences;
  std::vector<html::Figure> texts;
  const bool classifies = model.classifies();
  if (scores && classifies) texts.push_back({"accuracy", percent(scores->classification.accuracy)});
  if (scores && !scores->regression.objective.empty())
    texts.push_back(
        {scores->regression.objective.front().title, short_number(scores->regression.objective.front().value, 4)});
  if (scores && !classifies) {
    texts.push_back({"RMSE", short_number(scores->regression.overall.rmse, 4)});
    if (std::isfinite(scores->regression.overall.r2))
      texts.push_back({"R2", fmt::format("{:.3f}", scores->regression.overall.r2)});
  }
  if (scores) {
    const double naive = naive_score(model, data, dataset.unknown);
    texts.push_back(classifies ? html::Figure{"accuracy of always the most frequent class", percent(naive)}
                               : html::Figure{"RMSE of always the mean", short_number(naive, 4)});
    texts.push_back({"targets", grouped(static_cast<long long>(scores->steps))});
  } else {
    texts.push_back({"steps", grouped(static_cast<long long>(data.steps()))});
  }
  const Size size = size_of(model);
  texts.push_back({"sequences", grouped(static_cast<long long>(data.count()))});
  texts.push_back({"numbers", grouped(size.numbers)});
  texts.push_back({"cells", grouped(size.cells)});
  texts.push_back({"splits", grouped(size.splits)});
  return html::figures(texts);
}

// What each cell does, in words; nothing where cells have no laws.
std::string cell_section(const Model& model) {
  std::string body;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    std::vector<std::vector<std::string>> rows;
    for (const CellStory& story : cell_stories(make_wording(model, t)))
      rows.push_back(
          {xml_escaped(story.name), xml_escaped(story.kind), xml_escaped(story.words), xml_escaped(story.facts)});
    if (rows.empty()) continue;
    if (model.trees.size() > 1) body += fmt::format("<h3>Tree {} of {}</h3>\n", t + 1, model.trees.size());
    body += "<div class=\"cells\">" + html::table({"cell", "", "what it does", "on these data"}, rows) + "</div>\n";
  }
  return body.empty() ? "" : html::section("cells", "Memory", body);
}

std::string curve_section(const TrainingRecord& training) {
  if (training.training_loss.empty() && training.validation_loss.empty()) return "";
  Series fitted{"training loss", training.training_loss, &class_ink(0)};
  Series held_out{"validation loss", training.validation_loss, &class_ink(1)};
  double low = 1e300, high = 0;
  for (const Series* s : {&fitted, &held_out})
    for (const double v : s->values) low = std::min(low, v), high = std::max(high, v);
  ChartOptions options;
  options.x_name = "validation";
  options.logarithmic = low > 0 && high > 20 * low;
  options.from_zero = !options.logarithmic && low >= 0;
  std::string body = html::paragraph("Losses of the selected start at each validation, before simplification.");
  return html::section("learning", "Learning", body + html::figure(line_chart({fitted, held_out}, options)));
}

std::string tree_section(const Model& model, const Observations& seen) {
  std::string body;
  for (std::size_t t = 0; t < std::min(model.trees.size(), kMaxTrees); ++t) {
    if (model.trees.size() > 1) body += fmt::format("<h3>Tree {} of {}</h3>\n", t + 1, model.trees.size());
    if (model.trees[t].node_count() > static_cast<int>(kMaxDrawnNodes)) {
      body += html::paragraph(
          fmt::format("{} nodes: too many for a picture. `remede show` prints them.", model.trees[t].node_count()));
      continue;
    }
    SvgOptions options;
    options.seen = &seen;
    options.heading = false;
    options.style = false;
    body += html::figure(tree_to_svg(model, t, options));
  }
  if (model.trees.size() > kMaxTrees)
    body += html::paragraph(fmt::format("... and {} more trees.", model.trees.size() - kMaxTrees));
  body += rule_list(model, seen);
  const bool one_leaf = model.trees.size() == 1 && model.trees[0].has_laws() && model.trees[0].inner_count() == 0;
  return html::section("tree", model.trees.size() > 1 ? "Trees" : one_leaf ? "Model" : "Tree", body);
}

std::string machine_section(const Model& model, const Sequences& data) {
  const Machine machine = find_machine(model, data);
  if (machine.slots.empty() || machine.states.size() < 2) return "";
  return html::section("machine", "State machine", html::figure(machine_svg(machine, false)));
}

// What holds for sequences of every length whose inputs stay within the data.
std::string bounds_section(const Model& model, const Sequences& data) {
  constexpr double kEffort = 0.1;  // of a check that a user asked for
  constexpr int kMostInputs = 64;
  if (model.n_x() > kMostInputs || model.trees.size() > kMaxTrees) return "";
  const ModelChecks checks = check_model(model, {assumptions_from(model, data), kEffort});
  if (!checks.closed) return "";
  const std::string text = checks_text(model, checks);
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines += xml_escaped(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return html::section("bounds", "Proved bounds",
                       html::paragraph("Proved for sequences of every length whose inputs stay within the range of "
                                       "these data. `remede verify` proves more.") +
                           fmt::format("<pre>{}</pre>\n", lines));
}

// The sequence the model does worst on, or the first, step by step.
std::string trace_section(const Model& model, const Dataset& data, const Sequences& judged,
                          const Predictions& predictions) {
  if (model.n_x() > static_cast<int>(kMaxTracedInputs) || model.trees.size() > 1) return "";
  SampleOptions options;
  options.most_sequences = data.sequences.count();
  options.most_values = static_cast<std::size_t>(-1);
  for (const Excerpt& excerpt : choose_sample(model.objective(), judged, predictions, options).excerpts) {
    if (data.sequences.length(excerpt.sequence) > kMaxTracedSteps) continue;
    const Trace worst = trace(model, data, excerpt.sequence);
    const std::string what = data.sequences.has_targets() ? "The sequence with the largest loss" : "One sequence";
    return html::section("trace", fmt::format("{}: sequence {}", what, printable(worst.id)),
                         html::figure(trace_svg(model, worst, false)));
  }
  return "";
}

std::string settings_section(const Model& model, const ReportOptions& options) {
  std::string body;
  if (!options.command.empty())
    body += html::paragraph(
                "This command trains the model from the same training data. Options that a model does not record have "
                "to be added as they were given: --weight, --split, --validation, --test, and how the file is read:") +
            fmt::format("<pre>{}</pre>\n", xml_escaped(options.command));
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : model.training.settings) rows.push_back({xml_escaped(name), xml_escaped(value)});
  if (!rows.empty())
    body += "<details><summary>All settings</summary>\n" + html::table({"setting", "value"}, rows) + "</details>\n";
  return html::section("settings", "Settings", body);
}

std::string origin(const ReportOptions& options) {
  std::vector<std::string> parts;
  if (!options.model_name.empty()) parts.push_back("Model " + options.model_name);
  if (!options.data_name.empty()) parts.push_back("data " + options.data_name);
  return parts.empty() ? "" : html::paragraph(fmt::format("{}", fmt::join(parts, ", ")));
}

}  // namespace

std::string report_page(const Model& given, const Dataset& data, const ReportOptions& options) {
  Model model = given;
  const Sequences& sequences = data.sequences;
  if (sequences.steps() == 0) fail("report: expected data with at least one step, got none");
  note_ranges(model, sequences);  // what the cells held on these data
  const Predictions predictions = predict(model, sequences, options.threads);
  Scores scores;
  const bool scored = any_target(sequences) || data.unknown.count > 0;
  if (scored) scores = evaluate(model.objective(), predictions, sequences, data.unknown);
  std::optional<Dataset> with_unknown;
  if (data.unknown.count > 0) with_unknown = with_unknown_targets(data);
  const Sequences& judged = with_unknown ? with_unknown->sequences : sequences;
  std::string body = origin(options) + head_figures(model, data, scored ? &scores : nullptr);
  body += cell_section(model);
  if (scored) body += score_section(model, judged, predictions, scores);
  body += tree_section(model, observe(model, judged));
  body += machine_section(model, sequences);
  body += bounds_section(model, sequences);
  body += trace_section(model, data, judged, predictions);
  body += importance_section(model, judged, options.threads);
  body += curve_section(model.training);
  body += data_section(model, data);
  body += settings_section(model, options);
  return filled_page("report.html",
                     {{"title", xml_escaped(title_text(model))}, {"inks", svg_style_sheet()}, {"body", body}});
}

void write_report(const std::string& path, const Model& model, const Dataset& data, const ReportOptions& options) {
  write_file(path, report_page(model, data, options));
}

}  // namespace remede
