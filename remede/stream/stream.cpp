#include "remede/stream/stream.h"

#include <algorithm>

#include "remede/base/error.h"
#include "remede/model/checksum.h"
#include "remede/model/predict.h"
#include "remede/stream/state.h"

namespace remede {

Stream::Stream(const Model& model)
    : model_(&model),
      state_(state_size(model)),
      tree_output_(static_cast<std::size_t>(model.n_y())),
      output_(static_cast<std::size_t>(model.n_y())),
      leaf_(model.trees.size()) {
  const Tree& tree = model.trees.front();
  if (model.trees.size() > 1 || tree.form.leaf_output != LeafOutput::kConstant ||
      tree.form.output_order != OutputOrder::kZero || tree.has_laws())
    return;
  answer_ = tree.output;
  const std::size_t n_y = output_.size();
  for (std::size_t at = 0; at < answer_.size(); at += n_y) apply_link(model.objective(), {answer_.data() + at, n_y});
}

void Stream::reset() { std::fill(state_.begin(), state_.end(), 0.0F); }

std::span<const float> Stream::step(std::span<const float> x) {
  if (x.size() != static_cast<std::size_t>(model_->n_x()))
    fail("expected a step with the {} inputs of the model, got {}", model_->n_x(), x.size());
  if (!answer_.empty()) {
    const Tree& tree = model_->trees.front();
    leaf_[0] = find_leaf(tree, x.data(), state_.data());
    write_memory(tree, leaf_[0], x.data(), model_->fill.data(), state_.data());
    return {answer_.data() + static_cast<std::size_t>(leaf_[0]) * output_.size(), output_.size()};
  }
  remede::step(*model_, x.data(), state_.data(), tree_output_.data(), output_.data(), leaf_.data());
  return output_;
}

void Stream::set_state(std::span<const float> state) {
  if (state.size() != state_.size()) fail("expected a state of {} numbers, got {}", state_.size(), state.size());
  std::copy(state.begin(), state.end(), state_.begin());
}

std::string Stream::save() const {
  if (!checksum_) checksum_ = checksum(*model_);
  return state_bytes(state_, *checksum_);
}

void Stream::restore(std::string_view bytes) {
  if (!checksum_) checksum_ = checksum(*model_);
  set_state(state_from_bytes(bytes, *checksum_, state_.size()));
}

}  // namespace remede
