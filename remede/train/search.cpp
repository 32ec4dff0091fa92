#include "remede/train/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/executor/executor.h"
#include "remede/executor/remote/job.h"
#include "remede/executor/remote/rounds.h"
#include "remede/train/rows.h"

namespace remede {
namespace {

constexpr std::size_t kMeasuredStarts = 6;     // of a stage that has not begun, to forecast how long it will take,
constexpr std::uint64_t kMeasuredUpdates = 2;  // of each

double mean_constant_loss(const std::vector<const TrainingData*>& folds) {
  double sum = 0;
  for (const TrainingData* fold : folds) sum += constant_loss(fold->objective, fold->validation);
  return sum / static_cast<double>(folds.size());
}

// One plan, trained once for each fold.
struct Start {
  std::vector<std::unique_ptr<Trainer>> copies;

  explicit Start(std::size_t folds) : copies(folds) {}
  bool begun() const {
    return std::all_of(copies.begin(), copies.end(), [](const auto& copy) { return copy != nullptr; });
  }
  const StartPlan& plan() const { return copies.front()->plan(); }
  bool has_best() const {
    return std::all_of(copies.begin(), copies.end(), [](const auto& c) { return c->has_best(); });
  }
  // Over the folds.
  double best_loss() const {
    double sum = 0;
    for (const auto& copy : copies) sum += copy->best_loss();
    return sum / static_cast<double>(copies.size());
  }
  double best_accuracy() const {
    double sum = 0;
    for (const auto& copy : copies) sum += copy->best_accuracy();
    return sum / static_cast<double>(copies.size());
  }
};

class Search {
 public:
  Search(const Config& config, const std::vector<Portfolio>& stages, const std::vector<const TrainingData*>& folds,
         Session& session, const SecondsAfter& after, Rows* rows)
      : recipe_(config.recipe),
        stages_(stages),
        folds_(folds),
        session_(session),
        after_(after),
        rows_(rows),
        paces_(stages.size()),
        constant_(mean_constant_loss(folds)),
        solved_(config.recipe.solved * constant_),
        thinning_(thinning_of(config)),
        threads_(config.threads <= 0 ? hardware_threads() : config.threads),
        executor_(session.peers() == nullptr
                      ? make_executor(device_of(config), folds, config.threads)
                      : make_sharing_executor(device_of(config), folds, config.threads, *session.peers())) {
    if (session.resume().empty()) begin_stage(0);
    if (session.watched()) measure_later_stages();
  }

  SearchResult run() {
    if (!session_.resume().empty()) load(session_.resume());
    while (stage_ < stages_.size()) {
      // A fit that is stopped goes on from the last whole round; from its beginning where not even that was drawn.
      const std::string before = whole_ ? state() : "";
      round();
      if (session_.stop()) {
        session_.checkpoint(before);
        return result(true);
      }
      if (session_.late()) return result(true);
      if (session_.checkpoint_due()) session_.checkpoint(state());
    }
    return result(false);
  }

 private:
  void begin_stage(std::size_t stage) {
    stage_ = stage;
    round_ = 0;
    finishing_ = false;
    starts_.clear();
    if (stage == stages_.size()) return;
    const std::vector<StartPlan>& plans = stages_[stage].starts;
    double least = std::numeric_limits<double>::infinity();
    for (const Start& start : done_) least = std::min(least, start.best_loss());
    first_round_ = first_round_of(stage, least);
    set_length();
    const std::size_t copies = folds_.size();
    for (std::size_t i = 0; i < plans.size(); ++i) starts_.emplace_back(copies);
    const auto begin = [&](std::size_t i) {
      if (i >= copies && session_.halt()) return;
      starts_[i / copies].copies[i % copies] = executor_->start(plans[i / copies], i % copies);
    };
    std::vector<std::size_t> drawn, grown;
    for (std::size_t i = 0; i < plans.size() * copies; ++i) (plans[i / copies].grown ? grown : drawn).push_back(i);
    parallel_for(drawn.size(), threads_, [&](std::size_t i, int) { begin(drawn[i]); });
    SharedWork growing;
    growing.count = grown.size();
    growing.here = [&](std::size_t i, int) { begin(grown[i]); };
    growing.job = [&](std::size_t i) {
      ByteWriter job = job_of(Job::kBegin);
      job.put(plans[grown[i] / copies].stream);
      job.put(static_cast<std::uint64_t>(grown[i] % copies));
      return job.take();
    };
    growing.take = [&](std::size_t i, std::string_view answer) {
      const std::size_t fold = grown[i] % copies;
      ByteReader from(answer, "answer of a peer");
      auto start = std::make_unique<Trainer>(plans[grown[i] / copies], *folds_[fold], false);
      start->load(from);
      starts_[grown[i] / copies].copies[fold] = std::move(start);
    };
    growing.stop = [this] { return session_.halt(); };
    share(growing, threads_, session_.peers());
    whole_ = std::erase_if(starts_, [](const Start& start) { return !start.begun(); }) == 0;
  }

  std::uint64_t full_round(std::size_t stage) const { return stages_[stage].starts.front().first_round; }
  // Updates. If an earlier stage has nearly solved the task, the first round of a stage of another kind is short.
  std::uint64_t first_round_of(std::size_t stage, double least) const {
    const std::uint64_t planned = stages_[stage].trial > 0 ? stages_[stage].trial : full_round(stage);
    const bool another_draw = std::isfinite(stages_[stage].entry);
    if (another_draw || !(least <= recipe_.nearly_solved * solved_)) return planned;
    return std::min(planned, static_cast<std::uint64_t>(recipe_.nearly_solved_round));
  }

  void set_length() {
    std::uint64_t done = 0;
    for (const Start& start : starts_)
      for (const auto& copy : start.copies) done = std::max(done, copy->updates());
    const std::uint64_t until = updates_until(round_ + 1, first_round_, starts_plan().budget_share);
    length_ = until - std::min(until, done);
  }
  const StartPlan& starts_plan() const { return stages_[stage_].starts.front(); }

  // One round: every survivor advances, and the worse half goes. When few are left, or enough are solved, they are
  // finished in a last round of falling rates.
  void round() {
    for (const Start& start : starts_)
      for (const auto& copy : start.copies) {
        if (!finishing_) continue;
        copy->return_to_best();
        copy->begin_decay(length_);
      }
    this_round_ = Pace();
    const std::pair<std::size_t, double> before = losses();
    std::vector<Trainer*> all;
    for (const Start& start : starts_)
      for (const auto& copy : start.copies) all.push_back(copy.get());
    // When stopped, only the first start still makes an update: something must have been validated.
    const Round round{length_, folds_.size(), [this] { return session_.halt(); },
                      [this](const StretchTime& time) { note_pace(time); }};
    if (finishing_ && rows_ != nullptr) {
      rows_->round(all, round);
    } else {
      executor_->round(all, round);
    }
    std::stable_sort(starts_.begin(), starts_.end(),
                     [](const Start& a, const Start& b) { return a.best_loss() < b.best_loss(); });
    least_ = std::min(least_, starts_.front().best_loss());
    report();
    if (session_.halt()) return;
    if (finishing_) {
      end_stage();
      return;
    }
    if (!lift_doubt()) {
      drop(losses() != before);
      ++round_;
    }
    set_length();
  }

  // The rounds of a stage in doubt become as long as others, this one included, as soon as a start does far better than
  // the model that raised the doubt.
  bool lift_doubt() {
    const Portfolio& stage = stages_[stage_];
    if (first_round_ != stage.trial || !(starts_.front().best_loss() < stage.lifted)) return false;
    first_round_ = full_round(stage_);
    return true;
  }

  // A solved stage is the last.
  void end_stage() {
    const bool solved = starts_.front().best_loss() <= solved_;
    double least = std::numeric_limits<double>::infinity();
    for (Start& start : starts_) done_.push_back(std::move(start));
    for (const Start& start : done_) least = std::min(least, start.best_loss());
    std::size_t next = stage_ + 1;
    while (next < stages_.size() && !(least < stages_[next].entry * constant_)) ++next;
    begin_stage(solved ? stages_.size() : next);
  }

  static void add(const StretchTime& time, Pace& pace) {
    pace.add(time.update_seconds, static_cast<double>(time.updates), time.validation_seconds);
  }

  void note_pace(const StretchTime& time) {
    const std::lock_guard lock(pace_mutex_);
    add(time, this_round_);
    paces_[stage_] = this_round_;
    session_.expect(seconds_left(), stage_ + 1 < stages_.size() && !(least_ <= solved_));
  }

  // Stages that have not begun: a few updates of some starts that are thrown away.
  void measure_later_stages() {
    for (std::size_t stage = stage_ + 1; stage < stages_.size(); ++stage) {
      const std::vector<StartPlan>& plans = stages_[stage].starts;
      for (std::size_t k = 0; k < std::min(kMeasuredStarts, plans.size()) && !session_.halt(); ++k) {
        StartPlan plan = plans[plans.size() * k / std::min(kMeasuredStarts, plans.size())];
        plan.grown = false;
        plan.validations = 1;
        const std::unique_ptr<Trainer> start = executor_->start(plan, 0);
        Trainer* const only[] = {start.get()};
        executor_->round(only, {kMeasuredUpdates, 1, {}, [&](const StretchTime& time) { add(time, paces_[stage]); }});
      }
    }
  }

  StageSize size_of(std::size_t stage) const {
    const std::vector<StartPlan>& starts = stages_[stage].starts;
    const StartPlan& plan = starts.front();
    const std::uint64_t first = stage == stage_ ? first_round_ : first_round_of(stage, least_);
    return {starts.size(),    folds_.size(),     thinning_,         first,
            plan.validations, plan.budget_share, plan.least_rounds, session_.hands(threads_)};
  }

  // REQUIRES: the lock of the paces is held.
  double seconds_left() const {
    const StageSize now = size_of(stage_);
    const Pace& pace = paces_[stage_];
    const double all =
        static_cast<double>(starts_.size() * folds_.size()) * static_cast<double>(starts_plan().validations);
    const double done = std::min(1.0, this_round_.validations / all);
    double sum = (1 - done) * seconds_of_round(now, round_, starts_.size(), pace) +
                 seconds_after_round(now, round_, starts_.size(), finishing_, pace);
    std::size_t finalists = done_.size() + std::min(thinning_.finalists, starts_.size());
    const Pace* last = &pace;
    for (std::size_t stage = stage_ + 1; stage < stages_.size() && !(least_ <= solved_); ++stage) {
      if (!(least_ < stages_[stage].entry * constant_) && stages_[stage].entry < 1) continue;
      const StageSize later = size_of(stage);
      last = &paces_[stage];
      sum +=
          seconds_of_round(later, 0, later.starts, *last) + seconds_after_round(later, 0, later.starts, false, *last);
      finalists += std::min(thinning_.finalists, later.starts);
    }
    return sum + (after_ ? after_(finalists, *last, least_ <= solved_) : 0.0);
  }

  // The number of starts that have a loss, and the sum of their losses. One of them changes if any start improves.
  std::pair<std::size_t, double> losses() const {
    std::pair<std::size_t, double> all;
    for (const Start& start : starts_)
      if (std::isfinite(start.best_loss())) all = {all.first + 1, all.second + start.best_loss()};
    return all;
  }

  // The finalists are finished at once if no start has improved in this round.
  void drop(bool improved) {
    const auto solved = static_cast<std::size_t>(
        std::count_if(starts_.begin(), starts_.end(), [&](const Start& s) { return s.best_loss() <= solved_; }));
    std::size_t keep = survivors_of(starts_.size(), thinning_);
    if (solved >= thinning_.finalists) keep = thinning_.finalists;
    starts_.erase(starts_.begin() + static_cast<std::ptrdiff_t>(keep), starts_.end());
    finishing_ = is_last_next(round_, keep, thinning_.finalists, improved ? starts_plan().least_rounds : 0);
  }

  void report() const {
    const Trainer& best = *starts_.front().copies.front();
    Progress p;
    p.updates = best.updates();
    p.training_loss = best.training_curve().empty() ? 0.0 : best.training_curve().back();
    p.validation_loss = best.validation_curve().empty() ? 0.0 : best.validation_curve().back();
    p.best_loss = starts_.front().best_loss();
    p.best_accuracy = starts_.front().best_accuracy();
    p.phase = fmt::format("stage {} of {}, round {}, {} starts{}", stage_ + 1, stages_.size(), round_ + 1,
                          starts_.size(), finishing_ ? ", the last" : "");
    session_.progress(p);
  }

  SearchResult result(bool stopped) {
    SearchResult result;
    if (session_.keeps_checkpoints() && !stopped) result.state = state();
    for (Start& start : starts_) done_.push_back(std::move(start));
    std::erase_if(done_, [](const Start& start) { return !start.has_best(); });
    std::stable_sort(done_.begin(), done_.end(),
                     [](const Start& a, const Start& b) { return a.best_loss() < b.best_loss(); });
    result.note = executor_->note();
    result.stopped = stopped;
    result.pace = paces_.back().known() ? paces_.back() : paces_.front();
    for (const Start& start : done_) {
      std::vector<Finalist>& finalist = result.finalists.emplace_back();
      for (const auto& copy : start.copies) finalist.push_back(finalist_of(*copy));
    }
    if (stopped && result.finalists.size() > thinning_.finalists) result.finalists.resize(thinning_.finalists);
    if (result.finalists.empty())
      fail("expected a finite loss, got none: the inputs may be too large (see --standardise)");
    return result;
  }

  static void save(const std::vector<Start>& starts, ByteWriter& to) {
    to.put(static_cast<std::uint64_t>(starts.size()));
    for (const Start& start : starts) {
      to.put(start.plan().stream);
      for (const auto& copy : start.copies) copy->save(to);
    }
  }

  std::vector<Start> load_starts(ByteReader& from) const {
    std::vector<Start> starts;
    const auto count = from.get<std::uint64_t>();
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto stream = from.get<std::uint64_t>();
      const StartPlan* plan = nullptr;
      for (const Portfolio& portfolio : stages_)
        for (const StartPlan& p : portfolio.starts)
          if (p.stream == stream) plan = &p;
      if (plan == nullptr) fail("checkpoint: expected a start of this portfolio, got number {}", stream);
      Start& start = starts.emplace_back(folds_.size());
      for (std::size_t f = 0; f < folds_.size(); ++f) {
        start.copies[f] = std::make_unique<Trainer>(*plan, *folds_[f], false);
        start.copies[f]->load(from);
      }
    }
    return starts;
  }

  std::string state() const {
    ByteWriter to;
    to.put(static_cast<std::uint64_t>(stage_));
    to.put(round_);
    to.put(first_round_);
    to.put(static_cast<std::uint8_t>(finishing_ ? 1 : 0));
    save(starts_, to);
    save(done_, to);
    return to.take();
  }

  void load(std::string_view bytes) {
    ByteReader from(bytes, "checkpoint");
    stage_ = from.get<std::uint64_t>();
    from.get(round_);
    from.get(first_round_);
    finishing_ = from.get<std::uint8_t>() != 0;
    starts_ = load_starts(from);
    done_ = load_starts(from);
    from.expect_end();
    if (stage_ > stages_.size() || (stage_ < stages_.size() && starts_.empty()))
      fail("checkpoint: expected a stage of this search, got {}", stage_);
    if (stage_ == stages_.size()) return;
    const std::uint64_t most = rounds_of(stages_[stage_].starts.size(), thinning_, starts_plan().least_rounds);
    if (round_ > most) fail("checkpoint: expected at most {} rounds, got {}", most, round_);
    if (first_round_ > starts_plan().first_round)
      fail("checkpoint: expected a first round of at most {} updates, got {}", starts_plan().first_round, first_round_);
    set_length();
  }

  const Recipe& recipe_;
  const std::vector<Portfolio>& stages_;
  const std::vector<const TrainingData*>& folds_;
  Session& session_;
  const SecondsAfter& after_;
  Rows* rows_;
  std::mutex pace_mutex_;    // of the paces
  std::vector<Pace> paces_;  // (stages)
  Pace this_round_;
  double least_ = std::numeric_limits<double>::infinity();  // the lowest loss at the end of any round
  double constant_;                                         // the validation loss of a constant answer
  double solved_;                                           // a validation loss at which nothing is left to learn
  Thinning thinning_;
  int threads_;
  std::unique_ptr<Executor> executor_;
  std::size_t stage_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t first_round_ = 0;  // updates of the stage's first round
  std::uint64_t length_ = 0;       // updates of this round
  bool finishing_ = false;         // the next round is the last of its stage
  bool whole_ = true;              // no start of the stage was left out for want of time
  std::vector<Start> starts_;      // the survivors, best first
  std::vector<Start> done_;        // the finalists of earlier stages
};

}  // namespace

Finalist finalist_of(const Trainer& trainer) {
  return {trainer.plan(),
          trainer.best(),
          trainer.best_loss(),
          trainer.best_accuracy(),
          {trainer.training_curve().begin(), trainer.training_curve().end()},
          {trainer.validation_curve().begin(), trainer.validation_curve().end()}};
}

Thinning thinning_of(const Config& config) {
  return {static_cast<std::size_t>(std::max(config.recipe.finalists, config.trees)),
          static_cast<std::size_t>(config.recipe.survivors)};
}

// The better half, or fewer; but not fewer than the finalists.
std::size_t survivors_of(std::size_t starts, const Thinning& thinning) {
  return std::clamp(std::min((starts + 1) / 2, thinning.most), std::min(thinning.finalists, starts), starts);
}

bool is_last_next(std::uint64_t round, std::size_t starts, std::size_t finalists, std::uint64_t least_rounds) {
  return starts <= finalists && round + 2 >= least_rounds;
}

std::uint64_t rounds_of(std::size_t starts, const Thinning& thinning, std::uint64_t least_rounds) {
  std::uint64_t round = 0;
  for (bool last = false; !last; ++round) {
    starts = survivors_of(starts, thinning);
    last = is_last_next(round, starts, thinning.finalists, least_rounds);
  }
  return round + 1;
}

std::uint64_t updates_after(std::uint64_t rounds, std::uint64_t first_round) {
  return rounds == 0 ? 0 : first_round << (rounds - 1);
}

double solved_loss(const Objective& objective, const Sequences& validation, const Recipe& recipe) {
  return recipe.solved * constant_loss(objective, validation);
}

SearchResult search(const Config& config, const std::vector<Portfolio>& stages,
                    const std::vector<const TrainingData*>& folds, Session& session, const SecondsAfter& after,
                    Rows* rows) {
  return Search(config, stages, folds, session, after, rows).run();
}

}  // namespace remede
