#include "remede/train/patterns/matrix.h"

#include <cmath>

namespace remede::patterns {

void factorise(Matrix<double>& a) {
  const std::size_t n = a.rows;
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t before = 0; before < c; ++before)
      add_scaled(-a(c, before), a.column(before) + c, n - c, a.column(c) + c);
    const double root = std::sqrt(a(c, c));
    for (std::size_t r = c; r < n; ++r) a(r, c) /= root;
  }
}

void solve(const Matrix<double>& factor, Matrix<double>& b) {
  const std::size_t n = factor.rows;
  for (std::size_t o = 0; o < b.columns; ++o) {
    double* x = b.column(o);
    for (std::size_t c = 0; c < n; ++c) {
      x[c] /= factor(c, c);
      add_scaled(-x[c], factor.column(c) + c + 1, n - c - 1, x + c + 1);
    }
    for (std::size_t c = n; c-- > 0;)
      x[c] = (x[c] - dot(factor.column(c) + c + 1, x + c + 1, n - c - 1)) / factor(c, c);
  }
}

}  // namespace remede::patterns
