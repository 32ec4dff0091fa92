// The scales of a fixed-point program and the errors they lead to: behind fixed.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "remede/export/fixed.h"
#include "remede/export/tables.h"

namespace remede {

// A sum of products as the program computes it: constant and products are brought to `bits` binary places.
struct FixedSum {
  struct Term {
    int value = 0;  // as in Tables
    std::int64_t weight = 0;
    int shift = 0;  // binary places that the product has beyond those of the sum
  };
  int bits = 0;
  std::int64_t constant = 0;
  std::vector<Term> terms;
};

struct FixedWrite {
  FixedSum argument;
  int cell = 0;
  bool blends = false;
  std::int64_t blend = 0;  // binary places: those of the type
};

class FixedScales {
 public:
  FixedScales(const Model& model, const Tables& tables, FixedType type, const FixedRanges& ranges);

  int places;                   // binary places of a value below 1: 15 or 31
  int wide;                     // bits of a product, without its sign: 30 or 62
  int argument_bits;            // of the argument of tanh, which is cut off at +-8
  std::vector<int> value_bits;  // (n_x + n_m)
  std::vector<int> output_bits;
  std::vector<FixedSum> answers;                // (leaves, n_y); empty where answers are constants
  std::vector<std::int64_t> constants;          // (leaves, n_y) then
  std::vector<std::vector<FixedWrite>> writes;  // (leaves)

  std::int64_t rounded(double value, int bits) const;    // to the nearest, cut off at the largest
  std::int64_t threshold(double value, int bits) const;  // the least integer that is not below
  FixedBound bound(int steps) const;

 private:
  FixedSum make_sum(double constant, const Tables::Term* begin, const Tables::Term* end) const;
  double sum_error(const FixedSum& sum, double constant, const Tables::Term* begin, const Tables::Term* end,
                   const std::vector<double>& value_error) const;
  double most(int value) const;  // magnitude that a value may have

  const Tables& t_;
};

}  // namespace remede
