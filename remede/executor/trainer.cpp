#include "remede/executor/trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "remede/executor/grow.h"

namespace remede {

Trainer::Trainer(const StartPlan& plan, const TrainingData& data, bool begins)
    : plan_(plan),
      data_(&data),
      random_(plan.seed, plan.stream),
      parameters_(initial_parameters(plan, data.quantiles, random_)),
      gradient_(plan.shape),
      average_(parameters_),
      adam_(plan.shape, plan.rates),
      order_(data.training.count()),
      validation_(data.validation.count()),
      best_(parameters_) {
  if (begins && plan.grown && can_grow(plan.shape)) {
    grow(data, plan.growth, parameters_);
    average_ = best_ = parameters_;
  }
  std::iota(order_.begin(), order_.end(), 0U);
  std::iota(validation_.begin(), validation_.end(), 0U);
  position_ = order_.size();  // the first batch shuffles
  if (plan.noise > 0.0F || plan.offset > 0.0F) blur_.emplace(plan, data);
  if (!data.continues.empty()) {
    before_.resize(order_.size() * static_cast<std::size_t>(plan.shape.n_m));
    after_ = before_;
  }
}

void Trainer::update(Engine& engine) {
  const std::span<const std::uint32_t> batch = next_batch();
  if (descend(batch_gradient(batch, engine))) carry_over(batch);
}

void Trainer::update_by(const BatchLoss& loss, std::span<const float> gradient) {
  std::copy(gradient.begin(), gradient.end(), gradient_.values.begin());
  descend(loss);
}

// With gradient_. False where the start is lost.
bool Trainer::descend(const BatchLoss& loss) {
  const float clip = clip_factor(gradient_.values, plan_.clip);
  lost_ = !std::isfinite(loss.loss) || !std::isfinite(clip);
  if (lost_) return false;
  adam_.update(parameters_, gradient_, clip, schedule_.factor(updates_));
  shrink(schedule_.factor(updates_));
  average();
  since_validation_ += loss;
  ++updates_;
  return true;
}

BatchLoss Trainer::batch_gradient(std::span<const std::uint32_t> batch, Engine& engine) {
  const bool carries = !data_->continues.empty();
  if (!blur_) {
    const Carry carry{before_, after_};
    return engine.gradient(parameters_, plan_.gradient, data_->objective, data_->training, data_->fill, batch,
                           gradient_, carries ? &carry : nullptr);
  }
  const auto n_m = static_cast<std::ptrdiff_t>(carries ? plan_.shape.n_m : 0);
  of_batch_.resize(batch.size());
  std::iota(of_batch_.begin(), of_batch_.end(), 0U);
  before_of_batch_.resize(batch.size() * static_cast<std::size_t>(n_m));
  after_of_batch_.resize(before_of_batch_.size());
  for (std::size_t i = 0; i < batch.size(); ++i)
    std::copy_n(before_.begin() + batch[i] * n_m, n_m, before_of_batch_.begin() + static_cast<std::ptrdiff_t>(i) * n_m);
  const Carry carry{before_of_batch_, after_of_batch_};
  const BatchLoss loss = engine.gradient(parameters_, plan_.gradient, data_->objective, blur_->batch(batch, epoch_),
                                         data_->fill, of_batch_, gradient_, carries ? &carry : nullptr);
  for (std::size_t i = 0; i < batch.size(); ++i)
    std::copy_n(after_of_batch_.begin() + static_cast<std::ptrdiff_t>(i) * n_m, n_m, after_.begin() + batch[i] * n_m);
  return loss;
}

void Trainer::shrink(float factor) {
  if (plan_.shrink == 0.0F) return;
  for (const Group group : {Group::kWrite, Group::kLinear})
    Adam::shrink(parameters_[group], plan_.shrink * factor * plan_.rates[static_cast<std::size_t>(group)]);
}

// The first ones count alike.
float Trainer::average_weight(std::uint64_t update) const {
  return std::max(plan_.average, 1.0F / static_cast<float>(update - averaged_from_ + 1));
}

void Trainer::average() {
  const float weight = average_weight(updates_);
  for (std::size_t i = 0; i < average_.values.size(); ++i)
    average_.values[i] += weight * (parameters_.values[i] - average_.values[i]);
}

// What a window ended with is where the next one begins, from its next turn on.
void Trainer::carry_over(std::span<const std::uint32_t> batch) {
  if (data_->continues.empty()) return;
  const auto n_m = static_cast<std::size_t>(plan_.shape.n_m);
  for (const std::uint32_t s : batch)
    if (s + 1 < data_->continues.size() && data_->continues[s + 1] != 0)
      std::copy_n(after_.begin() + static_cast<std::ptrdiff_t>(s * n_m), n_m,
                  before_.begin() + static_cast<std::ptrdiff_t>((s + 1) * n_m));
}

void Trainer::advance_to(std::uint64_t updates, Engine& engine, const std::function<bool()>& pause) {
  while (updates_ < updates && !lost_) {
    update(engine);
    if (pause && pause()) break;
  }
  if (blur_) blur_->release();
}

Trainer::PlannedUpdate Trainer::plan_update() {
  const std::uint64_t update = updates_ + planned_++;
  PlannedUpdate planned;
  planned.batch = next_batch();
  if (blur_) planned.drawn = blur_->drawn(epoch_);
  const float factor = schedule_.factor(update);
  planned.step = adam_.next(factor);
  planned.shrink = plan_.shrink * factor;
  planned.average = average_weight(update);
  return planned;
}

void Trainer::made(std::uint64_t planned, std::uint64_t updates, const BatchLoss& since_validation, bool lost) {
  updates_ += updates;
  planned_ -= planned;
  since_validation_ = since_validation;
  lost_ = lost;
}

std::uint64_t updates_per_epoch(std::size_t sequences, int batch) {
  const auto size = static_cast<std::size_t>(batch);
  return std::max<std::size_t>(1, (sequences + size / 2) / size);
}

// Whole batches; what is left at the end of an epoch makes a batch when it is at least half of one, else the next
// shuffle gives those sequences their turn.
std::span<const std::uint32_t> Trainer::next_batch() {
  const auto batch = static_cast<std::size_t>(plan_.batch);
  const std::size_t left = order_.size() - position_;
  if (left == 0 || (left < (batch + 1) / 2 && left < order_.size())) {
    random_.shuffle(std::span<std::uint32_t>(order_));
    position_ = 0;
    ++epoch_;
  }
  const std::size_t size = std::min(batch, order_.size() - position_);
  const std::span<const std::uint32_t> numbers(order_.data() + position_, size);
  position_ += size;
  return numbers;
}

BatchLoss Trainer::validate(Engine& engine) {
  const BatchLoss loss = engine.loss(average_, data_->objective, data_->validation, data_->fill, validation_);
  note_validation(loss);
  return loss;
}

void Trainer::note_validation(const BatchLoss& loss) {
  validation_curve_.push_back(loss.mean());
  training_curve_.push_back(since_validation_.mean());
  since_validation_ = BatchLoss();
  validated_at_ = updates_;
  if (!std::isfinite(loss.loss)) {
    lost_ = true;
  } else if (!has_best() || loss.mean() < best_loss_) {
    best_.values = average_.values;
    best_.missing_right = parameters_.missing_right;
    best_loss_ = loss.mean();
    best_accuracy_ = loss.accuracy();
    best_updates_ = updates_;
  }
}

void Trainer::begin_at(const Parameters<float>& parameters) { parameters_ = average_ = parameters; }

void Trainer::return_to_best() {
  if (!has_best() || best_updates_ == updates_) return;
  parameters_.values = best_.values;
  parameters_.missing_right = best_.missing_right;
  average_.values = best_.values;
  averaged_from_ = updates_;
  adam_.forget();
}

void Trainer::save(ByteWriter& to) const {
  for (const std::uint64_t word : random_.state()) to.put(word);
  to.put(averaged_from_);
  for (const Parameters<float>* p : {&parameters_, &average_, &best_}) {
    to.put(p->values);
    to.put(p->missing_right);
  }
  adam_.save(to);
  to.put(schedule_.decay_begin);
  to.put(schedule_.decay_length);
  to.put(before_);
  to.put(order_);
  to.put(static_cast<std::uint64_t>(position_));
  to.put(epoch_);
  to.put(updates_);
  to.put(lost_);
  to.put(validated_at_);
  to.put(since_validation_.loss);
  to.put(since_validation_.weight);
  to.put(since_validation_.correct);
  to.put(best_loss_);
  to.put(best_accuracy_);
  to.put(best_updates_);
  to.put(training_curve_);
  to.put(validation_curve_);
}

void Trainer::load(ByteReader& from) {
  std::array<std::uint64_t, 4> state{};
  for (std::uint64_t& word : state) from.get(word);
  if (state == std::array<std::uint64_t, 4>{}) fail("{}: expected random numbers, got none", from.where());
  random_.set_state(state);
  from.get(averaged_from_);
  for (Parameters<float>* p : {&parameters_, &average_, &best_}) {
    from.get(p->values, plan_.shape.total());
    from.get(p->missing_right, static_cast<std::size_t>(plan_.shape.nodes()));
  }
  adam_.load(from);
  from.get(schedule_.decay_begin);
  from.get(schedule_.decay_length);
  from.get(before_, before_.size());
  from.get(order_, data_->training.count());
  position_ = from.get<std::uint64_t>();
  from.get(epoch_);
  from.get(updates_);
  from.get(lost_);
  from.get(validated_at_);
  from.get(since_validation_.loss);
  from.get(since_validation_.weight);
  from.get(since_validation_.correct);
  from.get(best_loss_);
  from.get(best_accuracy_);
  from.get(best_updates_);
  from.get(training_curve_);
  from.get(validation_curve_);
  std::vector<bool> shown(order_.size());
  for (const std::uint32_t s : order_) {
    if (s >= order_.size() || shown[s])
      fail("{}: expected the state of a start, got an order that does not hold every sequence once", from.where());
    shown[s] = true;
  }
  if (position_ > order_.size() || training_curve_.size() != validation_curve_.size())
    fail("{}: expected the state of a start, got numbers that do not fit together", from.where());
}

}  // namespace remede
