// How far the inputs of given sequences may move before an answer changes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "remede/base/random.h"
#include "remede/model/predict.h"
#include "remede/verify/checks.h"

namespace remede {
namespace {

constexpr double kRobustnessWork = 6e7;
constexpr std::size_t kMostRobustBoxes = 64;  // of one step; beyond that they are joined

struct StepAnswer {
  int said = 0;                    // classification
  std::vector<std::int32_t> leaf;  // regression
};

class RobustnessCheck {
 public:
  RobustnessCheck(const Model& model, const Sequences& data)
      : model_(model), data_(data), system_({&model}, nothing(), {}) {
    const std::vector<float> output = predict(model, data).output;
    const auto n_y = static_cast<std::size_t>(model.n_y());
    const Predictions said = predict(model, data);
    for (std::size_t t = 0; t < data.steps(); ++t) {
      StepAnswer answer;
      answer.said = arg_max({output.data() + t * n_y, n_y});
      for (std::size_t i = 0; i < model.trees.size(); ++i) answer.leaf.push_back(said.leaf[i * data.steps() + t]);
      answers_.push_back(std::move(answer));
    }
  }

  // Nothing can change when every number moves by at most eps. False: perhaps, or the work ended.
  bool proved(double eps, std::uint64_t& work) const {
    BoxStepper stepper(system_);
    stepper.most_work = work;
    bool safe = true;
    for (std::size_t s = 0; s < data_.count() && safe; ++s) {
      std::vector<MemoryBox> boxes{stepper.start()};
      for (std::size_t t = begin(s); t < begin(s + 1) && safe; ++t) {
        std::vector<MemoryBox> next;
        const InputRanges x = around(stepper, t, eps);
        for (const MemoryBox& box : boxes)
          stepper.step(box, system_.monitor->start(), x, [&](const Successor& found) {
            safe = safe && same(found, answers_[t]);
            if (std::any_of(next.begin(), next.end(),
                            [&](const MemoryBox& known) { return contains(known, found.to); }))
              return;
            if (next.size() < kMostRobustBoxes)
              next.push_back(found.to);
            else
              next.back() = join(next.back(), found.to);
          });
        boxes = std::move(next);
        safe = safe && !stepper.exhausted();
      }
    }
    work -= std::min(work, stepper.work);
    return safe;
  }

  // Tries to change an answer with numbers that move by at most eps.
  bool broken(double eps, Random& random, std::size_t& sequence, std::size_t& step) const {
    ConcreteRunner runner(system_);
    const auto n_x = static_cast<std::size_t>(model_.n_x());
    constexpr int kTries = 6;
    for (std::size_t s = 0; s < data_.count(); ++s)
      for (int attempt = 0; attempt < kTries; ++attempt) {
        Configuration at = runner.start();
        std::vector<double> side(n_x);
        for (double& v : side) v = random.below(2) == 0 ? -eps : eps;
        for (std::size_t t = begin(s); t < begin(s + 1); ++t) {
          StepInput input{std::vector<float>(data_.x.begin() + static_cast<std::ptrdiff_t>(t * n_x),
                                             data_.x.begin() + static_cast<std::ptrdiff_t>((t + 1) * n_x)),
                          std::vector<int>(system_.columns.size())};
          for (std::size_t i = 0; i < n_x; ++i) {
            if (attempt >= kTries / 2) side[i] = random.below(2) == 0 ? -eps : eps;
            if (!moves(i) || std::isnan(input.x[i])) continue;
            const Range near = moved(input.x[i], eps);
            input.x[i] = std::clamp(static_cast<float>(static_cast<double>(input.x[i]) + side[i]), near.low, near.high);
          }
          runner.step(input, at);
          const bool changed =
              model_.classifies() ? arg_max(runner.answer(0)) != answers_[t].said : runner.leaves() != answers_[t].leaf;
          if (!changed) continue;
          sequence = s, step = t - begin(s);
          return true;
        }
      }
    return false;
  }

 private:
  static Formula nothing() {
    Formula formula;
    formula.root = formula.add(Op::kTrue, {});
    return formula;
  }
  std::size_t begin(std::size_t s) const { return static_cast<std::size_t>(data_.offset[s]); }
  bool moves(std::size_t input) const {
    return !system_.columns[static_cast<std::size_t>(system_.column_of[input])].words;
  }
  static Range moved(float v, double eps) {
    // Every float whose distance is at most eps, and none beyond.
    const auto end = [&](double to, bool up) {
      auto f = static_cast<float>(to);
      if (up ? static_cast<double>(f) > to : static_cast<double>(f) < to)
        f = std::nextafter(f, up ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity());
      return std::clamp(f, std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max());
    };
    return {end(static_cast<double>(v) - eps, false), end(static_cast<double>(v) + eps, true), false};
  }
  InputRanges around(const BoxStepper& stepper, std::size_t t, double eps) const {
    InputRanges x = stepper.any_input();
    const auto n_x = static_cast<std::size_t>(model_.n_x());
    for (std::size_t i = 0; i < n_x; ++i) {
      const float v = data_.x[t * n_x + i];
      x.x[i] = std::isnan(v)
                   ? Range{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), true}
               : moves(i) ? moved(v, eps)
                          : Range::point(v);
    }
    return x;
  }
  bool same(const Successor& found, const StepAnswer& answer) const {
    if (!model_.classifies()) return std::equal(found.leaf.begin(), found.leaf.end(), answer.leaf.begin());
    for (std::size_t k = 0; k < found.says.size(); ++k)
      if (found.says[k] != 0 && static_cast<int>(k) != answer.said) return false;
    return true;
  }

  const Model& model_;
  const Sequences& data_;
  CheckedSystem system_;
  std::vector<StepAnswer> answers_;  // (steps)
};

}  // namespace

Robustness check_robustness(const Model& model, const Sequences& data, const VerifyOptions& options) {
  constexpr int kHalvings = 24;
  const RobustnessCheck check(model, data);
  auto work = static_cast<std::uint64_t>(kRobustnessWork * options.effort);
  Robustness result;
  result.steps = data.steps();
  result.leaves = !model.classifies();
  result.broken = std::numeric_limits<double>::infinity();
  // The smallest distance that changes something lies between powers of 2.
  double low = 0, high = 0x1p30;
  for (int i = 0; i < 60 && high > 1e-9 && work > 0; ++i) {
    if (check.proved(high, work)) {
      low = high;
      break;
    }
    high /= 2;
  }
  if (low > 0) high = 2 * low;
  for (int i = 0; i < kHalvings && work > 0 && low > 0 && high - low > 1e-3 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (check.proved(middle, work) ? low : high) = middle;
  }
  result.proved = low;
  Random random(1);
  double most = std::max(low, 1e-9);
  for (int i = 0; i < 50; ++i) {
    most *= i < 20 ? 1.05 : 2;
    if (!check.broken(most, random, result.sequence, result.step)) continue;
    result.broken = most;
    break;
  }
  return result;
}

Robustness check_robustness(const Model& model, const Dataset& data, const VerifyOptions& options) {
  Robustness result = check_robustness(model, data.sequences, options);
  if (result.sequence < data.ids.size()) result.id = data.ids[result.sequence];
  return result;
}

}  // namespace remede
