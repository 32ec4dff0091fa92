// One live sequence: step(x) gives the model's answer for the next step. No allocation after construction.
// Holds a reference to the model, which must outlive it. Not thread-safe; use one Stream per sequence.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remede/model/model.h"

namespace remede {

class Stream {
 public:
  explicit Stream(const Model& model);

  void reset();  // back to before the first step
  std::span<const float> step(
      std::span<const float> x);  // x: (n_x), NaN where missing. Returns (n_y), valid until the next call
  std::span<const int> leaves() const { return leaf_; }  // (trees) the leaves reached in the last step

  // The state as data: save it, restore it, fork a stream. (trees: cells, then in the first-order form the last output)
  std::span<const float> state() const { return state_; }
  void set_state(std::span<const float> state);  // throws Error when the size differs

  // The state as a few bytes, with the checksum of the model. restore() throws Error for those of another model.
  std::string save() const;
  void restore(std::string_view bytes);

 private:
  const Model* model_;
  std::vector<float>
      answer_;  // of every leaf, where nothing else decides it: one tree, answers without a slope or a past
  std::vector<float> state_;
  std::vector<float> tree_output_;
  std::vector<float> output_;
  std::vector<int> leaf_;
  mutable std::optional<std::uint64_t> checksum_;  // of the model, once it was needed
};

}  // namespace remede
