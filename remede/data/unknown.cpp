#include "remede/data/unknown.h"

namespace remede {

Dataset with_unknown_targets(Dataset data) {
  Sequences& s = data.sequences;
  if (!s.has_targets()) return data;
  for (std::size_t i = 0; i < data.unknown.step.size(); ++i) {
    const auto step = static_cast<std::size_t>(data.unknown.step[i]);
    s.label[step] = kUnknownClass;
    s.weight[step] = data.unknown.step_weight[i];
  }
  data.unknown = {};
  return data;
}

}  // namespace remede
