// The words for the transitions of a state machine.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "remede/analysis/machine.h"
#include "remede/base/text.h"

namespace remede {
namespace {

std::string bound_text(const Machine& machine, const InputBound& b, bool symbols) {
  const auto input = static_cast<std::size_t>(b.input);
  const std::string& name = machine.inputs[input];
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  if (b.high == kLowest) return name + " missing";
  if (b.low == kLowest && std::isinf(b.high)) return name + " not missing";
  if (std::isinf(b.high)) return fmt::format("{} {} {}", name, symbols ? "≥" : ">=", short_number(b.low, 4));
  const bool missing = std::isinf(b.low) && input < machine.missing.size() && machine.missing[input];
  if (b.low <= kLowest) return fmt::format("{} < {}{}", name, short_number(b.high, 4), missing ? " or missing" : "");
  return fmt::format("{} {} {} < {}", short_number(b.low, 4), symbols ? "≤" : "<=", name, short_number(b.high, 4));
}

std::string box_text(const Machine& machine, const InputBox& box, bool symbols) {
  if (box.empty()) return "always";
  std::vector<std::string> bounds;
  for (const InputBound& b : box) bounds.push_back(bound_text(machine, b, symbols));
  return fmt::format("{}", fmt::join(bounds, " and "));
}

}  // namespace

std::string condition_text(const Machine& machine, const MachineTransition& transition, bool symbols) {
  constexpr std::size_t kMaxBoxes = 2;
  if (machine.kind == MachineKind::kRegions) {
    std::int64_t all = 0;
    for (const MachineTransition& t : machine.transitions) all += t.from == transition.from ? t.count : 0;
    return fmt::format("{} of the time", percent(static_cast<double>(transition.count) /
                                                 static_cast<double>(std::max<std::int64_t>(all, 1))));
  }
  if (machine.kind != MachineKind::kPossible && transition.when.size() > 1) {
    // What remains when the others of this state are told is "otherwise".
    const bool longest =
        std::all_of(machine.transitions.begin(), machine.transitions.end(), [&](const MachineTransition& t) {
          return &t == &transition || t.from != transition.from || t.when.size() < transition.when.size() ||
                 (t.when.size() == transition.when.size() && t.count < transition.count);
        });
    if (longest) return "otherwise";
  }
  std::vector<std::string> boxes;
  for (const InputBox& b : transition.when) boxes.push_back(box_text(machine, b, symbols));
  if (boxes.size() > kMaxBoxes + 1) {
    const std::size_t more = boxes.size() - kMaxBoxes;
    boxes.resize(kMaxBoxes);
    boxes.push_back(fmt::format("{} more cases", more));
  }
  return fmt::format("{}", fmt::join(boxes, " or "));
}

}  // namespace remede
