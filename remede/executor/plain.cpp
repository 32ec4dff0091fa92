#include "remede/executor/plain.h"

#include <algorithm>
#include <type_traits>

#include "remede/base/threads.h"
#include "remede/executor/pieces.h"

namespace remede {
namespace {

// One sequence in T; holds the numbers where T is not float.
template <typename T>
class ViewOf {
 public:
  SequenceView<T> operator()(const Sequences& data, std::uint32_t s) {
    const auto at = static_cast<std::size_t>(data.offset[s]), n_y = static_cast<std::size_t>(data.n_y);
    const std::size_t length = data.length(s);
    return {length,
            numbers(data.x, at * static_cast<std::size_t>(data.n_x), length * static_cast<std::size_t>(data.n_x), x_),
            data.label.empty() ? nullptr : data.label.data() + at,
            data.value.empty() ? nullptr : numbers(data.value, at * n_y, length * n_y, value_),
            numbers(data.weight, at, length, weight_),
            data.n_y};
  }

 private:
  static const T* numbers(std::span<const float> from, std::size_t at, std::size_t count, std::vector<T>& to) {
    if constexpr (std::is_same_v<T, float>) {
      return from.data() + at;
    } else {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(at);
      to.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
      return to.data();
    }
  }
  std::vector<T> x_, value_, weight_;
};

template <typename T>
Parameters<T> converted(const Parameters<float>& from) {
  Parameters<T> to(from.shape);
  to.values.assign(from.values.begin(), from.values.end());
  to.missing_right = from.missing_right;
  return to;
}

template <typename T>
class PlainEngine final : public Engine {
 public:
  explicit PlainEngine(int threads) : threads_(threads) {}

  BatchLoss gradient(const Parameters<float>& parameters, const GradientForm& form, const Objective& objective,
                     const Sequences& data, std::span<const float> fill, std::span<const std::uint32_t> batch,
                     Parameters<float>& gradient, const Carry* carry) override {
    const Parameters<T> exact = converted<T>(parameters);
    const std::vector<T> exact_fill(fill.begin(), fill.end());
    const PlainTree<T> tree(exact, form, objective, exact_fill);
    const auto scale = static_cast<T>(1.0 / total_weight(data, batch));
    const std::vector<std::span<const std::uint32_t>> pieces = cut_pieces(batch, parameters.values.size());
    std::vector<Parameters<T>> sums(pieces.size());
    std::vector<BatchLoss> losses(pieces.size());
    parallel_for(pieces.size(), threads_, [&](std::size_t i, int) {
      sums[i] = Parameters<T>(parameters.shape);
      ViewOf<T> view;
      Trace<T> trace;
      std::vector<T> g, start;
      for (const std::uint32_t s : pieces[i]) {
        const auto sequence = view(data, s);
        const auto n_m = static_cast<std::size_t>(parameters.shape.n_m);
        if (carry != nullptr) start.assign(carry->before.begin() + s * n_m, carry->before.begin() + (s + 1) * n_m);
        tree.forward(sequence, trace, carry != nullptr ? start.data() : nullptr);
        if (carry != nullptr)
          std::transform(trace.memory.end() - static_cast<std::ptrdiff_t>(n_m), trace.memory.end(),
                         carry->after.begin() + static_cast<std::ptrdiff_t>(s * n_m),
                         [](T m) { return static_cast<float>(m); });
        losses[i] += tree.loss(sequence, trace, scale, &g);
        tree.backward(sequence, trace, g, sums[i]);
      }
    });
    BatchLoss total;
    Parameters<T> all(parameters.shape);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      total += losses[i];
      for (std::size_t k = 0; k < all.values.size(); ++k) all.values[k] += sums[i].values[k];
    }
    tree.finish(all);
    gradient = Parameters<float>(parameters.shape);
    std::transform(all.values.begin(), all.values.end(), gradient.values.begin(),
                   [](T g) { return static_cast<float>(g); });
    return total;
  }

  BatchLoss loss(const Parameters<float>& parameters, const Objective& objective, const Sequences& data,
                 std::span<const float> fill, std::span<const std::uint32_t> batch) override {
    const Parameters<T> exact = converted<T>(parameters);
    const std::vector<T> exact_fill(fill.begin(), fill.end());
    const PlainTree<T> tree(exact, GradientForm(), objective, exact_fill);
    const std::vector<std::span<const std::uint32_t>> pieces = cut_pieces(batch, parameters.values.size());
    std::vector<BatchLoss> losses(pieces.size());
    parallel_for(pieces.size(), threads_, [&](std::size_t i, int) {
      ViewOf<T> view;
      Trace<T> trace;
      for (const std::uint32_t s : pieces[i]) {
        const auto sequence = view(data, s);
        tree.forward(sequence, trace);
        losses[i] += tree.loss(sequence, trace, T(0), nullptr);
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

std::unique_ptr<Engine> make_plain_engine(int threads) { return std::make_unique<PlainEngine<float>>(threads); }
std::unique_ptr<Engine> make_double_engine(int threads) { return std::make_unique<PlainEngine<double>>(threads); }

}  // namespace remede
