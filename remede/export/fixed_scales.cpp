#include "remede/export/fixed_scales.h"

#include <algorithm>
#include <cmath>

#include "remede/model/predict.h"

namespace remede {
namespace {

constexpr double kHeadroom = 2;             // times what was seen
constexpr double kFloatRounding = 0x1p-24;  // of an operation of the library
constexpr int kMostExponent = 30;           // of a range
constexpr int kArgumentRange = 3;           // tanh is cut off at +-2^3

// The least e with |value| < 2^e.
int exponent_of(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return value == 0 ? 0 : exponent;
}

}  // namespace

FixedRanges fixed_ranges(const Model& model, const Sequences& data) {
  FixedRanges ranges;
  const auto n_x = static_cast<std::size_t>(model.n_x()), n_y = static_cast<std::size_t>(model.n_y());
  const auto n_m = static_cast<std::size_t>(model.trees[0].n_m);
  ranges.input.resize(n_x);
  ranges.cell.resize(n_m);
  ranges.output.resize(n_y);
  std::vector<float> state(state_size(model)), scratch(n_y), y(n_y);
  std::vector<std::int32_t> leaves(model.trees.size());
  const auto widen = [](double& most, float value) {
    if (std::isfinite(value)) most = std::max(most, std::abs(static_cast<double>(value)));
  };
  for (std::size_t s = 0; s < data.count(); ++s) {
    std::fill(state.begin(), state.end(), 0.0F);
    for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t) {
      const float* const x = data.x.data() + t * n_x;
      step(model, x, state.data(), scratch.data(), y.data(), leaves.data());
      for (std::size_t i = 0; i < n_x; ++i) widen(ranges.input[i], x[i]);
      for (std::size_t k = 0; k < n_m; ++k) widen(ranges.cell[k], state[k]);
      for (std::size_t o = 0; o < n_y; ++o) widen(ranges.output[o], y[o]);
    }
  }
  return ranges;
}

FixedScales::FixedScales(const Model& model, const Tables& tables, FixedType type, const FixedRanges& ranges)
    : places(type == FixedType::kQ15 ? 15 : 31), wide(2 * places), argument_bits(places - kArgumentRange), t_(tables) {
  const Tree& tree = model.trees[0];
  const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
  std::vector<double> range(n_x + n_m);
  for (std::size_t v = 0; v < n_x; ++v) range[v] = std::max(ranges.input[v], std::abs(double{model.fill[v]}));
  for (std::size_t k = 0; k < n_m; ++k) range[n_x + k] = ranges.cell[k];
  for (const Tables::Node& node : t_.nodes) {
    double& widest = range[static_cast<std::size_t>(node.value)];
    widest = std::max(widest, std::abs(double{node.threshold}));
  }
  for (std::size_t v = 0; v < range.size(); ++v) {
    const bool blended = v >= n_x && tree.form.write_rule == WriteRule::kBlend;
    const int exponent = std::clamp(exponent_of(kHeadroom * range[v]), -kMostExponent, kMostExponent);
    value_bits.push_back(places - (blended ? 0 : v < n_x ? exponent : std::max(exponent, 0)));
  }
  const bool linear = !t_.linear.empty();
  for (int o = 0; o < t_.outputs; ++o)
    output_bits.push_back(model.classifies()
                              ? places
                              : places - std::clamp(exponent_of(kHeadroom * ranges.output[static_cast<std::size_t>(o)]),
                                                    -kMostExponent, kMostExponent));
  for (std::size_t at = 0; at < t_.output.size(); ++at) {
    const auto o = at % static_cast<std::size_t>(t_.outputs);
    if (linear) {
      answers.push_back(
          make_sum(double{t_.output[at]}, t_.terms.data() + t_.linear[at], t_.terms.data() + t_.linear[at + 1]));
      output_bits[o] = std::min(output_bits[o], answers.back().bits);
    } else {
      constants.push_back(rounded(double{t_.output[at]}, output_bits[o]));
    }
  }
  writes.resize(static_cast<std::size_t>(t_.leaves()));
  for (std::size_t leaf = 0; leaf < writes.size() && !t_.write_begin.empty(); ++leaf)
    for (auto w = static_cast<std::size_t>(t_.write_begin[leaf]);
         w < static_cast<std::size_t>(t_.write_begin[leaf + 1]); ++w) {
      const Tables::Write& write = t_.writes[w];
      const bool blends = write.blend != Tables::kAdds;
      writes[leaf].push_back(
          {make_sum(double{write.bias}, t_.terms.data() + t_.write_terms[w], t_.terms.data() + t_.write_terms[w + 1]),
           write.at, blends, blends ? rounded(double{write.blend}, places) : 0});
    }
}

double FixedScales::most(int value) const {
  return std::ldexp(1.0, places - value_bits[static_cast<std::size_t>(value)]);
}

std::int64_t FixedScales::rounded(double value, int bits) const {
  const double largest = std::ldexp(1.0, places) - 1;
  return static_cast<std::int64_t>(std::clamp(std::nearbyint(std::ldexp(value, bits)), -largest, largest));
}

std::int64_t FixedScales::threshold(double value, int bits) const {
  const double largest = std::ldexp(1.0, places) - 1;
  return static_cast<std::int64_t>(std::clamp(std::ceil(std::ldexp(value, bits)), -largest, largest));
}

FixedSum FixedScales::make_sum(double constant, const Tables::Term* begin, const Tables::Term* end) const {
  FixedSum sum;
  double largest = std::abs(constant);
  for (const Tables::Term* term = begin; term != end; ++term)
    largest += std::abs(double{term->weight}) * most(term->value);
  sum.bits = std::clamp(wide - 1 - exponent_of(largest), -kMostExponent, wide);
  for (const Tables::Term* term = begin; term != end; ++term) {
    if (term->weight == 0.0F) continue;
    const int bits = places - exponent_of(double{term->weight});
    sum.bits = std::min(sum.bits, bits + value_bits[static_cast<std::size_t>(term->value)]);
    sum.terms.push_back({term->value, rounded(double{term->weight}, bits), bits});
  }
  for (FixedSum::Term& term : sum.terms)
    term.shift = std::min(term.shift + value_bits[static_cast<std::size_t>(term.value)] - sum.bits, wide);
  sum.constant = static_cast<std::int64_t>(std::nearbyint(std::ldexp(constant, sum.bits)));
  return sum;
}

// How far a sum may be from the library's, whose own roundings count as well.
double FixedScales::sum_error(const FixedSum& sum, double constant, const Tables::Term* begin, const Tables::Term* end,
                              const std::vector<double>& value_error) const {
  double error = std::ldexp(1.0, -sum.bits), largest = std::abs(constant), terms = 0;
  std::size_t at = 0;
  for (const Tables::Term* term = begin; term != end; ++term) {
    if (term->weight == 0.0F) continue;
    const double weight = double{term->weight};
    const int bits = places - exponent_of(weight);
    const double off = std::abs(std::ldexp(static_cast<double>(sum.terms[at++].weight), -bits) - weight);
    const auto v = static_cast<std::size_t>(term->value);
    error += (std::abs(weight) + off) * value_error[v] + off * most(term->value) + std::ldexp(1.0, -sum.bits);
    largest += std::abs(weight) * most(term->value);
    ++terms;
  }
  return error + (terms + 2) * kFloatRounding * largest;
}

FixedBound FixedScales::bound(int steps) const {
  const auto n_x = static_cast<std::size_t>(t_.inputs), n_m = value_bits.size() - n_x;
  const double unit = std::ldexp(1.0, -places);
  // The library's tanh and the polynomial's distance from tanh, the cut at 8, and roundings.
  const double tanh_error = 4e-7 + 1.7e-7 + 2.3e-7 + 8 * unit + std::ldexp(1.0, -argument_bits);
  std::vector<double> error(value_bits.size());
  for (std::size_t i = 0; i < n_x; ++i) error[i] = std::ldexp(0.5, -value_bits[i]);
  for (int n = 0; n < steps; ++n) {
    std::vector<double> next = error;
    for (std::size_t leaf = 0, w = 0; leaf < writes.size(); ++leaf)
      for (const FixedWrite& write : writes[leaf]) {
        const auto v = n_x + static_cast<std::size_t>(write.cell);
        const Tables::Write& exact = t_.writes[w];
        const double argument = sum_error(write.argument, double{exact.bias}, t_.terms.data() + t_.write_terms[w],
                                          t_.terms.data() + t_.write_terms[w + 1], error);
        const double written = std::min(argument + tanh_error, 2.0);
        ++w;
        const double share = double{exact.blend};
        const double moved =
            write.blends
                ? (1 - share + unit) * error[v] + (share + unit) * written + 4 * unit + 6 * kFloatRounding
                : error[v] + written + std::ldexp(1.0, -value_bits[v]) + kFloatRounding * most(static_cast<int>(v));
        next[v] = std::max(next[v], std::min(moved, 2 * most(static_cast<int>(v))));
      }
    error = std::move(next);
  }
  FixedBound found;
  found.cell.assign(error.begin() + static_cast<std::ptrdiff_t>(n_x), error.end());
  for (std::size_t v = 0; v < n_x + n_m; ++v) found.margin.push_back(error[v] + std::ldexp(1.0, -value_bits[v]));
  found.output.resize(static_cast<std::size_t>(t_.outputs));
  for (std::size_t at = 0; at < t_.output.size(); ++at) {
    const auto o = at % static_cast<std::size_t>(t_.outputs);
    double of_answer = std::ldexp(1.0, -output_bits[o]) + kFloatRounding;
    if (!answers.empty())
      of_answer += sum_error(answers[at], double{t_.output[at]}, t_.terms.data() + t_.linear[at],
                             t_.terms.data() + t_.linear[at + 1], error);
    found.output[o] = std::max(found.output[o], of_answer);
  }
  return found;
}

}  // namespace remede
