#include "remede/train/cross_validate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "remede/model/batch.h"
#include "remede/train/fit.h"
#include "remede/train/prepare.h"

namespace remede {
namespace {

// Each fold is tested once, by a model of the others.
std::vector<Split> one_against_others(const std::vector<std::vector<std::uint32_t>>& folds) {
  std::vector<Split> all;
  for (std::size_t test = 0; test < folds.size(); ++test) {
    Split& fold = all.emplace_back();
    fold.validation = folds[test];
    for (std::size_t f = 0; f < folds.size(); ++f)
      if (f != test) fold.training.insert(fold.training.end(), folds[f].begin(), folds[f].end());
    std::sort(fold.training.begin(), fold.training.end());
  }
  return all;
}

void set_mean_and_sd(FoldFigure& figure) {
  std::vector<double> defined;
  std::copy_if(figure.values.begin(), figure.values.end(), std::back_inserter(defined),
               [](double v) { return !std::isnan(v); });
  figure.mean = figure.sd = std::numeric_limits<double>::quiet_NaN();
  if (defined.empty()) return;
  const auto n = static_cast<double>(defined.size());
  figure.mean = std::accumulate(defined.begin(), defined.end(), 0.0) / n;
  double squares = 0.0;
  for (const double v : defined) squares += (v - figure.mean) * (v - figure.mean);
  if (defined.size() > 1) figure.sd = std::sqrt(squares / (n - 1));
}

}  // namespace

std::vector<Split> make_folds(Dataset& data, const FoldOptions& options, std::uint64_t seed) {
  if (options.forward) return forward_folds(data, options.folds);
  cut_by_group(data);
  if (data.group.empty() && cut_into(data, options.folds))
    data.notes.push_back(fmt::format("fewer sequences than folds: they are cut into {} pieces, each from empty memory",
                                     data.sequences.count()));
  return one_against_others(deal_folds(data, options.folds, seed));
}

std::vector<FoldFigure> CrossValidation::figures() const {
  std::vector<FoldFigure> all;
  for (const FoldResult& fold : folds) {
    const std::vector<Figure> scores = overall_figures(task, fold.scores);
    if (all.empty())
      for (const Figure& score : scores) all.push_back({score.name, {}, 0, 0});
    for (std::size_t i = 0; i < all.size(); ++i) all[i].values.push_back(scores[i].value);
  }
  for (FoldFigure& figure : all) set_mean_and_sd(figure);
  return all;
}

CrossValidation cross_validate(const RawDataset& data, const std::vector<Split>& folds, const Config& config,
                               const Callbacks& callbacks,
                               const std::function<void(const CrossValidation&)>& finished) {
  CrossValidation result;
  result.task = data.data.schema.task;
  for (const Split& fold : folds) {
    const Dataset training = encode_for_fit(select(data, fold.training), false, config);
    const Fit fitted = fit(training, nullptr, config, callbacks);
    result.stopped = fitted.stopped;
    if (result.stopped) break;
    const Code code = {training.schema.inputs, training.schema.codes};
    const Sequences test = encode(select(data, fold.validation), code).sequences;
    const Predictions predictions = predict_batch(fitted.model, test, config.threads);
    result.folds.push_back({evaluate(fitted.model.objective(), predictions, test), fitted.model.node_count()});
    if (finished) finished(result);
  }
  return result;
}

CrossValidation cross_validate(Dataset data, const FoldOptions& options, const Config& config,
                               const Callbacks& callbacks) {
  RawDataset raw;
  for (const std::string& name : data.schema.inputs) raw.inputs.push_back({name, false, false, {}});
  raw.data = std::move(data);
  const std::vector<Split> folds = make_folds(raw.data, options, static_cast<std::uint64_t>(config.seed));
  return cross_validate(raw, folds, config, callbacks);
}

}  // namespace remede
