// One step's inputs from Python: a list, a tuple, an array or a number in the order of the columns, or a dict by their
// names. A step must cost little more than the call, so numbers are read without making an array.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "remede/model/model.h"
#include "remede/stream/row.h"

namespace remede::python {

class StepReader {
 public:
  // names: the columns of a step that is a list. The model must outlive it.
  StepReader(const Model& model, const std::vector<std::string>& names);

  // `last`: the time of the step before, NaN where there is none; `now` is assigned that of this step, or NaN.
  std::span<const float> read(nanobind::handle x, double last, double& now);
  bool needs_time() const { return rows_.needs_time(); }

 private:
  void read_any(PyObject* x);
  void read_items(PyObject* x, PyObject* (*item)(PyObject*, Py_ssize_t), Py_ssize_t size);
  bool read_buffer(PyObject* x);
  void read_mapping(PyObject* x, double last, double& now);
  void read_value(std::size_t column, PyObject* value);
  void expect(std::size_t size) const;

  const Schema& schema_;
  std::size_t width_;
  bool plain_;  // every input is a number of its own
  RowInputs rows_;
  std::vector<std::size_t> input_place_;   // (n_x) where plain: its place in a list
  std::vector<std::size_t> column_place_;  // (columns) of RowInputs
  std::vector<bool> booleans_;             // (columns) training saw true and false
  std::vector<nanobind::object> keys_;     // (columns) their names
  std::vector<float> x_;                   // (n_x) where plain
};

}  // namespace remede::python
