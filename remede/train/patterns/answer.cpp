#include "remede/train/patterns/answer.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "remede/base/arithmetic.h"
#include "remede/base/threads.h"

namespace remede::patterns {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

constexpr Index kColumnsTogether = 128;    // what a thread works on
constexpr float kSmallSpread = 1e-5F;      // of a column, beside its largest value: it is constant
constexpr float kDependent = 1e-3F;        // share of a column's squares that the chosen columns leave: no less is read
constexpr int kMostIterations = 300;       // of a logistic regression,
constexpr double kSmallStep = 1e-3;        // which ends when no weight of a standardised column moves further
constexpr double kConstantPenalty = 1e-6;  // a row: the constant stays finite where a class is certain

// The columns, and what those chosen so far do not explain.
struct Unexplained {
  MatrixXf columns;          // (rows, columns) centred, times the root of the row's weight
  MatrixXf targets;          // (rows, n_y) less what the chosen columns explain
  MatrixXf along;            // (columns, n_y) products of the two
  VectorXf at_first, left;   // (columns) sums of squares, and what is left of them
  std::vector<char> usable;  // (columns)
};

// Rows are multiplied by the roots of their weights, so that plain products are weighted sums.
Unexplained begin(const MatrixXf& table, const Targets& targets) {
  Unexplained u;
  const VectorXf weight = targets.weight.cast<float>(), root = targets.weight.cwiseSqrt().cast<float>();
  u.columns = table;
  u.at_first.resize(table.cols());
  for (Index c = 0; c < table.cols(); ++c) {
    auto column = u.columns.col(c);
    const float least = kSmallSpread * column.cwiseAbs().maxCoeff();
    column.array() -= column.dot(weight) / weight.sum();
    column.array() *= root.array();
    const float squares = column.squaredNorm();
    const bool usable = std::isfinite(squares) && squares > least * least * static_cast<float>(table.rows());
    if (!usable) column.setZero();
    u.usable.push_back(usable ? 1 : 0);
    u.at_first[c] = usable ? squares : 0.0F;
  }
  u.left = u.at_first;
  const VectorXd mean = targets.y.transpose() * targets.weight / targets.weight.sum();
  MatrixXd left = targets.y.rowwise() - mean.transpose();
  for (Index o = 0; o < left.cols(); ++o) {
    left.col(o).array() *= targets.weight.array().sqrt();
    const double size = left.col(o).norm();
    if (!targets.classes && size > 0) left.col(o) /= size;  // values of different units
  }
  u.targets = left.cast<float>();
  u.along.resize(table.cols(), left.cols());
  return u;
}

// How much of the targets each of some columns explains. direction: of unit length, what the last chosen column added;
// empty before the first. answer: (n_y) what it explains of the targets.
void update_columns(const VectorXf& direction, const Eigen::RowVectorXf& answer, Index first, Index count,
                    Unexplained& u, VectorXf& explained) {
  const auto part = u.columns.middleCols(first, count);
  if (direction.size() == 0) {
    u.along.middleRows(first, count).noalias() = part.transpose() * u.targets;
  } else {
    const VectorXf shares = part.transpose() * direction;
    u.along.middleRows(first, count).noalias() -= shares * answer;
    u.left.segment(first, count) -= shares.cwiseAbs2();
  }
  for (Index c = first; c < first + count; ++c) {
    const bool counts = u.usable[static_cast<std::size_t>(c)] != 0 && u.left[c] > kDependent * u.at_first[c];
    explained[c] = counts ? u.along.row(c).squaredNorm() / u.left[c] : 0.0F;
  }
}

// What a column adds to those before it. Twice, since the first time leaves errors of rounding.
VectorXf new_direction(const MatrixXf& directions, Index count, VectorXf column) {
  for (int i = 0; i < 2; ++i) {
    const VectorXf known = directions.leftCols(count).transpose() * column;
    column.noalias() -= directions.leftCols(count) * known;
  }
  return column.normalized();
}

struct Standardised {
  MatrixXd x;  // (rows, columns + 1) the last column is 1
  VectorXd mean, spread;
};
Standardised standardise(const MatrixXf& table, const std::vector<Index>& columns, std::size_t count,
                         const VectorXd& weight) {
  Standardised s;
  const auto k = static_cast<Index>(count);
  s.x.resize(table.rows(), k + 1);
  s.mean.resize(k);
  s.spread.resize(k);
  for (Index c = 0; c < k; ++c) {
    s.x.col(c) = table.col(columns[static_cast<std::size_t>(c)]).cast<double>();
    s.mean[c] = s.x.col(c).dot(weight) / weight.sum();
    s.x.col(c).array() -= s.mean[c];
    s.spread[c] = std::sqrt(s.x.col(c).cwiseAbs2().dot(weight) / weight.sum());
    s.x.col(c) /= s.spread[c];
  }
  s.x.col(k).setOnes();
  return s;
}

void softmax_rows(MatrixXd& z) {
  for (Index r = 0; r < z.rows(); ++r) {
    const double most = z.row(r).maxCoeff();
    for (Index c = 0; c < z.cols(); ++c) z(r, c) = static_cast<double>(exp(static_cast<float>(z(r, c) - most)));
    z.row(r) /= z.row(r).sum();
  }
}

// Minimises the weighted cross-entropy plus half the ridge times the squared weights: accelerated descent in the metric
// of a bound of the second derivative, which is the same in every iteration.
MatrixXd logistic(const MatrixXd& x, const Targets& targets, double ridge) {
  const Index columns = x.cols();
  VectorXd penalty = VectorXd::Constant(columns, ridge);
  penalty[columns - 1] = kConstantPenalty * static_cast<double>(x.rows());
  MatrixXd bound = 0.5 * (x.transpose() * targets.weight.asDiagonal() * x);
  bound.diagonal() += penalty;
  const Eigen::LLT<MatrixXd> solver(bound);
  MatrixXd b = MatrixXd::Zero(columns, targets.y.cols()), ahead = b;
  double momentum = 1;
  for (int i = 0; i < kMostIterations; ++i) {
    MatrixXd off = x * ahead;
    softmax_rows(off);
    off -= targets.y;
    const MatrixXd gradient = x.transpose() * (targets.weight.asDiagonal() * off) + penalty.asDiagonal() * ahead;
    const MatrixXd next = ahead - solver.solve(gradient);
    const MatrixXd step = next - b;
    if ((ahead - next).cwiseProduct(step).sum() > 0) momentum = 1;  // it went too far
    const double after = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    ahead = next + (momentum - 1) / after * step;
    momentum = after;
    b = next;
    if (step.cwiseAbs().maxCoeff() < kSmallStep) break;
  }
  return b;
}

MatrixXd least_squares(const MatrixXd& x, const Targets& targets, double ridge) {
  MatrixXd normal = x.transpose() * targets.weight.asDiagonal() * x;
  normal.diagonal().array() += ridge;
  normal(x.cols() - 1, x.cols() - 1) -= ridge;
  return Eigen::LLT<MatrixXd>(normal).solve(x.transpose() * (targets.weight.asDiagonal() * targets.y));
}

}  // namespace

Targets targets_of(const Sequences& data, const Rows& rows) {
  Targets targets;
  targets.classes = !data.label.empty();
  const auto n_y = static_cast<std::size_t>(data.n_y);
  targets.y = MatrixXd::Zero(static_cast<Index>(rows.count()), static_cast<Index>(n_y));
  targets.weight = VectorXd(static_cast<Index>(rows.count()));
  for (std::size_t r = 0; r < rows.count(); ++r) {
    const auto t = static_cast<std::size_t>(rows.step[r]);
    const auto row = static_cast<Index>(r);
    targets.weight[row] = static_cast<double>(data.weight[t]);
    if (targets.classes)
      targets.y(row, data.label[t]) = 1;
    else
      for (std::size_t o = 0; o < n_y; ++o)
        targets.y(row, static_cast<Index>(o)) = static_cast<double>(data.value[t * n_y + o]);
  }
  targets.weight /= targets.weight.mean();
  return targets;
}

std::vector<Index> choose_columns(const MatrixXf& table, const Targets& targets, int count, int threads,
                                  const std::function<bool()>& stop) {
  Unexplained u = begin(table, targets);
  const Index columns = table.cols(), parts = (columns + kColumnsTogether - 1) / kColumnsTogether;
  MatrixXf directions(table.rows(), count);
  VectorXf explained(columns), direction;
  Eigen::RowVectorXf answer;
  std::vector<Index> chosen;
  while (static_cast<int>(chosen.size()) < count && !stop()) {
    parallel_for(static_cast<std::size_t>(parts), threads, [&](std::size_t part, int) {
      const Index first = static_cast<Index>(part) * kColumnsTogether;
      update_columns(direction, answer, first, std::min(kColumnsTogether, columns - first), u, explained);
    });
    Index best = 0;
    if (!(explained.maxCoeff(&best) > 0)) break;
    const auto so_far = static_cast<Index>(chosen.size());
    direction = new_direction(directions, so_far, u.columns.col(best));
    directions.col(so_far) = direction;
    answer = direction.transpose() * u.targets;
    u.targets.noalias() -= direction * answer;
    u.usable[static_cast<std::size_t>(best)] = 0;
    chosen.push_back(best);
  }
  return chosen;
}

MatrixXd learn_answer(const MatrixXf& table, const std::vector<Index>& columns, std::size_t count,
                      const Targets& targets, double ridge) {
  const Standardised s = standardise(table, columns, count, targets.weight);
  MatrixXd answer = targets.classes ? logistic(s.x, targets, ridge) : least_squares(s.x, targets, ridge);
  const Index k = s.mean.size();
  for (Index c = 0; c < k; ++c) {
    answer.row(c) /= s.spread[c];
    answer.row(k) -= s.mean[c] * answer.row(c);
  }
  return answer;
}

}  // namespace remede::patterns
