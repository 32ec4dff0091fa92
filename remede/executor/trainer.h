// One start in progress: its parameters, its optimiser, its own random numbers, its loss curves and the best it has
// been.
//
// What it does depends on its plan and the data alone: not on how its updates are cut into calls, on the other starts,
// or on threads. So a start can be stopped anywhere, saved, loaded and continued to the same bits. Not thread-safe;
// different starts may advance at the same time, each with its own engine.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "remede/executor/blur.h"
#include "remede/executor/bytes.h"
#include "remede/executor/engine.h"
#include "remede/executor/optimiser.h"
#include "remede/executor/schedule.h"
#include "remede/executor/start.h"
#include "remede/executor/training_data.h"

namespace remede {

// Updates that show about every training sequence once.
std::uint64_t updates_per_epoch(std::size_t sequences, int batch);

class Trainer {
 public:
  // Draws the first parameters. `begins` is false where load() follows: then a tree that it would replace is not grown.
  Trainer(const StartPlan& plan, const TrainingData& data, bool begins = true);

  // Mini-batch updates until `updates` are done in all since the start, the start is lost, or `pause` says so: it is
  // asked after every update. No allocation where the plan has neither noise nor offsets.
  void advance_to(std::uint64_t updates, Engine& engine, const std::function<bool()>& pause = {});

  // Loss on all validation data, added to the curves; the parameters are kept when it is the lowest so far.
  BatchLoss validate(Engine& engine);

  // For executors that make updates elsewhere, several at a time (executor/cuda). plan_update() says what the next
  // update is made of, and moves on to the one after it; made() says what became of the first `planned` of those,
  // `updates` of which were made. What updates change is in moving(), to be brought up to date before anything else is
  // done with the start.
  struct PlannedUpdate {
    std::span<const std::uint32_t> batch;  // valid until the next call
    std::uint64_t drawn = 0;               // what the noise of its epoch is drawn from
    Adam::Step step;
    float shrink = 0;   // writes and linear leaves come closer to 0 by this part of their rates
    float average = 1;  // weight of the newest parameters in the average
  };
  struct Moving {
    std::span<float> parameters, average, mean, square;  // (total)
    std::span<float> before;                             // (training sequences, n_m) or empty
  };
  PlannedUpdate plan_update();
  Moving moving() { return {parameters_.values, average_.values, adam_.mean(), adam_.square(), before_}; }
  const BatchLoss& since_validation() const { return since_validation_; }
  void made(std::uint64_t planned, std::uint64_t updates, const BatchLoss& since_validation, bool lost);
  void note_validation(const BatchLoss& loss);  // of the averaged parameters on all validation data
  const std::optional<Blur>& blur() const { return blur_; }

  // For batches that other processes hold: draw() gives the random number that the next batch is drawn from, and
  // update_by() makes the update with the gradient of the mean loss over it.
  std::uint64_t draw() { return random_.bits(); }
  void update_by(const BatchLoss& loss, std::span<const float> gradient);  // (total)
  // The best so far has this loss on the validation data that follow, which are others than before.
  void judge_best(const BatchLoss& loss) {
    best_loss_ = loss.mean();
    best_accuracy_ = loss.accuracy();
  }

  // From now on the rates fall to zero over `length` updates.
  void begin_decay(std::uint64_t length) { schedule_ = {updates_, length}; }
  // Takes these parameters instead of those drawn. REQUIRES: the shape of the plan; no update has been made.
  void begin_at(const Parameters<float>& parameters);

  // Back to the best parameters. What the optimiser knew of the others is forgotten.
  void return_to_best();

  bool lost() const { return lost_; }  // a loss or gradient was not finite: only the best is worth anything
  std::uint64_t updates() const { return updates_; }
  std::uint64_t validated_at() const {
    return validated_at_;
  }  // updates done at the last validation; 0 before the first
  const Schedule& schedule() const { return schedule_; }
  const StartPlan& plan() const { return plan_; }
  const TrainingData& data() const { return *data_; }
  const Parameters<float>& parameters() const { return parameters_; }
  const Parameters<float>& averaged() const { return average_; }  // over the last updates

  bool has_best() const { return best_updates_ != kNever; }  // a validation has given a finite loss
  const Parameters<float>& best() const { return best_; }
  double best_loss() const { return best_loss_; }
  double best_accuracy() const { return best_accuracy_; }
  std::uint64_t best_updates() const { return best_updates_; }                // when it was
  std::span<const double> training_curve() const { return training_curve_; }  // mean loss since the last validation
  std::span<const double> validation_curve() const { return validation_curve_; }

  // All that the plan and the data do not determine, exact bits. load() continues a trainer made from the same plan and
  // data.
  void save(ByteWriter& to) const;
  void load(ByteReader& from);  // throws Error when it does not fit

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  void update(Engine& engine);
  bool descend(const BatchLoss& loss);
  void carry_over(std::span<const std::uint32_t> batch);
  float average_weight(std::uint64_t update) const;
  void shrink(float factor);
  void average();
  BatchLoss batch_gradient(std::span<const std::uint32_t> batch, Engine& engine);
  std::span<const std::uint32_t> next_batch();

  StartPlan plan_;
  const TrainingData* data_;
  Random random_;
  Parameters<float> parameters_;
  Parameters<float> gradient_;  // scratch
  Parameters<float> average_;   // of the parameters over the last updates: what is validated
  Adam adam_;
  Schedule schedule_;
  std::uint64_t epoch_ = 0;
  std::optional<Blur> blur_;                             // where the plan has noise or offsets,
  std::vector<std::uint32_t> of_batch_;                  // the sequences of its batch, 0, 1, 2, ...,
  std::vector<float> before_of_batch_, after_of_batch_;  // and the memory they carry
  std::vector<float> before_, after_;      // (training sequences, n_m) carried memory; empty where no sequence was cut
  std::vector<std::uint32_t> order_;       // the training sequences, shuffled anew every epoch
  std::vector<std::uint32_t> validation_;  // 0, 1, 2, ...: all of them
  std::size_t position_ = 0;               // in order_
  std::uint64_t updates_ = 0;
  std::uint64_t planned_ = 0;        // updates beyond that, by plan_update()
  std::uint64_t averaged_from_ = 0;  // the update at which the average began
  bool lost_ = false;
  std::uint64_t validated_at_ = 0;
  BatchLoss since_validation_;  // training loss of the batches since then
  Parameters<float> best_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  double best_accuracy_ = 0;
  std::uint64_t best_updates_ = kNever;
  std::vector<double> training_curve_;
  std::vector<double> validation_curve_;
};

}  // namespace remede
