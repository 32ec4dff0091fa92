#include "remede/verify/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace remede {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();

// The option that a number belongs to, -1: none.
int option_with(const InputColumn& column, float number) {
  for (std::size_t o = 0; o < column.options.size(); ++o) {
    const Range& range = column.options[o].range[0];
    if (std::isnan(number) ? range.nan : range.low <= number && number <= range.high) return static_cast<int>(o);
  }
  return -1;
}

// The numbers of a column that are worth trying.
std::vector<float> interesting_numbers(const CheckedSystem& system, std::size_t c) {
  const auto input = static_cast<std::size_t>(system.columns[c].inputs[0]);
  std::vector<float> cuts = system.input_cuts[input],
                     numbers = {0.0F, 1.0F, -1.0F, 10.0F, -10.0F, 1000.0F, -1000.0F, kLargest, -kLargest};
  for (const ModelPart& part : system.parts)
    for (std::size_t i = 0; i < part.input.size(); ++i)
      if (part.input[i] == static_cast<int>(input)) {
        numbers.push_back(part.model->fill[i]);
        for (const Tree& tree : part.model->trees)
          for (std::size_t n = 0; n < tree.feature.size(); ++n)
            if (tree.feature[n] == static_cast<std::int32_t>(i)) cuts.push_back(tree.threshold[n]);
      }
  sort_cuts(cuts);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    numbers.push_back(cuts[i]);
    numbers.push_back(std::nextafter(cuts[i], -kLargest));
    if (i > 0) numbers.push_back(cuts[i - 1] * 0.5F + cuts[i] * 0.5F);
  }
  if (!cuts.empty()) numbers.insert(numbers.end(), {cuts.front() - 1.0F, cuts.back() + 1.0F});
  for (const InputOption& option : system.columns[c].options)
    numbers.insert(numbers.end(), {option.range[0].low, option.range[0].high,
                                   option.range[0].low * 0.5F + option.range[0].high * 0.5F});
  return numbers;
}

// Inputs at the ends of their ranges, on the side that a row of weights asks for.
StepInput extreme_input(const CheckedSystem& system, const ModelPart& part, const float* row, float sign) {
  StepInput input = empty_input(system);
  for (std::size_t c = 0; c < system.columns.size(); ++c) {
    const InputColumn& column = system.columns[c];
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t o = 0; o < column.options.size(); ++o)
      for (const bool high : {false, true}) {
        double worth = 0;
        for (std::size_t k = 0; k < column.inputs.size(); ++k) {
          const auto at = std::find(part.input.begin(), part.input.end(), column.inputs[k]);
          const Range& range = column.options[o].range[k];
          if (at != part.input.end() && range.has_numbers())
            worth += static_cast<double>(sign * row[at - part.input.begin()]) *
                     static_cast<double>(high ? range.high : range.low);
        }
        if (worth <= best) continue;
        best = worth;
        const Range& range = column.options[o].range[0];
        set_column(system, c, {static_cast<int>(o), range.has_numbers() ? (high ? range.high : range.low) : kNoNumber},
                   input);
      }
  }
  return input;
}

}  // namespace

void set_column(const CheckedSystem& system, std::size_t c, const ColumnValue& value, StepInput& input) {
  const InputColumn& column = system.columns[c];
  input.option[c] = value.option;
  const InputOption& option = column.options[static_cast<std::size_t>(value.option)];
  for (std::size_t k = 0; k < column.inputs.size(); ++k) {
    const Range& range = option.range[k];
    const bool fixed = column.words || option.missing;
    input.x[static_cast<std::size_t>(column.inputs[k])] =
        fixed ? (range.has_numbers() ? range.low : kNoNumber) : value.number;
  }
}

StepInput empty_input(const CheckedSystem& system) {
  return {std::vector<float>(system.n_x(), kNoNumber), std::vector<int>(system.columns.size(), 0)};
}

std::vector<ColumnValue> interesting_values(const CheckedSystem& system, std::size_t c) {
  const InputColumn& column = system.columns[c];
  std::vector<ColumnValue> values;
  if (column.words) {
    for (std::size_t o = 0; o < column.options.size(); ++o) values.push_back({static_cast<int>(o), 0});
    return values;
  }
  std::vector<float> numbers = interesting_numbers(system, c);
  std::erase_if(numbers, [](float v) { return !std::isfinite(v); });
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  numbers.push_back(kNoNumber);
  for (const float number : numbers) {
    const int option = option_with(column, number);
    if (option >= 0) values.push_back({option, number});
  }
  return values;
}

std::vector<StepInput> all_combinations(const CheckedSystem& system,
                                        const std::vector<std::vector<ColumnValue>>& values, std::size_t most) {
  std::size_t count = 1;
  for (const auto& of_column : values) {
    if (of_column.empty() || count > most / of_column.size()) return {};
    count *= of_column.size();
  }
  std::vector<StepInput> all(1, empty_input(system));
  for (std::size_t c = 0; c < values.size(); ++c) {
    std::vector<StepInput> longer;
    for (const StepInput& input : all)
      for (const ColumnValue& value : values[c]) {
        longer.push_back(input);
        set_column(system, c, value, longer.back());
      }
    all = std::move(longer);
  }
  return all;
}

std::vector<StepInput> extreme_inputs(const CheckedSystem& system) {
  constexpr std::size_t kMostExtremes = 256;
  std::vector<StepInput> all;
  const auto add = [&](const ModelPart& part, const float* row) {
    for (const float sign : {1.0F, -1.0F})
      if (all.size() < kMostExtremes) all.push_back(extreme_input(system, part, row, sign));
  };
  for (const ModelPart& part : system.parts)
    for (const Tree& tree : part.model->trees) {
      const auto n_x = static_cast<std::size_t>(tree.n_x), n_v = static_cast<std::size_t>(tree.n_v()),
                 n_m = static_cast<std::size_t>(tree.n_m);
      for (std::size_t at = 0; at < tree.linear.size(); at += n_v) add(part, tree.linear.data() + at);
      for (std::size_t at = 0; at < tree.gate.size(); ++at)
        if (tree.gate[at] != 0) add(part, tree.write.data() + at * static_cast<std::size_t>(tree.n_w()));
      for (std::size_t k = 0; k < tree.cells.law.size(); ++k) {
        add(part, tree.cells.input.data() + k * n_x);
        add(part, tree.cells.tap_input.data() + k * n_x);
      }
      for (std::size_t at = 0; at < tree.cells.linear.size(); at += n_x + 2 * n_m)
        add(part, tree.cells.linear.data() + at);
    }
  return all;
}

}  // namespace remede
