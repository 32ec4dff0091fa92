// What arrays look like on both sides of the border.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>

#include "remede/data/dataset.h"

namespace remede::python {

using Matrix =
    nanobind::ndarray<const float, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;  // (rows, columns)
template <typename T>
using Vector = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// A NumPy array that takes the numbers over.
template <typename T>
nanobind::ndarray<nanobind::numpy, T> to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = kept->data();
  nanobind::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  kept.release();
  return nanobind::ndarray<nanobind::numpy, T>(data, shape.size(), shape.begin(), owner);
}
template <typename T>
nanobind::ndarray<nanobind::numpy, T> to_numpy(const Column<T>& values, std::initializer_list<std::size_t> shape) {
  return to_numpy(std::vector<T>(values.begin(), values.end()), shape);
}

}  // namespace remede::python
