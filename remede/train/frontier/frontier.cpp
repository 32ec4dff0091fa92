#include "remede/train/frontier/frontier.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/train/frontier/choice.h"
#include "remede/train/frontier/pool.h"
#include "remede/train/frontier/recordings.h"
#include "remede/train/frontier/trends.h"

namespace remede {
namespace {

using frontier::Entry;

FrontierPoint point_of(const Entry& e, const Sequences& validation, bool chosen) {
  FrontierPoint point;
  point.model = e.model;
  point.size = e.size;
  point.validation = score(e.model, validation);
  point.standard_error = frontier::units_of(e.model, validation).error_of_shown();
  if (!e.model.classifies() && point.validation.rmse > 0) point.standard_error /= 2 * point.validation.rmse;
  point.chosen = chosen;
  return point;
}

}  // namespace

FrontierChoice choose_on_frontier(const std::vector<Candidate>& candidates, const Config& config,
                                  const FrontierOptions& options) {
  const Sequences& validation = options.prepared->validation;
  const std::vector<frontier::Trend> trend = frontier::trends_of(config, options.training->schema);
  std::vector<Entry> entries = frontier::candidate_entries(candidates, trend, config, options);
  std::optional<frontier::SmallModels> small;
  if (options.small_models) {
    small.emplace(candidates.front().copies.front(), trend, config, options);
    for (Entry& e : small->entries()) entries.push_back(std::move(e));
  }
  if (entries.empty())
    fail("expected a model that keeps to the trends given, got none: train with more data or without them");
  FrontierChoice choice;
  const Entry* chosen =
      frontier::choose_entry(entries, config, options.solved,
                             frontier::merit_of_constant(options.prepared->objective, validation), choice.frontier.why);
  const Sequences& learned = options.prepared->training;
  if (frontier::too_few_to_judge(learned, validation, config.recipe))
    choice.frontier.why += fmt::format(
        "; with only {} sequences held out, models were also judged on shifted training sequences", validation.count());
  bool shown = false;
  for (const Entry* e : frontier::best_of_each_size(entries)) {
    // The chosen one stands in the table even where a better one is no larger.
    if (!shown && e->size.numbers >= chosen->size.numbers && e != chosen)
      choice.frontier.points.push_back(point_of(*chosen, validation, true));
    shown = shown || e->size.numbers >= chosen->size.numbers;
    if (e == chosen || e->size.numbers != chosen->size.numbers)
      choice.frontier.points.push_back(point_of(*e, validation, e == chosen));
  }
  if (!shown) choice.frontier.points.push_back(point_of(*chosen, validation, true));
  choice.validation = score(chosen->model, validation);
  choice.candidate = chosen->candidate;
  if (!chosen->as_found || chosen->snapshot)
    choice.model = chosen->snapshot && options.refit && !options.stop() ? small->refitted(*chosen) : chosen->model;
  return choice;
}

}  // namespace remede
