// Data sets that must be the same, bit for bit.
#pragma once

#include "fuzz/harness.h"
#include "remede/data/dataset.h"

namespace remede::fuzz {

template <typename Numbers>
void require_same(const Numbers& a, const Numbers& b, const char* what) {
  require(a.size() == b.size(), what);
  require(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0, what);
}

inline void require_same(const Dataset& a, const Dataset& b) {
  require(a.schema.inputs == b.schema.inputs && a.schema.classes == b.schema.classes, "the same names");
  require_same(a.sequences.offset, b.sequences.offset, "the same sequences");
  require_same(a.sequences.x, b.sequences.x, "the same inputs");
  require_same(a.sequences.label, b.sequences.label, "the same classes");
  require_same(a.sequences.value, b.sequences.value, "the same values");
  require_same(a.sequences.weight, b.sequences.weight, "the same weights");
  require_same(a.row, b.row, "the same rows");
  require(a.ids == b.ids && a.times == b.times && a.notes == b.notes, "the same texts");
}

}  // namespace remede::fuzz
