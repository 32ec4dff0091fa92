// The results, for people and for programs.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/text.h"
#include "remede/verify/checks.h"

namespace remede {
namespace {

using ReportJson = nlohmann::ordered_json;

std::string range_words(const Range& range) {
  if (!range.has_numbers()) return range.nan ? "not a number" : "never computed";
  const auto end = [](float v) {
    return std::isinf(v) ? std::string(v > 0 ? "infinity" : "-infinity") : fmt::format("{}", v);
  };
  const std::string text =
      range.low == range.high ? end(range.low) : fmt::format("{} to {}", end(range.low), end(range.high));
  return range.nan ? text + ", or not a number" : text;
}

ReportJson range_json(const Range& range) {
  const auto end = [](float v) { return std::isfinite(v) ? ReportJson(static_cast<double>(v)) : ReportJson(); };
  return {{"low", end(range.low)}, {"high", end(range.high)}, {"nan", range.nan}};
}

std::vector<std::string> answer_names(const Model& model) {
  if (!model.classifies()) return model.output_names();
  std::vector<std::string> names;
  for (const std::string& word : model.schema.classes) names.push_back(fmt::format("p({})", word));
  return names;
}

// Words do not rise.
bool is_number(const Model& model, std::size_t input) {
  const InputCode* const code = model.schema.code_of(model.schema.inputs[input]);
  return code == nullptr || code->gap;
}

ReportJson verification_json(const Verification& one) {
  ReportJson json = {{"property", one.property}, {"meaning", one.meaning}, {"verdict", name(one.verdict)}};
  if (one.verdict == Decision::kFails) {
    json["step"] = one.counterexample.size();
    json["shortest"] = one.shortest;
    json["counterexample"] = ReportJson::array();
    for (const StepInput& input : one.counterexample) {
      ReportJson row = ReportJson::object();
      for (std::size_t c = 0; c < one.system->columns.size(); ++c) {
        const InputColumn& column = one.system->columns[c];
        const InputOption& option = column.options[static_cast<std::size_t>(input.option[c])];
        const float v = input.x[static_cast<std::size_t>(column.inputs[0])];
        if (column.words)
          row[column.name] = option.missing ? ReportJson() : ReportJson(option.word);
        else
          row[column.name] = std::isnan(v) ? ReportJson() : ReportJson(static_cast<double>(v));
      }
      json["counterexample"].push_back(std::move(row));
    }
  } else if (one.verdict == Decision::kUndecided) {
    json["depth"] = one.depth;
    json["stuck"] = one.stuck;
  } else {
    json["exact"] = one.exact;
    json["boxes"] = one.invariant.size();
  }
  return json;
}

ReportJson checks_object(const Model& model, const ModelChecks& checks) {
  const std::vector<std::string> answers = answer_names(model);
  ReportJson json = {{"closed", checks.closed},      {"answers", ReportJson::array()},
                     {"cells", ReportJson::array()}, {"unreachable_leaves", checks.unreachable},
                     {"never_said", checks.unsaid},  {"trends", ReportJson::array()}};
  for (std::size_t o = 0; o < answers.size(); ++o) {
    ReportJson one = {{"name", answers[o]}};
    one.update(range_json(checks.answer[o]));
    json["answers"].push_back(std::move(one));
  }
  for (const CellBounds& cell : checks.cells) {
    ReportJson one = {{"name", cell.name}};
    one.update(range_json(cell.range));
    one["drifts"] = cell.drifts;
    json["cells"].push_back(std::move(one));
  }
  for (std::size_t i = 0; i < checks.trend.size(); ++i)
    for (std::size_t o = 0; o < answers.size() && is_number(model, i); ++o)
      json["trends"].push_back(
          {{"answer", answers[o]}, {"input", model.schema.inputs[i]}, {"trend", trend_text(checks.trend[i][o])}});
  return json;
}

std::string steps_text(const Verification& one) {
  constexpr std::size_t kMostShown = 12;
  std::string text;
  const std::size_t count = one.counterexample.size();
  for (std::size_t t = 0; t < count; ++t) {
    if (count > kMostShown && t == kMostShown - 2) {
      text += fmt::format("    ... {} more\n", count - kMostShown + 1);
      t = count - 1;
    }
    text += fmt::format("    step {}: {}\n", t + 1, input_text(*one.system, one.counterexample[t]));
  }
  return text;
}

}  // namespace

std::string verification_text(const Verification& one) {
  std::string text = fmt::format("{}: {}\n", name(one.verdict), printable(one.property));
  if (one.property != one.meaning) text += fmt::format("  read as: {}\n", printable(one.meaning));
  const auto boxes = static_cast<long long>(one.invariant.size());
  if (one.verdict == Decision::kHolds) {
    text += one.exact
                ? fmt::format("  for sequences of every length: all {} were visited\n", plural(boxes, "configuration"))
                : fmt::format("  for sequences of every length: {} of memory values that no step can leave\n",
                              boxes == 1 ? "1 box" : fmt::format("{} boxes", grouped(boxes)));
  } else if (one.verdict == Decision::kFails) {
    text += fmt::format("  broken at step {}{}:\n", one.counterexample.size(),
                        one.shortest ? "; no shorter sequence breaks it" : "");
    text += steps_text(one);
  } else {
    text += fmt::format("  holds for sequences of up to {}; {}\n", plural(static_cast<long long>(one.depth), "step"),
                        printable(one.stuck));
  }
  return text;
}

std::string checks_text(const Model& model, const ModelChecks& checks) {
  const std::vector<std::string> answers = answer_names(model);
  std::string text = "over sequences of every length:\n";
  if (!checks.closed) text = "no bounds were found within the limit of work; what floats allow:\n";
  for (std::size_t o = 0; o < answers.size(); ++o)
    text += fmt::format("  {}: {}\n", printable(answers[o]), range_words(checks.answer[o]));
  for (const CellBounds& cell : checks.cells)
    text += fmt::format("  cell {}: {}{}\n", printable(cell.name), range_words(cell.range),
                        cell.drifts ? " (no bound was found: it can drift)" : "");
  for (std::size_t t = 0; t < checks.unreachable.size(); ++t)
    for (const int leaf : checks.unreachable[t])
      text += fmt::format("  leaf {}{} is never reached\n", leaf,
                          checks.unreachable.size() > 1 ? fmt::format(" of tree {}", t + 1) : "");
  for (const std::string& word : checks.unsaid) text += fmt::format("  {} is never said\n", printable(word));
  text += "when one input rises and the memory stays the same:\n";
  for (std::size_t o = 0; o < answers.size(); ++o)
    for (std::size_t i = 0; i < checks.trend.size(); ++i)
      if (checks.trend[i][o] != Trend::kNone && is_number(model, i))
        text += fmt::format("  {} {} {}\n", printable(answers[o]), trend_text(checks.trend[i][o]),
                            printable(model.schema.inputs[i]));
  return text;
}

std::string checks_json(const Model& model, const ModelChecks& checks) { return checks_object(model, checks).dump(); }

std::string robustness_text(const Robustness& r) {
  const std::string sequence =
      r.id.empty() ? fmt::format("the sequence number {}", r.sequence + 1) : fmt::format("sequence {}", shown(r.id));
  const std::string broken =
      std::isinf(r.broken) ? "no change was found beyond it"
                           : fmt::format("at {:.4g} that of step {} of {} changes", r.broken, r.step + 1, sequence);
  return fmt::format("robust: no {} of {} changes while every number moves by at most {:.4g}; {}\n",
                     r.leaves ? "leaf that is reached" : "answer", plural(static_cast<long long>(r.steps), "step"),
                     r.proved, broken);
}

std::string verifications_json(const std::vector<Verification>& results, const ModelChecks* checks, const Model& model,
                               const Robustness* robustness) {
  ReportJson json = {{"results", ReportJson::array()}};
  for (const Verification& one : results) json["results"].push_back(verification_json(one));
  if (checks != nullptr) json["checks"] = checks_object(model, *checks);
  if (robustness != nullptr)
    json["robustness"] = {{"of", robustness->leaves ? "leaf" : "answer"},
                          {"steps", robustness->steps},
                          {"proved", robustness->proved},
                          {"broken", std::isinf(robustness->broken) ? ReportJson() : ReportJson(robustness->broken)},
                          {"sequence", robustness->sequence + 1},
                          {"id", robustness->id.empty() ? ReportJson() : ReportJson(printable(robustness->id))},
                          {"step", robustness->step + 1}};
  return json.dump();
}

}  // namespace remede
