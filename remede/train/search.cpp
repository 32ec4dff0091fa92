#include "remede/train/search.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/base/threads.h"

namespace remede {
namespace {

constexpr std::size_t kFinalists = 4;
constexpr std::uint64_t kFirstRound = 400;   // updates before the first half is dropped
constexpr double kSolved = 0.01;             // of the loss of a model that knows the classes' frequencies only
constexpr std::uint64_t kMostValidations = 4;  // in a round

// The loss of the best constant answer on the validation data.
double constant_loss(const Sequences& data) {
  double weight = 0;
  if (data.label.empty()) {
    double squares = 0;
    std::vector<double> mean(static_cast<std::size_t>(data.n_y), 0.0);
    for (std::size_t t = 0; t < data.steps(); ++t) {
      weight += static_cast<double>(data.weight[t]);
      for (int k = 0; k < data.n_y; ++k)
        if (data.weight[t] > 0.0F) mean[k] += static_cast<double>(data.weight[t]) * static_cast<double>(data.value[t * data.n_y + k]);
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

class Search {
 public:
  Search(const Config& config, const std::vector<StartPlan>& portfolio, const TrainingData& data, Session& session)
      : config_(config), data_(data), session_(session), solved_(kSolved * constant_loss(data.validation)) {
    for (const StartPlan& plan : portfolio) starts_.push_back(std::make_unique<Trainer>(plan, data));
    threads_ = config.threads <= 0 ? hardware_threads() : config.threads;
    for (int w = 0; w < threads_; ++w) engines_.push_back(make_engine(1));
  }

  SearchResult run() {
    if (!session_.resume().empty()) load(session_.resume());
    while (!finished_ && !stopped_) {
      round();
      if (stopped_) break;
      if (session_.checkpoint_due()) session_.checkpoint(state());
    }
    if (stopped_) session_.checkpoint(saved_);
    return result();
  }

 private:
  // One round: every survivor advances; the worse half goes; what is left when few remain, or when enough are solved,
  // is finished in a last round of falling rates.
  void round() {
    saved_ = stopping_possible() ? state() : std::string();
    const bool last = finishing_;
    for (auto& start : starts_) {
      if (!last) continue;
      start->return_to_best();
      start->begin_decay(length_);
    }
    parallel_for(starts_.size(), threads_, [&](std::size_t i, int worker) { advance(*starts_[i], *engines_[worker]); });
    stopped_ = session_.stop();
    rank();
    report();
    if (last) {
      finished_ = true;
      return;
    }
    drop();
    updates_ += length_;
    ++round_;
    if (round_ > 1) length_ *= 2;
  }

  void advance(Trainer& trainer, Engine& engine) {
    const std::uint64_t from = trainer.updates();
    const auto stop = [this] { return session_.stop(); };
    for (std::uint64_t k = 1; k <= kMostValidations && !trainer.lost(); ++k) {
      trainer.advance_to(from + length_ * k / kMostValidations, engine, stop);
      if (session_.stop()) {
        trainer.validate(engine);
        return;
      }
      if (!trainer.lost()) trainer.validate(engine);
    }
  }

  void rank() {
    std::stable_sort(starts_.begin(), starts_.end(), [](const auto& a, const auto& b) { return a->best_loss() < b->best_loss(); });
  }

  void drop() {
    const auto solved = static_cast<std::size_t>(
        std::count_if(starts_.begin(), starts_.end(), [&](const auto& s) { return s->best_loss() <= solved_; }));
    const std::size_t finalists = std::max<std::size_t>(kFinalists, static_cast<std::size_t>(config_.trees));
    std::size_t keep = std::max((starts_.size() + 1) / 2, std::min(finalists, starts_.size()));
    if (solved >= finalists) keep = std::min(solved, finalists);
    starts_.resize(keep);
    finishing_ = keep <= finalists;
  }

  void report() {
    if (starts_.empty()) return;
    const Trainer& best = *starts_.front();
    Progress p;
    p.updates = best.updates();
    p.training_loss = best.training_curve().empty() ? 0.0 : best.training_curve().back();
    p.validation_loss = best.validation_curve().empty() ? 0.0 : best.validation_curve().back();
    p.best_loss = best.best_loss();
    p.best_accuracy = best.best_accuracy();
    p.phase = finishing_ ? "finish" : "search";
    double rounds = 1;  // left, each about as much work as the others
    for (std::size_t n = starts_.size(); n > kFinalists && !finishing_; n = (n + 1) / 2) ++rounds;
    p.done = finishing_ ? 1.0 : static_cast<double>(round_ + 1) / (static_cast<double>(round_ + 1) + rounds);
    session_.progress(p);
  }

  SearchResult result() {
    SearchResult result;
    result.stopped = stopped_;
    for (const auto& start : starts_) {
      if (!start->has_best() || result.finalists.size() >= std::max<std::size_t>(kFinalists, static_cast<std::size_t>(config_.trees))) continue;
      result.finalists.push_back({start->plan(), start->best(), start->best_loss(), start->best_accuracy(),
                                  {start->training_curve().begin(), start->training_curve().end()},
                                  {start->validation_curve().begin(), start->validation_curve().end()}});
    }
    if (result.finalists.empty()) fail("expected a finite loss, got none: the inputs may be too large (see --standardise)");
    return result;
  }

  bool stopping_possible() const { return true; }

  std::string state() const {
    ByteWriter to;
    to.put(round_);
    to.put(length_);
    to.put(updates_);
    to.put(finishing_);
    to.put(static_cast<std::uint64_t>(starts_.size()));
    for (const auto& start : starts_) {
      to.put(start->plan().stream);
      start->save(to);
    }
    return to.take();
  }

  void load(std::string_view bytes) {
    ByteReader from(bytes, "checkpoint");
    from.get(round_);
    from.get(length_);
    from.get(updates_);
    from.get(finishing_);
    const auto count = from.get<std::uint64_t>();
    std::vector<std::unique_ptr<Trainer>> survivors;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto stream = from.get<std::uint64_t>();
      const auto start = std::find_if(starts_.begin(), starts_.end(), [&](const auto& s) { return s && s->plan().stream == stream; });
      if (start == starts_.end()) fail("checkpoint: expected a start of this portfolio, got number {}", stream);
      (*start)->load(from);
      survivors.push_back(std::move(*start));
    }
    from.expect_end();
    starts_ = std::move(survivors);
  }

  const Config& config_;
  const TrainingData& data_;
  Session& session_;
  double solved_;
  int threads_ = 1;
  std::vector<std::unique_ptr<Engine>> engines_;   // one per thread
  std::vector<std::unique_ptr<Trainer>> starts_;   // the survivors
  std::uint64_t round_ = 0;
  std::uint64_t length_ = kFirstRound;             // updates of the round
  std::uint64_t updates_ = 0;
  bool finishing_ = false;                         // the next round is the last
  bool finished_ = false;
  bool stopped_ = false;
  std::string saved_;                              // the state at the beginning of the round
};

}  // namespace

SearchResult search(const Config& config, const std::vector<StartPlan>& portfolio, const TrainingData& data, Session& session) {
  return Search(config, portfolio, data, session).run();
}

}  // namespace remede
