#include "remede/train/linear_system.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>

#include "remede/base/arithmetic.h"
#include "remede/base/threads.h"

namespace remede {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace linear {

// One recording: inputs with missing values filled in, targets with their weights.
struct Recording {
  MatrixXd x;       // (steps, n_x)
  MatrixXd y;       // (steps, n_y)
  VectorXd weight;  // (steps)
};

// y_t = sum of past[i] y_(t-1-i) + sum of now[i] x_(t-i) + constant.
struct Arx {
  std::vector<MatrixXd> past;  // (order) of (n_y, n_y)
  std::vector<MatrixXd> now;   // (order + 1) of (n_y, n_x)
};

// s' = a s + b x, y = c s + d x + constant, from the state s0.
struct System {
  MatrixXd a, b, c, d;
  VectorXd constant, s0;
};

}  // namespace linear

namespace {

using linear::Arx;
using linear::Recording;
using linear::System;

constexpr int kHankelBlocks = 100;            // past and future steps of the Hankel matrix
constexpr int kMostHankelRows = 400;          // outputs times blocks: more outputs get fewer blocks
constexpr int kMostArxColumns = 600;          // of the least-squares problem
constexpr double kRidge = 1e-6;               // of the least-squares problems, relative to their mean diagonal
constexpr double kLeastSingularValue = 1e-9;  // relative to the largest: directions below it are not states
constexpr int kSquarings = 40;                // of a matrix, for its largest eigenvalue: the rest is below rounding
constexpr double kExtraWeight = 0.3;          // standard deviation of the weights of extra cells

std::vector<Recording> recordings_of(const Sequences& data, std::span<const std::uint8_t> continues,
                                     std::span<const float> fill) {
  std::vector<Recording> all;
  for (std::size_t s = 0; s < data.count();) {
    std::size_t end = s + 1;
    while (end < data.count() && !continues.empty() && continues[end] != 0) ++end;
    const auto first = static_cast<std::size_t>(data.offset[s]), last = static_cast<std::size_t>(data.offset[end]);
    Recording r;
    const auto steps = static_cast<Index>(last - first);
    r.x.resize(steps, data.n_x);
    r.y.resize(steps, data.n_y);
    r.weight.resize(steps);
    for (Index t = 0; t < steps; ++t) {
      const std::size_t from = first + static_cast<std::size_t>(t);
      for (int i = 0; i < data.n_x; ++i) {
        const float value = data.x[from * static_cast<std::size_t>(data.n_x) + static_cast<std::size_t>(i)];
        r.x(t, i) = static_cast<double>(std::isnan(value) ? fill[static_cast<std::size_t>(i)] : value);
      }
      r.weight[t] = static_cast<double>(data.weight[from]);
      for (int o = 0; o < data.n_y; ++o) {
        const float value = data.value[from * static_cast<std::size_t>(data.n_y) + static_cast<std::size_t>(o)];
        r.y(t, o) = r.weight[t] > 0 ? static_cast<double>(value) : 0.0;
      }
    }
    all.push_back(std::move(r));
    s = end;
  }
  return all;
}

// Sums of a weighted least-squares problem, solved with a small ridge.
class LeastSquares {
 public:
  LeastSquares(int columns, int outputs)
      : products_(MatrixXd::Zero(columns, columns)), right_(MatrixXd::Zero(columns, outputs)) {}

  // Rows of regressors, one below the other.
  void add(const MatrixXd& rows, const MatrixXd& values) {
    products_.noalias() += rows.transpose() * rows;
    right_.noalias() += rows.transpose() * values;
    rows_ += rows.rows();
  }
  Index rows() const { return rows_; }

  MatrixXd solve() {
    const double mean = products_.diagonal().mean();
    products_.diagonal().array() += kRidge * (mean > 0 ? mean : 1.0);
    return products_.ldlt().solve(right_);
  }

 private:
  MatrixXd products_, right_;
  Index rows_ = 0;
};

// The largest modulus of the eigenvalues, by Gelfand's formula: the N-th root of the norm of a to the power of N, where
// N is two to the power of kSquarings. Eigen's solver gives the same to rounding, but takes a quarter of the time to
// compile this file.
double largest_modulus(const MatrixXd& a) {
  MatrixXd power = a;
  double logarithm = 0, share = 1;  // the modulus is exp(logarithm) times the norm of `power` to the power of `share`
  for (int k = 0; k < kSquarings; ++k) {
    const double norm = power.norm();
    if (norm == 0) return 0;
    power /= norm;
    logarithm += share * std::log(norm);
    share /= 2;
    power = (power * power).eval();
  }
  return std::exp(logarithm);
}

std::optional<Arx> fit_arx(const std::vector<Recording>& all, Index n_x, Index n_y, Index order) {
  const Index columns = order * n_y + (order + 1) * n_x + 1;
  if (columns > kMostArxColumns) return std::nullopt;
  LeastSquares sums(columns, n_y);
  for (const Recording& r : all) {
    std::vector<Index> usable;
    Index run = 0;  // steps with targets before this one, without a gap
    for (Index t = 0; t < r.x.rows(); ++t) {
      const bool known = r.weight[t] > 0;
      if (known && run >= order) usable.push_back(t);
      run = known ? run + 1 : 0;
    }
    MatrixXd rows(static_cast<Index>(usable.size()), columns), values(rows.rows(), n_y);
    for (Index i = 0; i < rows.rows(); ++i) {
      const Index t = usable[static_cast<std::size_t>(i)];
      for (Index k = 0; k < order; ++k) rows.row(i).segment(k * n_y, n_y) = r.y.row(t - 1 - k);
      for (Index k = 0; k <= order; ++k) rows.row(i).segment(order * n_y + k * n_x, n_x) = r.x.row(t - k);
      rows(i, columns - 1) = 1;
      values.row(i) = r.y.row(t);
    }
    sums.add(rows, values);
  }
  if (sums.rows() < 2 * columns) return std::nullopt;
  const MatrixXd solution = sums.solve();
  Arx arx;
  for (Index k = 0; k < order; ++k) arx.past.push_back(solution.middleRows(k * n_y, n_y).transpose());
  for (Index k = 0; k <= order; ++k) arx.now.push_back(solution.middleRows(order * n_y + k * n_x, n_x).transpose());
  return arx;
}

// Draws all poles inwards, in proportion, until the largest is within the limit.
void limit_poles(Arx& arx, Index n_y, double limit) {
  const auto order = static_cast<Index>(arx.past.size());
  MatrixXd companion = MatrixXd::Zero(order * n_y, order * n_y);
  for (Index k = 0; k < order; ++k) companion.block(0, k * n_y, n_y, n_y) = arx.past[static_cast<std::size_t>(k)];
  if (order > 1) companion.block(n_y, 0, (order - 1) * n_y, (order - 1) * n_y).setIdentity();
  const double largest = largest_modulus(companion);
  if (largest <= limit) return;
  double factor = 1;
  for (MatrixXd& a : arx.past) a *= factor *= limit / largest;
}

// What an impulse of each input does to each output, `count` steps: element k is (n_y, n_x).
std::vector<MatrixXd> impulse_response(const Arx& arx, Index n_x, Index n_y, int count) {
  std::vector<MatrixXd> response;
  for (int t = 0; t < count; ++t) {
    MatrixXd g = MatrixXd::Zero(n_y, n_x);
    if (t < static_cast<int>(arx.now.size())) g = arx.now[static_cast<std::size_t>(t)];
    for (int k = 0; k < static_cast<int>(arx.past.size()) && k < t; ++k)
      g += arx.past[static_cast<std::size_t>(k)] * response[static_cast<std::size_t>(t - 1 - k)];
    response.push_back(std::move(g));
  }
  return response;
}

// Ho and Kalman's method: states from the singular vectors of the Hankel matrix of the impulse response. Gives a and c.
std::optional<System> realise(const std::vector<MatrixXd>& response, Index n_x, Index n_y, Index states, double limit) {
  const Index blocks = std::min<Index>(kHankelBlocks, kMostHankelRows / n_y);
  if (states > (blocks - 1) * n_y) return std::nullopt;
  MatrixXd hankel(blocks * n_y, blocks * n_x);
  for (Index i = 0; i < blocks; ++i)
    for (Index j = 0; j < blocks; ++j)
      hankel.block(i * n_y, j * n_x, n_y, n_x) = response[static_cast<std::size_t>(i + j + 1)];
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(hankel * hankel.transpose());
  if (solver.info() != Eigen::Success) return std::nullopt;
  const VectorXd squares = solver.eigenvalues().reverse();
  if (!(squares[0] > 0) || !std::isfinite(squares[0])) return std::nullopt;
  while (states > 1 && squares[states - 1] < kLeastSingularValue * kLeastSingularValue * squares[0]) --states;
  MatrixXd observability(blocks * n_y, states);
  for (Index k = 0; k < states; ++k)
    observability.col(k) = solver.eigenvectors().col(solver.eigenvectors().cols() - 1 - k) *
                           std::sqrt(std::sqrt(std::max(squares[k], 1e-300)));
  System system;
  system.c = observability.topRows(n_y);
  const MatrixXd upper = observability.topRows((blocks - 1) * n_y),
                 lower = observability.bottomRows((blocks - 1) * n_y);
  MatrixXd products = upper.transpose() * upper;
  products.diagonal().array() += 1e-12 * products.diagonal().mean();
  system.a = products.ldlt().solve(upper.transpose() * lower);
  const double largest = largest_modulus(system.a);
  if (!std::isfinite(largest)) return std::nullopt;
  if (largest > limit) system.a *= limit / largest;
  return system;
}

// With a and c fixed the rest is linear: b, d, the constant and one initial state shared by all recordings.
bool fit_inputs(const std::vector<Recording>& all, Index n_x, Index n_y, System& system) {
  const Index n = system.a.rows();
  const Index of_b = n * n_x, of_s0 = of_b, of_d = of_b + n, of_constant = of_d + n_x * n_y,
              columns = of_constant + n_y;
  LeastSquares sums(columns, 1);
  for (const Recording& r : all) {
    MatrixXd from_b = MatrixXd::Zero(n, of_b);  // derivative of the state by b
    MatrixXd from_s0 = MatrixXd::Identity(n, n);
    std::vector<Index> with_target;
    for (Index t = 0; t < r.x.rows(); ++t)
      if (r.weight[t] > 0) with_target.push_back(t);
    MatrixXd rows = MatrixXd::Zero(static_cast<Index>(with_target.size()) * n_y, columns), values(rows.rows(), 1);
    Index row = 0;
    for (Index t = 0; t < r.x.rows(); ++t) {
      for (Index o = 0; o < n_y && r.weight[t] > 0; ++o, ++row) {
        rows.row(row).head(of_b) = system.c.row(o) * from_b;
        rows.row(row).segment(of_s0, n) = system.c.row(o) * from_s0;
        rows.row(row).segment(of_d + o * n_x, n_x) = r.x.row(t);
        rows(row, of_constant + o) = 1;
        values(row, 0) = r.y(t, o);
      }
      from_b = (system.a * from_b).eval();
      for (Index i = 0; i < n; ++i) from_b.row(i).segment(i * n_x, n_x) += r.x.row(t);
      from_s0 = (system.a * from_s0).eval();
    }
    sums.add(rows, values);
  }
  if (sums.rows() < 2 * columns) return false;
  const MatrixXd solution = sums.solve();
  system.b.resize(n, n_x);
  system.d.resize(n_y, n_x);
  for (Index i = 0; i < n; ++i) system.b.row(i) = solution.col(0).segment(i * n_x, n_x).transpose();
  for (Index o = 0; o < n_y; ++o) system.d.row(o) = solution.col(0).segment(of_d + o * n_x, n_x).transpose();
  system.s0 = solution.col(0).segment(of_s0, n);
  system.constant = solution.col(0).tail(n_y);
  return solution.allFinite();
}

// The system as cells m = scale (s - s0), which begin at 0: m' = a m + b x + shift, all within the limit on the data.
// ADDS the cells' values at all steps to `levels`, (cells) of (steps).
bool to_cells(const std::vector<Recording>& all, double blend, double limit, System& system, VectorXd& shift,
              std::vector<std::vector<double>>& levels) {
  const auto n = system.a.rows();
  shift = system.a * system.s0 - system.s0;
  system.constant += system.c * system.s0;
  VectorXd largest = VectorXd::Constant(n, 1e-9);
  levels.resize(static_cast<std::size_t>(n));
  for (const Recording& r : all) {
    VectorXd m = VectorXd::Zero(n);
    for (Index t = 0; t < r.x.rows(); ++t) {
      const VectorXd next = system.a * m + system.b * r.x.row(t).transpose() + shift;
      largest = largest.cwiseMax(next.cwiseAbs()).cwiseMax(((next - (1 - blend) * m) / blend).cwiseAbs());
      m = next;
      for (Index k = 0; k < n; ++k) levels[static_cast<std::size_t>(k)].push_back(m[k]);
    }
  }
  if (!largest.allFinite()) return false;
  const VectorXd scale = limit * largest.cwiseInverse();
  for (Index k = 0; k < n; ++k)
    for (double& level : levels[static_cast<std::size_t>(k)]) level *= scale[k];
  system.a = (scale.asDiagonal() * system.a * scale.cwiseInverse().asDiagonal()).eval();
  system.b = (scale.asDiagonal() * system.b).eval();
  system.c = (system.c * scale.cwiseInverse().asDiagonal()).eval();
  shift = (scale.array() * shift.array()).matrix().eval();
  return system.a.allFinite() && system.b.allFinite() && system.c.allFinite();
}

float logit(double p) { return static_cast<float>(log(p / (1 - p))); }

// The first leaf of the tree; extra cells behind the states.
void write_leaf(const System& system, const VectorXd& shift, double blend, Random& random, Parameters<float>& p) {
  const int n_x = p.shape.n_x, n_m = p.shape.n_m, n_v = p.shape.n_v();
  const auto n = static_cast<int>(system.a.rows());
  const auto at = [](int row, int width, int column) { return static_cast<std::size_t>(row * width + column); };
  for (int o = 0; o < p.shape.n_y; ++o) {
    p[Group::kOutput][static_cast<std::size_t>(o)] = static_cast<float>(system.constant[o]);
    for (int i = 0; i < n_x; ++i) p[Group::kLinear][at(o, n_v, i)] = static_cast<float>(system.d(o, i));
    for (int k = 0; k < n; ++k) p[Group::kLinear][at(o, n_v, n_x + k)] = static_cast<float>(system.c(o, k));
  }
  for (int k = 0; k < n_m; ++k) {
    p[Group::kGate][static_cast<std::size_t>(k)] = 1.0F;
    p[Group::kRate][static_cast<std::size_t>(k)] = k < n ? logit(blend) : static_cast<float>(random.uniform(-4.0, 1.0));
    if (k >= n) {
      for (int j = 0; j < n_v; ++j)
        p[Group::kWrite][at(k, n_v, j)] = static_cast<float>(kExtraWeight / std::sqrt(n_v) * random.normal());
      p[Group::kBias][static_cast<std::size_t>(k)] = static_cast<float>(kExtraWeight * random.normal());
      continue;
    }
    p[Group::kBias][static_cast<std::size_t>(k)] = static_cast<float>(shift[k] / blend);
    for (int i = 0; i < n_x; ++i) p[Group::kWrite][at(k, n_v, i)] = static_cast<float>(system.b(k, i) / blend);
    for (int j = 0; j < n; ++j)
      p[Group::kWrite][at(k, n_v, n_x + j)] = static_cast<float>((system.a(k, j) - (j == k ? 1 - blend : 0.0)) / blend);
  }
}

// Every further leaf is a copy of the first.
void copy_leaf(Parameters<float>& p) {
  for (const Group g : {Group::kOutput, Group::kGate, Group::kWrite, Group::kBias, Group::kRate, Group::kLinear}) {
    const std::size_t row = p.shape.size(g) / static_cast<std::size_t>(p.shape.leaves());
    for (int l = 1; l < p.shape.leaves(); ++l)
      std::copy_n(p[g].begin(), row, p[g].begin() + static_cast<std::ptrdiff_t>(row) * l);
  }
}

// Every node splits an input or a state at one of its middle quantiles. Both: (columns) of (steps).
void draw_splits(const std::vector<std::vector<double>>& inputs, const std::vector<std::vector<double>>& states,
                 Random& random, Parameters<float>& p) {
  const auto n_v = static_cast<std::size_t>(p.shape.n_v());
  for (int i = 0; i < p.shape.nodes(); ++i) {
    const std::size_t feature = random.below(inputs.size() + states.size());
    const double quantile = random.uniform(0.25, 0.75);
    std::vector<double> of = feature < inputs.size() ? inputs[feature] : states[feature - inputs.size()];
    const auto place = of.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(of.size() - 1));
    std::nth_element(of.begin(), place, of.end());
    const std::size_t at = static_cast<std::size_t>(i) * n_v + feature;
    p[Group::kIndex][at] = 1.0F;
    p[Group::kThreshold][at] = static_cast<float>(*place);
  }
}

// Inputs at all steps, (n_x) of (steps).
std::vector<std::vector<double>> inputs_of(const std::vector<Recording>& all, int n_x) {
  std::vector<std::vector<double>> values(static_cast<std::size_t>(n_x));
  for (const Recording& r : all)
    for (Index i = 0; i < n_x; ++i) {
      std::vector<double>& of = values[static_cast<std::size_t>(i)];
      of.insert(of.end(), r.x.col(i).begin(), r.x.col(i).end());
    }
  return values;
}

}  // namespace

struct LinearSystems::Fitted {
  int n_x = 0, n_y = 0;
  bool usable = false;
  std::vector<linear::Recording> recordings;
  std::vector<std::vector<double>> inputs;                                        // (n_x) of (steps)
  std::map<std::pair<int, double>, std::optional<linear::Arx>> arx;               // by order and largest pole
  std::map<std::tuple<int, double, int>, std::optional<linear::System>> systems;  // by these and states
};

LinearSystems::LinearSystems(const Sequences& data, std::span<const std::uint8_t> continues,
                             std::span<const float> fill)
    : fitted_(std::make_unique<Fitted>()) {
  fitted_->n_x = data.n_x;
  fitted_->n_y = data.n_y;
  fitted_->usable = data.n_x > 0 && !data.value.empty();
  if (!fitted_->usable) return;
  fitted_->recordings = recordings_of(data, continues, fill);
  fitted_->inputs = inputs_of(fitted_->recordings, data.n_x);
}

LinearSystems::~LinearSystems() = default;

void LinearSystems::fit(std::span<const LinearSystemOptions> all, int threads, const std::function<bool()>& stop) {
  Fitted& to = *fitted_;
  if (!to.usable) return;
  for (const LinearSystemOptions& o : all) {
    to.arx.try_emplace({o.arx_order, o.largest_pole});
    to.systems.try_emplace({o.arx_order, o.largest_pole, o.states});
  }
  const auto each = [&](auto& map, const auto& make) {
    std::vector<typename std::remove_reference_t<decltype(map)>::value_type*> entries;
    entries.reserve(map.size());
    for (auto& entry : map) entries.push_back(&entry);
    parallel_for(entries.size(), threads, [&](std::size_t i, int) {
      if (!(stop && stop())) entries[i]->second = make(entries[i]->first);
    });
  };
  each(to.arx, [&](const auto& key) {
    std::optional<Arx> arx = fit_arx(to.recordings, to.n_x, to.n_y, key.first);
    if (arx) limit_poles(*arx, to.n_y, key.second);
    return arx;
  });
  each(to.systems, [&](const auto& key) -> std::optional<System> {
    const auto& [order, pole, states] = key;
    const std::optional<Arx>& arx = to.arx.at({order, pole});
    if (!arx) return std::nullopt;
    const std::vector<MatrixXd> response = impulse_response(*arx, to.n_x, to.n_y, 2 * kHankelBlocks);
    std::optional<System> system = realise(response, to.n_x, to.n_y, states, pole);
    if (!system || !fit_inputs(to.recordings, to.n_x, to.n_y, *system)) return std::nullopt;
    return system;
  });
}

std::optional<Parameters<float>> LinearSystems::start(const LinearSystemOptions& options, Random& random) const {
  const Fitted& from = *fitted_;
  const auto found = from.systems.find({options.arx_order, options.largest_pole, options.states});
  if (found == from.systems.end() || !found->second) return std::nullopt;
  System system = *found->second;
  VectorXd shift;
  std::vector<std::vector<double>> levels;
  if (!to_cells(from.recordings, options.blend, options.largest_cell, system, shift, levels)) return std::nullopt;
  Shape shape;
  shape.depth = options.depth;
  shape.n_x = from.n_x;
  shape.n_m = static_cast<int>(system.a.rows()) + options.extra_cells;
  shape.n_y = from.n_y;
  shape.form = {WriteRule::kBlend, WriteReads::kInputsAndMemory, true, LeafOutput::kLinear, OutputOrder::kZero};
  Parameters<float> start(shape);
  write_leaf(system, shift, options.blend, random, start);
  copy_leaf(start);
  draw_splits(from.inputs, levels, random, start);
  return start;
}

std::optional<Parameters<float>> linear_start(const Sequences& data, std::span<const std::uint8_t> continues,
                                              std::span<const float> fill, const LinearSystemOptions& options,
                                              Random& random) {
  LinearSystems systems(data, continues, fill);
  systems.fit({&options, 1}, 1, {});
  return systems.start(options, random);
}

}  // namespace remede
