// The fast engine for CPUs: batches cut into pieces, pieces through the vector kernels.
#include <algorithm>

#include "remede/base/threads.h"
#include "remede/executor/cpu/kernel.h"

namespace remede {
namespace {

void add(const AlignedVector<float>& from, AlignedVector<float>& to) {
  const float* __restrict source = from.data();
  float* __restrict target = to.data();
  for (std::size_t k = 0, n = to.size(); k < n; ++k) target[k] += source[k];
}

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(int threads) : threads_(threads <= 0 ? hardware_threads() : threads), scratch_(threads_) {}

  BatchLoss gradient(const Parameters<float>& parameters, const GradientForm& form, const Objective& objective,
                     const Sequences& data, std::span<const float> fill, std::span<const std::uint32_t> batch,
                     Parameters<float>& gradient, const Carry* carry) override {
    const BatchLoss total = run(parameters, form, objective, data, fill, batch, true, carry);
    if (!(gradient.shape == parameters.shape) || gradient.values.size() != parameters.values.size())
      gradient = Parameters<float>(parameters.shape);
    if (total.weight == 0) {
      std::fill(gradient.values.begin(), gradient.values.end(), 0.0F);
      return total;
    }
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      add(sums_[i].node, sums_[0].node);
      add(sums_[i].leaf, sums_[0].leaf);
    }
    cpu::finish(parameters, tree_, sums_[0], static_cast<float>(1.0 / total.weight), gradient);
    return total;
  }

  BatchLoss loss(const Parameters<float>& parameters, const Objective& objective, const Sequences& data,
                 std::span<const float> fill, std::span<const std::uint32_t> batch) override {
    return run(parameters, GradientForm(), objective, data, fill, batch, false, nullptr);
  }

 private:
  BatchLoss run(const Parameters<float>& parameters, const GradientForm& form, const Objective& objective,
                const Sequences& data, std::span<const float> fill, std::span<const std::uint32_t> batch, bool gradient,
                const Carry* carry) {
    cpu::prepare(parameters, form, objective, batch.size(), tree_);
    order_.assign(batch.begin(), batch.end());
    // Longest first, so that lanes of a block end together: no step of a long sequence is paid for by a short one.
    const auto longer = [&](std::uint32_t a, std::uint32_t b) { return data.length(a) > data.length(b); };
    if (!std::is_sorted(order_.begin(), order_.end(), longer)) std::stable_sort(order_.begin(), order_.end(), longer);
    pieces_ = cut_pieces(order_, parameters.values.size());
    if (sums_.size() < pieces_.size()) sums_.resize(pieces_.size());
    parallel_for(pieces_.size(), threads_, [&](std::size_t i, int worker) {
      cpu::run_piece(tree_, {&data, fill, pieces_[i], gradient, carry}, scratch_[worker], sums_[i]);
    });
    BatchLoss total;
    for (std::size_t i = 0; i < pieces_.size(); ++i) total += sums_[i].loss;
    return total;
  }

  int threads_;
  std::vector<cpu::Scratch> scratch_;  // one per thread
  cpu::PreparedTree tree_;
  std::vector<std::uint32_t> order_;
  std::vector<std::span<const std::uint32_t>> pieces_;
  std::vector<cpu::PieceSums> sums_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(int threads) { return std::make_unique<CpuEngine>(threads); }

}  // namespace remede
