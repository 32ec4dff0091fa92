// Proofs and counterexamples for what a model does over time (docs/verify.md).
//
// A verdict is about the bits that the model computes. `holds` is a proof for sequences of every length; `fails` comes
// with a sequence that the reference predictor was run on; everything else is `undecided`. No result depends on the
// machine: the limits are counts of work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "remede/model/model.h"
#include "remede/verify/prove.h"
#include "remede/verify/system.h"

namespace remede {

enum class Decision : std::uint8_t { kHolds, kFails, kUndecided };
const char* name(Decision verdict);

struct VerifyOptions {
  std::vector<std::string> assumptions;
  double effort = 1;  // a factor of the work limits: about 5 s each at 1, a property that is decided sooner ends sooner
};

struct Verification {
  std::string property;  // as given
  std::string meaning;   // what was understood, in full
  Decision verdict = Decision::kUndecided;
  // fails:
  std::vector<StepInput> counterexample;
  bool shortest = false;
  // undecided:
  std::size_t depth = 0;  // it holds for sequences of up to so many steps
  std::string stuck;      // where the analysis got stuck
  // holds:
  std::vector<ProofState> invariant;
  int halvings = 0;
  bool exact = false;  // every configuration that can be reached was visited

  Formula formula;                              // the property
  std::shared_ptr<const CheckedSystem> system;  // of the models given, which must outlive it
};

// Throws Error where a property or an assumption is not understood.
std::vector<Verification> verify(const Model& model, const std::vector<std::string>& properties,
                                 const VerifyOptions& options);

Verification verify_formula(const Model& model, const Formula& formula, const VerifyOptions& options);

// Do two models give the same answers, bit for bit, on every sequence? They must have the same classes or targets;
// inputs are matched by name. Throws Error where the models cannot be compared.
Verification verify_equal(const Model& a, const Model& b, const VerifyOptions& options);

// A regular language: one input column, whose values are the symbols, and the class that is said when the string so far
// is accepted.
struct Language {
  std::string input;                  // empty: the model's only column
  std::string accept;                 // the class; empty: the second of two
  std::vector<std::string> alphabet;  // numbers or words
  Acceptor acceptor;
};
Language read_language(const std::string& path);
Language language_from_json(const std::string& text, const std::string& where);
// Does the model say the class exactly when the automaton accepts, for strings of every length over the alphabet?
Verification verify_language(const Model& model, const Language& language, const VerifyOptions& options);

// Writes sequences under the names of the model's columns, so that `remede predict` reads them; how many were written:
// where the model has no id column only the first can be.
std::size_t write_counterexamples(const Model& model, const std::vector<const Verification*>& failed,
                                  const std::string& path);

// The invariants of the properties that hold, for tools/check_certificate.py.
std::string certificate_json(const Model& model, const std::vector<const Verification*>& proved);

// "x1 = 0.5, activity = open".
std::string input_text(const CheckedSystem& system, const StepInput& input);
// "m1 from 0.2 to 0.7, m2 = 1".
std::string box_text(const CheckedSystem& system, const MemoryBox& box);

}  // namespace remede
