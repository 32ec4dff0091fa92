// Columns from Python: arrays and Arrow buffers as they lie in memory, objects as the text that a CSV file would hold.
#include "python/frame.h"

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.h"
#include "remede/base/column.h"
#include "remede/base/error.h"
#include "remede/data/arrow.h"
#include "remede/data/columns.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using ByteColumn = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::device::cpu>;
using ByteMatrix = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

CellType type_of(const nb::dlpack::dtype& type, const std::string& name) {
  const auto is = [&](nb::dlpack::dtype_code code, int bits) {
    return type.code == static_cast<std::uint8_t>(code) && type.bits == bits && type.lanes == 1;
  };
  using Code = nb::dlpack::dtype_code;
  if (is(Code::Bool, 8)) return CellType::kBool;
  if (is(Code::Float, 32)) return CellType::kFloat;
  if (is(Code::Float, 64)) return CellType::kDouble;
  constexpr std::pair<int, CellType> kSigned[] = {
      {8, CellType::kInt8}, {16, CellType::kInt16}, {32, CellType::kInt32}, {64, CellType::kInt64}};
  constexpr std::pair<int, CellType> kUnsigned[] = {
      {8, CellType::kUint8}, {16, CellType::kUint16}, {32, CellType::kUint32}, {64, CellType::kUint64}};
  for (const auto& [bits, cell] : kSigned)
    if (is(Code::Int, bits)) return cell;
  for (const auto& [bits, cell] : kUnsigned)
    if (is(Code::UInt, bits)) return cell;
  fail("column '{}': expected an array of numbers, got another", name);
}

void add_column(PythonFrame& to, const std::string& name, CellBlock block) {
  if (to.frame.columns.empty()) to.frame.rows = block.rows;
  to.frame.columns.push_back({name, {std::move(block)}, {}});
}

// `missing`: a byte per row, not 0 where the cell is missing.
CellBlock block_of(PythonFrame& to, const std::string& name, const AnyColumn& array,
                   const std::optional<ByteColumn>& missing) {
  CellBlock block;
  block.rows = array.shape(0);
  block.type = type_of(array.dtype(), name);
  block.values = static_cast<const std::uint8_t*>(array.data());
  block.stride = array.stride(0) * static_cast<std::ptrdiff_t>(array.itemsize());
  to.frame.owners.push_back(std::make_shared<AnyColumn>(array));
  if (!missing) return block;
  if (missing->shape(0) != block.rows)
    fail("column '{}': expected {} marks of missing values, got {}", name, block.rows, missing->shape(0));
  block.missing = missing->data();
  block.missing_stride = missing->stride(0);
  to.frame.owners.push_back(std::make_shared<ByteColumn>(*missing));
  return block;
}

void add_numbers(PythonFrame& to, const std::string& name, const AnyColumn& values,
                 const std::optional<ByteColumn>& missing) {
  add_column(to, name, block_of(to, name, values, missing));
}

// The cells are numbers of words; one below 0 is missing.
void add_words(PythonFrame& to, const std::string& name, const AnyColumn& numbers,
               const std::vector<std::string>& words) {
  CellBlock block = block_of(to, name, numbers, std::nullopt);
  auto texts = std::make_shared<Texts>();
  for (const std::string& word : words) texts->push_back(word);
  block.words = std::move(texts);
  add_column(to, name, std::move(block));
}

// Texts in UTF-8 of equal width, filled up with zeros.
void add_bytes(PythonFrame& to, const std::string& name, const ByteMatrix& bytes) {
  CellBlock block;
  block.rows = bytes.shape(0);
  block.type = CellType::kBytes;
  block.values = bytes.data();
  block.stride = static_cast<std::ptrdiff_t>(bytes.shape(1));
  to.frame.owners.push_back(std::make_shared<ByteMatrix>(bytes));
  add_column(to, name, std::move(block));
}

// None, NaN, NaT and pandas' NA.
bool is_missing(PyObject* cell) {
  if (cell == Py_None) return true;
  if (PyFloat_Check(cell)) return std::isnan(PyFloat_AsDouble(cell));
  const nb::str type(nb::handle(cell).type().attr("__name__"));
  const std::string_view plain = type.c_str();
  if (plain == "NAType" || plain == "NaTType") return true;
  if (PyNumber_Check(cell) == 0 || PyUnicode_Check(cell)) return false;
  const int same = PyObject_RichCompareBool(cell, cell, Py_NE);  // a NaN of another type: NumPy's, Decimal's
  if (same < 0) PyErr_Clear();
  return same == 1;
}

// The texts of an object column, one after the other, with where each begins.
struct OwnedTexts {
  std::string bytes;
  std::vector<std::int64_t> offset = {0};
};

void add_objects(PythonFrame& to, const std::string& name, const nb::object& cells) {
  const nb::object list = nb::steal(PySequence_List(cells.ptr()));
  if (!list.is_valid()) throw nb::python_error();
  const auto owned = std::make_shared<OwnedTexts>();
  const Py_ssize_t rows = PyList_Size(list.ptr());
  owned->offset.reserve(static_cast<std::size_t>(rows) + 1);
  for (Py_ssize_t r = 0; r < rows; ++r) {
    PyObject* const cell = PyList_GetItem(list.ptr(), r);
    if (PyUnicode_Check(cell) || !is_missing(cell)) {
      const nb::object text = PyUnicode_Check(cell) ? nb::borrow(cell) : nb::steal(PyObject_Str(cell));
      if (!text.is_valid()) throw nb::python_error();
      Py_ssize_t size = 0;
      const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
      if (utf8 == nullptr) throw nb::python_error();
      owned->bytes.append(utf8, static_cast<std::size_t>(size));
    }
    owned->offset.push_back(static_cast<std::int64_t>(owned->bytes.size()));
  }
  CellBlock block;
  block.rows = static_cast<std::size_t>(rows);
  block.type = CellType::kText64;
  block.values = reinterpret_cast<const std::uint8_t*>(owned->bytes.data());
  block.offsets = reinterpret_cast<const std::uint8_t*>(owned->offset.data());
  to.frame.owners.push_back(owned);
  add_column(to, name, std::move(block));
}

// All columns of an object that has Arrow's C stream interface.
void add_arrow(PythonFrame& to, const nb::object& table) {
  const nb::object capsule = table.attr("__arrow_c_stream__")();
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw nb::python_error();
  Frame frame = frame_from_arrow(*stream);
  frame.name = to.frame.name;
  frame.capital_booleans = to.frame.capital_booleans;
  to.frame = std::move(frame);
}

std::size_t memory_limit_of(const std::string& text) {
  try {
    return parse_memory_limit(text);
  } catch (const Error& error) {
    fail("memory_limit: {}", error.what());
  }
}

}  // namespace

std::vector<TableSource> sources_of(const nb::list& tables) {
  std::vector<TableSource> sources;
  for (const nb::handle table : tables) {
    if (nb::isinstance<nb::str>(table)) {
      for (TableSource& file : open_files(nb::cast<std::string>(table))) sources.push_back(std::move(file));
    } else {
      sources.emplace_back(nb::cast<PythonFrame&>(table).frame);
    }
  }
  return sources;
}

// Beside roles a line may say "group", the column by which data are split, and "memory-limit": beyond it large data are
// kept in files, as the program does.
Roles roles_of(const RoleLines& lines, bool guess) {
  Roles roles;
  roles.guess = guess;
  std::size_t limit = default_memory_limit();
  for (const auto& [name, text] : lines) {
    if (name == "memory-limit") {
      limit = memory_limit_of(text);
    } else if (name == "group") {
      roles.group = text;
    } else if (!take_role_line(name, text, roles)) {
      fail("expected the name of a role, got '{}'", name);
    }
  }
  roles.store = std::make_shared<ColumnStore>(limit);
  return roles;
}

void bind_frame(nb::module_& module) {
  nb::class_<PythonFrame>(module, "Frame", "A table as columns, on its way to the reader.")
      .def(
          "__init__",
          [](PythonFrame* self, const std::string& name, bool capital_booleans) {
            new (self) PythonFrame();
            self->frame.name = name;
            self->frame.capital_booleans = capital_booleans;
          },
          nb::arg("name") = "data", nb::arg("capital_booleans") = true)
      .def("add_numbers", &add_numbers, nb::arg("name"), nb::arg("values"), nb::arg("missing").none() = nb::none())
      .def("add_words", &add_words, nb::arg("name"), nb::arg("numbers"), nb::arg("words"))
      .def("add_bytes", &add_bytes, nb::arg("name"), nb::arg("bytes"))
      .def("add_objects", &add_objects, nb::arg("name"), nb::arg("cells"))
      .def("add_arrow", &add_arrow, nb::arg("table"))
      .def_prop_ro("rows", [](const PythonFrame& f) { return f.frame.rows; })
      .def_prop_ro("names", [](const PythonFrame& f) {
        std::vector<std::string> names;
        for (const FrameColumn& column : f.frame.columns) names.push_back(column.name);
        return names;
      });
  module.def(
      "usual_columns",
      [](const std::string& part, const std::vector<std::string>& columns) {
        return usually_called(part == "id" ? ColumnPart::kId : ColumnPart::kTime, columns);
      },
      nb::arg("part"), nb::arg("columns"), "Those of the columns whose names suggest an id or a time.");
}

}  // namespace remede::python
