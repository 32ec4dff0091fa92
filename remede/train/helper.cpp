#include "remede/train/helper.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "remede/base/error.h"
#include "remede/executor/remote/job.h"
#include "remede/executor/remote/rounds.h"
#include "remede/train/begin.h"
#include "remede/train/choose.h"
#include "remede/train/direct.h"
#include "remede/train/frontier/pool.h"
#include "remede/train/frontier/trends.h"
#include "remede/train/identify.h"
#include "remede/train/search.h"

namespace remede {

struct Helper::State {
  State(const Dataset& data, const Dataset* validation, const Config& asked, const Scaling* scaling)
      : training(data),
        config(settled(asked, data)),
        fit(to_bytes(checkpoint_base(data, validation, config))),
        folds(folds_of_fit(data, validation, config, scaling)) {
    for (const Prepared& fold : folds) starts_data.push_back(&fold.data);
    like.schema = data.schema;
    like.training.settings = settings(config);
    const Objective& objective = folds.front().objective;
    if (objective.loss != default_objective(data.schema.task).loss) like.own_objective = objective;
    if (config.recipe.single_start) return;
    for (const Portfolio& stage : draw_portfolios(config, folds.front().data, folds.size()))
      for (const StartPlan& plan : stage.starts) plans[plan.stream] = plan;
  }

  const StartPlan& plan(std::uint64_t stream) const {
    const auto at = plans.find(stream);
    if (at == plans.end()) fail("job: expected a start of this portfolio, got number {}", stream);
    return at->second;
  }

  // Executors are used by one job at a time.
  std::unique_ptr<Executor> take_executor() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return make_executor(device_of(config), starts_data, config.device == DeviceChoice::kGpu ? 0 : 1);
    std::unique_ptr<Executor> executor = std::move(idle.back());
    idle.pop_back();
    return executor;
  }
  void give_back(std::unique_ptr<Executor> executor) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(executor));
  }

  std::string round(ByteReader& job, const std::function<bool()>& stop) {
    std::unique_ptr<Executor> executor = take_executor();
    std::string answer = do_round(
        job, *executor, starts_data, [this](std::uint64_t stream) -> const StartPlan& { return plan(stream); }, stop);
    give_back(std::move(executor));
    return answer;
  }

  std::string begin(ByteReader& job) {
    const auto stream = job.get<std::uint64_t>(), fold = job.get<std::uint64_t>();
    if (fold >= folds.size()) fail("job: expected one of {} folds, got {}", folds.size(), fold);
    ByteWriter answer;
    Trainer(plan(stream), folds[fold].data).save(answer);
    return answer.take();
  }

  // Made when the first job needs them.
  const CopyWork& copy_work() {
    const std::lock_guard lock(mutex);
    if (!copies) copies.emplace(folds, config);
    return *copies;
  }
  const frontier::SmallModels& small_models() {
    const std::lock_guard lock(mutex);
    if (small) return *small;
    frontier_options.training = &training;
    frontier_options.prepared = &folds.front();
    small.emplace(like, frontier::trends_of(config, training.schema), config, frontier_options);
    return *small;
  }

  const Dataset& training;
  Config config;
  std::string fit;
  std::vector<Prepared> folds;
  Model like;                                    // a model without its trees
  std::vector<const TrainingData*> starts_data;  // of the folds
  std::map<std::uint64_t, StartPlan> plans;      // by their stream
  std::mutex mutex;                              // of what follows
  std::vector<std::unique_ptr<Executor>> idle;
  std::optional<CopyWork> copies;
  FrontierOptions frontier_options;
  std::optional<frontier::SmallModels> small;
};

Helper::Helper(const Dataset& training, const Dataset* validation, const Config& config, const Scaling* scaling)
    : state_(std::make_unique<State>(training, validation, config, scaling)) {}
Helper::~Helper() = default;

const std::string& Helper::fit() const { return state_->fit; }
const Prepared& Helper::prepared() const { return state_->folds.front(); }
const StartPlan& Helper::plan(std::uint64_t stream) const { return state_->plan(stream); }
const Model& Helper::like() const { return state_->like; }

std::string Helper::run(std::string_view job, const std::function<bool()>& stop) {
  ByteReader from(job, "job");
  const auto kind = static_cast<Job>(from.get<std::uint8_t>());
  switch (kind) {
    case Job::kRound:
      return state_->round(from, stop);
    case Job::kBegin:
      return state_->begin(from);
    case Job::kCopy:
      return state_->copy_work().do_job(from, state_->like, stop);
    case Job::kGreedy:
      return do_greedy(from, state_->folds);
    case Job::kRefine:
      return do_refine(from, state_->starts_data, stop);
    case Job::kSmallRound:
    case Job::kPrune:
    case Job::kFinish:
    case Job::kRefit:
      return state_->small_models().do_job(kind, from, stop);
    case Job::kSmaller:
      return frontier::do_smaller(from, state_->like, state_->folds.front(), state_->config, stop);
    case Job::kRows:
      break;  // of a process that holds rows (rows_part.cpp)
  }
  fail("job: expected one of a fit, got another");
}

}  // namespace remede
