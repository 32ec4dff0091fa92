// Dense matrices, column by column, and the few operations on them that patterns need. Sums are made in sixteen lanes,
// which are added in a fixed order: they have the same bits on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "remede/base/lanes.h"

namespace remede::patterns {

template <typename T>
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<T> values;  // (columns, rows)

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, T{0}) {}
  T* column(std::size_t c) { return values.data() + c * rows; }
  const T* column(std::size_t c) const { return values.data() + c * rows; }
  T& operator()(std::size_t r, std::size_t c) { return values[c * rows + r]; }
  const T& operator()(std::size_t r, std::size_t c) const { return values[c * rows + r]; }
};

template <typename T>
T dot(const T* a, const T* b, std::size_t n) {
  constexpr std::size_t kWidth = kLanes;
  std::array<T, kWidth> sum{};
  std::size_t i = 0;
  for (; i + kWidth <= n; i += kWidth)
    for (std::size_t lane = 0; lane < kWidth; ++lane) sum[lane] += a[i + lane] * b[i + lane];
  for (; i < n; ++i) sum[i % kWidth] += a[i] * b[i];
  for (std::size_t half = kWidth / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) sum[lane] += sum[lane + half];
  return sum[0];
}

// ADDS factor * from.
template <typename T>
void add_scaled(T factor, const T* from, std::size_t n, T* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// The lower triangle of a symmetric matrix becomes that of its Cholesky factor. REQUIRES: positive definite
void factorise(Matrix<double>& a);

// b becomes the solution x of A x = b, for each of its columns. factor: of A, from factorise()
void solve(const Matrix<double>& factor, Matrix<double>& b);

}  // namespace remede::patterns
