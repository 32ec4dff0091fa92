// The parts of the extension remede._native, one function per file. They list and translate; no algorithm lives here.
#pragma once

#include <nanobind/nanobind.h>

namespace remede::python {

void bind_frame(nanobind::module_& module);    // Frame: a table on its way to the reader
void bind_data(nanobind::module_& module);     // Data: sequences with their words
void bind_model(nanobind::module_& module);    // Model: predict, show, save
void bind_fit(nanobind::module_& module);      // parameters() and fit()
void bind_peers(nanobind::module_& module);    // Peers, Helper: a fit that is shared
void bind_stream(nanobind::module_& module);   // Stream, StreamPool: live sequences
void bind_export(nanobind::module_& module);   // programs of their own
void bind_explain(nanobind::module_& module);  // what the verbs that explain say
void bind_verify(nanobind::module_& module);   // proofs and counterexamples

}  // namespace remede::python
