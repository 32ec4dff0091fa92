#include "remede/stream/watch.h"

#include "remede/base/error.h"
#include "remede/base/text.h"

namespace remede {

InputWatch::InputWatch(const Model& model, const RowInputs& rows)
    : model_(model), row_inputs_(rows), unknown_(rows.columns().size()) {
  if (model.input_range.empty() && model.n_x() > 0)
    fail("expected a model with the ranges of its inputs, got one without: name its training data with --watch-data");
  const CodeIndex codes(model.schema.codes);
  for (std::size_t i = 0; i < model.schema.inputs.size(); ++i) {
    const InputCode* const code = codes.find(model.schema.inputs[i]);
    if (code == nullptr || code->gap) inputs_.push_back({i, model.input_range[i]});
  }
}

void InputWatch::add(std::span<const float> x) {
  ++rows_;
  for (Input& input : inputs_) {
    const float value = x[input.at];
    if (value != value) continue;
    ++input.values;
    input.outside += value < input.range.low || value > input.range.high ? 1 : 0;
  }
}

std::vector<std::string> InputWatch::take() {
  std::vector<std::string> lines;
  const std::string rows = fmt::format("rows {} to {}", grouped(static_cast<long long>(rows_before_ + 1)),
                                       grouped(static_cast<long long>(rows_before_ + rows_)));
  for (Input& input : inputs_) {
    const double share =
        input.values == 0 ? 0.0 : static_cast<double>(input.outside) / static_cast<double>(input.values);
    if (input.values >= kLeastRows && share > kOutside)
      lines.push_back(fmt::format("{}: {}: {} of the values lie outside {} to {}, where 90% of the training data lay",
                                  rows, printable(model_.schema.inputs[input.at]), percent(share),
                                  short_number(static_cast<double>(input.range.low), 4),
                                  short_number(static_cast<double>(input.range.high), 4)));
    input.values = input.outside = 0;
  }
  for (std::size_t c = 0; c < unknown_.size(); ++c) {
    const std::uint64_t now = row_inputs_.unknown_words(c);
    if (now > unknown_[c])
      lines.push_back(fmt::format("{}: {}: {} that the model does not use", rows, printable(row_inputs_.columns()[c]),
                                  plural(static_cast<long long>(now - unknown_[c]), "word")));
    unknown_[c] = now;
  }
  rows_before_ += rows_;
  rows_ = 0;
  return lines;
}

}  // namespace remede
