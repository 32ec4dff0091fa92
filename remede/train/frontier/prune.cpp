#include "remede/train/frontier/prune.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace remede::frontier {
namespace {

using laws::Group;
using laws::Side;

std::size_t count_of(int field) { return static_cast<std::size_t>(field); }

// The weights that read cell k, and where.
template <typename Visit>
void each_reader(const laws::Shape& s, std::size_t k, const Visit& visit) {
  const std::size_t k_n = s.law.size();
  const auto n_x = static_cast<std::size_t>(s.n_x), n_z = static_cast<std::size_t>(s.n_z());
  for (std::size_t reader = k + 1; reader < k_n; ++reader) visit(s.at(Group::kEarlier, reader * k_n + k));
  for (const Group g : {Group::kLinear, Group::kLeafLinear})
    for (std::size_t row = 0; row * n_z < s.size(g); ++row) {
      visit(s.at(g, row * n_z + n_x + k));
      visit(s.at(g, row * n_z + n_x + k_n + k));
    }
}

void take_out(laws::Parameters& p, std::size_t at) {
  p.used[at] = 0;
  p.values[at] = 0;
}

bool is_read(const laws::Parameters& p, std::size_t k) {
  bool read = false;
  each_reader(p.shape, k, [&](std::size_t at) { read = read || p.used[at] != 0; });
  for (int i = 0; i < p.shape.nodes(); ++i)
    read = read ||
           (p.side[static_cast<std::size_t>(i)] == Side::kFree && p.feature(i) == p.shape.n_x + static_cast<int>(k));
  return read;
}

void take_out_cell(laws::Parameters& p, std::size_t k) {
  const laws::Shape& s = p.shape;
  const auto n_x = static_cast<std::size_t>(s.n_x), k_n = s.law.size();
  take_out(p, s.at(Group::kBias, k));
  take_out(p, s.at(Group::kTap, k));
  take_out(p, s.at(Group::kTapLevel, k));
  for (std::size_t i = 0; i < n_x; ++i) {
    take_out(p, s.at(Group::kInput, k * n_x + i));
    take_out(p, s.at(Group::kTapInput, k * n_x + i));
  }
  for (std::size_t j = 0; j < k; ++j) take_out(p, s.at(Group::kEarlier, k * k_n + j));
  for (std::size_t l = 0; l < static_cast<std::size_t>(s.leaves()); ++l)
    take_out(p, s.at(Group::kTapLeaf, l * k_n + k));
}

// (nodes + leaves) of the complete tree: whether a step can get there.
std::vector<bool> reachable(const laws::Parameters& p) {
  const auto nodes = static_cast<std::size_t>(p.shape.nodes());
  std::vector<bool> reached(2 * nodes + 1, false);
  reached[0] = true;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (!reached[i]) continue;
    if (p.side[i] != Side::kRight) reached[2 * i + 1] = true;
    if (p.side[i] != Side::kLeft) reached[2 * i + 2] = true;
  }
  return reached;
}

}  // namespace

void drop_unread(laws::Parameters& p) {
  const laws::Shape& s = p.shape;
  const std::vector<bool> reached = reachable(p);
  const auto nodes = static_cast<std::size_t>(s.nodes()), k_n = s.law.size();
  const auto n_y = static_cast<std::size_t>(s.n_y), n_z = static_cast<std::size_t>(s.n_z());
  for (std::size_t i = 0; i < nodes; ++i)
    if (!reached[i]) p.side[i] = Side::kLeft;
  for (std::size_t l = 0; l < static_cast<std::size_t>(s.leaves()); ++l) {
    if (reached[nodes + l]) continue;
    for (std::size_t k = 0; k < k_n; ++k) take_out(p, s.at(Group::kTapLeaf, l * k_n + k));
    for (std::size_t o = 0; o < n_y; ++o) take_out(p, s.at(Group::kOutput, l * n_y + o));
    for (std::size_t i = 0; i < n_y * n_z && s.leaf_linear; ++i)
      take_out(p, s.at(Group::kLeafLinear, l * n_y * n_z + i));
  }
  for (std::size_t k = k_n; k-- > 0;)
    if (!is_read(p, k)) take_out_cell(p, k);
}

std::size_t numbers_in_use(const laws::Parameters& p) {
  std::size_t count = 0;
  for (std::size_t i = p.shape.begin(Group::kBias); i < p.used.size(); ++i) count += p.used[i];
  const std::vector<bool> reached = reachable(p);
  for (std::size_t i = 0; i < p.side.size(); ++i)
    if (reached[i] && p.side[i] == Side::kFree) count += 2;
  return count;
}

namespace {

int cells_in_use(const laws::Parameters& p) {
  int count = 0;
  for (std::size_t k = 0; k < p.shape.law.size(); ++k) count += is_read(p, k) ? 1 : 0;
  return count;
}

// What a removal would do: the smaller parameters, and what they cost on the replayed data.
struct Removal {
  std::size_t number = 0;  // of a single number, or
  int cell = -1;
  int node = -1;
  Side side = Side::kFree;
  double cost = 0;  // per number removed
};

class Pruner {
 public:
  Pruner(const Problem& problem, Learner& learner) : problem_(problem), learner_(learner) {}

  // Down by some numbers: all removals are measured alone, the cheapest made together.
  void round() {
    const laws::Parameters& p = learner_.parameters();
    state_ = learner_.usual_state();
    const std::size_t now = numbers_in_use(p);
    const auto share = static_cast<std::size_t>(problem_.recipe.prune_share * static_cast<double>(now));
    std::size_t wanted = now - std::max<std::size_t>(1, share);
    const std::vector<std::size_t> weakest = by_saliency();
    if (now > count_of(problem_.recipe.prune_unseen_above)) {
      laws::Parameters smaller = p;
      for (std::size_t i = 0; i < weakest.size() && numbers_in_use(smaller) > wanted; ++i)
        remove_number(smaller, weakest[i]);
      drop_unread(smaller);
      learner_.set_parameters(std::move(smaller));
      return;
    }
    const double base = learner_.replay(p).loss;
    std::vector<Removal> removals;
    const std::size_t trials = std::max(count_of(problem_.recipe.prune_trials), 2 * share);
    for (std::size_t i = 0; i < std::min(weakest.size(), trials); ++i) removals.push_back({.number = weakest[i]});
    for (std::size_t k = 0; k < p.shape.law.size(); ++k)
      if (is_read(p, k)) removals.push_back({.cell = static_cast<int>(k)});
    const std::vector<bool> reached = reachable(p);
    for (int i = 0; i < p.shape.nodes(); ++i)
      if (reached[static_cast<std::size_t>(i)] && p.side[static_cast<std::size_t>(i)] == Side::kFree)
        for (const Side side : {Side::kLeft, Side::kRight}) removals.push_back({.node = i, .side = side});
    for (Removal& r : removals) {
      const laws::Parameters smaller = without(p, r);
      const double loss = learner_.replay(smaller).loss;
      r.cost = std::isfinite(loss) ? (loss - base) / static_cast<double>(now - numbers_in_use(smaller))
                                   : std::numeric_limits<double>::infinity();
    }
    std::stable_sort(removals.begin(), removals.end(),
                     [](const Removal& a, const Removal& b) { return a.cost < b.cost; });
    laws::Parameters smaller = p;
    for (const Removal& r : removals) {
      if (numbers_in_use(smaller) <= wanted) break;
      if (r.cell < 0 && r.node < 0 && smaller.used[r.number] == 0) continue;
      laws::Parameters next = without(smaller, r);
      if (numbers_in_use(next) < count_of(problem_.recipe.prune_until)) continue;
      smaller = std::move(next);
    }
    learner_.set_parameters(std::move(smaller));
  }

 private:
  // Numbers in use, those first whose removal should matter least.
  std::vector<std::size_t> by_saliency() const {
    const laws::Parameters& p = learner_.parameters();
    const std::vector<double>& second = learner_.second_moment();
    std::vector<std::size_t> numbers;
    for (std::size_t i = p.shape.begin(Group::kBias); i < p.used.size(); ++i)
      if (p.used[i] != 0) numbers.push_back(i);
    std::stable_sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
      return p.values[a] * p.values[a] * second[a] < p.values[b] * p.values[b] * second[b];
    });
    return numbers;
  }

  // Takes a number out; where it weighed a cell, the constant beside it takes over what the cell usually gave.
  void remove_number(laws::Parameters& p, std::size_t at) const {
    const laws::Shape& s = p.shape;
    const auto n_x = static_cast<std::size_t>(s.n_x), n_z = static_cast<std::size_t>(s.n_z()), k_n = s.law.size();
    const auto n_y = static_cast<std::size_t>(s.n_y);
    const auto in = [&](Group g) { return at >= s.begin(g) && at < s.begin(g) + s.size(g); };
    const auto take_over = [&](std::size_t constant, double by) {
      if (p.used[constant] != 0) p.values[constant] += by;
    };
    if (in(Group::kEarlier)) {
      const std::size_t i = at - s.begin(Group::kEarlier);
      take_over(s.at(Group::kBias, i / k_n), p.values[at] * state_[i % k_n]);
    } else if (in(Group::kLinear)) {
      const std::size_t i = at - s.begin(Group::kLinear), source = i % n_z;
      for (std::size_t l = 0; l < static_cast<std::size_t>(s.leaves()) && source >= n_x; ++l)
        take_over(s.at(Group::kOutput, l * n_y + i / n_z), p.values[at] * state_[source - n_x]);
    } else if (in(Group::kTapLevel)) {
      const std::size_t k = at - s.begin(Group::kTapLevel);
      take_over(s.at(Group::kTap, k), p.values[at] * state_[k_n + k]);
    }
    take_out(p, at);
  }

  laws::Parameters without(const laws::Parameters& from, const Removal& r) const {
    laws::Parameters p = from;
    if (r.cell >= 0) {
      const auto k = static_cast<std::size_t>(r.cell);
      each_reader(p.shape, k, [&](std::size_t at) {
        if (p.used[at] != 0) remove_number(p, at);
      });
      for (int i = 0; i < p.shape.nodes(); ++i)
        if (p.feature(i) == p.shape.n_x + r.cell && p.side[static_cast<std::size_t>(i)] == Side::kFree)
          p.side[static_cast<std::size_t>(i)] = Side::kLeft;
    } else if (r.node >= 0) {
      p.side[static_cast<std::size_t>(r.node)] = r.side;
    } else {
      remove_number(p, r.number);
    }
    drop_unread(p);
    return p;
  }

  const Problem& problem_;
  Learner& learner_;
  std::vector<double> state_;  // usual outputs and levels of the cells
};

}  // namespace

std::vector<Snapshot> prune(const Problem& problem, Learner& learner, const std::vector<double>& rates,
                            std::uint64_t stream, std::size_t polish_updates, const std::function<bool()>& stop) {
  learner.options().learn_index = false;
  learner.options().l1 = 0;
  laws::Parameters clean = learner.parameters();
  for (std::size_t i = clean.shape.begin(Group::kBias); i < clean.used.size(); ++i)
    if (clean.values[i] == 0.0) clean.used[i] = 0;  // L1 has left them out
  drop_unread(clean);
  learner.set_parameters(std::move(clean));
  Pruner pruner(problem, learner);
  std::vector<Snapshot> snapshots;
  for (;;) {
    Snapshot& s = snapshots.emplace_back();
    s.parameters = learner.parameters();
    s.numbers = numbers_in_use(s.parameters);
    s.cells = cells_in_use(s.parameters);
    s.validation = learner.judge(problem.validation);
    s.rates = rates;
    s.options = learner.options();
    s.stream = stream;
    if (s.numbers <= count_of(problem.recipe.prune_until) || stop()) break;
    pruner.round();
    if (numbers_in_use(learner.parameters()) >= s.numbers) break;
    const double rate = problem.recipe.prune_rate;
    learner.advance(polish_updates, rate, 0.1 * rate, stop);
  }
  return snapshots;
}

}  // namespace remede::frontier
