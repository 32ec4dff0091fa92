#include "python/steps.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/data/number.h"
#include "remede/data/raw.h"
#include "remede/schema/words.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

float number_of(PyObject* item) {
  if (PyFloat_CheckExact(item)) return static_cast<float>(PyFloat_AsDouble(item));
  if (item == Py_None) return std::numeric_limits<float>::quiet_NaN();
  const double value = PyFloat_AsDouble(item);
  if (value == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return static_cast<float>(value);
}

std::string_view text_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes == nullptr) throw nb::python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

// Of Python or of NumPy.
bool is_bool(PyObject* value) {
  if (PyBool_Check(value)) return true;
  if (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) return false;
  const nb::str type(nb::handle(value).type().attr("__name__"));
  return std::string_view(type.c_str()).starts_with("bool");  // numpy.bool, or numpy.bool_ before NumPy 2
}

// Whether training saw true and false in a column: 0 and 1 mean them as well.
bool holds_booleans(const Schema& schema, const std::string& column) {
  return std::any_of(schema.codes.begin(), schema.codes.end(), [&](const InputCode& code) {
    return !code.gap && code.column == column && has_boolean_words(code);
  });
}

// Numbers, dates as text, and everything whose text is a date, as datetime.
double time_of(PyObject* value, const std::string& column) {
  if (PyFloat_Check(value) || PyLong_Check(value)) {
    const double time = PyFloat_AsDouble(value);
    if (std::isfinite(time)) return time;
  }
  const nb::object text = nb::steal(PyObject_Str(value));
  if (!text.is_valid()) throw nb::python_error();
  double time = 0;
  if (!parse_time(text_of(text.ptr()), time))
    fail("{}: expected a number or a date as YYYY-MM-DD HH:MM:SS, got {}", shown(column), shown(text_of(text.ptr())));
  return time;
}

}  // namespace

StepReader::StepReader(const Model& model, const std::vector<std::string>& names)
    : schema_(model.schema), width_(names.size()), plain_(model.schema.codes.empty()), rows_(model.schema) {
  const auto place = [&](const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) fail("expected the column {} among those of a step, got none", shown(name));
    return static_cast<std::size_t>(at - names.begin());
  };
  if (plain_)
    for (const std::string& input : schema_.inputs) input_place_.push_back(place(input));
  for (const std::string& column : rows_.columns()) {
    column_place_.push_back(place(column));
    booleans_.push_back(holds_booleans(schema_, column));
    keys_.push_back(nb::steal(PyUnicode_FromStringAndSize(column.data(), static_cast<Py_ssize_t>(column.size()))));
  }
  x_.resize(schema_.inputs.size());
}

void StepReader::expect(std::size_t size) const {
  if (size != width_) fail("expected a step of {} inputs, got {}", width_, size);
}

std::span<const float> StepReader::read(nb::handle x, double last, double& now) {
  now = std::numeric_limits<double>::quiet_NaN();
  PyObject* const item = x.ptr();
  const bool in_order = PyList_CheckExact(item) || PyTuple_CheckExact(item) || PyFloat_CheckExact(item) ||
                        PyObject_CheckBuffer(item) != 0;
  if (!in_order && (PyDict_Check(item) || PyObject_HasAttrString(item, "keys") != 0)) {
    read_mapping(x.ptr(), last, now);
    return rows_.finish(now, last);
  }
  if (rows_.needs_time())
    fail("expected a dict with the time {}, because the time since the previous step is an input", shown(schema_.time));
  read_any(x.ptr());
  return plain_ ? std::span<const float>(x_) : rows_.finish(now, last);
}

void StepReader::read_any(PyObject* x) {
  if (PyList_CheckExact(x)) {
    read_items(x, &PyList_GetItem, PyList_Size(x));
  } else if (PyTuple_CheckExact(x)) {
    read_items(x, &PyTuple_GetItem, PyTuple_Size(x));
  } else if (plain_ && PyFloat_CheckExact(x)) {
    expect(1);
    if (!x_.empty()) x_[0] = static_cast<float>(PyFloat_AsDouble(x));
  } else if (plain_ && PyObject_CheckBuffer(x) != 0 && read_buffer(x)) {
  } else if (PySequence_Check(x) != 0 && PyUnicode_Check(x) == 0) {
    const nb::object list = nb::steal(PySequence_List(x));
    if (!list.is_valid()) throw nb::python_error();
    return read_any(list.ptr());
  } else {
    read_items(
        x, [](PyObject* item, Py_ssize_t) { return item; }, 1);
  }
  if (!plain_) return;
  for (const float v : x_)
    if (std::isinf(v)) fail("expected finite numbers, or NaN where a value is missing, got infinity");
}

void StepReader::read_items(PyObject* x, PyObject* (*item)(PyObject*, Py_ssize_t), Py_ssize_t size) {
  expect(static_cast<std::size_t>(size));
  const auto at = [&](std::size_t place) { return item(x, static_cast<Py_ssize_t>(place)); };  // borrowed
  if (plain_) {
    for (std::size_t k = 0; k < x_.size(); ++k) x_[k] = number_of(at(input_place_[k]));
  } else {
    for (std::size_t c = 0; c < column_place_.size(); ++c) read_value(c, at(column_place_[c]));
  }
}

// Arrays of float and double in one dimension; false: something else.
bool StepReader::read_buffer(PyObject* x) {
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
      const char* const at =
          static_cast<const char*>(view.buf) + static_cast<Py_ssize_t>(input_place_[k]) * view.strides[0];
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

void StepReader::read_value(std::size_t column, PyObject* value) {
  if (value == Py_None) {
    rows_.missing(column);
  } else if (PyUnicode_Check(value)) {
    rows_.text(column, text_of(value));
  } else {
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
    const bool yes_or_no = booleans_[column] || (rows_.reads_words(column) && is_bool(value));
    if (yes_or_no && (number == 0 || number == 1)) {
      rows_.text(column, number == 1 ? "True" : "False");
    } else {
      rows_.number(column, number);
    }
  }
}

void StepReader::read_mapping(PyObject* x, double last, double& now) {
  const auto item = [&](PyObject* key, std::string_view name) {
    PyObject* const value = PyObject_GetItem(x, key);
    if (value == nullptr) {
      PyErr_Clear();
      fail("expected the key {} (None where the value is missing), got none", shown(name));
    }
    return nb::steal(value);
  };
  for (std::size_t c = 0; c < keys_.size(); ++c) read_value(c, item(keys_[c].ptr(), rows_.columns()[c]).ptr());
  if (!rows_.needs_time()) return;
  const nb::object key = nb::steal(PyUnicode_FromString(schema_.time.c_str()));
  now = time_of(item(key.ptr(), schema_.time).ptr(), schema_.time);
  if (now < last) fail("{}: expected times in order, got one before that of the last step", shown(schema_.time));
}

}  // namespace remede::python
