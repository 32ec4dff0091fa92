// One live sequence from Python. A step must cost little more than the call: the input is read without making an array,
// the answer is an object that exists already or one float.
#include "remede/stream/stream.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/arrays.h"
#include "python/bindings.h"
#include "remede/base/error.h"
#include "remede/model/predict.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

float number_of(PyObject* item) {
  if (PyFloat_CheckExact(item)) return static_cast<float>(PyFloat_AS_DOUBLE(item));
  if (item == Py_None) return std::numeric_limits<float>::quiet_NaN();
  const double value = PyFloat_AsDouble(item);
  if (value == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return static_cast<float>(value);
}

class LiveStream {
 public:
  // width: of x; columns: where the model's inputs stand in it; answers: an object per class, empty in regression.
  LiveStream(const Model& model, int width, std::vector<int> columns, nb::tuple answers)
      : stream_(model),
        width_(static_cast<std::size_t>(width)),
        columns_(std::move(columns)),
        answers_(std::move(answers)) {
    if (columns_.size() != static_cast<std::size_t>(model.n_x()))
      fail("expected {} columns, got {}", model.n_x(), columns_.size());
    for (const int c : columns_)
      if (c < 0 || c >= width) fail("expected columns below {}, got {}", width, c);
    x_.resize(columns_.size());
  }

  nb::object step(nb::handle x) {
    const std::span<const float> y = advance(x);
    if (answers_.size() > 0) return answers_[static_cast<std::size_t>(arg_max(y))];
    if (y.size() == 1) return nb::steal(PyFloat_FromDouble(static_cast<double>(y[0])));
    return as_tuple(y);
  }
  nb::object step_proba(nb::handle x) { return as_tuple(advance(x)); }

  Stream stream_;

 private:
  std::span<const float> advance(nb::handle x) {
    read(x.ptr());
    return stream_.step(x_);
  }

  void read(PyObject* x) {
    if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) {
      PyObject** const items = PySequence_Fast_ITEMS(x);
      expect(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(x)));
      for (std::size_t k = 0; k < x_.size(); ++k) x_[k] = number_of(items[columns_[k]]);
    } else if (PyFloat_CheckExact(x)) {
      expect(1);
      if (!x_.empty()) x_[0] = static_cast<float>(PyFloat_AS_DOUBLE(x));
    } else if (PyObject_CheckBuffer(x) != 0 && read_buffer(x)) {
    } else if (PySequence_Check(x) != 0) {
      const nb::object list = nb::steal(PySequence_List(x));
      if (!list.is_valid()) throw nb::python_error();
      read(list.ptr());
    } else {
      expect(1);
      if (!x_.empty()) x_[0] = number_of(x);
    }
    for (const float v : x_)
      if (std::isinf(v)) fail("expected finite numbers, or NaN where a value is missing, got infinity");
  }

  // Arrays of float and double in one dimension; false: something else.
  bool read_buffer(PyObject* x) {
    Py_buffer view;
    if (PyObject_GetBuffer(x, &view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
      PyErr_Clear();
      return false;
    }
    const char kind = view.format != nullptr && view.format[1] == '\0' ? view.format[0] : '?';
    const bool fits = view.ndim == 1 && (kind == 'f' || kind == 'd');
    const std::size_t size = fits ? static_cast<std::size_t>(view.shape[0]) : 0;
    if (fits && size == width_)
      for (std::size_t k = 0; k < x_.size(); ++k) {
        const char* const at = static_cast<const char*>(view.buf) + columns_[k] * view.strides[0];
        if (kind == 'f') {
          std::memcpy(&x_[k], at, sizeof(float));
        } else {
          double value = 0;
          std::memcpy(&value, at, sizeof(double));
          x_[k] = static_cast<float>(value);
        }
      }
    PyBuffer_Release(&view);
    if (fits) expect(size);
    return fits;
  }

  void expect(std::size_t size) const {
    if (size != width_) fail("expected a step of {} inputs, got {}", width_, size);
  }

  static nb::object as_tuple(std::span<const float> y) {
    PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(y.size()));
    for (std::size_t k = 0; k < y.size(); ++k)
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(k), PyFloat_FromDouble(static_cast<double>(y[k])));
    return nb::steal(tuple);
  }

  std::size_t width_;
  std::vector<int> columns_;
  std::vector<float> x_;  // (n_x)
  nb::tuple answers_;
};

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<LiveStream>(
      module, "Stream",
      "One live sequence. `step(x)` takes one step's inputs (a list, a tuple, an array or a number; None or NaN where\n"
      "a value is missing) and gives the answer at once: the class, or the value. Its memory is `state`: a few\n"
      "numbers that can be saved and set again. Use one stream per sequence, and from one thread at a time.")
      .def(nb::init<const Model&, int, std::vector<int>, nb::tuple>(), nb::arg("model"), nb::arg("width"),
           nb::arg("columns"), nb::arg("answers"), nb::keep_alive<1, 2>())
      .def("step", &LiveStream::step, nb::arg("x"),
           "The next step: the class, the value, or a tuple of values where there are several.")
      .def("step_proba", &LiveStream::step_proba, nb::arg("x"),
           "The next step: a tuple with the probability of each class (in regression: the values).")
      .def(
          "reset", [](LiveStream& s) { s.stream_.reset(); }, "Forget everything: back to before the first step.")
      .def_prop_ro(
          "leaves",
          [](const LiveStream& s) { return std::vector<int>(s.stream_.leaves().begin(), s.stream_.leaves().end()); },
          "The leaf that each tree reached in the last step.")
      .def_prop_rw(
          "state", [](const LiveStream& s) { return to_numpy(copy(s.stream_.state()), {s.stream_.state().size()}); },
          [](LiveStream& s, const Vector<float>& state) {
            s.stream_.set_state({state.data(), state.shape(0)});
          },
          nb::rv_policy::automatic, "All that is remembered between steps, as an array of float32.");
}

}  // namespace remede::python
