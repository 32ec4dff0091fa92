// Proofs and counterexamples.
#include "remede/verify/verify.h"

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.h"
#include "python/frame.h"
#include "remede/verify/checks.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

// Text, JSON, the certificate of what holds. `equals` and `data` may be None; an empty `automaton` is none.
std::tuple<std::string, std::string, std::string> verify_model(
    const Model& model, const std::vector<std::string>& properties, const std::vector<std::string>& assumptions,
    double effort, const Model* equals, const std::string& automaton, const Dataset* data, const Dataset* within) {
  const nb::gil_scoped_release release;
  VerifyOptions options;
  options.assumptions = assumptions;
  options.effort = effort;
  if (within != nullptr)
    for (const std::string& text : assumptions_from(model, within->sequences)) options.assumptions.push_back(text);
  std::optional<Robustness> robustness;
  if (data != nullptr) robustness = check_robustness(model, *data, options);
  std::vector<Verification> results = verify(model, properties, options);
  std::vector<const Verification*> proved;
  for (const Verification& one : results)
    if (one.verdict == Decision::kHolds) proved.push_back(&one);
  const std::string certificate = proved.empty() ? "" : certificate_json(model, proved);
  if (!automaton.empty())
    results.push_back(verify_language(model, language_from_json(automaton, "automaton"), options));
  if (equals != nullptr) results.push_back(verify_equal(model, *equals, options));
  std::optional<ModelChecks> checks;
  if (results.empty() && !robustness) checks = check_model(model, options);
  std::string text;
  for (const Verification& one : results) text += verification_text(one);
  if (checks) text += checks_text(model, *checks);
  if (robustness) text += robustness_text(*robustness);
  return {text, verifications_json(results, checks ? &*checks : nullptr, model, robustness ? &*robustness : nullptr),
          certificate};
}

}  // namespace

void bind_verify(nb::module_& module) {
  module.def("verify", &verify_model, nb::arg("model"), nb::arg("properties"), nb::arg("assumptions"),
             nb::arg("effort"), nb::arg("equals").none(), nb::arg("automaton"), nb::arg("data").none(),
             nb::arg("within").none());
}

}  // namespace remede::python
