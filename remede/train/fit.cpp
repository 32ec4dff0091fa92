#include "remede/train/fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/model/ranges.h"
#include "remede/model/size.h"
#include "remede/simplify/simplify.h"
#include "remede/train/begin.h"
#include "remede/train/calibrate.h"
#include "remede/train/choose.h"
#include "remede/train/direct.h"
#include "remede/train/forest.h"
#include "remede/train/frontier/pool.h"
#include "remede/train/frontier/trends.h"
#include "remede/train/paper.h"
#include "remede/train/polish.h"
#include "remede/train/prepare.h"
#include "remede/train/rows.h"
#include "remede/train/search.h"

namespace remede {
namespace {

double seconds_of_polish(const StartPlan& plan, const Config& config, const Pace& pace) {
  const int threads = config.threads > 0 ? config.threads : hardware_threads();
  const int turns = (config.trees + threads - 1) / threads;
  return turns * plan.budget_share * static_cast<double>(polish_updates(plan)) * pace.update();
}

// `small`: seconds of the search for small models. Where one tree is wanted, a finalist is then rarely what is
// polished.
double seconds_after_choice(double small, double polish, const Config& config) {
  if (small == 0) return polish;
  return config.trees == 1 ? small : small + polish;
}

// `small`: as above; the search follows unless the task is solved.
SearchResult run_recipe(const Config& config, const Schema& schema, const std::vector<Prepared>& folds,
                        double signal_loss, double small, Session& session, Rows* rows) {
  const Prepared& prepared = folds.front();
  std::vector<const TrainingData*> data;
  data.reserve(folds.size());
  for (const Prepared& fold : folds) data.push_back(&fold.data);
  if (!config.recipe.single_start) {
    const std::vector<Portfolio> stages = draw_portfolios(config, prepared.data, folds.size(), signal_loss);
    const auto after = [&](std::size_t finalists, const Pace& pace, bool solved) {
      const LeafForm& form = (solved ? stages.front() : stages.back()).starts.front().shape.form;
      return seconds_of_choice(finalists, form, folds, config, pace.validation()) +
             seconds_after_choice(solved ? 0 : small, seconds_of_polish(stages.back().starts.front(), config, pace),
                                  config);
    };
    return search(config, stages, data, session, after, rows);
  }
  const StartPlan plan = single_plan(config, schema, LeafForm(), single_gradient(config.recipe));
  const Budget budget = budget_of(config, prepared.data.training.count());
  return train_single(plan, prepared.data, budget, config, session);
}

// The finalist's hard tree, in the data's own units.
Model model_of(const Finalist& finalist, const Prepared& prepared, const Schema& schema, const Config& config) {
  Model model;
  model.schema = schema;
  model.fill = prepared.fill;
  model.trees.push_back(harden(finalist.parameters));
  if (prepared.objective.loss != default_objective(schema.task).loss) model.own_objective = prepared.objective;
  fold(prepared.scaling, prepared.objective, model.trees.back());
  model.training.settings = settings(config);
  model.training.training_loss = finalist.training_curve;
  model.training.validation_loss = finalist.validation_curve;
  check(model, "trained model");
  return model;
}

Model assemble_kept(const std::vector<Candidate>& candidates) {
  std::vector<const Model*> models;
  models.reserve(candidates.size());
  for (const Candidate& c : candidates) models.push_back(&c.model());
  return assemble(models);
}

// On data never learned from: where there are folds, the copies of each on what it held out.
Score score_held_out(const std::vector<Candidate>& candidates, std::span<const Prepared> folds, int threads) {
  if (folds.size() == 1) return score(assemble_kept(candidates), folds.front().validation, threads);
  Score sum;
  double squares = 0;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    std::vector<const Model*> models;
    models.reserve(candidates.size());
    for (const Candidate& c : candidates) models.push_back(&c.copies[f]);
    const Score s = score(assemble(models), folds[f].validation, threads);
    sum.sequences += s.sequences;
    sum.targets += s.targets;
    sum.weight += s.weight;
    sum.accuracy += s.accuracy * s.weight;
    sum.loss += s.loss * s.weight;
    squares += s.rmse * s.rmse * s.weight;
  }
  sum.accuracy /= sum.weight;
  sum.loss /= sum.weight;
  sum.rmse = std::sqrt(squares / sum.weight);
  return sum;
}

// Those of the search first, then those that were learned directly.
std::vector<std::vector<Model>> models_of(const SearchResult& found, const DirectModels& direct,
                                          const std::vector<Prepared>& folds, const Schema& schema,
                                          const Config& config) {
  std::vector<std::vector<Model>> models;
  for (const std::vector<Finalist>& start : found.finalists) {
    std::vector<Model>& copies = models.emplace_back();
    for (std::size_t f = 0; f < folds.size(); ++f) copies.push_back(model_of(start[f], folds[f], schema, config));
  }
  for (const DirectCandidate& candidate : direct.candidates) models.push_back(candidate.copies);
  return models;
}

// Of a start over all folds.
double mean_loss(const std::vector<Finalist>& start) {
  double sum = 0;
  for (const Finalist& copy : start) sum += copy.loss / static_cast<double>(start.size());
  return sum;
}

// Directly learned models that are clearly worse than the best of the search are not worth simplifying.
void drop_hopeless(const SearchResult& found, const Recipe& recipe, DirectModels& direct) {
  double loss = std::numeric_limits<double>::infinity(), wrong = 1;
  for (const std::vector<Finalist>& start : found.finalists) {
    double wrong_of_start = 0;
    for (const Finalist& copy : start) wrong_of_start += (1 - copy.accuracy) / static_cast<double>(start.size());
    loss = std::min(loss, mean_loss(start));
    wrong = std::min(wrong, wrong_of_start);
  }
  std::erase_if(direct.candidates, [&](const DirectCandidate& c) {
    return c.loss > recipe.hopeless_loss * loss && c.wrong > wrong + recipe.hopeless_errors;
  });
}

double mean_solved_loss(const std::vector<Prepared>& folds, const Config& config) {
  double sum = 0;
  for (const Prepared& fold : folds)
    sum += solved_loss(fold.objective, fold.validation, config.recipe) / static_cast<double>(folds.size());
  return sum;
}

// In the units of training, which are those of a finalist's loss.
bool is_solved(const SearchResult& found, const std::vector<Prepared>& folds, const Recipe& recipe) {
  double solved = 0;
  for (const Prepared& fold : folds)
    solved += solved_loss(fold.data.objective, fold.data.validation, recipe) / static_cast<double>(folds.size());
  return std::any_of(found.finalists.begin(), found.finalists.end(),
                     [&](const std::vector<Finalist>& start) { return mean_loss(start) <= solved; });
}

// Nothing where the finalist stays as it is: its form is exact, or it is out of time, or lost.
std::optional<Model> polished_model(const Finalist& finalist, const TrainingData& all, const Prepared& prepared,
                                    const Schema& schema, const Config& config, const std::function<bool()>& hurry) {
  if (finalist.plan.shape.form.leaf_output != LeafOutput::kLinear) return std::nullopt;
  const Finalist polished = polish(finalist, all, device_of(config), hurry);
  if (polished.parameters.values == finalist.parameters.values) return std::nullopt;
  return model_of(polished, prepared, schema, config);
}

std::optional<Model> refitted_model(const DirectCandidate& candidate, std::size_t kept, const TrainingData& all,
                                    const Sequences& raw) {
  return candidate.refit ? candidate.refit(kept, all, raw) : std::nullopt;
}

bool has_choice_of_size(const Config& config) {
  return !config.recipe.single_start && config.trees == 1 && config.simplify;
}

bool looks_for_small_models(const Config& config) {
  return !config.recipe.single_start && config.simplify && leaves_form_open(config);
}

// Whether a model may be saved in place of the one chosen for its size: after the last training, or as the copy of
// another fold.
bool keeps_choice(const Model& trained, const Model& chosen, const Config& config) {
  if (!has_choice_of_size(config)) return true;
  if (!frontier::keeps_trends(trained, frontier::trends_of(config, trained.schema))) return false;
  const auto numbers = static_cast<double>(size_of(trained).numbers);
  if (config.numbers) return numbers <= *config.numbers;
  return config.accurate || numbers <= config.recipe.polish_growth * static_cast<double>(size_of(chosen).numbers);
}

// Polishes what was chosen, on all the data, where data are few enough for that to matter. A tree that predicts these
// data worse afterwards, or is no longer what was chosen, stays as it was.
void polish_all(const std::vector<std::vector<Finalist>>& finalists, const DirectModels& direct,
                std::vector<Candidate>& candidates, const Dataset& training, const std::vector<Prepared>& folds,
                const Config& config, Session& session) {
  const auto hurry = [&session] { return session.hurry(); };
  const Sequences judged = thinned(training.sequences, config.recipe);
  const Sequences weighted = with_class_weights(judged, config);
  const TrainingData all = everything(training, folds.front(), config);  // scales are the same in every fold
  parallel_for(candidates.size(), config.threads, [&](std::size_t i, int) {
    Candidate& c = candidates[i];
    std::optional<Model> again =
        c.finalist < finalists.size()
            ? polished_model(finalists[c.finalist][c.kept], all, folds[c.kept], training.schema, config, hurry)
            : refitted_model(direct.candidates[c.finalist - finalists.size()], c.kept, all, weighted);
    if (!again) return;
    Model trained = std::move(*again);
    Model& model = c.copies[c.kept];
    SimplifyOptions options;
    options.tolerance = simplify_tolerance(config.recipe);
    options.tolerance.stop = hurry;
    options.exact.drop_inputs = false;
    options.tolerance.log_loss = options.tolerance.loss_share =
        0;  // nothing is held out any more, so a loss would not show on the data
    if (config.simplify) trained = simplify(trained, options, &judged, &judged).model;
    if (keeps_choice(trained, model, config) && score(trained, weighted).loss <= score(model, weighted).loss)
      model = std::move(trained);
  });
}

constexpr double kShareOfSearch = 0.9;  // of the time for small models; then the best are finished

// Of the search for small models, with what comes after it in its phase; 0 where there is none, or nobody looks.
double seconds_of_small(const Config& config, const Schema& schema, const Prepared& prepared, Session& session) {
  if (!session.watched() || !looks_for_small_models(config)) return 0;
  return 1 / kShareOfSearch *
         frontier::seconds_of_small_models(prepared, frontier::trends_of(config, schema), config,
                                           [&session] { return session.halt(); });
}

// What both uses of small models have in common. `seconds`: what the search for them was forecast to take.
FrontierOptions options_of_small(const Dataset& training, const Prepared& prepared, Session& session, double seconds) {
  FrontierOptions options;
  options.training = &training;
  options.prepared = &prepared;
  options.peers = session.peers();
  options.stop = [&session] { return session.halt(); };
  options.progress = [&session](double) { session.show_phase("small models"); };
  options.worked = [&session, seconds](double share) { session.expect_in_phase(kShareOfSearch * share, seconds, 0.0); };
  return options;
}

// The choice among models of all sizes; nothing where there is none to make. Brings the chosen candidate to the front.
std::optional<FrontierChoice> choose_size(std::vector<Candidate>& candidates, const Dataset& training,
                                          bool validation_given, const std::vector<Prepared>& folds,
                                          const Config& config, Session& session, double seconds) {
  if (!has_choice_of_size(config) || session.stop()) return std::nullopt;
  FrontierOptions options = options_of_small(training, folds.front(), session, seconds);
  // A large model that leaves nothing to learn is no reason not to look for one that can be read.
  options.solved = candidates.front().loss <= mean_solved_loss(folds, config) &&
                   size_of(candidates.front().model()).numbers <= config.recipe.laws_only_numbers;
  options.small_models = leaves_form_open(config) && !options.solved && !session.halt();
  options.refit = !validation_given && folds.front().held_out;
  session.begin_part();
  session.expect_in_phase(0, options.small_models ? seconds : 0.0, 0.0);
  session.show_phase("small models");
  FrontierChoice choice = choose_on_frontier(candidates, config, options);
  std::rotate(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(choice.candidate),
              candidates.begin() + static_cast<std::ptrdiff_t>(choice.candidate) + 1);
  Candidate& chosen = candidates.front();
  if (!keeps_choice(chosen.copies[chosen.kept], chosen.copies.front(), config)) chosen.kept = 0;  // the copy judged
  return choice;
}

// The best small model, with what it needs to learn from all the data.
struct SmallMember {
  FrontierOptions options;
  std::optional<frontier::SmallModels> models;
  frontier::Entry entry;
};

// Nothing where the search for small models ends without one.
std::shared_ptr<SmallMember> best_small_model(const Model& like, const Config& config, FrontierOptions options) {
  auto small = std::make_shared<SmallMember>();
  small->options = std::move(options);
  small->models.emplace(like, frontier::trends_of(config, like.schema), config, small->options);
  std::vector<frontier::Entry> found = small->models->search();
  const auto best = std::min_element(
      found.begin(), found.end(), [](const frontier::Entry& a, const frontier::Entry& b) { return a.merit < b.merit; });
  if (best == found.end()) return nullptr;
  small->entry = std::move(*best);
  small->entry.model.fill = like.fill;  // the trees of a forest share it
  return small;
}

// In a forest the best small model may take part. It then joins the models that were learned directly. Returns the
// folds on which all members can be judged.
std::span<const Prepared> add_small_model(const SearchResult& found, const Dataset& training,
                                          const std::vector<Prepared>& folds, const Config& config, Session& session,
                                          double seconds, DirectModels& direct, std::vector<Candidate>& members) {
  const double solved = mean_solved_loss(folds, config);
  if (config.trees == 1 || !looks_for_small_models(config) || members.front().loss <= solved || session.halt())
    return folds;
  session.begin_part();
  session.expect_in_phase(0, seconds, 0.0);
  session.show_phase("small models");
  const std::shared_ptr<SmallMember> small = best_small_model(
      members.front().copies.front(), config, options_of_small(training, folds.front(), session, seconds));
  if (!small) return folds;
  Candidate candidate = candidate_of(small->entry.model, folds.front().validation);
  candidate.finalist = found.finalists.size() + direct.candidates.size();
  if (!take_in(std::move(candidate), members, static_cast<std::size_t>(config.trees), folds.front(), solved,
               config.recipe))
    return folds;
  DirectCandidate& joined = direct.candidates.emplace_back();
  joined.refit = [small](std::size_t, const TrainingData&, const Sequences&) {
    std::optional<Model> again = small->models->refitted({&small->entry}).front();
    if (again) again->fill = small->entry.model.fill;
    return again;
  };
  return {folds.data(), 1};
}

// Factors for the distances between quantiles, from the model as it is before it learns from the held-out data as well;
// the models on the frontier are scaled each by its own.
std::vector<float> calibrate(const std::vector<Candidate>& candidates, const std::vector<Prepared>& folds, int threads,
                             std::optional<FrontierChoice>& choice) {
  std::vector<float> of_chosen;
  if (choice)
    for (FrontierPoint& point : choice->frontier.points) {
      if (point.chosen) of_chosen = point.quantile_factors;
      scale_quantiles(point.quantile_factors, point.model);
    }
  if (!of_chosen.empty()) return of_chosen;
  return quantile_factors(assemble_kept(candidates), folds[candidates.front().kept].validation, threads);
}

}  // namespace

Fit fit(const Dataset& training, const Dataset* validation, const Config& asked, const Callbacks& callbacks,
        const Checkpoint* resume, Rows* rows) {
  const Config config = settled(asked, training);
  Checkpoint base = checkpoint_base(training, validation, config);
  if (callbacks.peers != nullptr) callbacks.peers->begin(to_bytes(base));
  if (resume != nullptr) expect_same(*resume, config, base.data);
  Session session(callbacks, std::move(base), resume != nullptr ? resume->state : "", config.time_limit, config.recipe);
  const std::vector<Prepared> folds =
      folds_of_fit(training, validation, config, rows != nullptr ? &rows->scaling() : nullptr);
  const double small_seconds = seconds_of_small(config, training.schema, folds.front(), session);
  DirectModels direct = learn_directly(
      training.schema, folds, config, [&] { return session.halt(); }, session.peers());
  SearchResult found;
  if (!direct.solved)
    found = run_recipe(config, training.schema, folds, direct.signal_loss, small_seconds, session, rows);
  session.begin(Phase::kChoose);  // patterns included: under a time limit the search has used its share
  if (!direct.solved) {
    if (!is_solved(found, folds, config.recipe) && !session.halt())
      add_patterns(
          training.schema, folds, config, [&] { return session.halt(); }, direct);
    drop_hopeless(found, config.recipe, direct);
  }
  if (session.stop())
    found.finalists.resize(std::min<std::size_t>(found.finalists.size(), static_cast<std::size_t>(config.trees)));

  session.begin_part();
  const double polish_seconds =
      direct.solved ? 0 : seconds_of_polish(found.finalists.front().front().plan, config, found.pace);
  const double after_choice = seconds_after_choice(direct.solved ? 0 : small_seconds, polish_seconds, config);
  const LeafForm form = direct.solved ? LeafForm() : found.finalists.front().front().plan.shape.form;
  session.expect_in_phase(0, seconds_of_choice(found.finalists.size(), form, folds, config, found.pace.validation()),
                          after_choice);
  session.show_phase("simplify");
  std::vector<Candidate> candidates = choose(models_of(found, direct, folds, training.schema, config), folds, config,
                                             mean_solved_loss(folds, config), &session, after_choice);
  std::optional<FrontierChoice> choice =
      choose_size(candidates, training, validation != nullptr, folds, config, session, small_seconds);
  candidates = select_members(std::move(candidates), static_cast<std::size_t>(config.trees), folds,
                              mean_solved_loss(folds, config), config.recipe);
  const std::span<const Prepared> judged =
      add_small_model(found, training, folds, config, session, small_seconds, direct, candidates);
  Fit result;
  if (!found.note.empty()) result.notes.push_back(found.note);
  if (resume != nullptr && config_from_settings(resume->settings, "checkpoint").device != config.device)
    result.notes.push_back(
        "resumed on another kind of device: the model is not the one that the first would have given");
  result.trained_nodes = candidates.front().trained_nodes;
  result.held_out = folds.front().held_out;
  result.validation = choice && choice->model ? choice->validation : score_held_out(candidates, judged, config.threads);
  if (validation != nullptr) add_unknown(validation->unknown, result.validation);
  const std::vector<float> factors = calibrate(candidates, folds, config.threads, choice);
  // The score is that of data never learned from; the model is then given the rest as well.
  session.begin(Phase::kPolish);
  session.expect_in_phase(0, polish_seconds, 0);
  session.show_phase("polish");
  const bool chose_model = choice && choice->model;  // which is finished
  if (validation == nullptr && result.held_out && !chose_model && !session.halt())
    polish_all(found.finalists, direct, candidates, training, folds, config, session);
  result.model = chose_model ? std::move(*choice->model) : assemble_kept(candidates);
  scale_quantiles(factors, result.model);
  if (choice) result.frontier = std::move(choice->frontier);
  SimplifyOptions exactly;
  exactly.exact.drop_inputs = false;  // the model reads the data it was given
  if (config.simplify) result.model = simplify(result.model, exactly, nullptr, nullptr).model;
  if (std::any_of(result.model.trees.begin(), result.model.trees.end(), [](const Tree& t) { return t.has_laws(); }))
    note_ranges(result.model, training.sequences);  // what its cells held, for whoever reads it
  if (session.stop() && config.numbers && size_of(result.model).numbers > *config.numbers)
    result.model.training.notes.push_back(
        fmt::format("stopped before the search for models of at most {} numbers", *config.numbers));
  finish_frontier(result.model, result.frontier);
  result.stopped = session.stop();
  result.late = session.was_late();
  if (result.stopped && !found.stopped) session.checkpoint(std::move(found.state));
  session.finish();
  if (result.late)
    result.model.training.notes.push_back("cut short by its time limit: another run may give another model");
  return result;
}

void score_on_test(const Dataset& test, int threads, Fit& fit) {
  Score s = score(fit.model, test.sequences, threads);
  add_unknown(test.unknown, s);
  if (s.targets == 0) fail("expected test data with at least one target, got none");
  fit.test = s;
  const bool classes = fit.model.schema.task == Task::kClassification;
  fit.model.training.test = {{"sequences", static_cast<double>(s.sequences)},
                             {"targets", static_cast<double>(s.targets)}};
  if (classes) fit.model.training.test.emplace_back("accuracy", s.accuracy);
  if (classes) fit.model.training.test.emplace_back("log_loss", s.loss);
  if (!classes) fit.model.training.test.emplace_back("rmse", s.rmse);
}

}  // namespace remede
