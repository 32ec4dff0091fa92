#include "remede/engine/plain.h"

#include "remede/base/threads.h"
#include "remede/engine/pieces.h"

namespace remede {
namespace {

SequenceView<float> view(const Sequences& data, std::uint32_t s) {
  const auto at = static_cast<std::size_t>(data.offset[s]);
  return {data.length(s),
          data.x.data() + at * data.n_x,
          data.label.empty() ? nullptr : data.label.data() + at,
          data.value.empty() ? nullptr : data.value.data() + at * data.n_y,
          data.weight.data() + at,
          data.n_y};
}

class PlainEngine final : public Engine {
 public:
  explicit PlainEngine(int threads) : threads_(threads) {}

  BatchLoss gradient(const Parameters<float>& parameters, const GradientForm& form, const Objective& objective,
                     const Sequences& data, std::span<const float> fill, std::span<const std::uint32_t> batch,
                     Parameters<float>& gradient, const Carry* carry) override {
    const PlainTree<float> tree(parameters, form, objective, fill);
    const auto scale = static_cast<float>(1.0 / total_weight(data, batch));
    const std::vector<std::span<const std::uint32_t>> pieces = cut_pieces(batch, parameters.values.size());
    std::vector<Parameters<float>> sums(pieces.size());
    std::vector<BatchLoss> losses(pieces.size());
    parallel_for(pieces.size(), threads_, [&](std::size_t i, int) {
      sums[i] = Parameters<float>(parameters.shape);
      Trace<float> trace;
      std::vector<float> g;
      for (const std::uint32_t s : pieces[i]) {
        const auto sequence = view(data, s);
        const auto n_m = static_cast<std::size_t>(parameters.shape.n_m);
        tree.forward(sequence, trace, carry != nullptr ? carry->before.data() + s * n_m : nullptr);
        if (carry != nullptr)
          std::copy_n(trace.memory.end() - static_cast<std::ptrdiff_t>(n_m), n_m,
                      carry->after.begin() + static_cast<std::ptrdiff_t>(s * n_m));
        losses[i] += tree.loss(sequence, trace, scale, &g);
        tree.backward(sequence, trace, g, sums[i]);
      }
    });
    BatchLoss total;
    gradient = Parameters<float>(parameters.shape);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      total += losses[i];
      for (std::size_t k = 0; k < gradient.values.size(); ++k) gradient.values[k] += sums[i].values[k];
    }
    tree.finish(gradient);
    return total;
  }

  BatchLoss loss(const Parameters<float>& parameters, const Objective& objective, const Sequences& data,
                 std::span<const float> fill, std::span<const std::uint32_t> batch) override {
    const PlainTree<float> tree(parameters, GradientForm(), objective, fill);
    const std::vector<std::span<const std::uint32_t>> pieces = cut_pieces(batch, parameters.values.size());
    std::vector<BatchLoss> losses(pieces.size());
    parallel_for(pieces.size(), threads_, [&](std::size_t i, int) {
      Trace<float> trace;
      for (const std::uint32_t s : pieces[i]) {
        tree.forward(view(data, s), trace);
        losses[i] += tree.loss(view(data, s), trace, 0.0F, nullptr);
      }
    });
    BatchLoss total;
    for (const BatchLoss& l : losses) total += l;
    return total;
  }

 private:
  int threads_;
};

}  // namespace

std::unique_ptr<Engine> make_plain_engine(int threads) { return std::make_unique<PlainEngine>(threads); }

}  // namespace remede
