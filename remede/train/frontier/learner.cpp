#include "remede/train/frontier/learner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "remede/base/error.h"
#include "remede/train/frontier/trends.h"

namespace remede::frontier {
namespace {

using laws::Group;

constexpr double kMomentum = 0.9, kSecondMoment = 0.99;
constexpr double kLargest = 1e4;  // of a number on the training scale

float smoothing_of(const Problem& problem) {
  return problem.classes ? static_cast<float>(problem.recipe.small_label_smoothing) : 0.0F;
}

std::size_t update_steps(const Problem& problem) { return static_cast<std::size_t>(problem.recipe.small_update_steps); }

bool is_weight(Group g) {
  return g == Group::kInput || g == Group::kEarlier || g == Group::kTapInput || g == Group::kLinear ||
         g == Group::kLeafLinear;
}

}  // namespace

Learner::Learner(const Problem& problem, const laws::LaneData& lanes, laws::Parameters parameters,
                 std::vector<double> rates, const LearnerOptions& options, std::uint64_t seed, std::uint64_t stream)
    : problem_(&problem),
      lanes_(&lanes),
      p_(std::move(parameters)),
      rates_(std::move(rates)),
      m_(p_.values.size()),
      v_(p_.values.size()),
      gradient_(p_.values.size()),
      options_(options),
      random_(seed, stream),
      after_(static_cast<std::size_t>(lanes.windows) * p_.shape.law.size()) {
  sign_ = signs_of(problem.trend, p_.shape);
  prepare();
}

void Learner::prepare() {
  program_ = laws::program_of(p_, options_.learn_index);
  values_.assign(p_.values.begin(), p_.values.end());
  set_free_constants(*problem_, p_, values_);
}

void Learner::set_parameters(laws::Parameters parameters) {
  for (std::size_t i = 0; i < p_.values.size(); ++i)
    if (parameters.used[i] == 0) m_[i] = 0;
  p_ = std::move(parameters);
  prepare();
}

std::size_t Learner::updates_per_pass() const {
  if (!lanes_->whole) return lanes_->blocks.size();
  return std::max<std::size_t>(1, lanes_->steps() / update_steps(*problem_));
}

double Learner::accumulate(const laws::Block& block, const float* x) {
  const std::size_t k_n = p_.shape.law.size();
  AlignedVector<float> level(k_n * laws::kLanes);
  for (std::size_t lane = 0; lane < laws::kLanes; ++lane)
    for (std::size_t k = 0; k < k_n && block.from[lane] >= 0; ++k)
      level[k * laws::kLanes + lane] = after_[static_cast<std::size_t>(block.from[lane]) * k_n + k];
  const double weight = laws::run_gradient(program_, values_.data(), block, x, lanes_->objective,
                                           smoothing_of(*problem_), level.data(), scratch_, gradient_.data());
  kernel_steps_ += static_cast<double>(block.steps);
  for (std::size_t lane = 0; lane < block.window.size(); ++lane)
    for (std::size_t k = 0; k < k_n && block.window[lane] >= 0; ++k)
      after_[static_cast<std::size_t>(block.window[lane]) * k_n + k] = level[k * laws::kLanes + lane];
  return weight;
}

const float* Learner::disturbed(const laws::Block& block) {
  if (options_.noise == 0 && options_.offset == 0) return block.x.data();
  const auto n_x = static_cast<std::size_t>(problem_->n_x);
  disturbance_.normal = problem_->normal.data();
  disturbance_.noise = static_cast<float>(options_.noise);
  disturbance_.steady.resize(n_x);
  disturbance_.offset.resize(n_x);
  disturbance_.first.resize(block.steps * n_x);
  for (const float*& at : disturbance_.steady) at = problem_->normal.data() + random_.below(kNormals);
  for (std::size_t i = 0; i < n_x; ++i)
    disturbance_.offset[i] = static_cast<float>(options_.offset) * problem_->between[i];
  for (std::uint32_t& first : disturbance_.first) first = static_cast<std::uint32_t>(random_.bits() % kNormals);
  laws::disturb(block, disturbance_, disturbed_);
  return disturbed_.data();
}

void Learner::update(double rate) {
  std::fill(gradient_.begin(), gradient_.end(), 0.0);
  double weight = 0;
  std::size_t steps = 0;
  do {
    if (next_ >= order_.size()) {
      order_.resize(lanes_->blocks.size());
      std::iota(order_.begin(), order_.end(), std::size_t{0});
      if (lanes_->whole) random_.shuffle(std::span<std::size_t>(order_));
      next_ = 0;
    }
    const laws::Block& block = lanes_->blocks[order_[next_++]];
    weight += accumulate(block, disturbed(block));
    steps += block.steps;
  } while (lanes_->whole && steps < update_steps(*problem_) && next_ < order_.size());
  if (!(weight > 0)) return;
  pass_back_constants(*problem_, p_, gradient_);
  double norm = 0;
  for (std::size_t i = 0; i < gradient_.size(); ++i) {
    gradient_[i] = p_.used[i] != 0 ? gradient_[i] / weight : 0.0;
    norm += gradient_[i] * gradient_[i];
  }
  if (!std::isfinite(norm)) return;
  const double clip = problem_->recipe.small_clip;
  if (norm > clip * clip)
    for (double& g : gradient_) g *= clip / std::sqrt(norm);
  step(rate);
}

void Learner::step(double rate) {
  const laws::Shape& s = p_.shape;
  m_decay_ *= kMomentum;
  v_decay_ *= kSecondMoment;
  for (int group = 0; group < laws::kGroups; ++group) {
    const auto g = static_cast<Group>(group);
    const bool answers = g == Group::kLinear || g == Group::kLeafLinear || g == Group::kOutput;
    for (std::size_t i = s.begin(g), end = i + s.size(g); i < end; ++i) {
      if (p_.used[i] == 0) continue;
      m_[i] = kMomentum * m_[i] + (1 - kMomentum) * gradient_[i];
      v_[i] = kSecondMoment * v_[i] + (1 - kSecondMoment) * gradient_[i] * gradient_[i];
      const double by = rate * rates_[i];
      double value = p_.values[i] - by * (m_[i] / (1 - m_decay_)) / (std::sqrt(v_[i] / (1 - v_decay_)) + 1e-8);
      if (answers) value -= by * options_.answer_decay * value;
      if (is_weight(g) && options_.l1 > 0) {
        const double off = by * options_.l1;
        value = value > off ? value - off : value < -off ? value + off : 0.0;
      }
      if (sign_[i] != 0 && value * sign_[i] < 0) value = 0;
      p_.values[i] = std::clamp(value, -kLargest, kLargest);
    }
  }
  if (options_.learn_index)
    for (int i = 0; i < s.nodes(); ++i) program_.feature[static_cast<std::size_t>(i)] = p_.feature(i);
  values_.assign(p_.values.begin(), p_.values.end());
  set_free_constants(*problem_, p_, values_);
}

void Learner::advance(std::size_t updates, double from, double to, const std::function<bool()>& stop) {
  for (std::size_t i = 0; i < updates; ++i) {
    const double done = static_cast<double>(i) / static_cast<double>(updates);
    const double share = (1 - done) * (1 - done) * (1 + 2 * done);  // smooth from 1 to 0
    update(options_.rate * (to + (from - to) * share));
    if (i % 16 == 15 && stop()) return;
  }
}

Judged Learner::judge(const laws::LaneData& data) {
  const laws::Sums sums = laws::run_all(program_, values_.data(), data, 0.0F, scratch_);
  kernel_steps_ += static_cast<double>(data.steps()) / 3;
  return {sums.loss / sums.weight, sums.wrong / sums.weight};
}

Judged Learner::replay(const laws::Parameters& parameters) {
  const laws::Program program = laws::program_of(parameters, false);
  std::vector<float> values(parameters.values.begin(), parameters.values.end());
  set_free_constants(*problem_, parameters, values);
  const laws::Sums sums = laws::run_all(program, values.data(), problem_->replay, smoothing_of(*problem_), scratch_);
  kernel_steps_ += static_cast<double>(problem_->replay.steps()) / 3;
  return {sums.loss / sums.weight, sums.wrong / sums.weight};
}

std::vector<double> Learner::usual_state() {
  const std::size_t rows = 2 * p_.shape.law.size();
  std::vector<double> mean(rows, 0.0);
  double weight = 0;
  AlignedVector<float> level(p_.shape.law.size() * laws::kLanes);
  for (const laws::Block& block : problem_->replay.blocks) {
    std::fill(level.begin(), level.end(), 0.0F);
    laws::Sums sums;
    laws::run_block(program_, values_.data(), block, problem_->objective, 0.0F, level.data(), scratch_, sums);
    for (std::size_t t = 0; t < block.steps; ++t)
      for (std::size_t lane = 0; lane < laws::kLanes; ++lane) {
        const auto w = static_cast<double>(block.weight[t * laws::kLanes + lane]);
        if (w == 0) continue;
        weight += w;
        for (std::size_t r = 0; r < rows; ++r)
          mean[r] += w * static_cast<double>(scratch_.state[((t + 1) * rows + r) * laws::kLanes + lane]);
      }
  }
  for (double& v : mean) v /= std::max(weight, 1e-30);
  return mean;
}

void Learner::save(ByteWriter& to) const {
  for (const std::uint64_t word : random_.state()) to.put(word);
  put_all(to, p_);
  put_all(to, options_);
  for (const std::vector<double>* values : {&m_, &v_}) to.put(*values);
  to.put(std::vector<std::uint64_t>(order_.begin(), order_.end()));
  to.put(static_cast<std::uint64_t>(next_));
  to.put(after_);
  to.put(m_decay_);
  to.put(v_decay_);
}

void Learner::load(ByteReader& from) {
  std::array<std::uint64_t, 4> state{};
  for (std::uint64_t& word : state) from.get(word);
  random_.set_state(state);
  const laws::Shape shape = p_.shape;
  get_all(from, p_);
  if (p_.shape != shape || p_.values.size() != shape.total() || p_.used.size() != shape.total() ||
      p_.side.size() != static_cast<std::size_t>(shape.nodes()) || p_.missing_right.size() != p_.side.size())
    fail("{}: expected the numbers of this start, got others", from.where());
  get_all(from, options_);
  for (std::vector<double>* values : {&m_, &v_}) from.get(*values, p_.values.size());
  std::vector<std::uint64_t> order;
  from.get(order);
  order_.assign(order.begin(), order.end());
  next_ = from.get<std::uint64_t>();
  for (const std::size_t block : order_)
    if (block >= lanes_->blocks.size()) fail("{}: expected a block of these data, got {}", from.where(), block);
  from.get(after_, after_.size());
  from.get(m_decay_);
  from.get(v_decay_);
  prepare();
}

}  // namespace remede::frontier
