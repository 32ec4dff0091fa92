#include "remede/train/levenberg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "remede/base/arithmetic.h"
#include "remede/train/same_blocks.h"

namespace remede {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr double kDampingUp = 4;      // after an iteration that failed
constexpr double kDampingDown = 0.2;  // after one that succeeded
constexpr double kStillLearns = 0.9;  // training loss after as many iterations as the patience, relative to before
constexpr int kBlockRows = 64;        // rows of the Jacobian that are gathered before their products are summed

// The numbers of the leaves as one vector, (leaves, row): per leaf and output the constant and the weights of (x, m),
// then per leaf and cell the bias, the weights of (x, m) and the rate.
struct Layout {
  int n_x, n_m, n_y, leaves;

  explicit Layout(const Shape& s) : n_x(s.n_x), n_m(s.n_m), n_y(s.n_y), leaves(s.leaves()) {}
  int n_v() const { return n_x + n_m; }
  int row() const { return n_y * (1 + n_v()) + n_m * (2 + n_v()); }
  int size() const { return leaves * row(); }
  int answer(int leaf, int o) const { return leaf * row() + o * (1 + n_v()); }
  int write(int leaf, int k) const { return leaf * row() + n_y * (1 + n_v()) + k * (2 + n_v()); }
};

Vector gather(const Parameters<float>& p) {
  const Layout at(p.shape);
  Vector theta(at.size());
  const auto n_v = static_cast<std::size_t>(at.n_v());
  for (int l = 0; l < at.leaves; ++l) {
    for (int o = 0; o < at.n_y; ++o) {
      const auto i = static_cast<std::size_t>(l * at.n_y + o);
      theta[at.answer(l, o)] = static_cast<double>(p[Group::kOutput][i]);
      for (std::size_t j = 0; j < n_v; ++j)
        theta[at.answer(l, o) + 1 + static_cast<int>(j)] = static_cast<double>(p[Group::kLinear][i * n_v + j]);
    }
    for (int k = 0; k < at.n_m; ++k) {
      const auto i = static_cast<std::size_t>(l * at.n_m + k);
      theta[at.write(l, k)] = static_cast<double>(p[Group::kBias][i]);
      for (std::size_t j = 0; j < n_v; ++j)
        theta[at.write(l, k) + 1 + static_cast<int>(j)] = static_cast<double>(p[Group::kWrite][i * n_v + j]);
      theta[at.write(l, k) + 1 + at.n_v()] = static_cast<double>(p[Group::kRate][i]);
    }
  }
  return theta;
}

void scatter(const Vector& theta, Parameters<float>& p) {
  const Layout at(p.shape);
  const auto n_v = static_cast<std::size_t>(at.n_v());
  for (int l = 0; l < at.leaves; ++l) {
    for (int o = 0; o < at.n_y; ++o) {
      const auto i = static_cast<std::size_t>(l * at.n_y + o);
      p[Group::kOutput][i] = static_cast<float>(theta[at.answer(l, o)]);
      for (std::size_t j = 0; j < n_v; ++j)
        p[Group::kLinear][i * n_v + j] = static_cast<float>(theta[at.answer(l, o) + 1 + static_cast<int>(j)]);
    }
    for (int k = 0; k < at.n_m; ++k) {
      const auto i = static_cast<std::size_t>(l * at.n_m + k);
      p[Group::kBias][i] = static_cast<float>(theta[at.write(l, k)]);
      for (std::size_t j = 0; j < n_v; ++j)
        p[Group::kWrite][i * n_v + j] = static_cast<float>(theta[at.write(l, k) + 1 + static_cast<int>(j)]);
      p[Group::kRate][i] = static_cast<float>(theta[at.write(l, k) + 1 + at.n_v()]);
    }
  }
}

// The house's own functions: the same bits on every machine.
double unit_tanh(double x) { return static_cast<double>(tanh(static_cast<float>(x))); }
double unit_sigmoid(double x) { return static_cast<double>(sigmoid(static_cast<float>(x))); }

// The tree with its numbers in a vector, run over data in double.
class Simulator {
 public:
  Simulator(const Parameters<float>& p, std::span<const float> fill) : at_(p.shape), fill_(fill) {
    const auto n_v = static_cast<std::size_t>(at_.n_v());
    for (int i = 0; i < p.shape.nodes(); ++i) {
      const float* logits = p[Group::kIndex].data() + static_cast<std::size_t>(i) * n_v;
      const auto f = static_cast<std::size_t>(std::max_element(logits, logits + n_v) - logits);
      nodes_.push_back({static_cast<int>(f), p[Group::kThreshold][static_cast<std::size_t>(i) * n_v + f],
                        p.missing_right[static_cast<std::size_t>(i)] != 0});
    }
  }

  const Layout& layout() const { return at_; }

  // Mean squared error. Not finite where the system explodes.
  double loss(const Vector& theta, const Sequences& data, std::span<const std::uint8_t> continues) const {
    double sum = 0, weight = 0;
    run(
        theta, data, continues, [](int, const Vector&, const Vector&, const Vector&, const Vector&) {},
        [&](std::size_t t, int, const Vector&, const Vector& y) {
          const auto w = static_cast<double>(data.weight[t]);
          if (w == 0) return;
          weight += w;
          for (int o = 0; o < at_.n_y; ++o) {
            const double e = y[o] - static_cast<double>(data.value[t * static_cast<std::size_t>(at_.n_y) + o]);
            sum += w * e * e / at_.n_y;
          }
        });
    return sum / weight;
  }

  // J'J and J'r of the weighted mean: ASSIGNED.
  void normal_equations(const Vector& theta, const Sequences& data, std::span<const std::uint8_t> continues,
                        Matrix& products, Vector& gradient) const {
    const int size = at_.size();
    products.setZero(size, size);
    gradient.setZero(size);
    Matrix sensitivity = Matrix::Zero(at_.n_m, size), next(at_.n_m, size), block(kBlockRows, size);
    Vector residual(kBlockRows);
    int rows = 0;
    double weight = 0;
    const auto flush = [&] {
      if (rows == 0) return;
      products.noalias() += block.topRows(rows).transpose() * block.topRows(rows);
      gradient.noalias() += block.topRows(rows).transpose() * residual.head(rows);
      rows = 0;
    };
    const auto forget = [&] { sensitivity.setZero(); };
    const auto answer = [&](std::size_t t, int leaf, const Vector& v, const Vector& y) {
      const auto w = static_cast<double>(data.weight[t]);
      if (w == 0) return;
      weight += w;
      for (int o = 0; o < at_.n_y; ++o) {
        const double scale = std::sqrt(w / at_.n_y);
        const int begin = at_.answer(leaf, o);
        block.row(rows).noalias() = theta.segment(begin + 1 + at_.n_x, at_.n_m).transpose() * sensitivity;
        block(rows, begin) += 1;
        block.row(rows).segment(begin + 1, at_.n_v()) += v.transpose();
        block.row(rows) *= scale;
        residual[rows] = scale * (y[o] - static_cast<double>(data.value[t * static_cast<std::size_t>(at_.n_y) + o]));
        if (++rows == kBlockRows) flush();
      }
    };
    const auto write = [&](int leaf, const Vector& v, const Vector& u, const Vector& share, const Vector& m) {
      for (int k = 0; k < at_.n_m; ++k) {
        const int begin = at_.write(leaf, k);
        const double slope = share[k] * (1 - u[k] * u[k]);
        next.row(k).noalias() = theta.segment(begin + 1 + at_.n_x, at_.n_m).transpose() * sensitivity;
        next.row(k) = slope * next.row(k) + (1 - share[k]) * sensitivity.row(k);
        next(k, begin) += slope;
        next.row(k).segment(begin + 1, at_.n_v()) += slope * v.transpose();
        next(k, begin + 1 + at_.n_v()) += (u[k] - m[k]) * share[k] * (1 - share[k]);
      }
      sensitivity.swap(next);
    };
    run(theta, data, continues, write, answer, forget);
    flush();
    products /= weight;
    gradient /= weight;
  }

 private:
  struct Node {
    int feature;
    float threshold;
    bool missing_right;
  };

  int leaf_of(const float* x, const Vector& m) const {
    std::size_t i = 0;
    while (i < nodes_.size()) {
      const Node& node = nodes_[i];
      const bool input = node.feature < at_.n_x;
      const double value = input ? static_cast<double>(x[node.feature]) : m[node.feature - at_.n_x];
      const bool right = std::isnan(value) ? node.missing_right : value >= static_cast<double>(node.threshold);
      i = 2 * i + (right ? 2 : 1);
    }
    return static_cast<int>(i - nodes_.size());
  }

  // Runs all sequences. answer(t, leaf, v, y) is called before write(leaf, v, u, share, m) of the same step.
  template <typename Write, typename Answer, typename Forget = void (*)()>
  void run(
      const Vector& theta, const Sequences& data, std::span<const std::uint8_t> continues, const Write& write,
      const Answer& answer, const Forget& forget = [] {}) const {
    Vector v(at_.n_v()), m = Vector::Zero(at_.n_m), u(at_.n_m), share(at_.n_m), y(at_.n_y);
    for (std::size_t s = 0; s < data.count(); ++s) {
      if (continues.empty() || continues[s] == 0) {
        m.setZero();
        forget();
      }
      for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t) {
        const float* x = data.x.data() + t * static_cast<std::size_t>(at_.n_x);
        const int leaf = leaf_of(x, m);
        for (int i = 0; i < at_.n_x; ++i)
          v[i] = static_cast<double>(std::isnan(x[i]) ? fill_[static_cast<std::size_t>(i)] : x[i]);
        v.tail(at_.n_m) = m;
        for (int o = 0; o < at_.n_y; ++o) {
          const int begin = at_.answer(leaf, o);
          y[o] = theta[begin] + theta.segment(begin + 1, at_.n_v()).dot(v);
        }
        answer(t, leaf, v, y);
        for (int k = 0; k < at_.n_m; ++k) {
          const int begin = at_.write(leaf, k);
          u[k] = unit_tanh(theta[begin] + theta.segment(begin + 1, at_.n_v()).dot(v));
          share[k] = unit_sigmoid(theta[begin + 1 + at_.n_v()]);
        }
        write(leaf, v, u, share, m);
        for (int k = 0; k < at_.n_m; ++k) m[k] += share[k] * (u[k] - m[k]);
      }
    }
  }

  Layout at_;
  std::span<const float> fill_;
  std::vector<Node> nodes_;
};

}  // namespace

void use_same_blocks() {
  constexpr int kLevel1 = 48 << 10, kLevel2 = 2 << 20, kLevel3 = 32 << 20;  // bytes of cache; not those of this machine
  [[maybe_unused]] static const bool done = [] {
    Eigen::setCpuCacheSizes(kLevel1, kLevel2, kLevel3);
    return true;
  }();
}

bool fits_levenberg(const Shape& shape) {
  const LeafForm& form = shape.form;
  return form.write_rule == WriteRule::kBlend && form.write_bias && form.write_reads == WriteReads::kInputsAndMemory &&
         form.leaf_output == LeafOutput::kLinear && form.output_order == OutputOrder::kZero;
}

double levenberg_work(const Shape& shape, const Sequences& training) {
  const Layout at(shape);
  const double size = at.size();
  return static_cast<double>(training.steps()) * (size * size * at.n_y / 2 + size * at.n_m * (at.n_m + at.n_y));
}

LevenbergResult levenberg(const Parameters<float>& start, const Sequences& training,
                          std::span<const std::uint8_t> continues, const Sequences* validation,
                          std::span<const float> fill, const LevenbergOptions& options,
                          const std::function<bool()>& stop) {
  use_same_blocks();
  const Simulator simulator(start, fill);
  const Vector origin = gather(start);
  Vector theta = origin;
  LevenbergResult result;
  result.parameters = start;
  double loss = simulator.loss(theta, training, continues);
  result.training_loss = loss;
  result.validation_loss = validation != nullptr ? simulator.loss(theta, *validation, {}) : 0.0;
  if (!std::isfinite(loss) || !std::isfinite(result.validation_loss)) {
    result.validation_loss = result.training_loss = std::numeric_limits<double>::infinity();
    return result;
  }
  double damping = options.damping;
  Matrix products;
  Vector gradient;
  std::vector<double> losses = {loss};  // after each iteration
  const auto patient = [&](int i) {
    if (i - result.iterations <= options.patience) return true;
    return losses.back() < kStillLearns * losses[losses.size() - 1 - static_cast<std::size_t>(options.patience)];
  };
  for (int i = 1; i <= options.iterations && patient(i); ++i) {
    simulator.normal_equations(theta, training, continues, products, gradient);
    const double ridge = options.ridge * loss;
    const double total = loss + ridge * (theta - origin).squaredNorm();
    products.diagonal().array() += ridge;
    gradient += ridge * (theta - origin);
    bool better = false;
    while (!better && damping <= options.most_damping) {
      Matrix damped = products;
      damped.diagonal() += damping * products.diagonal();
      const Vector candidate = theta - damped.ldlt().solve(gradient);
      const double candidate_loss = simulator.loss(candidate, training, continues);
      const double candidate_total = candidate_loss + ridge * (candidate - origin).squaredNorm();
      better = std::isfinite(candidate_total) && candidate_total < total;
      damping *= better ? kDampingDown : kDampingUp;
      if (!better) continue;
      theta = candidate;
      loss = candidate_loss;
    }
    if (!better) break;
    losses.push_back(loss);
    const double held = validation != nullptr ? simulator.loss(theta, *validation, {}) : 0.0;
    if (validation == nullptr || held < result.validation_loss) {
      scatter(theta, result.parameters);
      result.training_loss = loss;
      result.validation_loss = held;
      result.iterations = i;
    }
    if (stop && stop()) break;
  }
  return result;
}

}  // namespace remede
