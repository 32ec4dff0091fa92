// entmax-1.5 of a feature choice: p[f] = max(0, logits[f] / 2 - tau)^2, with the tau at which the sum of p is 1. Unlike
// softmax it gives features far below the best a share of exactly 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace remede {

// ASSIGNS the square roots of the shares, from which the derivative follows:
// dp[i] / dlogits[j] = root[i] ([i = j] - root[j] / sum(root)).
// Newton's method from below: the sum is convex and decreases in tau, so that tau rises to the solution and not beyond.
template <typename T>
void entmax_roots(std::span<const T> logits, std::span<T> root) {
  const T top = *std::max_element(logits.begin(), logits.end());
  for (std::size_t f = 0; f < logits.size(); ++f) root[f] = T(0.5) * (logits[f] - top);
  T tau = T(-1);  // there the share of the best alone is 1
  while (true) {
    T sum = T(0), squares = T(0);
    for (const T x : root) {
      const T above = std::max(x - tau, T(0));
      sum += above;
      squares += above * above;
    }
    if (!(squares > T(1))) break;
    const T next = tau + (squares - T(1)) / (T(2) * sum);
    if (!(next > tau)) break;
    tau = next;
  }
  for (T& x : root) x = std::max(x - tau, T(0));
}

}  // namespace remede
