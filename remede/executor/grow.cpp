#include "remede/executor/grow.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "remede/base/arithmetic.h"

namespace remede {
namespace {

constexpr Smoothing kSmoothing = {0.02, 1e-6, 1e-6};  // of the shares of classes in a leaf

float logit(float p) { return log(p / (1.0F - p)); }

// The steps with a target, evenly thinned: columns are the inputs, then every input's average at every speed, as before
// the step.
struct GrowthTable {
  std::size_t rows = 0, n_x = 0;
  std::size_t n_y = 0;                      // targets, or classes
  std::vector<std::vector<float>> columns;  // (columns, rows)
  std::vector<float> target;                // (rows, n_y) values, or 1 at the class
  std::vector<float> weight;                // (rows)
  std::vector<float> fill;                  // (n_x) what stands for a missing input
};

// A window that goes on where the one before it ended keeps its averages.
GrowthTable growth_table(const TrainingData& data, const GrowthOptions& options, bool averages) {
  const Sequences& all = data.training;
  const bool classes = classifies(data.objective);
  GrowthTable table;
  table.n_x = static_cast<std::size_t>(all.n_x);
  table.n_y = static_cast<std::size_t>(all.n_y);
  table.fill = data.fill;
  table.columns.resize(table.n_x * (averages ? 1 + options.speeds.size() : 1));
  const std::size_t most = std::clamp<std::size_t>(options.most_numbers / table.columns.size(), 256, options.most_rows);
  const auto targets =
      static_cast<std::size_t>(std::count_if(all.weight.begin(), all.weight.end(), [](float w) { return w > 0.0F; }));
  const std::size_t every = (targets + most - 1) / most;
  std::vector<float> average(table.columns.size() - table.n_x), x(table.n_x);
  std::size_t seen = 0;
  for (std::size_t s = 0; s < all.count(); ++s) {
    if (data.continues.empty() || data.continues[s] == 0) std::fill(average.begin(), average.end(), 0.0F);
    for (auto t = static_cast<std::size_t>(all.offset[s]); t < static_cast<std::size_t>(all.offset[s + 1]); ++t) {
      for (std::size_t f = 0; f < table.n_x; ++f) {
        const float value = all.x[t * table.n_x + f];
        x[f] = std::isnan(value) ? data.fill[f] : value;
      }
      if (all.weight[t] > 0.0F && seen++ % every == 0) {
        for (std::size_t f = 0; f < table.n_x; ++f) table.columns[f].push_back(x[f]);
        for (std::size_t a = 0; a < average.size(); ++a) table.columns[table.n_x + a].push_back(average[a]);
        for (std::size_t k = 0; k < table.n_y; ++k)
          table.target.push_back(classes ? static_cast<float>(all.label[t] == static_cast<std::int32_t>(k))
                                         : all.value[t * table.n_y + k]);
        table.weight.push_back(all.weight[t]);
      }
      for (std::size_t a = 0; a < average.size(); ++a)
        average[a] += options.speeds[a / table.n_x] * (tanh(options.slope * x[a % table.n_x]) - average[a]);
    }
  }
  table.rows = table.weight.size();
  return table;
}

struct Cut {
  double gain = 0;
  std::size_t column = 0;
  float threshold = 0;
};

class Growth {
 public:
  Growth(const GrowthTable& table, const GrowthOptions& options, const Objective& objective,
         Parameters<float>& parameters)
      : table_(table), options_(options), objective_(objective), p_(parameters), best_(table.columns.size(), 0.0) {}

  void run() {
    // Level by level: the splits that decide most choose their averages first.
    std::vector<std::vector<std::uint32_t>> level(1, std::vector<std::uint32_t>(table_.rows));
    std::iota(level[0].begin(), level[0].end(), 0U);
    if (p_.shape.depth == 0) best_cut(level[0]);  // tells the averages apart
    int node = 0;
    for (int depth = 0; depth < p_.shape.depth; ++depth) {
      std::vector<std::vector<std::uint32_t>> below;
      for (std::vector<std::uint32_t>& rows : level) split(node++, std::move(rows), below);
      level = std::move(below);
    }
    for (std::size_t leaf = 0; leaf < level.size(); ++leaf) answer(leaf, level[leaf]);
    fill_cells();
    write_cells();
  }

 private:
  bool allowed(std::size_t column) const {
    if (column < table_.n_x || cells_.size() < static_cast<std::size_t>(p_.shape.n_m)) return true;
    return std::find(cells_.begin(), cells_.end(), column) != cells_.end();
  }

  // Sums of the targets of some rows; squares(sum) / weight is what an answer for them explains.
  double explained(const std::vector<double>& sum, double weight) const {
    double squares = 0;
    for (const double s : sum) squares += s * s;
    return weight > 0 ? squares / weight : 0.0;
  }

  void add(std::uint32_t row, double sign, std::vector<double>& sum, double& weight) const {
    const auto w = sign * static_cast<double>(table_.weight[row]);
    weight += w;
    for (std::size_t k = 0; k < table_.n_y; ++k) sum[k] += w * static_cast<double>(table_.target[row * table_.n_y + k]);
  }

  Cut best_cut(const std::vector<std::uint32_t>& rows) {
    Cut best;
    std::vector<double> total(table_.n_y);
    double weight = 0;
    for (const std::uint32_t row : rows) add(row, 1.0, total, weight);
    const double before = explained(total, weight);
    std::vector<std::pair<float, std::uint32_t>> order(rows.size());
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      if (!allowed(c)) continue;
      for (std::size_t i = 0; i < rows.size(); ++i) order[i] = {table_.columns[c][rows[i]], rows[i]};
      std::sort(order.begin(), order.end());
      std::vector<double> left(table_.n_y), right = total;
      double left_weight = 0, right_weight = weight;
      for (std::size_t i = 0; i + options_.leaf_rows < order.size(); ++i) {
        add(order[i].second, 1.0, left, left_weight);
        add(order[i].second, -1.0, right, right_weight);
        if (i + 1 < options_.leaf_rows || order[i].first == order[i + 1].first) continue;
        const double gain = explained(left, left_weight) + explained(right, right_weight) - before;
        best_[c] = std::max(best_[c], gain);
        if (gain > best.gain * (1 + 1e-9))
          best = {gain, c, order[i].first + 0.5F * (order[i + 1].first - order[i].first)};
      }
    }
    return best;
  }

  void split(int node, std::vector<std::uint32_t> rows, std::vector<std::vector<std::uint32_t>>& below) {
    const Cut cut = rows.size() >= 2 * options_.leaf_rows ? best_cut(rows) : Cut();
    std::vector<std::uint32_t> left, right;
    if (cut.gain <= 0) {
      left = right = std::move(rows);  // the node stays as it was drawn
    } else {
      const std::size_t n_v = static_cast<std::size_t>(p_.shape.n_v()), at = static_cast<std::size_t>(node) * n_v;
      const std::size_t feature = cut.column < table_.n_x ? cut.column : table_.n_x + cell_of(cut.column);
      p_[Group::kIndex][at + feature] += options_.ahead;
      p_[Group::kThreshold][at + feature] = cut.threshold;
      if (cut.column < table_.n_x)
        p_.missing_right[static_cast<std::size_t>(node)] = table_.fill[cut.column] < cut.threshold ? 0 : 1;
      for (const std::uint32_t row : rows)
        (table_.columns[cut.column][row] < cut.threshold ? left : right).push_back(row);
    }
    below.push_back(std::move(left));
    below.push_back(std::move(right));
  }

  std::size_t cell_of(std::size_t column) {
    const auto found = std::find(cells_.begin(), cells_.end(), column);
    if (found != cells_.end()) return static_cast<std::size_t>(found - cells_.begin());
    cells_.push_back(column);
    return cells_.size() - 1;
  }

  // The best constant; the scores of classes around 0.
  void answer(std::size_t leaf, const std::vector<std::uint32_t>& rows) {
    TargetSums targets(objective_, static_cast<int>(table_.n_y));
    for (const std::uint32_t row : rows) add(row, 1.0, targets.sum, targets.weight);
    for (std::size_t k = 0; k < targets.values.size(); ++k)
      for (const std::uint32_t row : rows)
        targets.values[k].emplace_back(table_.target[row * table_.n_y + k], static_cast<double>(table_.weight[row]));
    const auto n_y = static_cast<std::size_t>(p_.shape.n_y);
    const std::span<float> output = p_[Group::kOutput].subspan(leaf * n_y, n_y);
    best_constant(objective_, targets, kSmoothing, output);
    if (!shift_invariant(objective_)) return;
    const float mean = std::accumulate(output.begin(), output.end(), 0.0F) / static_cast<float>(table_.n_y);
    for (float& y : output) y -= mean;
  }

  // Cells that no split asked for take the averages that would have explained most.
  void fill_cells() {
    std::vector<std::size_t> order(table_.columns.size() - table_.n_x);
    std::iota(order.begin(), order.end(), table_.n_x);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return best_[a] > best_[b]; });
    for (const std::size_t column : order)
      if (cells_.size() < static_cast<std::size_t>(p_.shape.n_m)) cell_of(column);
  }

  void write_cells() {
    const auto n_m = static_cast<std::size_t>(p_.shape.n_m), n_w = static_cast<std::size_t>(p_.shape.n_w());
    for (std::size_t leaf = 0; leaf < static_cast<std::size_t>(p_.shape.leaves()); ++leaf)
      for (std::size_t c = 0; c < cells_.size(); ++c) {
        const std::size_t average = cells_[c] - table_.n_x, at = leaf * n_m + c;
        const std::span<float> write = p_[Group::kWrite].subspan(at * n_w, n_w);
        std::fill(write.begin(), write.end(), 0.0F);
        write[average % table_.n_x] = options_.slope;
        p_[Group::kGate][at] = 1.0F;
        p_[Group::kRate][at] = logit(options_.speeds[average / table_.n_x]);
        if (!p_[Group::kBias].empty()) p_[Group::kBias][at] = 0.0F;
      }
  }

  const GrowthTable& table_;
  const GrowthOptions& options_;
  const Objective objective_;
  Parameters<float>& p_;
  std::vector<double> best_;        // (columns) largest gain anywhere
  std::vector<std::size_t> cells_;  // the column that each cell is
};

}  // namespace

bool can_grow(const Shape& shape) {
  return shape.form.output_order == OutputOrder::kZero &&
         (shape.n_m == 0 || shape.form.write_rule == WriteRule::kBlend);
}

void grow(const TrainingData& data, const GrowthOptions& options, Parameters<float>& parameters) {
  const GrowthTable table = growth_table(data, options, parameters.shape.n_m > 0);
  if (table.rows < 2 * options.leaf_rows) return;
  Growth(table, options, data.objective, parameters).run();
}

}  // namespace remede
