#include "remede/data/classes.h"

#include <algorithm>
#include <utility>

namespace remede {

KnownClasses::KnownClasses(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) {
    double value = 0.0;
    if (parse_cell(name, value) == CellKind::kNumber) values_.push_back(value);
  }
  if (values_.size() != names_.size()) values_.clear();
}

std::int32_t KnownClasses::find(std::string_view cell, CellKind kind, double value) const {
  const auto by_text = std::find(names_.begin(), names_.end(), cell);
  if (by_text != names_.end()) return static_cast<std::int32_t>(by_text - names_.begin());
  const auto by_value = std::find(values_.begin(), values_.end(), value);
  if (kind == CellKind::kNumber && by_value != values_.end())
    return static_cast<std::int32_t>(by_value - values_.begin());
  constexpr std::string_view kTruths[] = {"true", "false"};  // True in one program is true in another
  const std::string word = lower(cell);
  const auto by_truth = std::find_if(
      names_.begin(), names_.end(), [&](const std::string& c) { return is_one_of(word, kTruths) && lower(c) == word; });
  return by_truth == names_.end() ? -1 : static_cast<std::int32_t>(by_truth - names_.begin());
}

}  // namespace remede
