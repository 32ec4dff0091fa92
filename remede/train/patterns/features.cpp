#include "remede/train/patterns/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "remede/base/arithmetic.h"
#include "remede/base/lanes.h"
#include "remede/base/threads.h"
#include "remede/train/scaling.h"

namespace remede::patterns {
namespace {

constexpr std::size_t kPatternsTogether = 256;  // what a thread works on
constexpr std::size_t kSamples = 2048;          // steps from which thresholds are drawn,
constexpr double kSampledNumbers = 2e7;         // fewer where there are many inputs
constexpr int kMostInputsRead = 3;              // by one pattern
constexpr double kBalanced = 0.7;               // share of the patterns whose weights of an input add up to zero
constexpr double kRounding = 1e-6;              // of a sum, as a share of its terms: no count rises within less
constexpr double kWidestRamp = 0.01;            // standard deviations
constexpr double kLowestQuantile = 0.05;  // thresholds lie between this quantile of the sum and that far from the top

constexpr std::size_t kWidth = kLanes;  // sequences side by side
using Lanes = std::array<float, kWidth>;

// Up to kWidth sequences, walked together from their first steps on.
class Walk {
 public:
  Walk(const Sequences& data, const Basis& basis, const TargetRows& rows, std::size_t pack)
      : data_(data), basis_(basis), v_(basis.size()) {
    for (std::size_t i = pack * kWidth; i < std::min((pack + 1) * kWidth, rows.sequences.size()); ++i) {
      const auto begin = data.offset[rows.sequences[i]];
      begin_.push_back(static_cast<std::size_t>(begin));
      length_.push_back(rows.length(data, i));
      longest_ = std::max(longest_, length_.back());
    }
  }
  std::size_t longest() const { return longest_; }
  std::size_t lanes() const { return begin_.size(); }
  bool active(std::size_t lane, std::size_t t) const { return lane < lanes() && t < length_[lane]; }
  const std::vector<Lanes>& values() const { return v_; }
  const Lanes& now() const { return now_; }  // 1: the sequence has this step

  // Step t, after step t - 1. A sequence that has ended keeps its values.
  void step(std::size_t t) {
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      now_[lane] = active(lane, t) ? 1.0F : 0.0F;
      if (!active(lane, t)) continue;
      const std::size_t row = (begin_[lane] + t) * basis_.n_x;
      for (std::size_t i = 0; i < basis_.n_x; ++i) {
        const float raw = data_.x[row + i];
        v_[i][lane] = ((raw == raw ? raw : basis_.fill[i]) - basis_.shift[i]) / basis_.scale[i];
      }
    }
    for (std::size_t source = basis_.n_x; source < v_.size(); ++source) follow(source, t);
  }

 private:
  void follow(std::size_t source, std::size_t t) {
    Lanes& to = v_[source];
    const Lanes& from = v_[basis_.before(source)];
    const float share = basis_.share[basis_.chain_of(source)];
    if (t == 0)
      to = from;
    else
      for (std::size_t lane = 0; lane < kWidth; ++lane) to[lane] += now_[lane] * share * (from[lane] - to[lane]);
  }

  const Sequences& data_;
  const Basis& basis_;
  std::vector<std::size_t> begin_, length_;  // (lanes) first step in the data; steps up to the last row
  std::vector<Lanes> v_;                     // (basis)
  Lanes now_{};
  std::size_t longest_ = 0;
};

std::size_t packs_of(const TargetRows& rows) { return (rows.sequences.size() + kWidth - 1) / kWidth; }

// n numbers between the two, evenly spaced on a logarithmic scale.
float between(double first, double last, double at) {
  return static_cast<float>(first) * exp(static_cast<float>(at * log(last / first)));
}

// Some of one input and its averages in one chain, two at least.
void draw_terms(const Basis& basis, std::size_t chain, std::size_t input, Random& random, std::vector<Term>& terms) {
  std::vector<std::size_t> sources = {input};
  for (std::size_t stage = 0; stage < basis.stages; ++stage) sources.push_back(basis.at(chain, stage, input));
  random.shuffle(std::span(sources));
  sources.resize(2 + random.below(basis.stages));
  std::vector<float> weights;
  for (std::size_t i = 0; i < sources.size(); ++i) weights.push_back(static_cast<float>(random.normal()));
  if (random.uniform() < kBalanced) {
    const float mean = std::accumulate(weights.begin(), weights.end(), 0.0F) / static_cast<float>(weights.size());
    for (float& w : weights) w -= mean;
  }
  for (std::size_t i = 0; i < sources.size(); ++i) terms.push_back({sources[i], weights[i]});
}

Pattern draw_pattern(const Basis& basis, bool whole, const PatternOptions& options, Random& random,
                     std::vector<std::size_t>& inputs) {
  Pattern p;
  const std::size_t chain = random.below(basis.chains);
  const std::size_t read = 1 + random.below(std::min<std::size_t>(kMostInputsRead, basis.n_x));
  for (std::size_t i = 0; i < read; ++i) std::swap(inputs[i], inputs[i + random.below(inputs.size() - i)]);
  for (std::size_t i = 0; i < read; ++i) draw_terms(basis, chain, inputs[i], random, p.terms);
  const double at = random.uniform();
  if (!whole || random.uniform() >= options.stores)
    p.share = between(options.fastest_collected, options.slowest_collected, at);
  if (options.counted > 0 && random.uniform() < options.counted) p.ramp = 1.0F;  // for now
  return p;
}

float sum_of(const Pattern& p, const float* values) {
  float sum = 0;
  for (const Term& term : p.terms) sum += term.weight * values[term.source];
  return sum;
}

double spread_of(const std::vector<float>& sums) {
  double sum = 0, squares = 0;
  for (const float s : sums) {
    sum += static_cast<double>(s);
    squares += static_cast<double>(s) * static_cast<double>(s);
  }
  const auto n = static_cast<double>(sums.size());
  return std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)));
}

// The threshold may be a value that the sum often has: the ramp begins above it, so that no rounding decides whether
// such steps count. Where that leaves little of the sum, as with inputs that are large beside their spread, the sum
// itself is collected.
void set_ramp(const Basis& basis, double spread, double ramp, Pattern& p) {
  double terms = std::abs(static_cast<double>(p.threshold));
  for (const Term& term : p.terms) {
    const std::size_t i = basis.input_of(term.source);
    const double shift = static_cast<double>(basis.shift[i]) / static_cast<double>(basis.scale[i]);
    terms += std::abs(static_cast<double>(term.weight)) * (1 + std::abs(shift));
  }
  p.ramp = static_cast<float>(std::max(ramp * spread, kRounding * terms));
  if (p.ramp > kWidestRamp * spread) p.ramp = 0;
  p.threshold += p.ramp;
}

// (samples, basis)
std::vector<float> sample_basis(const Sequences& data, const Basis& basis, const TargetRows& rows, int threads) {
  std::size_t steps = 0;
  for (std::size_t i = 0; i < rows.sequences.size(); ++i) steps += rows.length(data, i);
  const std::size_t most = std::clamp(static_cast<std::size_t>(kSampledNumbers) / basis.size(), kWidth, kSamples);
  const std::size_t every = std::max<std::size_t>(1, steps / most);
  std::vector<std::vector<float>> of_pack(packs_of(rows));
  parallel_for(of_pack.size(), threads, [&](std::size_t pack, int) {
    Walk walk(data, basis, rows, pack);
    for (std::size_t t = 0, seen = pack; t < walk.longest(); ++t) {
      walk.step(t);
      for (std::size_t lane = 0; lane < kWidth; ++lane) {
        if (!walk.active(lane, t) || ++seen % every != 0) continue;
        for (const Lanes& v : walk.values()) of_pack[pack].push_back(v[lane]);
      }
    }
  });
  std::vector<float> samples;
  for (const std::vector<float>& part : of_pack) samples.insert(samples.end(), part.begin(), part.end());
  return samples;
}

// What a cell holds after a step in which its pattern has the sum a.
void collect(const Pattern& p, const Lanes& a, const Lanes& now, bool first, Lanes& level) {
  for (std::size_t lane = 0; lane < kWidth; ++lane) {
    float in = a[lane] > 0.0F ? a[lane] : 0.0F;
    if (p.ramp > 0.0F) in = in < p.ramp ? in / p.ramp : 1.0F;
    const float change = p.share == 0.0F ? in : first ? in - level[lane] : p.share * (in - level[lane]);
    level[lane] += now[lane] * change;
  }
}

// The patterns from `begin` on, and, with the first of them, the basis.
void measure_part(const Sequences& data, const Basis& basis, const TargetRows& rows,
                  const std::vector<Pattern>& patterns, std::size_t pack, std::size_t begin,
                  const std::function<bool()>& stop, Matrix<float>& table) {
  const std::size_t end = std::min(begin + kPatternsTogether, patterns.size());
  Walk walk(data, basis, rows, pack);
  std::vector<Lanes> level(end - begin, Lanes{});
  std::array<std::uint32_t, kWidth> row{};
  for (std::size_t lane = 0; lane < walk.lanes(); ++lane) row[lane] = rows.first_row[pack * kWidth + lane];
  for (std::size_t t = 0; t < walk.longest() && !stop(); ++t) {
    walk.step(t);
    const std::vector<Lanes>& v = walk.values();
    for (std::size_t p = begin; p < end; ++p) {
      Lanes a;
      a.fill(-patterns[p].threshold);
      for (const Term& term : patterns[p].terms)
        for (std::size_t lane = 0; lane < kWidth; ++lane) a[lane] += term.weight * v[term.source][lane];
      collect(patterns[p], a, walk.now(), t == 0, level[p - begin]);
    }
    for (std::size_t lane = 0; lane < walk.lanes(); ++lane) {
      const std::size_t i = pack * kWidth + lane;
      if (row[lane] == rows.first_row[i + 1]) continue;
      if (rows.step[row[lane]] != data.offset[rows.sequences[i]] + static_cast<std::int64_t>(t)) continue;
      const std::size_t at = row[lane]++;
      for (std::size_t p = begin; p < end; ++p) table(at, p) = level[p - begin][lane];
      for (std::size_t source = 0; begin == 0 && source < v.size(); ++source)
        table(at, patterns.size() + source) = v[source][lane];
    }
  }
}

bool has_whole_targets(const Sequences& data) {
  for (std::size_t s = 0; s < data.count(); ++s)
    for (auto t = data.offset[s]; t + 1 < data.offset[s + 1]; ++t)
      if (data.weight[static_cast<std::size_t>(t)] > 0.0F) return false;
  return true;
}

}  // namespace

Basis make_basis(const Sequences& data, std::span<const float> fill, const PatternOptions& options) {
  Basis b;
  b.n_x = static_cast<std::size_t>(data.n_x);
  b.chains = static_cast<std::size_t>(options.speeds);
  b.stages = static_cast<std::size_t>(options.stages);
  for (int i = 0; i < options.speeds; ++i)
    b.share.push_back(between(options.fastest, options.slowest, i / std::max(1.0, options.speeds - 1.0)));
  Scaling scaling;
  scale_inputs(data, true, scaling);
  b.shift = scaling.x_shift;
  b.scale = scaling.x_scale;
  b.fill.assign(fill.begin(), fill.end());
  return b;
}

TargetRows choose_rows(const Sequences& data, std::size_t most) {
  TargetRows rows;
  rows.whole = has_whole_targets(data);
  const auto targets =
      static_cast<std::size_t>(std::count_if(data.weight.begin(), data.weight.end(), [](float w) { return w > 0.0F; }));
  const std::size_t wanted = std::min(targets, most);
  std::size_t seen = 0;
  rows.first_row.push_back(0);
  for (std::size_t s = 0; s < data.count(); ++s) {
    for (auto t = data.offset[s]; t < data.offset[s + 1]; ++t) {
      if (!(data.weight[static_cast<std::size_t>(t)] > 0.0F)) continue;
      if (seen * wanted / targets != (seen + 1) * wanted / targets) rows.step.push_back(t);
      ++seen;
    }
    if (rows.step.size() == rows.first_row.back()) continue;
    rows.sequences.push_back(static_cast<std::uint32_t>(s));
    rows.first_row.push_back(static_cast<std::uint32_t>(rows.step.size()));
  }
  return rows;
}

std::size_t steps_to_walk(const Sequences& data, const TargetRows& rows) {
  std::size_t steps = 0;
  for (std::size_t begin = 0; begin < rows.sequences.size(); begin += kWidth) {
    std::size_t longest = 0;
    for (std::size_t i = begin; i < std::min(begin + kWidth, rows.sequences.size()); ++i)
      longest = std::max(longest, rows.length(data, i));
    steps += longest;
  }
  return steps;
}

std::vector<Pattern> draw_patterns(const Sequences& data, const Basis& basis, const TargetRows& rows, int count,
                                   const PatternOptions& options, Random& random, int threads) {
  std::vector<Pattern> patterns;
  patterns.reserve(static_cast<std::size_t>(count));
  std::vector<std::size_t> inputs(basis.n_x);
  std::iota(inputs.begin(), inputs.end(), std::size_t{0});
  for (int i = 0; i < count; ++i) patterns.push_back(draw_pattern(basis, rows.whole, options, random, inputs));
  const std::vector<float> samples = sample_basis(data, basis, rows, threads);
  const std::size_t sampled = samples.size() / basis.size();
  if (sampled == 0) return {};
  std::vector<double> quantile;
  quantile.reserve(patterns.size());
  for (int i = 0; i < count; ++i) quantile.push_back(random.uniform(kLowestQuantile, 1 - kLowestQuantile));
  parallel_for(patterns.size(), threads, [&](std::size_t p, int) {
    std::vector<float> sums(sampled);
    for (std::size_t s = 0; s < sampled; ++s) sums[s] = sum_of(patterns[p], samples.data() + s * basis.size());
    const double spread = patterns[p].ramp > 0.0F ? spread_of(sums) : 0.0;
    const auto at = static_cast<std::ptrdiff_t>(quantile[p] * static_cast<double>(sampled));
    std::nth_element(sums.begin(), sums.begin() + at, sums.end());
    patterns[p].threshold = sums[static_cast<std::size_t>(at)];
    if (patterns[p].ramp > 0.0F) set_ramp(basis, spread, options.ramp, patterns[p]);
  });
  return patterns;
}

Matrix<float> measure(const Sequences& data, const Basis& basis, const TargetRows& rows,
                      const std::vector<Pattern>& patterns, int threads, const std::function<bool()>& stop) {
  Matrix<float> table(rows.count(), patterns.size() + basis.size());
  const std::size_t parts = std::max<std::size_t>(1, (patterns.size() + kPatternsTogether - 1) / kPatternsTogether);
  parallel_for(packs_of(rows) * parts, threads, [&](std::size_t at, int) {
    measure_part(data, basis, rows, patterns, at / parts, at % parts * kPatternsTogether, stop, table);
  });
  return table;
}

}  // namespace remede::patterns
