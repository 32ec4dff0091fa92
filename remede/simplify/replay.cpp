#include "remede/simplify/replay.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

constexpr double kWorstLoss = 1e30;       // of a step whose value is not a number
constexpr double kLeastProbability = 1e-30;

// Equal as bits: NaN equals itself, so that a sequence that has gone wrong counts as unchanged.
bool same_bits(const float* a, const float* b, std::size_t count) { return std::memcmp(a, b, count * sizeof(float)) == 0; }

}  // namespace

Replay::Replay(const Model& model, const Sequences& data, const Tolerance& tolerance)
    : model_(model),
      data_(data),
      judged_(data.has_targets()),
      n_x_(static_cast<std::size_t>(model.n_x())),
      n_y_(static_cast<std::size_t>(model.n_y())),
      order_(data.count()),
      tracks_(model.trees.size()),
      step_loss_(judged_ ? data.steps() : 0),
      step_correct_(judged_ ? data.steps() : 0),
      sequence_score_(data.count()),
      stamp_(data.count()),
      y_(n_y_),
      answer_(n_y_),
      mean_(n_y_) {
  std::iota(order_.begin(), order_.end(), 0U);
  Random(0).shuffle(std::span(order_));
  restart();
  const bool classifies = model.schema.task == Task::kClassification;
  const double rounding = 1e-9 * now_.weight;
  least_correct_ = now_.correct - tolerance.accuracy * now_.weight - rounding;
  most_loss_ = classifies ? now_.loss + tolerance.log_loss * now_.weight : now_.loss * (1 + tolerance.squared_error);
  most_loss_ += rounding;
}

void Replay::restart() {
  for (std::size_t t = 0; t < tracks_.size(); ++t) {
    const Tree& tree = model_.trees[t];
    tracks_[t].m.resize(data_.steps() * static_cast<std::size_t>(tree.n_m));
    tracks_[t].y.resize(data_.steps() * n_y_);
    tracks_[t].leaf.resize(data_.steps());
    m_.resize(std::max(m_.size(), static_cast<std::size_t>(tree.n_m)));
    for (std::size_t s = 0; s < data_.count(); ++s) run_sequence(static_cast<int>(t), tree, s);
  }
  for (std::size_t s = 0; s < data_.count(); ++s) score_sequence(s);
  sum_up();
  for (std::size_t t = 0; t < tracks_.size(); ++t) list_visitors(static_cast<int>(t));
}

void Replay::add_squares(int t, std::span<double> sums, double& count) const {
  const Track& track = tracks_[static_cast<std::size_t>(t)];
  const std::size_t n_m = sums.size() - n_x_;
  const auto add = [](double& sum, float v) { sum += std::isfinite(v) ? static_cast<double>(v) * v : 0.0; };
  for (std::size_t i = 0; i < data_.steps(); ++i) {
    for (std::size_t f = 0; f < n_x_; ++f) {
      const float x = data_.x[i * n_x_ + f];
      add(sums[f], std::isnan(x) ? model_.fill[f] : x);
    }
    for (std::size_t k = 0; k < n_m; ++k) add(sums[n_x_ + k], track.m[i * n_m + k]);
  }
  count += static_cast<double>(data_.steps());
}

std::size_t Replay::visits(int t, int leaf) const {
  return tracks_[static_cast<std::size_t>(t)].visitors[static_cast<std::size_t>(leaf)].size();
}

// Keeps what the tree does on the sequence.
void Replay::run_sequence(int t, const Tree& tree, std::size_t sequence) {
  Track& track = tracks_[static_cast<std::size_t>(t)];
  const auto n_m = static_cast<std::size_t>(tree.n_m);
  std::fill_n(m_.begin(), n_m, 0.0F);
  std::fill(y_.begin(), y_.end(), 0.0F);
  const auto end = static_cast<std::size_t>(data_.offset[sequence + 1]);
  for (auto i = static_cast<std::size_t>(data_.offset[sequence]); i < end; ++i) {
    std::copy_n(m_.begin(), n_m, track.m.begin() + static_cast<std::ptrdiff_t>(i * n_m));
    track.leaf[i] = step(tree, data_.x.data() + i * n_x_, model_.fill.data(), m_.data(), y_.data());
    std::copy_n(y_.begin(), n_y_, track.y.begin() + static_cast<std::ptrdiff_t>(i * n_y_));
  }
  steps_run_ += data_.length(sequence);
}

// The score of one step, were tree t to answer y. REQUIRES: judged_
Tally Replay::score_step(std::size_t i, int t, const float* y) {
  Tally score;
  score.weight = data_.weight[i];
  if (score.weight == 0) return score;
  const bool classifies = model_.schema.task == Task::kClassification;
  for (std::size_t tree = 0; tree < tracks_.size(); ++tree) {
    const float* from = static_cast<int>(tree) == t ? y : tracks_[tree].y.data() + i * n_y_;
    std::copy_n(from, n_y_, answer_.begin());
    if (classifies) softmax(answer_);
    for (std::size_t o = 0; o < n_y_; ++o) mean_[o] = tree == 0 ? answer_[o] : mean_[o] + answer_[o];
  }
  const auto count = static_cast<float>(tracks_.size());
  for (float& value : mean_) value /= count;
  if (classifies) {
    const std::int32_t label = data_.label[i];
    const double p = mean_[static_cast<std::size_t>(label)];
    score.correct = p > 0 && arg_max(mean_) == label ? score.weight : 0.0;
    score.loss = -log(p > kLeastProbability ? p : kLeastProbability) * score.weight;
    return score;
  }
  double sum = 0;
  for (std::size_t o = 0; o < n_y_; ++o) {
    const double error = static_cast<double>(mean_[o]) - data_.value[i * n_y_ + o];
    sum += error * error;
  }
  score.loss = (sum < kWorstLoss ? sum / static_cast<double>(n_y_) : kWorstLoss) * score.weight;
  return score;
}

void Replay::score_sequence(std::size_t sequence) {
  Tally total;
  const auto end = static_cast<std::size_t>(data_.offset[sequence + 1]);
  for (auto i = static_cast<std::size_t>(data_.offset[sequence]); judged_ && i < end; ++i) {
    const Tally score = score_step(i, -1, nullptr);
    step_loss_[i] = static_cast<float>(score.loss);
    step_correct_[i] = score.correct > 0 ? 1 : 0;
    total.weight += score.weight;
    total.correct += score.correct;
    total.loss += step_loss_[i];
  }
  sequence_score_[sequence] = total;
}

void Replay::sum_up() {
  now_ = {};
  for (const Tally& score : sequence_score_) {
    now_.weight += score.weight;
    now_.correct += score.correct;
    now_.loss += score.loss;
  }
}

void Replay::list_visitors(int t) {
  Track& track = tracks_[static_cast<std::size_t>(t)];
  const auto leaves = static_cast<std::size_t>(model_.trees[static_cast<std::size_t>(t)].leaf_count());
  track.visitors.assign(leaves, {});
  track.could_gain.assign(leaves, {});
  for (const std::uint32_t s : order_)
    for (auto i = static_cast<std::size_t>(data_.offset[s]); i < static_cast<std::size_t>(data_.offset[s + 1]); ++i) {
      const auto leaf = static_cast<std::size_t>(track.leaf[i]);
      auto& visitors = track.visitors[leaf];
      if (!visitors.empty() && visitors.back() == s) continue;
      visitors.push_back(s);
      track.could_gain[leaf].correct += sequence_score_[s].weight - sequence_score_[s].correct;
      track.could_gain[leaf].loss += sequence_score_[s].loss;
    }
}

// Calls call(sequence) for every visit of a touched leaf by a sequence, with `first` only for the sequence's first; until one is
// false.
template <typename Call>
bool Replay::for_touched(int t, std::span<const std::uint8_t> touched, const Call& call) {
  const Track& track = tracks_[static_cast<std::size_t>(t)];
  ++stamp_now_;
  for (std::size_t leaf = 0; leaf < touched.size(); ++leaf) {
    if (touched[leaf] == 0) continue;
    for (const std::uint32_t s : track.visitors[leaf]) {
      const bool first = stamp_[s] != stamp_now_;
      stamp_[s] = stamp_now_;
      if (!call(s, first)) return false;
    }
  }
  return true;
}

// Sure that the edit is not acceptable, or as good as sure: what it lost so far is beyond both what the rest can win back,
// or beyond four times its scatter.
bool Replay::hopeless(const Change& change) const {
  const double correct_missing = least_correct_ - (now_.correct + change.correct);
  const double loss_beyond = now_.loss + change.loss - most_loss_;
  constexpr double kSure = 4.0;
  return correct_missing > std::min(change.could_gain.correct, kSure * std::sqrt(change.correct_scatter)) ||
         loss_beyond > std::min(change.could_gain.loss, kSure * std::sqrt(change.loss_scatter));
}

bool Replay::judge(int t, const Tree& edited, std::span<const std::uint8_t> touched, Verdict& verdict) {
  if (!judged_) return true;
  const Track& track = tracks_[static_cast<std::size_t>(t)];
  Change change;
  for (std::size_t leaf = 0; leaf < touched.size(); ++leaf) {
    if (touched[leaf] == 0) continue;
    change.could_gain.correct += track.could_gain[leaf].correct;
    change.could_gain.loss += track.could_gain[leaf].loss;
  }
  const bool finished = for_touched(t, touched, [&](std::uint32_t s, bool first) {
    change.could_gain.correct -= sequence_score_[s].weight - sequence_score_[s].correct;
    change.could_gain.loss -= sequence_score_[s].loss;
    return !first || judge_sequence(t, edited, touched, s, change);
  });
  verdict.correct += change.correct;
  verdict.loss += change.loss;
  return finished && now_.correct + change.correct >= least_correct_ && now_.loss + change.loss <= most_loss_;
}

// Adds to `change` what the edit changes in the sequence; false as soon as the edit is hopeless.
bool Replay::judge_sequence(int t, const Tree& edited, std::span<const std::uint8_t> touched, std::size_t sequence,
                            Change& change) {
  constexpr std::size_t kStretch = 64;  // steps between two looks at how it stands
  const Track& track = tracks_[static_cast<std::size_t>(t)];
  const auto n_m = static_cast<std::size_t>(edited.n_m);
  const bool first_order = edited.form.output_order == OutputOrder::kFirst;
  const auto begin = static_cast<std::size_t>(data_.offset[sequence]);
  const auto end = static_cast<std::size_t>(data_.offset[sequence + 1]);
  double correct = 0;
  double loss = 0;
  std::size_t run = 0;
  const auto look = [&] {
    change.correct += correct;
    change.correct_scatter += correct * correct;
    change.loss += loss;
    change.loss_scatter += loss * loss;
    correct = loss = 0;
    return !hopeless(change);
  };
  bool differs = false;  // from what is kept, in memory or running output
  for (std::size_t i = begin; i < end; ++i) {
    if (!differs) {
      while (i < end && touched[static_cast<std::size_t>(track.leaf[i])] == 0) ++i;
      if (i == end) break;
      std::copy_n(track.m.begin() + static_cast<std::ptrdiff_t>(i * n_m), n_m, m_.begin());
      if (i == begin) std::fill(y_.begin(), y_.end(), 0.0F);
      else std::copy_n(track.y.begin() + static_cast<std::ptrdiff_t>((i - 1) * n_y_), n_y_, y_.begin());
    }
    step(edited, data_.x.data() + i * n_x_, model_.fill.data(), m_.data(), y_.data());
    const bool same_answer = same_bits(y_.data(), track.y.data() + i * n_y_, n_y_);
    if (!same_answer) {
      const Tally score = score_step(i, t, y_.data());
      correct += score.correct - (step_correct_[i] != 0 ? score.weight : 0.0);
      loss += static_cast<double>(static_cast<float>(score.loss)) - step_loss_[i];
    }
    differs = (first_order && !same_answer) ||
              (i + 1 < end && !same_bits(m_.data(), track.m.data() + (i + 1) * n_m, n_m));
    ++steps_run_;
    if (++run % kStretch == 0 && !look()) return false;
  }
  return look();
}

void Replay::commit(int t, const Tree& edited, std::span<const std::uint8_t> touched) {
  for_touched(t, touched, [&](std::uint32_t s, bool first) {
    if (!first) return true;
    run_sequence(t, edited, s);
    score_sequence(s);
    return true;
  });
  sum_up();
  for (std::size_t tree = 0; tree < tracks_.size(); ++tree) list_visitors(static_cast<int>(tree));  // their gains change with the scores
}

}  // namespace remede
