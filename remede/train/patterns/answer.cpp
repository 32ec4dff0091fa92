#include "remede/train/patterns/answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "remede/base/arithmetic.h"
#include "remede/base/threads.h"

namespace remede::patterns {
namespace {

constexpr std::size_t kColumnsTogether = 128;  // what a thread works on
constexpr std::size_t kRowsTogether = 256;     // of a regression, so that they stay in the cache
constexpr float kSmallSpread = 1e-5F;          // of a column, beside its largest value: it is constant
constexpr float kDependent = 1e-3F;        // share of a column's squares that the chosen columns leave: no less is read
constexpr int kMostIterations = 300;       // of a logistic regression,
constexpr double kSmallStep = 1e-3;        // which ends when no weight of a standardised column moves further
constexpr double kConstantPenalty = 1e-6;  // a row: the constant stays finite where a class is certain

// The columns, and what those chosen so far do not explain.
struct Unexplained {
  Matrix<float> columns;              // (rows, columns) centred, times the root of the row's weight
  Matrix<float> targets;              // (rows, n_y) less what the chosen columns explain
  Matrix<float> along;                // (n_y, columns) products of the two
  std::vector<float> at_first, left;  // (columns) sums of squares, and what is left of them
  std::vector<char> usable;           // (columns)
};

double mean_of(const double* values, const std::vector<double>& weight) {
  return dot(values, weight.data(), weight.size()) / static_cast<double>(weight.size());  // weights are 1 on average
}

// Centred, times the roots of the weights, so that plain products are weighted sums. False: it is constant.
bool prepare_column(const std::vector<float>& weight, const std::vector<float>& root, float* column) {
  const std::size_t rows = weight.size();
  float most = 0;
  for (std::size_t r = 0; r < rows; ++r) most = std::max(most, std::abs(column[r]));
  const float mean = dot(column, weight.data(), rows) / static_cast<float>(rows), least = kSmallSpread * most;
  for (std::size_t r = 0; r < rows; ++r) column[r] = (column[r] - mean) * root[r];
  const float squares = dot(column, column, rows);
  return std::isfinite(squares) && squares > least * least * static_cast<float>(rows);
}

Unexplained begin(Matrix<float> table, const Targets& targets) {
  const std::size_t rows = table.rows, columns = table.columns;
  Unexplained u;
  const std::vector<float> weight(targets.weight.begin(), targets.weight.end());
  std::vector<float> root(weight.size());
  std::transform(weight.begin(), weight.end(), root.begin(), [](float w) { return std::sqrt(w); });
  u.columns = std::move(table);
  for (std::size_t c = 0; c < columns; ++c) {
    float* column = u.columns.column(c);
    const bool usable = prepare_column(weight, root, column);
    if (!usable) std::fill_n(column, rows, 0.0F);
    u.usable.push_back(usable ? 1 : 0);
    u.at_first.push_back(dot(column, column, rows));
  }
  u.left = u.at_first;
  u.targets = Matrix<float>(rows, targets.y.columns);
  for (std::size_t o = 0; o < targets.y.columns; ++o) {
    const double mean = mean_of(targets.y.column(o), targets.weight);
    double most = 0;
    for (std::size_t r = 0; r < rows; ++r) most = std::max(most, std::abs(targets.y(r, o) - mean));
    // So that squares fit into a float, whatever the unit.
    const int exponent = targets.classes || most == 0 ? 0 : std::ilogb(most);
    float* left = u.targets.column(o);
    for (std::size_t r = 0; r < rows; ++r)
      left[r] = static_cast<float>(std::ldexp(targets.y(r, o) - mean, -exponent)) * root[r];
    const float length = std::sqrt(dot(left, left, rows));
    if (targets.classes || length == 0) continue;
    for (std::size_t r = 0; r < rows; ++r) left[r] /= length;  // values of different units
  }
  u.along = Matrix<float>(targets.y.columns, columns);
  return u;
}

// How much of the targets each of some columns explains. direction: of unit length, what the last chosen column added;
// empty before the first. answer: (n_y) what it explains of the targets.
void update_columns(const std::vector<float>& direction, const std::vector<float>& answer, std::size_t first,
                    std::size_t last, Unexplained& u, std::vector<float>& explained) {
  for (std::size_t c = first; c < last; ++c) {
    const float* column = u.columns.column(c);
    float* along = u.along.column(c);
    if (direction.empty()) {
      for (std::size_t o = 0; o < u.along.rows; ++o) along[o] = dot(column, u.targets.column(o), u.columns.rows);
    } else {
      const float share = dot(column, direction.data(), u.columns.rows);
      add_scaled(-share, answer.data(), u.along.rows, along);
      u.left[c] -= share * share;
    }
    const bool counts = u.usable[c] != 0 && u.left[c] > kDependent * u.at_first[c];
    explained[c] = counts ? dot(along, along, u.along.rows) / u.left[c] : 0.0F;
  }
}

// What a column adds to those before it. Twice, since the first time leaves errors of rounding.
std::vector<float> new_direction(const Matrix<float>& directions, std::size_t count, const float* from) {
  const std::size_t rows = directions.rows;
  std::vector<float> column(from, from + rows);
  for (int i = 0; i < 2; ++i)
    for (std::size_t d = 0; d < count; ++d) {
      const float* known = directions.column(d);
      add_scaled(-dot(known, column.data(), rows), known, rows, column.data());
    }
  const float length = std::sqrt(dot(column.data(), column.data(), rows));
  for (float& v : column) v /= length;
  return column;
}

struct Standardised {
  Matrix<double> x;  // (rows, columns + 1) the last column is 1
  std::vector<double> mean, spread;
};
Standardised standardise(const Matrix<float>& table, const std::vector<std::size_t>& columns, std::size_t count,
                         const std::vector<double>& weight) {
  Standardised s;
  s.x = Matrix<double>(table.rows, count + 1);
  for (std::size_t c = 0; c < count; ++c) {
    double* x = s.x.column(c);
    std::copy_n(table.column(columns[c]), table.rows, x);
    s.mean.push_back(mean_of(x, weight));
    double squares = 0;
    for (std::size_t r = 0; r < table.rows; ++r) {
      x[r] -= s.mean[c];
      squares += weight[r] * x[r] * x[r];
    }
    s.spread.push_back(std::sqrt(squares / static_cast<double>(table.rows)));
    for (std::size_t r = 0; r < table.rows; ++r) x[r] /= s.spread[c];
  }
  std::fill_n(s.x.column(count), table.rows, 1.0);
  return s;
}

// X' W X, its lower triangle.
Matrix<double> squares_of(const Matrix<double>& x, const std::vector<double>& weight) {
  Matrix<double> sum(x.columns, x.columns);
  std::vector<double> weighted(x.rows);
  for (std::size_t c = 0; c < x.columns; ++c) {
    for (std::size_t r = 0; r < x.rows; ++r) weighted[r] = weight[r] * x(r, c);
    for (std::size_t k = c; k < x.columns; ++k) sum(k, c) = dot(x.column(k), weighted.data(), x.rows);
  }
  return sum;
}

// Each row of z becomes weight * (softmax of the row - y).
void off_by(const Targets& targets, std::size_t first, std::size_t count, Matrix<double>& z) {
  for (std::size_t r = 0; r < count; ++r) {
    double most = z(r, 0), sum = 0;
    for (std::size_t o = 1; o < z.columns; ++o) most = std::max(most, z(r, o));
    for (std::size_t o = 0; o < z.columns; ++o) {
      z(r, o) = static_cast<double>(exp(static_cast<float>(z(r, o) - most)));
      sum += z(r, o);
    }
    for (std::size_t o = 0; o < z.columns; ++o)
      z(r, o) = targets.weight[first + r] * (z(r, o) / sum - targets.y(first + r, o));
  }
}

// Of the weighted cross-entropy of x b, without a penalty.
Matrix<double> gradient_of(const Matrix<double>& x, const Targets& targets, const Matrix<double>& b) {
  Matrix<double> gradient(b.rows, b.columns), off(kRowsTogether, b.columns);
  for (std::size_t first = 0; first < x.rows; first += kRowsTogether) {
    const std::size_t count = std::min(kRowsTogether, x.rows - first);
    std::fill(off.values.begin(), off.values.end(), 0.0);
    for (std::size_t o = 0; o < b.columns; ++o)
      for (std::size_t c = 0; c < x.columns; ++c) add_scaled(b(c, o), x.column(c) + first, count, off.column(o));
    off_by(targets, first, count, off);
    for (std::size_t o = 0; o < b.columns; ++o)
      for (std::size_t c = 0; c < x.columns; ++c) gradient(c, o) += dot(x.column(c) + first, off.column(o), count);
  }
  return gradient;
}

// Minimises the weighted cross-entropy plus half the ridge times the squared weights: accelerated descent in the metric
// of a bound of the second derivative, which is the same in every iteration.
Matrix<double> logistic(const Matrix<double>& x, const Targets& targets, double ridge,
                        const std::function<bool()>& stop) {
  std::vector<double> penalty(x.columns, ridge);
  penalty.back() = kConstantPenalty * static_cast<double>(x.rows);
  Matrix<double> bound = squares_of(x, targets.weight);
  for (double& v : bound.values) v *= 0.5;
  for (std::size_t c = 0; c < x.columns; ++c) bound(c, c) += penalty[c];
  factorise(bound);
  Matrix<double> b(x.columns, targets.y.columns), ahead = b;
  double momentum = 1;
  for (int i = 0; i < kMostIterations && !stop(); ++i) {
    Matrix<double> back = gradient_of(x, targets, ahead);
    for (std::size_t o = 0; o < b.columns; ++o)
      for (std::size_t c = 0; c < b.rows; ++c) back(c, o) += penalty[c] * ahead(c, o);
    solve(bound, back);
    double uphill = 0, most = 0;
    Matrix<double> next = ahead, step = b;
    for (std::size_t k = 0; k < b.values.size(); ++k) {
      next.values[k] -= back.values[k];
      step.values[k] = next.values[k] - b.values[k];
      uphill += back.values[k] * step.values[k];
      most = std::max(most, std::abs(step.values[k]));
    }
    if (uphill > 0) momentum = 1;  // it went too far
    const double after = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    for (std::size_t k = 0; k < b.values.size(); ++k)
      ahead.values[k] = next.values[k] + (momentum - 1) / after * step.values[k];
    momentum = after;
    b = std::move(next);
    if (most < kSmallStep) break;
  }
  return b;
}

Matrix<double> least_squares(const Matrix<double>& x, const Targets& targets, double ridge) {
  Matrix<double> normal = squares_of(x, targets.weight), b(x.columns, targets.y.columns);
  for (std::size_t c = 0; c + 1 < x.columns; ++c) normal(c, c) += ridge;
  std::vector<double> weighted(x.rows);
  for (std::size_t o = 0; o < b.columns; ++o) {
    for (std::size_t r = 0; r < x.rows; ++r) weighted[r] = targets.weight[r] * targets.y(r, o);
    for (std::size_t c = 0; c < x.columns; ++c) b(c, o) = dot(x.column(c), weighted.data(), x.rows);
  }
  factorise(normal);
  solve(normal, b);
  return b;
}

}  // namespace

Targets targets_of(const Sequences& data, const TargetRows& rows) {
  Targets targets;
  targets.classes = !data.label.empty();
  const auto n_y = static_cast<std::size_t>(data.n_y);
  targets.y = Matrix<double>(rows.count(), n_y);
  double sum = 0;
  for (std::size_t r = 0; r < rows.count(); ++r) {
    const auto t = static_cast<std::size_t>(rows.step[r]);
    targets.weight.push_back(static_cast<double>(data.weight[t]));
    sum += targets.weight.back();
    if (targets.classes)
      targets.y(r, static_cast<std::size_t>(data.label[t])) = 1;
    else
      for (std::size_t o = 0; o < n_y; ++o) targets.y(r, o) = static_cast<double>(data.value[t * n_y + o]);
  }
  for (double& w : targets.weight) w *= static_cast<double>(rows.count()) / sum;
  return targets;
}

std::vector<std::size_t> choose_columns(Matrix<float> table, const Targets& targets, int count, int threads,
                                        const std::function<bool()>& stop) {
  Unexplained u = begin(std::move(table), targets);
  const std::size_t rows = u.columns.rows, columns = u.columns.columns;
  const std::size_t parts = (columns + kColumnsTogether - 1) / kColumnsTogether;
  Matrix<float> directions(rows, static_cast<std::size_t>(count));
  std::vector<float> explained(columns), direction, answer(u.along.rows);
  std::vector<std::size_t> chosen;
  while (static_cast<int>(chosen.size()) < count && !stop()) {
    parallel_for(parts, threads, [&](std::size_t part, int) {
      const std::size_t first = part * kColumnsTogether;
      update_columns(direction, answer, first, std::min(first + kColumnsTogether, columns), u, explained);
    });
    const auto best = std::max_element(explained.begin(), explained.end());
    if (!(*best > 0)) break;
    const auto c = static_cast<std::size_t>(best - explained.begin());
    direction = new_direction(directions, chosen.size(), u.columns.column(c));
    std::copy(direction.begin(), direction.end(), directions.column(chosen.size()));
    for (std::size_t o = 0; o < answer.size(); ++o) {
      answer[o] = dot(direction.data(), u.targets.column(o), rows);
      add_scaled(-answer[o], direction.data(), rows, u.targets.column(o));
    }
    u.usable[c] = 0;
    chosen.push_back(c);
  }
  return chosen;
}

Matrix<double> learn_answer(const Matrix<float>& table, const std::vector<std::size_t>& columns, std::size_t count,
                            const Targets& targets, double ridge, const std::function<bool()>& stop) {
  const Standardised s = standardise(table, columns, count, targets.weight);
  Matrix<double> answer = targets.classes ? logistic(s.x, targets, ridge, stop) : least_squares(s.x, targets, ridge);
  for (std::size_t o = 0; o < answer.columns; ++o)
    for (std::size_t c = 0; c < count; ++c) {
      answer(c, o) /= s.spread[c];
      answer(count, o) -= s.mean[c] * answer(c, o);
    }
  return answer;
}

}  // namespace remede::patterns
