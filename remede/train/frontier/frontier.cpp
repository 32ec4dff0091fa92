#include "remede/train/frontier/frontier.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/train/calibrate.h"
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
  point.quantile_factors = quantile_factors(e.model, validation);
  point.chosen = chosen;
  return point;
}

// The entries that stand on the frontier, by size. The chosen one is among them even where a better one is no larger.
std::vector<const Entry*> shown_entries(const std::vector<Entry>& entries, const Entry* chosen) {
  std::vector<const Entry*> shown;
  for (const Entry* e : frontier::best_of_each_size(entries))
    if (e == chosen || e->size.numbers != chosen->size.numbers) shown.push_back(e);
  const auto larger = [&](const Entry* e) { return e->size.numbers > chosen->size.numbers; };
  if (std::find(shown.begin(), shown.end(), chosen) == shown.end())
    shown.insert(std::find_if(shown.begin(), shown.end(), larger), chosen);
  return shown;
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
    for (Entry& e : small->search()) entries.push_back(std::move(e));
  }
  if (entries.empty()) fail("expected a model with the trends given, got none: train with more data or without trends");
  FrontierChoice choice;
  const Entry* chosen =
      frontier::choose_entry(entries, config, options.solved,
                             frontier::merit_of_constant(options.prepared->objective, validation), choice.frontier.why);
  const Sequences& learned = options.prepared->training;
  if (frontier::too_few_to_judge(learned, validation, config.recipe))
    choice.frontier.why += fmt::format(
        "; with only {} sequences held out, models were also judged on shifted training sequences", validation.count());
  if (frontier::too_short_to_judge(learned, validation, config.recipe)) {
    const std::string_view judged = "on validation data";
    std::string& why = choice.frontier.why;
    if (const std::size_t at = why.find(judged); at != std::string::npos)
      why.replace(at, judged.size(), "on validation and training data");
    why += "; with so few targets held out, both count, and the table shows the first only";
  }
  const std::vector<const Entry*> shown = shown_entries(entries, chosen);
  choice.frontier.points.resize(shown.size());
  parallel_for(shown.size(), config.threads, [&](std::size_t i, int) {
    choice.frontier.points[i] = point_of(*shown[i], validation, shown[i] == chosen);
  });
  if (small && options.refit) {
    std::vector<std::optional<Model>> again = small->refitted(shown);
    for (std::size_t i = 0; i < shown.size(); ++i)
      if (again[i]) choice.frontier.points[i].model = std::move(*again[i]);
  }
  choice.validation = score(chosen->model, validation);
  choice.candidate = chosen->candidate;
  const auto chosen_at = static_cast<std::size_t>(std::find(shown.begin(), shown.end(), chosen) - shown.begin());
  if (!chosen->as_found || chosen->snapshot) choice.model = choice.frontier.points[chosen_at].model;
  return choice;
}

void finish_frontier(const Model& saved, Frontier& frontier) {
  std::vector<FrontierPoint>& points = frontier.points;
  for (FrontierPoint& point : points) {
    if (point.chosen) point.model = saved;
    point.size = size_of(point.model);
  }
  std::stable_sort(points.begin(), points.end(), [](const FrontierPoint& a, const FrontierPoint& b) {
    return a.size.numbers != b.size.numbers ? a.size.numbers < b.size.numbers : a.chosen && !b.chosen;
  });
  const auto same = [](const FrontierPoint& a, const FrontierPoint& b) { return a.size.numbers == b.size.numbers; };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
}

}  // namespace remede
