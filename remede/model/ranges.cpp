#include "remede/model/ranges.h"

#include <algorithm>
#include <cmath>

#include "remede/model/predict.h"

namespace remede {
namespace {

constexpr std::size_t kMostLookedAt = 200000;

SeenRange range_of(std::vector<float>& values) {
  std::erase_if(values, [](float v) { return !std::isfinite(v); });
  if (values.empty()) return {};
  const auto at = [&](double share) {
    const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
    std::nth_element(values.begin(), values.begin() + place, values.end());
    const float value = values[static_cast<std::size_t>(place)];
    return value == 0.0F ? 0.0F : value;
  };
  return {at(0.05), at(0.95)};
}

void note_cells(const Model& model, const Sequences& data, std::size_t every, Tree& tree) {
  const auto n_m = static_cast<std::size_t>(tree.n_m), n_x = static_cast<std::size_t>(tree.n_x);
  std::vector<std::vector<float>> level(n_m), share(tree.has_laws() ? n_m : 0);
  std::vector<float> m(static_cast<std::size_t>(tree.memory_size()));
  for (std::size_t s = 0; n_m > 0 && s < data.count(); ++s) {
    std::fill(m.begin(), m.end(), 0.0F);
    for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t) {
      const float* const x = data.x.data() + t * n_x;
      const int leaf = find_leaf(tree, x, m.data());
      for (std::size_t k = 0; t % every == 0 && k < share.size(); ++k)
        share[k].push_back(tap_share(tree, leaf, static_cast<int>(k), {x, model.fill.data()}, m[k]));
      write_memory(tree, leaf, x, model.fill.data(), m.data());
      for (std::size_t k = 0; t % every == 0 && k < n_m; ++k) level[k].push_back(m[k]);
    }
  }
  tree.level_range.clear();
  tree.share_range.clear();
  for (auto& values : level) tree.level_range.push_back(range_of(values));
  for (auto& values : share) tree.share_range.push_back(range_of(values));
}

}  // namespace

void note_ranges(Model& model, const Sequences& data) {
  const std::size_t every = 1 + data.steps() / kMostLookedAt;
  const auto n_x = static_cast<std::size_t>(model.n_x());
  model.input_range.clear();
  if (data.steps() == 0) {
    for (Tree& tree : model.trees) tree.level_range.clear(), tree.share_range.clear();
    return;
  }
  std::vector<float> values;
  for (std::size_t i = 0; i < n_x; ++i) {
    values.clear();
    for (std::size_t t = 0; t < data.steps(); t += every) values.push_back(data.x[t * n_x + i]);
    model.input_range.push_back(range_of(values));
  }
  for (Tree& tree : model.trees) note_cells(model, data, every, tree);
}

}  // namespace remede
