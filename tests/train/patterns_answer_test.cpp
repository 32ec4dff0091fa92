#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/train/patterns/answer.h"
#include "remede/train/patterns/matrix.h"

namespace remede {
namespace {

using patterns::Matrix;

// Sums of squares that the best linear function of some columns and a constant leaves of the targets, which are first
// centred and brought to one scale. Rows count by their weights. One column after another is taken out of all others.
double left_by(const Matrix<float>& table, const patterns::Targets& targets, const std::vector<std::size_t>& with) {
  const std::size_t rows = table.rows, n_y = targets.y.columns;
  std::vector<std::vector<double>> all = {std::vector<double>(rows, 1)};
  for (const std::size_t c : with) all.emplace_back(table.column(c), table.column(c) + rows);
  for (std::size_t o = 0; o < n_y; ++o) all.emplace_back(targets.y.column(o), targets.y.column(o) + rows);
  for (std::vector<double>& v : all)
    for (std::size_t r = 0; r < rows; ++r) v[r] *= std::sqrt(targets.weight[r]);
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  std::vector<double> at_first;
  for (std::size_t i = 0; i < with.size() + 1; ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const double share = product(all[i], all[j]) / product(all[i], all[i]);
      for (std::size_t r = 0; r < rows; ++r) all[j][r] -= share * all[i][r];
    }
    if (i == 0)
      for (std::size_t o = 0; o < n_y; ++o)
        at_first.push_back(product(all[all.size() - n_y + o], all[all.size() - n_y + o]));
  }
  double sum = 0;
  for (std::size_t o = 0; o < n_y; ++o)
    sum += product(all[all.size() - n_y + o], all[all.size() - n_y + o]) / at_first[o];
  return sum;
}

// The plain form: each time, the column with which least squares leave the least.
TEST(PatternAnswer, ColumnsAreChosenAsByLeastSquares) {
  constexpr std::size_t kRows = 80, kColumns = 30;
  Random random(3);
  Matrix<float> table(kRows, kColumns);
  for (std::size_t c = 0; c < kColumns; ++c)
    for (std::size_t r = 0; r < kRows; ++r)
      table(r, c) = static_cast<float>(random.normal() + 5) + (c > 0 ? 0.5F * table(r, c - 1) : 0.0F);
  std::fill_n(table.column(7), kRows, 2.0F);
  patterns::Targets targets;
  targets.y = Matrix<double>(kRows, 2);
  for (std::size_t r = 0; r < kRows; ++r) {
    targets.y(r, 0) = table(r, 3) - 2 * table(r, 20) + 0.3 * random.normal();
    targets.y(r, 1) = 100 * (table(r, 11) + 0.5 * random.normal());
    targets.weight.push_back(random.uniform(0.5, 2));
  }
  const double sum = std::accumulate(targets.weight.begin(), targets.weight.end(), 0.0);
  for (double& w : targets.weight) w *= kRows / sum;
  const std::vector<std::size_t> chosen = patterns::choose_columns(table, targets, 6, 2, [] { return false; });
  ASSERT_EQ(chosen.size(), 6U);
  std::vector<std::size_t> so_far;
  for (const std::size_t next : chosen) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < kColumns; ++c) {
      if (c == 7 || std::find(so_far.begin(), so_far.end(), c) != so_far.end()) continue;  // nothing is left of these
      std::vector<std::size_t> with = so_far;
      with.push_back(c);
      const double left = left_by(table, targets, with);
      if (left < least - 1e-9) least = left, best = c;
    }
    EXPECT_EQ(next, best) << "after " << so_far.size();
    so_far.push_back(next);
  }
}

// At the minimum no small change of a weight lowers what is minimised.
TEST(PatternAnswer, TheAnswerIsThatOfARegularisedRegression) {
  constexpr std::size_t kRows = 300, kColumns = 5, kClasses = 3;
  constexpr double kRidge = 3;
  Random random(4);
  Matrix<float> table(kRows, kColumns);
  for (float& v : table.values) v = static_cast<float>(10 + 4 * random.normal());
  for (const bool classes : {true, false}) {
    patterns::Targets targets;
    targets.classes = classes;
    targets.y = Matrix<double>(kRows, kClasses);
    targets.weight.assign(kRows, 1.0);
    for (std::size_t r = 0; r < kRows; ++r) {
      targets.weight[r] = r % 2 == 0 ? 0.5 : 1.5;
      const double x = table(r, 0) - table(r, 2) + 2 * random.normal();
      if (classes)
        targets.y(r, x < -2 ? 0 : x < 2 ? 1 : 2) = 1;
      else
        for (std::size_t o = 0; o < kClasses; ++o) targets.y(r, o) = x * static_cast<double>(o + 1);
    }
    const std::vector<std::size_t> columns = {2, 0, 4};
    const auto loss = [&](const Matrix<double>& answer) {
      double sum = 0;
      for (std::size_t r = 0; r < kRows; ++r) {
        std::vector<double> z(kClasses);
        double partition = 0;
        for (std::size_t o = 0; o < kClasses; ++o) {
          z[o] = answer(3, o);
          for (std::size_t c = 0; c < 3; ++c) z[o] += answer(c, o) * static_cast<double>(table(r, columns[c]));
          partition += std::exp(z[o]);
        }
        for (std::size_t o = 0; o < kClasses; ++o)
          sum += targets.weight[r] *
                 (classes ? targets.y(r, o) * (std::log(partition) - z[o]) : 0.5 * std::pow(z[o] - targets.y(r, o), 2));
      }
      for (std::size_t c = 0; c < 3; ++c) {
        double mean = 0, squares = 0;
        for (std::size_t r = 0; r < kRows; ++r)
          mean += targets.weight[r] * static_cast<double>(table(r, columns[c])) / kRows;
        for (std::size_t r = 0; r < kRows; ++r)
          squares += targets.weight[r] * std::pow(static_cast<double>(table(r, columns[c])) - mean, 2) / kRows;
        for (std::size_t o = 0; o < kClasses; ++o) sum += 0.5 * kRidge * squares * answer(c, o) * answer(c, o);
      }
      return sum;
    };
    const Matrix<double> answer = patterns::learn_answer(table, columns, 3, targets, kRidge, [] { return false; });
    const double least = loss(answer);
    for (std::size_t c = 0; c < 4; ++c)
      for (std::size_t o = 0; o < kClasses; ++o)
        for (const double step : {-0.05, 0.05}) {
          Matrix<double> other = answer;
          other(c, o) += step * (c < 3 ? 0.25 : 1.0);  // columns vary by 4
          EXPECT_GT(loss(other), least) << classes << " weight " << c << " of " << o;
        }
  }
}

}  // namespace
}  // namespace remede
