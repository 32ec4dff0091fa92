// Proofs as JSON, for tools/check_certificate.py (docs/verify.md has the format).
#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "remede/verify/verify.h"

namespace remede {
namespace {

using CertificateJson = nlohmann::ordered_json;

CertificateJson number_json(float v) {
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return static_cast<double>(v);
}

const char* compare_word(Compare compare) {
  constexpr const char* kWords[] = {">=", ">", "<=", "<", "=", "!="};
  return kWords[static_cast<std::size_t>(compare)];
}

CertificateJson atom_json(const Atom& atom) {
  constexpr const char* kKinds[] = {"input",       "missing", "word", "change", "says",
                                    "probability", "answer",  "cell", "step",   "equal"};
  CertificateJson json = {{"kind", kKinds[static_cast<std::size_t>(atom.kind)]}, {"index", atom.index}};
  if (atom.kind == AtomKind::kWord) {
    json["word"] = atom.word;
  } else {
    json["compare"] = compare_word(atom.compare);
    json["value"] = number_json(atom.value);
  }
  return json;
}

CertificateJson node_json(const FormulaNode& node, int counter) {
  constexpr const char* kOps[] = {"true",   "atom",  "not",    "and", "or",       "previously", "once",
                                  "always", "since", "within", "for", "deadline", "automaton"};
  CertificateJson json = {{"op", kOps[static_cast<std::size_t>(node.op)]}};
  if (node.op == Op::kAtom) json["atom"] = node.atom;
  if (!node.child.empty()) json["of"] = node.child;
  if (node.op == Op::kWithin || node.op == Op::kFor || node.op == Op::kDeadline) json["count"] = node.count;
  if (counter >= 0) json["counter"] = counter;
  return json;
}

CertificateJson state_json(const ProofState& state) {
  CertificateJson slots = CertificateJson::array();
  for (const Range& range : state.box.slot)
    slots.push_back(range.has_numbers()
                        ? CertificateJson::array({number_json(range.low), number_json(range.high), range.nan})
                        : CertificateJson::array({nullptr, nullptr, range.nan}));
  return {{"monitor", state.monitor}, {"slots", std::move(slots)}};
}

CertificateJson proof_json(const Verification& one) {
  const CheckedSystem& system = *one.system;
  const Monitor monitor(one.formula, system.assumed);  // its counters are those of the proof
  CertificateJson json = {{"property", one.property},   {"meaning", one.meaning},
                          {"root", monitor.property()}, {"assumptions", monitor.assumed()},
                          {"counters", monitor.size()}, {"last_step", monitor.last_step()},
                          {"halvings", one.halvings}};
  for (const char* key : {"atoms", "nodes", "previous", "cuts", "states"}) json[key] = CertificateJson::array();
  for (const Atom& atom : monitor.atoms()) json["atoms"].push_back(atom_json(atom));
  for (std::size_t i = 0; i < monitor.nodes().size(); ++i)
    json["nodes"].push_back(node_json(monitor.nodes()[i], monitor.counters()[i]));
  for (std::size_t i = 0; i < system.previous.size(); ++i)
    if (system.previous[i] >= 0) json["previous"].push_back({i, system.previous[i]});
  for (const MemorySlot& slot : system.slots) {
    CertificateJson cuts = CertificateJson::array();
    for (const float cut : slot.cuts) cuts.push_back(number_json(cut));
    json["cuts"].push_back(std::move(cuts));
  }
  json["input_cuts"] = CertificateJson::array();
  for (const auto& extra : system.extra_cuts) {
    CertificateJson cuts = CertificateJson::array();
    for (const float cut : extra) cuts.push_back(number_json(cut));
    json["input_cuts"].push_back(std::move(cuts));
  }
  for (const ProofState& state : one.invariant) json["states"].push_back(state_json(state));
  return json;
}

}  // namespace

std::string certificate_json(const Model& model, const std::vector<const Verification*>& proved) {
  CertificateJson all = {{"format", "remede certificate"},
                         {"version", 1},
                         {"inputs", model.schema.inputs},
                         {"properties", CertificateJson::array()}};
  for (const Verification* one : proved) all["properties"].push_back(proof_json(*one));
  return all.dump() + "\n";
}

}  // namespace remede
