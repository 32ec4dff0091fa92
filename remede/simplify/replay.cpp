#include "remede/simplify/replay.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "remede/base/random.h"
#include "remede/model/predict.h"
#include "remede/objective/truth.h"

namespace remede {
namespace {

// Equal as bits: NaN equals itself, so that a sequence that has gone wrong counts as unchanged.
bool same_bits(const float* a, const float* b, std::size_t count) {
  return count == 0 || std::memcmp(a, b, count * sizeof(float)) == 0;
}

}  // namespace

Replay::Replay(const Model& model, const Sequences& data, const Tolerance& tolerance)
    : model_(model),
      data_(data),
      judged_(data.has_targets()),
      objective_(model.objective()),
      n_x_(static_cast<std::size_t>(model.n_x())),
      n_y_(static_cast<std::size_t>(model.n_y())),
      order_(data.count()),
      tracks_(model.trees.size()),
      marks_(judged_ ? data.steps() : 0),
      sequence_tally_(data.count()),
      stamp_(data.count()),
      y_(n_y_),
      answer_(n_y_),
      mean_(n_y_) {
  std::iota(order_.begin(), order_.end(), 0U);
  Random(0).shuffle(std::span(order_));
  restart();
  // In the unit of the loss: that of values is the square of theirs.
  const double usual = classifies(objective_) || !(now_.weight > 0) ? 1.0 : constant_loss(objective_, data_);
  constexpr double kRounding = 1e-9;
  least_correct_ = now_.correct - tolerance.accuracy * now_.weight - kRounding * now_.weight;
  most_loss_ =
      classifies(objective_) ? now_.loss + tolerance.log_loss * now_.weight : now_.loss * (1 + tolerance.loss_share);
  most_loss_ += kRounding * usual * now_.weight;
}

void Replay::restart() {
  for (std::size_t t = 0; t < tracks_.size(); ++t) {
    const Tree& tree = model_.trees[t];
    tracks_[t].width = static_cast<std::size_t>(tree.memory_size());
    tracks_[t].m.resize(data_.steps() * tracks_[t].width);
    tracks_[t].y.resize(data_.steps() * n_y_);
    tracks_[t].leaf.resize(data_.steps());
    m_.resize(std::max(m_.size(), tracks_[t].width));
    for (std::size_t s = 0; s < data_.count(); ++s) run_sequence(static_cast<int>(t), tree, s);
  }
  for (std::size_t s = 0; judged_ && s < data_.count(); ++s) score_sequence(s);
  sum_up();
  for (std::size_t t = 0; t < tracks_.size(); ++t) list_visitors(static_cast<int>(t));
}

std::size_t Replay::visits(int t, int leaf) const {
  return tracks_[static_cast<std::size_t>(t)].visitors[static_cast<std::size_t>(leaf)].size();
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
    for (std::size_t k = 0; k < n_m; ++k) add(sums[n_x_ + k], track.m[i * track.width + k]);
  }
  count += static_cast<double>(data_.steps());
}

// Step i from the memory m_; returns the leaf. The answer is left in y_ where it counts: at steps with a target, or
// where later answers are made of it; else there are zeros.
int Replay::run_step(const Tree& tree, std::size_t i) {
  const float* const x = data_.x.data() + i * n_x_;
  if (data_.weight[i] != 0 || tree.form.output_order == OutputOrder::kFirst)
    return step(tree, x, model_.fill.data(), m_.data(), y_.data());
  const int leaf = find_leaf(tree, x, m_.data());
  write_memory(tree, leaf, x, model_.fill.data(), m_.data());
  std::fill(y_.begin(), y_.end(), 0.0F);
  return leaf;
}

// Keeps what the tree does on the sequence.
void Replay::run_sequence(int t, const Tree& tree, std::size_t sequence) {
  Track& track = tracks_[static_cast<std::size_t>(t)];
  const std::size_t n_m = track.width;
  std::fill_n(m_.begin(), n_m, 0.0F);
  std::fill(y_.begin(), y_.end(), 0.0F);
  const auto end = static_cast<std::size_t>(data_.offset[sequence + 1]);
  for (auto i = static_cast<std::size_t>(data_.offset[sequence]); i < end; ++i) {
    std::copy_n(m_.begin(), n_m, track.m.begin() + static_cast<std::ptrdiff_t>(i * n_m));
    track.leaf[i] = run_step(tree, i);
    std::copy_n(y_.begin(), n_y_, track.y.begin() + static_cast<std::ptrdiff_t>(i * n_y_));
  }
  steps_run_ += data_.length(sequence);
}

// The score of one step if tree t gave output y. REQUIRES: the step carries a target
Mark Replay::mark_step(std::size_t i, int t, const float* y) {
  for (std::size_t tree = 0; tree < tracks_.size(); ++tree) {
    const float* from = static_cast<int>(tree) == t ? y : tracks_[tree].y.data() + i * n_y_;
    std::copy_n(from, n_y_, answer_.begin());
    apply_link(objective_, answer_);
    for (std::size_t o = 0; o < n_y_; ++o) mean_[o] = tree == 0 ? answer_[o] : mean_[o] + answer_[o];
  }
  const auto count = static_cast<float>(tracks_.size());
  for (float& value : mean_) value /= count;
  return mark(objective_, mean_, truth_at(data_, i));
}

void Replay::score_sequence(std::size_t sequence) {
  Tally total;
  LossSum loss(objective_);
  const auto end = static_cast<std::size_t>(data_.offset[sequence + 1]);
  for (auto i = static_cast<std::size_t>(data_.offset[sequence]); i < end; ++i) {
    const double weight = data_.weight[i];
    if (weight == 0) continue;
    marks_[i] = mark_step(i, -1, nullptr);
    total.weight += weight;
    total.correct += marks_[i].correct ? weight : 0.0;
    loss.add(weight, marks_[i].worth);
  }
  total.loss = loss.take();
  sequence_tally_[sequence] = total;
}

void Replay::sum_up() {
  now_ = {};
  for (const Tally& tally : sequence_tally_) {
    now_.weight += tally.weight;
    now_.correct += tally.correct;
    now_.loss += tally.loss;
  }
}

void Replay::list_visitors(int t) {
  Track& track = tracks_[static_cast<std::size_t>(t)];
  const auto leaves = static_cast<std::size_t>(model_.trees[static_cast<std::size_t>(t)].leaf_count());
  track.visitors.resize(leaves);
  for (auto& visitors : track.visitors) visitors.clear();
  track.could_gain.assign(leaves, {});
  for (const std::uint32_t s : order_)
    for (auto i = static_cast<std::size_t>(data_.offset[s]); i < static_cast<std::size_t>(data_.offset[s + 1]); ++i) {
      const auto leaf = static_cast<std::size_t>(track.leaf[i]);
      auto& visitors = track.visitors[leaf];
      if (!visitors.empty() && visitors.back() == s) continue;
      visitors.push_back(s);
      track.could_gain[leaf].correct += sequence_tally_[s].weight - sequence_tally_[s].correct;
      track.could_gain[leaf].loss += sequence_tally_[s].loss;
    }
}

// Whether the edit will be rejected (almost) certainly: its loss exceeds what the remaining sequences can win back, or
// four times its standard error.
bool Replay::hopeless(const Change& change) const {
  if (!change.limited) return false;
  constexpr double kRejectedStandardErrors = 4.0;
  const double correct_missing = least_correct_ - (now_.correct + change.correct);
  const double loss_beyond = now_.loss + change.loss - most_loss_;
  return correct_missing >
             std::min(change.could_gain.correct, kRejectedStandardErrors * std::sqrt(change.correct_scatter)) ||
         loss_beyond > std::min(change.could_gain.loss, kRejectedStandardErrors * std::sqrt(change.loss_scatter));
}

bool Replay::judge(int t, const Tree& edited, std::span<const std::uint8_t> touched, Verdict& verdict) {
  journal_.clear();
  if (!judged_) return true;
  Change change;
  const bool finished = run_edit(t, edited, touched, change);
  verdict.correct += change.correct;
  verdict.loss += change.loss;
  return finished && now_.correct + change.correct >= least_correct_ && now_.loss + change.loss <= most_loss_;
}

void Replay::commit(int t, const Tree& edited, std::span<const std::uint8_t> touched, bool judged) {
  if (!judged || !judged_) {
    Change change;
    change.limited = false;
    journal_.clear();
    run_edit(t, edited, touched, change);
  }
  apply_journal(t);
  sum_up();
  for (std::size_t tree = 0; tree < tracks_.size(); ++tree)
    list_visitors(static_cast<int>(tree));  // possible gains depend on the tallies
}

// Runs every sequence that visits a touched leaf; false as soon as the edit is hopeless.
bool Replay::run_edit(int t, const Tree& edited, std::span<const std::uint8_t> touched, Change& change) {
  const Track& track = tracks_[static_cast<std::size_t>(t)];
  for (std::size_t leaf = 0; leaf < touched.size(); ++leaf) {
    if (touched[leaf] == 0) continue;
    change.could_gain.correct += track.could_gain[leaf].correct;
    change.could_gain.loss += track.could_gain[leaf].loss;
  }
  ++stamp_now_;
  for (std::size_t leaf = 0; leaf < touched.size(); ++leaf) {
    if (touched[leaf] == 0) continue;
    for (const std::uint32_t s : track.visitors[leaf]) {
      change.could_gain.correct -= sequence_tally_[s].weight - sequence_tally_[s].correct;
      change.could_gain.loss -= sequence_tally_[s].loss;
      if (std::exchange(stamp_[s], stamp_now_) == stamp_now_) continue;
      if (!run_edit(t, edited, touched, s, change)) return false;
    }
  }
  return true;
}

// The same for one sequence. Adds what the edit changes in it to `change`, and the steps it runs to the journal.
bool Replay::run_edit(int t, const Tree& edited, std::span<const std::uint8_t> touched, std::uint32_t sequence,
                      Change& change) {
  constexpr std::size_t kStepsBetweenChecks = 64;  // steps between two checks whether to stop early
  const Track& track = tracks_[static_cast<std::size_t>(t)];
  const std::size_t n_m = track.width;
  const bool first_order = edited.form.output_order == OutputOrder::kFirst;
  const auto begin = static_cast<std::size_t>(data_.offset[sequence]);
  const auto end = static_cast<std::size_t>(data_.offset[sequence + 1]);
  double correct = 0;
  LossSum loss_sum(objective_);
  journal_.change.push_back({sequence, {}});
  const auto look = [&] {
    const double loss = loss_sum.take();
    change.correct += correct;
    change.correct_scatter += correct * correct;
    change.loss += loss;
    change.loss_scatter += loss * loss;
    journal_.change.back().second.correct += std::exchange(correct, 0.0);
    journal_.change.back().second.loss += loss;
    return !hopeless(change);
  };
  bool differs = false;  // from what is kept, in memory or running output
  std::size_t run = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (!differs) {
      while (i < end && touched[static_cast<std::size_t>(track.leaf[i])] == 0) ++i;
      if (i == end) break;
      std::copy_n(track.m.begin() + static_cast<std::ptrdiff_t>(i * n_m), n_m, m_.begin());
      if (i == begin)
        std::fill(y_.begin(), y_.end(), 0.0F);
      else
        std::copy_n(track.y.begin() + static_cast<std::ptrdiff_t>((i - 1) * n_y_), n_y_, y_.begin());
    }
    const int leaf = run_step(edited, i);
    const bool same_answer = same_bits(y_.data(), track.y.data() + i * n_y_, n_y_);
    Mark mark = judged_ ? marks_[i] : Mark();
    if (!same_answer && judged_ && data_.weight[i] != 0) {
      const double weight = data_.weight[i];
      mark = mark_step(i, t, y_.data());
      correct += weight * ((mark.correct ? 1 : 0) - (marks_[i].correct ? 1 : 0));
      loss_sum.add(weight, mark.worth, marks_[i].worth);
    }
    journal_.step.push_back(i);
    journal_.leaf.push_back(leaf);
    journal_.m.insert(journal_.m.end(), m_.begin(), m_.begin() + static_cast<std::ptrdiff_t>(n_m));
    journal_.y.insert(journal_.y.end(), y_.begin(), y_.end());
    journal_.mark.push_back(mark);
    differs =
        (first_order && !same_answer) || (i + 1 < end && !same_bits(m_.data(), track.m.data() + (i + 1) * n_m, n_m));
    if (++run % kStepsBetweenChecks == 0 && !look()) break;
  }
  steps_run_ += run;
  return look();
}

void Replay::Journal::clear() {
  step.clear();
  leaf.clear();
  m.clear();
  y.clear();
  mark.clear();
  change.clear();
}

void Replay::apply_journal(int t) {
  Track& track = tracks_[static_cast<std::size_t>(t)];
  const std::size_t steps = journal_.step.size();
  const std::size_t n_m = steps > 0 ? journal_.m.size() / steps : 0;
  std::size_t sequence_end = 0;  // of the sequence the step is in
  for (std::size_t j = 0; j < steps; ++j) {
    const std::size_t i = journal_.step[j];
    track.leaf[i] = journal_.leaf[j];
    std::copy_n(journal_.y.begin() + static_cast<std::ptrdiff_t>(j * n_y_), n_y_,
                track.y.begin() + static_cast<std::ptrdiff_t>(i * n_y_));
    if (judged_) marks_[i] = journal_.mark[j];
    if (i >= sequence_end || j == 0 || i < journal_.step[j - 1])
      sequence_end = static_cast<std::size_t>(
          *std::upper_bound(data_.offset.begin(), data_.offset.end(), static_cast<std::int64_t>(i)));
    if (i + 1 < sequence_end)
      std::copy_n(journal_.m.begin() + static_cast<std::ptrdiff_t>(j * n_m), n_m,
                  track.m.begin() + static_cast<std::ptrdiff_t>((i + 1) * n_m));
  }
  for (const auto& [sequence, change] : journal_.change) {
    sequence_tally_[sequence].correct += change.correct;
    sequence_tally_[sequence].loss += change.loss;
  }
}

}  // namespace remede
