#include "python/bindings.h"

#include "remede/base/error.h"

namespace nb = nanobind;

NB_MODULE(_native, module) {
  module.doc() = "The C++ library behind the package remede. Use the classes of the package instead.";
  module.attr("__version__") = REMEDE_VERSION;
  nb::exception<remede::Error>(module, "Error", PyExc_ValueError);
  remede::python::bind_frame(module);
  remede::python::bind_data(module);
  remede::python::bind_model(module);
  remede::python::bind_peers(module);
  remede::python::bind_fit(module);
  remede::python::bind_stream(module);
  remede::python::bind_export(module);
  remede::python::bind_explain(module);
  remede::python::bind_verify(module);
}
