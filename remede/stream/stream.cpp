#include "remede/stream/stream.h"

#include <algorithm>

#include "remede/base/error.h"
#include "remede/model/predict.h"

namespace remede {

Stream::Stream(const Model& model)
    : model_(&model),
      state_(state_size(model)),
      tree_output_(static_cast<std::size_t>(model.n_y())),
      output_(static_cast<std::size_t>(model.n_y())),
      leaf_(model.trees.size()) {}

void Stream::reset() { std::fill(state_.begin(), state_.end(), 0.0F); }

std::span<const float> Stream::step(std::span<const float> x) {
  if (x.size() != static_cast<std::size_t>(model_->n_x()))
    fail("expected a step of {} inputs, as the model has, got {}", model_->n_x(), x.size());
  remede::step(*model_, x.data(), state_.data(), tree_output_.data(), output_.data(), leaf_.data());
  return output_;
}

void Stream::set_state(std::span<const float> state) {
  if (state.size() != state_.size()) fail("expected a state of {} numbers, got {}", state_.size(), state.size());
  std::copy(state.begin(), state.end(), state_.begin());
}

}  // namespace remede
