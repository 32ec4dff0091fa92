#include "remede/train/frontier/start.h"

#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"
#include "remede/train/frontier/trends.h"

namespace remede::frontier {
namespace {

using laws::Group;

constexpr std::uint64_t kStartStream = 0x66726f6e74000000;

template <typename T>
T pick(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + random.below(choices.size()));
}

// What kinds of cells a start has.
// Bent: slow averages, and quick ones of their positive part. Cascade: each store drains into the next, the last into
// the answer.
enum class Flavour { kStores, kAverages, kMixed, kBent, kCascade };

Law draw_law(bool classes, Flavour flavour, int k, int cells, Random& random) {
  if (flavour == Flavour::kStores || flavour == Flavour::kCascade) return Law::kStore;
  if (flavour == Flavour::kAverages) return Law::kAverage;
  if (flavour == Flavour::kBent) return 2 * k < cells ? Law::kAverage : Law::kPositiveAverage;
  const double u = random.uniform();
  if (classes) return u < 0.6 ? Law::kAverage : u < 0.85 ? Law::kPositiveAverage : Law::kStore;
  return u < 0.4 ? Law::kStore : u < 0.8 ? Law::kAverage : Law::kPositiveAverage;
}

laws::Shape draw_shape(const Problem& problem, std::uint64_t number, Random& random, Flavour& flavour) {
  laws::Shape s;
  s.n_x = problem.n_x;
  s.n_y = problem.n_y;
  int cells = problem.longest < 2 ? 0 : pick(random, {1, 2, 2, 3, 3, 4, 4, 6});
  s.depth = problem.classes ? pick(random, {0, 0, 0, 0, 1, 2}) : pick(random, {0, 0, 0, 1, 1, 2});
  // Every kind of start stands among the first few, whatever the seed.
  using enum Flavour;
  flavour = problem.classes
                ? pick(random, {kStores, kAverages, kAverages, kAverages, kMixed, kMixed, kBent})
                : pick(random, {kStores, kStores, kAverages, kMixed, kMixed, kBent, kBent, kCascade, kCascade});
  if (number < 10) flavour = static_cast<Flavour>(number % 5);
  if (number < 5 || flavour == kCascade) s.depth = 0;
  if (flavour == kCascade && cells > 0) cells = pick(random, {2, 2, 3});
  const bool first = random.below(10) < (problem.classes ? 4U : 3U);
  for (int k = 0; k < cells; ++k) {
    s.law.push_back(draw_law(problem.classes, flavour, k, cells, random));
    s.first.push_back(first && s.law.back() != Law::kStore ? 1 : 0);
  }
  s.leaf_linear = s.depth > 0 && random.below(4) == 0;
  return s;
}

// Which numbers are in use at first.
void draw_used(const Problem& problem, Flavour flavour, Random& random, laws::Parameters& p) {
  const laws::Shape& s = p.shape;
  const std::size_t k_n = s.law.size();
  const auto use = [&](Group g) {
    std::fill_n(p.used.begin() + static_cast<std::ptrdiff_t>(s.begin(g)), s.size(g), std::uint8_t{1});
  };
  for (const Group g : {Group::kIndex, Group::kThreshold, Group::kBias, Group::kInput, Group::kTap, Group::kOutput,
                        Group::kLinear, Group::kLeafLinear})
    use(g);
  if (s.depth > 0) use(Group::kTapLeaf);
  if (random.below(10) < 6 || flavour == Flavour::kCascade) use(Group::kTapInput);
  const bool chained = random.below(4) != 0 || flavour == Flavour::kBent || flavour == Flavour::kCascade,
             levels = random.below(2) == 0;
  const bool direct = k_n == 0 || (random.below(10) < 6 && flavour != Flavour::kCascade);
  for (std::size_t k = 0; k < k_n; ++k) {
    if (levels && s.law[k] == Law::kStore) p.used[s.at(Group::kTapLevel, k)] = 1;
    for (std::size_t j = 0; j < k && chained; ++j) p.used[s.at(Group::kEarlier, k * k_n + j)] = 1;
  }
  const auto n_z = static_cast<std::size_t>(s.n_z()), n_x = static_cast<std::size_t>(s.n_x);
  for (const Group g : {Group::kLinear, Group::kLeafLinear})
    for (std::size_t i = 0; i < s.size(g); ++i) {
      const std::size_t source = i % n_z;
      // The output of an average is its level: once is enough.
      const bool twice = source >= n_x + k_n && s.law[source - n_x - k_n] != Law::kStore;
      if (twice || (source < n_x && !direct)) p.used[s.at(g, i)] = 0;
    }
  // Of two classes only the second has a score: the first one's is 0.
  if (problem.classes && s.n_y == 2)
    for (const Group g : {Group::kOutput, Group::kLinear, Group::kLeafLinear}) {
      const std::size_t width = g == Group::kOutput ? 1 : n_z;
      for (std::size_t i = 0; i < s.size(g); ++i)
        if (i / width % 2 == 0) p.used[s.at(g, i)] = 0;
    }
}

void draw_values(const Problem& problem, Flavour flavour, Random& random, Start& start) {
  laws::Parameters& p = start.parameters;
  const laws::Shape& s = p.shape;
  const std::size_t k_n = s.law.size();
  const auto n_x = static_cast<std::size_t>(s.n_x), n_z = static_cast<std::size_t>(s.n_z());
  const auto spread = [&](Group g, double by) {
    for (std::size_t i = s.begin(g), end = i + s.size(g); i < end; ++i)
      if (p.used[i] != 0) p.values[i] = by * random.normal();
  };
  spread(Group::kIndex, 0.3);
  spread(Group::kThreshold, 0.7);
  spread(Group::kInput, 1.0 / std::sqrt(static_cast<double>(n_x)));
  spread(Group::kEarlier, 0.3);
  spread(Group::kTapInput, 0.05);
  spread(Group::kTapLeaf, 0.2);
  spread(Group::kLinear, problem.classes ? 0.3 : 0.1);
  spread(Group::kOutput, 0.05);
  for (std::uint8_t& right : p.missing_right) right = static_cast<std::uint8_t>(random.below(2));
  const double most = std::log(std::clamp(problem.longest / 2, 2.0, problem.recipe.small_longest_time));
  start.rates.assign(p.values.size(), 1.0);
  for (std::size_t k = 0; k < k_n; ++k) {
    const double time =
        static_cast<double>(exp(static_cast<float>(random.uniform(problem.recipe.small_first_tap, most))));
    p[Group::kTap][k] = -log(time - 0.99);
    if (flavour == Flavour::kBent && s.law[k] == Law::kPositiveAverage) p[Group::kTap][k] = 1;
    if (s.law[k] != Law::kStore) continue;
    p[Group::kBias][k] = 0.3;
    if (flavour == Flavour::kCascade && k > 0) {
      for (std::size_t i = 0; i < n_x; ++i) p[Group::kInput][k * n_x + i] *= 0.1;
      p[Group::kBias][k] = 0;
      p[Group::kEarlier][k * k_n + k - 1] = 1;
    }
    // The level of a store is that many times what goes in at a step.
    start.rates[s.at(Group::kTapLevel, k)] = 0.3 / time;
    for (const Group g : {Group::kLinear, Group::kLeafLinear})
      for (std::size_t i = n_x + k_n + k; i < s.size(g); i += n_z) {
        start.rates[s.at(g, i)] = 1 / time;
        p.values[s.at(g, i)] /= time;
      }
  }
  if (flavour != Flavour::kCascade || k_n == 0) return;
  for (std::size_t i = 0; i < s.size(Group::kLinear); ++i)
    if (p.used[s.at(Group::kLinear, i)] != 0) p[Group::kLinear][i] = i % n_z == n_x + k_n - 1 ? 1.0 : 0.0;
}

}  // namespace

Start draw_start(const Problem& problem, std::uint64_t seed, std::uint64_t number) {
  Random random(seed, kStartStream + number);
  Start start;
  start.stream = kStartStream + number;
  Flavour flavour = Flavour::kMixed;
  start.parameters = laws::Parameters(draw_shape(problem, number, random, flavour));
  draw_used(problem, flavour, random, start.parameters);
  draw_values(problem, flavour, random, start);
  forbid(problem.trend, start.parameters);
  const Recipe& recipe = problem.recipe;
  start.options.rate =
      recipe.small_rate * static_cast<double>(exp(static_cast<float>(recipe.small_rate_jitter * random.normal())));
  const auto drawn = [&](double low, double high) {
    return static_cast<double>(exp(static_cast<float>(random.uniform(low, high))));
  };
  if (random.below(static_cast<std::uint64_t>(recipe.small_shrink_one_in)) == 0)
    start.options.l1 = drawn(recipe.small_shrink_low, recipe.small_shrink_high);
  if (problem.classes) start.options.answer_decay = recipe.small_answer_decay;
  const double size = drawn(recipe.small_noise_low, recipe.small_noise_high);
  if (problem.few_targets) start.options.noise = size;
  // In classification the data say how recordings differ, else nothing does.
  const double share = drawn(recipe.small_offset_low, recipe.small_offset_high);
  if (problem.few_sequences) start.options.offset = problem.classes ? share : size;
  return start;
}

}  // namespace remede::frontier
