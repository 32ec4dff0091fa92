#include "remede/train/search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/base/threads.h"

namespace remede {
namespace {

constexpr std::size_t kFinalists = 4;
constexpr double kAlmost = 10;              // times the loss that counts as solved
constexpr std::uint64_t kShortRound = 400;  // updates
constexpr double kSolved = 0.01;            // of the loss of a model that knows the classes' frequencies only

// The loss of the best constant answer on the validation data.
double constant_loss(const Sequences& data) {
  double weight = 0;
  if (data.label.empty()) {
    double squares = 0;
    std::vector<double> mean(static_cast<std::size_t>(data.n_y), 0.0);
    for (std::size_t t = 0; t < data.steps(); ++t) {
      weight += static_cast<double>(data.weight[t]);
      for (int k = 0; k < data.n_y; ++k)
        if (data.weight[t] > 0.0F)
          mean[k] += static_cast<double>(data.weight[t]) * static_cast<double>(data.value[t * data.n_y + k]);
    }
    for (std::size_t t = 0; t < data.steps(); ++t)
      for (int k = 0; k < data.n_y; ++k) {
        if (data.weight[t] == 0.0F) continue;
        const double d = static_cast<double>(data.value[t * data.n_y + k]) - mean[k] / weight;
        squares += static_cast<double>(data.weight[t]) * d * d / data.n_y;
      }
    return squares / weight;
  }
  std::vector<double> of_class(static_cast<std::size_t>(data.n_y), 0.0);
  for (std::size_t t = 0; t < data.steps(); ++t) {
    if (data.weight[t] == 0.0F) continue;
    of_class[static_cast<std::size_t>(data.label[t])] += static_cast<double>(data.weight[t]);
    weight += static_cast<double>(data.weight[t]);
  }
  double entropy = 0;
  for (const double w : of_class)
    if (w > 0) entropy -= w / weight * log(w / weight);
  return entropy;
}

double mean_constant_loss(const std::vector<const TrainingData*>& folds) {
  double sum = 0;
  for (const TrainingData* fold : folds) sum += constant_loss(fold->validation);
  return sum / static_cast<double>(folds.size());
}

// One plan, trained once for each fold.
struct Start {
  std::vector<std::unique_ptr<Trainer>> copies;

  Start(const StartPlan& plan, const std::vector<const TrainingData*>& folds) {
    for (const TrainingData* fold : folds) copies.push_back(std::make_unique<Trainer>(plan, *fold));
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
         Session& session)
      : stages_(stages),
        folds_(folds),
        session_(session),
        constant_(mean_constant_loss(folds)),
        solved_(kSolved * constant_),
        finalists_(std::max<std::size_t>(kFinalists, static_cast<std::size_t>(config.trees))),
        threads_(config.threads <= 0 ? hardware_threads() : config.threads) {
    for (int w = 0; w < threads_; ++w) engines_.push_back(make_engine(1));
    begin_stage(0);
  }

  SearchResult run() {
    if (!session_.resume().empty()) load(session_.resume());
    while (stage_ < stages_.size()) {
      const std::string before = state();  // a fit that is stopped goes on from the last whole round
      round();
      if (session_.stop()) {
        session_.checkpoint(before);
        return result(true);
      }
      if (session_.checkpoint_due()) session_.checkpoint(state());
    }
    return result(false);
  }

 private:
  void begin_stage(std::size_t stage) {
    stage_ = stage;
    round_ = 0;
    length_ = stage < stages_.size() ? stages_[stage].starts.front().first_round : 0;
    // Where an earlier stage is almost there, this one gets a look and not the long rounds that a new regime needs.
    for (const Start& start : done_)
      if (start.best_loss() <= kAlmost * solved_) length_ = std::min(length_, kShortRound);
    finishing_ = false;
    starts_.clear();
    if (stage < stages_.size())
      for (const StartPlan& plan : stages_[stage].starts) starts_.emplace_back(plan, folds_);
  }

  // One round: every survivor advances, and the worse half goes. When few are left, or enough are solved, they are
  // finished in a last round of falling rates.
  void round() {
    for (const Start& start : starts_)
      for (const auto& copy : start.copies) {
        if (!finishing_) continue;
        copy->return_to_best();
        copy->begin_decay(length_);
      }
    const std::size_t copies = folds_.size();
    parallel_for(starts_.size() * copies, threads_, [&](std::size_t i, int worker) {
      advance(*starts_[i / copies].copies[i % copies], *engines_[worker]);
    });
    std::stable_sort(starts_.begin(), starts_.end(),
                     [](const Start& a, const Start& b) { return a.best_loss() < b.best_loss(); });
    report();
    if (session_.stop()) return;
    if (finishing_) {
      end_stage();
      return;
    }
    drop();
    if (++round_ > 1) length_ *= 2;
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

  void advance(Trainer& trainer, Engine& engine) {
    const std::uint64_t from = trainer.updates();
    const auto stop = [this] { return session_.stop(); };
    const std::uint64_t validations = trainer.plan().validations;
    for (std::uint64_t k = 1; k <= validations && !trainer.lost(); ++k) {
      trainer.advance_to(from + length_ * k / validations, engine, stop);
      if (!trainer.lost()) trainer.validate(engine);
      if (session_.stop()) return;
    }
  }

  void drop() {
    const auto solved = static_cast<std::size_t>(
        std::count_if(starts_.begin(), starts_.end(), [&](const Start& s) { return s.best_loss() <= solved_; }));
    std::size_t keep = std::max((starts_.size() + 1) / 2, std::min(finalists_, starts_.size()));
    if (solved >= finalists_) keep = finalists_;
    starts_.erase(starts_.begin() + static_cast<std::ptrdiff_t>(keep), starts_.end());
    finishing_ = keep <= finalists_;
  }

  void report() const {
    const Trainer& best = *starts_.front().copies.front();
    Progress p;
    p.updates = best.updates();
    p.training_loss = best.training_curve().empty() ? 0.0 : best.training_curve().back();
    p.validation_loss = best.validation_curve().empty() ? 0.0 : best.validation_curve().back();
    p.best_loss = starts_.front().best_loss();
    p.best_accuracy = starts_.front().best_accuracy();
    p.phase = finishing_ ? "finish" : "search";
    // Rounds are about as much work as one another.
    double left = finishing_ ? 0.0 : 1.0;
    for (std::size_t n = starts_.size(); n > finalists_ && !finishing_; n = (n + 1) / 2) ++left;
    const double stage_done = (static_cast<double>(round_) + 1) / (static_cast<double>(round_) + 1 + left);
    p.done = (static_cast<double>(stage_) + stage_done) / static_cast<double>(stages_.size());
    session_.progress(p);
  }

  SearchResult result(bool stopped) {
    for (Start& start : starts_) done_.push_back(std::move(start));
    std::erase_if(done_, [](const Start& start) { return !start.has_best(); });
    std::stable_sort(done_.begin(), done_.end(),
                     [](const Start& a, const Start& b) { return a.best_loss() < b.best_loss(); });
    SearchResult result;
    result.stopped = stopped;
    for (const Start& start : done_) {
      std::vector<Finalist>& finalist = result.finalists.emplace_back();
      for (const auto& copy : start.copies) finalist.push_back(finalist_of(*copy));
    }
    if (stopped && result.finalists.size() > finalists_) result.finalists.resize(finalists_);
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
      starts.emplace_back(*plan, folds_);
      for (const auto& copy : starts.back().copies) copy->load(from);
    }
    return starts;
  }

  std::string state() const {
    ByteWriter to;
    to.put(static_cast<std::uint64_t>(stage_));
    to.put(round_);
    to.put(length_);
    to.put(finishing_);
    save(starts_, to);
    save(done_, to);
    return to.take();
  }

  void load(std::string_view bytes) {
    ByteReader from(bytes, "checkpoint");
    stage_ = from.get<std::uint64_t>();
    from.get(round_);
    from.get(length_);
    from.get(finishing_);
    starts_ = load_starts(from);
    done_ = load_starts(from);
    from.expect_end();
    if (stage_ > stages_.size() || (stage_ < stages_.size() && starts_.empty()))
      fail("checkpoint: expected a stage of this search, got {}", stage_);
  }

  const std::vector<Portfolio>& stages_;
  const std::vector<const TrainingData*>& folds_;
  Session& session_;
  double constant_;  // the validation loss of a constant answer
  double solved_;    // a validation loss at which nothing is left to learn
  std::size_t finalists_;
  int threads_;
  std::vector<std::unique_ptr<Engine>> engines_;  // one per thread
  std::size_t stage_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t length_ = 0;   // updates of the round
  bool finishing_ = false;     // the next round is the last of its stage
  std::vector<Start> starts_;  // the survivors, best first
  std::vector<Start> done_;    // the finalists of earlier stages
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

double solved_loss(const Sequences& validation) { return kSolved * constant_loss(validation); }

SearchResult search(const Config& config, const std::vector<Portfolio>& stages,
                    const std::vector<const TrainingData*>& folds, Session& session) {
  return Search(config, stages, folds, session).run();
}

}  // namespace remede
