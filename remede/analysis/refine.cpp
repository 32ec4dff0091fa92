// One search: cut the memory into states, merge what behaves alike, and judge the machine. Longer than 450 lines
// because its steps share the same partition and are understood together.
#include "remede/analysis/refine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace remede {
namespace {

constexpr double kStateCost = 12;              // nats that an additional state must save
constexpr int kMaxFailedCuts = 8;              // consecutive cuts that may fail to shorten the description
constexpr double kMaxMisfitShare = 0.005;      // share of misfits up to which a machine is accepted
constexpr double kGiveUpMisfitShare = 0.05;    // ... and above which no other order of cuts is tried
constexpr int kMaxStatesForOneMergeOrder = 5;  // up to this number of states only one order of merging is tried
constexpr std::size_t kMaxTrials = 8;          // number of promising cuts that are evaluated in full
constexpr std::size_t kMaxGapsPerSlot = 10;    // cuts tried per slot besides the model's own thresholds
constexpr double kShareOfMerging = 0.25;       // of the work, kept for what follows the cutting

// Units of work (work.h), measured.
constexpr double kWorkOfItem = 8;     // to take a step into a fit, or to copy it
constexpr double kWorkOfValue = 120;  // to sort a value and keep it in a map

using Numbers = std::vector<int>;

// Steps by the state they start from.
std::vector<Numbers> steps_by_state(const Experience& e, const Numbers& state, int count) {
  std::vector<Numbers> steps(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < e.steps.size(); ++i)
    steps[static_cast<std::size_t>(state[static_cast<std::size_t>(e.steps[i].before)])].push_back(static_cast<int>(i));
  return steps;
}

// The states of the points; empty while only the answers count.
InputItem item_of(const Experience& e, const Numbers& state, int step) {
  const ExperienceStep& s = e.steps[static_cast<std::size_t>(step)];
  return {e.row(s.row), {s.output, s.after < 0 || state.empty() ? -1 : state[static_cast<std::size_t>(s.after)]}};
}

InputTreeFit fit_steps(const Experience& e, const Numbers& state, const Numbers& steps, WorkLimit& work) {
  work.spend(kWorkOfItem * static_cast<double>(steps.size()));
  std::vector<InputItem> items;
  items.reserve(steps.size());
  for (const int s : steps) items.push_back(item_of(e, state, s));
  return fit_input_tree(e, std::move(items), e.symbols, work);
}

struct MemoryCut {
  std::size_t slot = 0;
  float at = 0;
};

float slot_value(const Experience& e, int step, std::size_t slot) {
  return e.point(e.steps[static_cast<std::size_t>(step)].before)[slot];
}

// The model's thresholds on the slot, and the middles of the widest gaps between the values seen.
std::vector<MemoryCut> cuts_of_slot(const Experience& e, const Numbers& steps, std::size_t slot) {
  std::vector<float> values;
  for (const int s : steps) values.push_back(slot_value(e, s, slot));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<MemoryCut> cuts;
  for (const float c : e.cuts[slot])
    if (values.front() < c && c <= values.back()) cuts.push_back({slot, c});
  std::vector<std::size_t> gaps(values.size() - 1);
  std::iota(gaps.begin(), gaps.end(), std::size_t{0});
  std::stable_sort(gaps.begin(), gaps.end(),
                   [&](std::size_t a, std::size_t b) { return values[a + 1] - values[a] > values[b + 1] - values[b]; });
  for (std::size_t i = 0; i < std::min(gaps.size(), kMaxGapsPerSlot); ++i)
    cuts.push_back({slot, simplest_between(values[gaps[i]], values[gaps[i] + 1])});
  return cuts;
}

// Both sides of values that many steps share, such as the zero of the beginning.
void add_cuts_beside_values(const Experience& e, const Numbers& steps, std::size_t slot, std::vector<MemoryCut>& cuts) {
  std::map<float, std::size_t> count;
  for (const int s : steps) ++count[slot_value(e, s, slot)];
  for (auto at = count.begin(); at != count.end(); ++at) {
    if (at->second * 20 < steps.size()) continue;
    if (at != count.begin()) cuts.push_back({slot, simplest_between(std::prev(at)->first, at->first)});
    if (std::next(at) != count.end()) cuts.push_back({slot, simplest_between(at->first, std::next(at)->first)});
  }
}

// Where the outcomes at one end of the state's rule differ by what a slot held: the cut that tells them apart best.
void add_telling_cuts(const Experience& e, const Numbers& state, const Numbers& steps, const InputTree& rule,
                      std::vector<MemoryCut>& cuts) {
  std::map<const InputTree::Node*, Numbers> ends;
  for (const int s : steps) {
    const InputTree::Node& end = rule.find(e.row(e.steps[static_cast<std::size_t>(s)].row));
    if (end.misfit > 0) ends[&end].push_back(s);
  }
  for (const InputTree::Node& node : rule.nodes) {  // in the order of the tree, not of addresses
    const auto found = ends.find(&node);
    if (found == ends.end()) continue;
    for (std::size_t slot = 0; slot < e.slots.size(); ++slot) {
      Numbers sorted = found->second;
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](int a, int b) { return slot_value(e, a, slot) < slot_value(e, b, slot); });
      // Right of the cut is what differs: the best place has most of the misfits on one side.
      double inside = 0, best = 0;
      std::size_t at = 0;
      const double share = node.misfit / std::max(node.count, 1.0);
      for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        const Outcome o = item_of(e, state, sorted[i]).outcome;
        const bool fits = o.output == node.outcome.output && (o.next < 0 || o.next == node.outcome.next);
        inside += (fits ? 0.0 : 1.0) - share;
        if (std::abs(inside) > best && slot_value(e, sorted[i], slot) < slot_value(e, sorted[i + 1], slot)) {
          best = std::abs(inside);
          at = i + 1;
        }
      }
      if (at > 0)
        cuts.push_back({slot, simplest_between(slot_value(e, sorted[at - 1], slot), slot_value(e, sorted[at], slot))});
    }
  }
}

// What is left of the work, for all ways that are tried.
struct Work {
  WorkLimit cutting, merging;
};

// Refinement by cuts, one at a time. Where the work ends, fits come out simpler and dearer, and no longer replace what
// was found before.
class Cutter {
 public:
  Cutter(const Experience& e, const RefineOptions& options, bool answers_first, bool look_ahead, Work& work)
      : e_(&e),
        options_(&options),
        all_work_(&work),
        work_(&work.cutting),
        state_(e.points(), 0),
        answers_first_(answers_first),
        look_ahead_(look_ahead),
        allowed_(e.symbols ? 0.0 : options.tolerance * static_cast<double>(e.steps.size())) {}

  Grouping run() {
    answers_only_ = true;  // first what is said, then where it leads
    if (answers_first_) cut_while_it_pays();
    answers_only_ = false;
    cut_while_it_pays();
    const double good_enough =
        e_->symbols ? 0.0 : std::max(allowed_, kMaxMisfitShare * static_cast<double>(e_->steps.size()));
    const bool cut_short = work_->reached();
    work_ = &all_work_->merging;
    if (!work_->reached()) merge_all();
    Grouping g{state_,       count_, {}, total_misfit(), total_misfit() <= good_enough, cut_short || work_->reached(),
               description()};
    for (InputTreeFit& f : fits_) g.rules.push_back(std::move(f.tree));
    return g;
  }

 private:
  struct Snapshot {
    Numbers state;
    int count = 0;
    double description = 0;
    std::vector<Numbers> steps;
    std::vector<InputTreeFit> fits;
  };

  // What it takes to tell the machine and what happens in it, in nats.
  double description() const { return total_cost() + kStateCost * count_; }
  void spend_copy() const { work_->spend(static_cast<double>(state_.size() + e_->steps.size())); }
  Snapshot snapshot() const {
    spend_copy();
    return {state_, count_, description(), steps_, fits_};
  }
  void restore(const Snapshot& s) {
    spend_copy();
    state_ = s.state;
    count_ = s.count;
    steps_ = s.steps;
    fits_ = s.fits;
  }

  void cut_while_it_pays() {
    fit_all();
    Snapshot best = snapshot();
    // Some cuts pay only together with later ones: a few that do not pay at once are allowed in a row.
    for (int idle = 0; total_misfit() > allowed_ && count_ < static_cast<int>(options_->most_states) &&
                       idle < kMaxFailedCuts && cut_once();) {
      ++idle;
      if (description() >= best.description) continue;
      best = snapshot();
      idle = 0;
    }
    if (total_misfit() > allowed_) restore(best);
  }

  InputTreeFit fit(const Numbers& state, const Numbers& steps) const { return fit_steps(*e_, state, steps, *work_); }

  const Numbers& next_states() const { return answers_only_ ? none_ : state_; }

  void fit_all() {
    steps_ = steps_by_state(*e_, state_, count_);
    fits_.clear();
    for (const Numbers& s : steps_) fits_.push_back(fit(next_states(), s));
  }
  double total_misfit() const {
    double sum = 0;
    for (const InputTreeFit& f : fits_) sum += f.misfit;
    return sum;
  }

  // The state with most misfits that a cut can help is cut.
  bool cut_once() {
    Numbers order(static_cast<std::size_t>(count_));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return fits_[static_cast<std::size_t>(a)].misfit > fits_[static_cast<std::size_t>(b)].misfit;
    });
    for (const bool whole : {true, false}) {
      if (whole && !look_ahead_) continue;
      for (const int s : order)
        if (!work_->reached() && fits_[static_cast<std::size_t>(s)].misfit > 0 && cut_state(s, whole)) return true;
    }
    return false;
  }

  // whole: only if that makes the whole simpler; else: if it makes the state simpler.
  bool cut_state(int s, bool whole) {
    const Numbers& steps = steps_[static_cast<std::size_t>(s)];
    std::vector<MemoryCut> cuts;
    work_->spend(2 * kWorkOfValue * static_cast<double>(steps.size() * e_->slots.size()));
    for (std::size_t slot = 0; slot < e_->slots.size(); ++slot) {
      for (const MemoryCut& c : cuts_of_slot(*e_, steps, slot)) cuts.push_back(c);
      add_cuts_beside_values(*e_, steps, slot, cuts);
    }
    add_telling_cuts(*e_, next_states(), steps, fits_[static_cast<std::size_t>(s)].tree, cuts);
    std::vector<std::pair<double, MemoryCut>> ranked;
    const double now = fits_[static_cast<std::size_t>(s)].cost - (e_->symbols ? 1e-6 : kStateCost);
    for (const MemoryCut& c : cuts) {
      if (work_->reached()) return false;
      const double cost = cost_of_cut(steps, c);
      if (cost < now - 1e-9) ranked.emplace_back(cost, c);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return whole && !e_->symbols ? take_best(s, ranked) : take_first(s, ranked);
  }

  bool take_first(int s, const std::vector<std::pair<double, MemoryCut>>& ranked) {
    if (ranked.empty()) return false;
    apply(s, ranked.front().second);
    return true;
  }

  // A cut through the middle of values that drift makes the ways into the state unclear: the whole must gain.
  bool take_best(int s, const std::vector<std::pair<double, MemoryCut>>& ranked) {
    const Snapshot before = snapshot();
    Snapshot best = before;
    for (std::size_t i = 0; i < std::min(ranked.size(), kMaxTrials) && !work_->reached(); ++i) {
      restore(before);
      apply(s, ranked[i].second);
      if (description() < best.description - 1e-9) best = snapshot();
    }
    restore(best);
    return best.count > before.count;
  }

  // The points of state s at or above the cut become a new state.
  void apply(int s, const MemoryCut& cut) {
    for (std::size_t p = 0; p < state_.size(); ++p)
      if (state_[p] == s && e_->point(static_cast<int>(p))[cut.slot] >= cut.at) state_[p] = count_;
    ++count_;
    fit_all();
  }

  // Of the state alone, with the next states as they are.
  double cost_of_cut(const Numbers& steps, const MemoryCut& cut) const {
    Numbers low, high;
    for (const int step : steps) (slot_value(*e_, step, cut.slot) >= cut.at ? high : low).push_back(step);
    if (low.empty() || high.empty()) return std::numeric_limits<double>::infinity();
    return fit(next_states(), low).cost + fit(next_states(), high).cost;
  }

  double total_cost() const {
    double sum = 0;
    for (const InputTreeFit& f : fits_) sum += f.cost;
    return sum;
  }

  // In the order of the states, and best first: whichever leaves fewer.
  void merge_all() {
    const Snapshot before = snapshot();
    while (merge_first()) {
    }
    if (before.count <= kMaxStatesForOneMergeOrder || count_ <= kMaxStatesForOneMergeOrder) return;
    const Snapshot in_order = snapshot();
    restore(before);
    while (merge_best()) {
    }
    if (count_ > in_order.count || (count_ == in_order.count && description() > in_order.description))
      restore(in_order);
  }

  bool merge_first() {
    for (int a = 0; a < count_; ++a)
      for (int b = a + 1; b < count_ && !work_->reached(); ++b)
        if (merge(a, b)) return true;
    return false;
  }

  bool merge_best() {
    const Snapshot before = snapshot();
    const int count = count_;
    Snapshot best = before;
    for (int a = 0; a < count; ++a)
      for (int b = a + 1; b < count && !work_->reached(); ++b) {
        if (!merge(a, b)) continue;
        if (best.count == count || description() < best.description) best = snapshot();
        restore(before);
      }
    restore(best);
    return best.count < count;
  }

  // Two states can be one when one rule explains both. Where the merged state would go on to two different states at
  // the same inputs, these must become one as well, and so on.
  bool merge(int a, int b) {
    const Snapshot before = snapshot();
    const double misfit = total_misfit();
    const double slack = e_->symbols ? 0 : 0.1 * allowed_;
    for (std::pair<int, int> pair = {a, b}; pair.first >= 0;) {
      unite(pair.first, pair.second);
      pair = count_ > 1 ? find_fork(std::min(pair.first, pair.second)) : std::pair{-1, -1};
    }
    if (total_misfit() <= misfit + slack && description() <= before.description) {
      fit_all();
      if (!work_->reached()) return true;  // else these fits may have been cut short
    }
    restore(before);
    return false;
  }

  // The rules of other states are kept, with states renumbered: that they might become simpler is seen when all are
  // fitted again.
  void unite(int a, int b) {
    if (a > b) std::swap(a, b);
    const auto renumbered = [&](int s) { return s == b ? a : s > b ? s - 1 : s; };
    for (int& s : state_) s = renumbered(s);
    Numbers& steps = steps_[static_cast<std::size_t>(a)];
    const Numbers& more = steps_[static_cast<std::size_t>(b)];
    steps.insert(steps.end(), more.begin(), more.end());
    std::sort(steps.begin(), steps.end());
    steps_.erase(steps_.begin() + b);
    fits_.erase(fits_.begin() + b);
    --count_;
    for (InputTreeFit& f : fits_)
      for (InputTree::Node& n : f.tree.nodes) n.outcome.next = renumbered(n.outcome.next);
    fits_[static_cast<std::size_t>(a)] = fit(state_, steps_[static_cast<std::size_t>(a)]);
  }

  // Two states to which one end of the rule leads, with the same answer, while its other steps are few; {-1, -1}: none.
  std::pair<int, int> find_fork(int s) const {
    const InputTree& rule = fits_[static_cast<std::size_t>(s)].tree;
    work_->spend(2 * kWorkOfItem * static_cast<double>(steps_[static_cast<std::size_t>(s)].size()));
    std::map<std::pair<const InputTree::Node*, int>, double> ways;
    for (const int step : steps_[static_cast<std::size_t>(s)]) {
      const InputItem item = item_of(*e_, state_, step);
      const InputTree::Node& end = rule.find(item.x);
      if (item.outcome.output == end.outcome.output && item.outcome.next >= 0 && item.outcome.next != end.outcome.next)
        ++ways[{&end, item.outcome.next}];
    }
    std::pair<int, int> found{-1, -1};
    double most = std::max(0.1 * allowed_, 0.0);
    for (const auto& [way, n] : ways)
      if (n > most && way.first->outcome.next >= 0) {
        most = n;
        found = {way.first->outcome.next, way.second};
      }
    return found;
  }

  const Experience* e_;
  const RefineOptions* options_;
  Work* all_work_;
  WorkLimit* work_;  // of what is done at present
  Numbers state_, none_;
  bool answers_first_, look_ahead_;
  int count_ = 1;
  double allowed_;
  bool answers_only_ = false;
  std::vector<Numbers> steps_;
  std::vector<InputTreeFit> fits_;
};

}  // namespace

Grouping refine_exactly(const Experience& e, const RefineOptions& options) {
  WorkLimit work(options.most_work);
  Grouping g{Numbers(e.points(), 0), 1, {}, 0, true, false, 0};
  const std::size_t symbols = e.steps.size() / std::max<std::size_t>(e.points(), 1);
  for (;;) {
    std::map<Numbers, int> number;
    Numbers next(e.points());
    for (std::size_t p = 0; p < e.points(); ++p) {
      Numbers signature = {g.state[p]};
      for (std::size_t s = 0; s < symbols; ++s) {
        const ExperienceStep& step = e.steps[p * symbols + s];  // steps of a point follow each other, symbol by symbol
        signature.push_back(step.output);
        signature.push_back(g.state[static_cast<std::size_t>(step.after)]);
      }
      next[p] = number.try_emplace(signature, static_cast<int>(number.size())).first->second;
    }
    const bool stable = static_cast<int>(number.size()) == g.count;
    g.count = static_cast<int>(number.size());
    g.state = std::move(next);
    work.spend(kWorkOfValue * static_cast<double>(e.points()) + kWorkOfItem * static_cast<double>(e.steps.size()));
    if (stable) break;
    if (work.reached()) {
      g.settled = false;
      g.limited = true;
      return g;
    }
  }
  for (const Numbers& steps : steps_by_state(e, g.state, g.count)) {
    InputTreeFit fit = fit_steps(e, g.state, steps, work);
    g.misfit += fit.misfit;
    g.rules.push_back(std::move(fit.tree));
  }
  g.limited = work.reached();
  g.settled = !g.limited;
  return g;
}

Grouping refine_by_cuts(const Experience& experience, const RefineOptions& options) {
  // Cuts are chosen one at a time, and early ones bind later ones: where the result is not small, other ways are tried
  // too.
  constexpr std::array<std::pair<bool, bool>, 4> kWays = {{{true, true}, {false, true}, {true, false}, {false, false}}};
  Grouping best;
  Work work{WorkLimit((1 - kShareOfMerging) * options.most_work), WorkLimit(kShareOfMerging * options.most_work)};
  for (const auto& [answers_first, look_ahead] : kWays) {
    Grouping g = Cutter(experience, options, answers_first, look_ahead, work).run();
    const bool first = best.count == 0;
    const bool better = g.settled != best.settled ? g.settled
                        : g.settled               ? g.count < best.count
                                                  : g.description < best.description;
    const bool limited = best.limited || g.limited;
    if (first || better) best = std::move(g);
    best.limited = limited;
    const bool hopeless =
        !best.settled && best.misfit > kGiveUpMisfitShare * static_cast<double>(experience.steps.size());
    if ((best.settled && best.count <= kMaxStatesForOneMergeOrder) || hopeless || experience.symbols || limited) break;
  }
  return best;
}

}  // namespace remede
