// Properties, assumptions and automata: any text is refused in one line or decided; what fails replays.
#include <string>

#include "fuzz/harness.h"
#include "remede/model/file.h"
#include "remede/verify/checks.h"
#include "remede/verify/verify.h"

namespace remede::fuzz {
namespace {

// A column of words, a missing value, a flag and an average.
const char* const kModel = R"({"format": "remede model", "version": 2, "task": "classification",
 "inputs": ["x1", "mode = on", "mode = off"], "fill": [0, 0, 0], "targets": ["y"], "classes": ["0", "1"], "id": "id", "time": "",
 "codes": [{"input": "mode = on", "column": "mode", "words": ["on"], "values": [1], "other": 0},
           {"input": "mode = off", "column": "mode", "words": ["off"], "values": [1], "other": 0}],
 "trees": [{"cells": 2, "write_rule": "blend", "write_reads": "inputs", "write_bias": true, "leaf_output": "constant", "output_order": "zero",
   "nodes": [{"number": 0, "input": "mode = on", "threshold": 0.5, "missing": "left", "left": 1, "right": 2},
             {"number": 1, "cell": 0, "threshold": 0.5, "missing": "left", "left": 3, "right": 4}],
   "leaves": [{"number": 2, "output": [-1, 1], "writes": [{"cell": 0, "blend": 1, "bias": 9, "weights": [0, 0, 0]}]},
              {"number": 3, "output": [1, -1], "writes": [{"cell": 1, "blend": 0.25, "bias": 0, "weights": [2, 0, 0]}]},
              {"number": 4, "output": [-1, 2], "writes": []}]}],
 "training": {"settings": {}, "training_loss": [], "validation_loss": []}})";

void require_replay(const Verification& result) {
  if (result.verdict != Decision::kFails) return;
  ConcreteRunner runner(*result.system);
  require(runner.violation(result.counterexample) == result.counterexample.size(),
          "a counterexample breaks the property");
}

}  // namespace

void property(std::string_view input) {
  static const Model model = model_from_json(kModel, "model");
  VerifyOptions options;
  options.effort = 0.001;
  const unsigned kind = take_byte(input) % 3;
  error_of([&] {
    if (kind == 0) {
      require_replay(verify_language(model, language_from_json(std::string(input), "automaton"), options));
      return;
    }
    if (kind == 1) options.assumptions.emplace_back(input);
    const Verification result =
        verify(model, {kind == 1 ? std::string("never says 1") : std::string(input)}, options)[0];
    require_replay(result);
    verification_text(result);
    verifications_json({result}, nullptr, model, nullptr);
    certificate_json(model, {&result});
  });
}

}  // namespace remede::fuzz
