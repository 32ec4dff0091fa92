// Equality of data sets to the last bit (a missing value is equal to a missing value).
#pragma once

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "remede/data/dataset.h"

namespace remede::testing {

template <typename T>
bool same_bytes(const Column<T>& a, const Column<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline void expect_same(const Sequences& a, const Sequences& b) {
  EXPECT_EQ(a.n_x, b.n_x);
  EXPECT_EQ(a.n_y, b.n_y);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_TRUE(same_bytes(a.x, b.x));
  EXPECT_EQ(a.label, b.label);
  EXPECT_TRUE(same_bytes(a.value, b.value));
  EXPECT_EQ(a.weight, b.weight);
}

inline void expect_same(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.schema.task, b.schema.task);
  EXPECT_EQ(a.schema.inputs, b.schema.inputs);
  EXPECT_EQ(a.schema.targets, b.schema.targets);
  EXPECT_EQ(a.schema.classes, b.schema.classes);
  EXPECT_EQ(a.schema.id, b.schema.id);
  EXPECT_EQ(a.schema.time, b.schema.time);
  expect_same(a.sequences, b.sequences);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.times, b.times);
  EXPECT_EQ(a.row, b.row);
}

}  // namespace remede::testing
