// Models as programs of their own.
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.h"
#include "remede/data/dataset.h"
#include "remede/export/files.h"
#include "remede/model/checksum.h"

namespace nb = nanobind;

namespace remede::python {

void bind_export(nb::module_& module) {
  module.def(
      "write_exported",
      [](const Model& model, const std::string& folder, const std::string& to, const std::string& name,
         const Dataset* data, int steps) {
        return write_exported(exported_files(model, to, name, {data != nullptr ? &data->sequences : nullptr, steps}),
                              folder);
      },
      nb::arg("model"), nb::arg("folder"), nb::arg("to"), nb::arg("name"), nb::arg("data").none(), nb::arg("steps"));
  module.def(
      "checksum", [](const Model& model) { return fmt::format("{:016x}", checksum(model)); }, nb::arg("model"));
}

}  // namespace remede::python
