#include "remede/data/tasks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/data/languages.h"

namespace remede {
namespace {

constexpr int kNoTarget = -1;

// Takes sequences step by step.
class Builder {
 public:
  Builder(std::size_t inputs, std::vector<std::string> classes) {
    data_.schema.task = Task::kClassification;
    for (std::size_t i = 1; i <= inputs; ++i) data_.schema.inputs.push_back(fmt::format("x{}", i));
    data_.schema.targets = {"y"};
    data_.schema.classes = std::move(classes);
    data_.schema.id = "sequence";
    data_.schema.time = "step";
    data_.sequences.n_x = data_.schema.n_x();
    data_.sequences.n_y = data_.schema.n_y();
  }

  // label: the number of the class, or kNoTarget.
  void step(std::span<const float> x, int label) {
    Sequences& to = data_.sequences;
    data_.times.push_back(fmt::format_int(steps_).c_str());
    data_.row.push_back(to.offset.back() + static_cast<std::int64_t>(steps_));
    to.x.insert(to.x.end(), x.begin(), x.end());
    to.label.push_back(std::max(label, 0));
    to.weight.push_back(label == kNoTarget ? 0.0F : 1.0F);
    ++steps_;
  }
  void step(float x, int label) { step({&x, 1}, label); }

  void end_sequence() {
    data_.ids.push_back(fmt::format_int(data_.sequences.count()).c_str());
    data_.sequences.offset.push_back(data_.sequences.offset.back() + static_cast<std::int64_t>(steps_));
    steps_ = 0;
  }

  Dataset take() { return std::move(data_); }

 private:
  Dataset data_;
  std::size_t steps_ = 0;  // of the sequence being made
};

const std::vector<std::string> kSigns = {"-1", "0", "1"};
int class_of_sign(int sign) { return sign + 1; }

float noise(const TaskOptions& options, Random& random) {
  return static_cast<float>(options.noise_mean + options.noise_sd * random.normal());
}

// A value in (-0.5, 0.5) that has a sign.
float draw_value(Random& random) {
  for (;;) {
    const auto value = static_cast<float>(random.uniform(-0.5, 0.5));
    if (value != 0.0F && std::abs(value) < 0.5F) return value;
  }
}

// The paper's tasks 1 to 4: a value, `delay` zeros, a trigger at which the value's sign is asked for, zeros up to
// `steps`.
void add_delayed(Builder& builder, std::size_t channels, std::size_t delay, std::size_t steps,
                 const TaskOptions& options, Random& random) {
  const float value = draw_value(random);
  std::array<float, 2> x{};
  for (std::size_t t = 0; t < steps; ++t) {
    const bool asked = t == delay + 1;
    x[0] = t == 0 ? value : noise(options, random);
    if (channels == 2) x[1] = noise(options, random);
    if (asked) x[channels - 1] = 1.0F;
    builder.step({x.data(), channels}, class_of_sign(!asked ? 0 : value > 0.0F ? 1 : -1));
  }
}

Dataset fixed_delay(const TaskOptions& options, std::size_t channels) {
  Builder builder(channels, kSigns);
  const auto delay = static_cast<std::size_t>(options.delay);
  for (std::int64_t s = 0; s < *options.sequences; ++s) {
    Random random(options.seed, static_cast<std::uint64_t>(s));
    add_delayed(builder, channels, delay, delay + 2, options, random);
    builder.end_sequence();
  }
  return builder.take();
}

Dataset variable_delay(const TaskOptions& options, std::size_t channels) {
  Builder builder(channels, kSigns);
  const auto choices = static_cast<std::uint64_t>(options.delay_max - options.delay_min + 1);
  for (std::int64_t s = 0; s < *options.sequences; ++s) {
    Random random(options.seed, static_cast<std::uint64_t>(s));
    const auto delay = static_cast<std::size_t>(options.delay_min) + random.below(choices);
    add_delayed(builder, channels, delay, static_cast<std::size_t>(options.delay_max) + 2, options, random);
    builder.end_sequence();
  }
  return builder.take();
}

Dataset sign_memory(const TaskOptions& options) {
  Builder builder(1, kSigns);
  for (std::int64_t s = 0; s < *options.sequences; ++s) {
    Random random(options.seed, static_cast<std::uint64_t>(s));
    int before = 0;
    for (std::int64_t b = 0; b < options.blocks; ++b) {
      for (std::int64_t t = 0; b > 0 && t < options.delay; ++t) builder.step(noise(options, random), class_of_sign(0));
      const int sign = random.below(2) == 0 ? -1 : 1;
      for (std::int64_t t = 0; t < options.block_length; ++t)
        builder.step(static_cast<float>(sign), class_of_sign(before));
      before = sign;
    }
    builder.end_sequence();
  }
  return builder.take();
}

std::size_t draw_length(const TaskOptions& options, Random& random) {
  const auto choices = static_cast<std::uint64_t>(options.length_max - options.length_min + 1);
  return static_cast<std::size_t>(options.length_min) + random.below(choices);
}

Dataset parity(const TaskOptions& options) {
  Builder builder(1, {"0", "1"});
  for (std::int64_t s = 0; s < *options.sequences; ++s) {
    Random random(options.seed, static_cast<std::uint64_t>(s));
    const std::size_t length = draw_length(options, random);
    int odd = 0;
    for (std::size_t t = 0; t < length; ++t) {
      const auto bit = static_cast<int>(random.below(2));
      odd ^= bit;
      builder.step(static_cast<float>(bit), odd);
    }
    builder.end_sequence();
  }
  return builder.take();
}

// All three channels pulse at the first step, so that each always has a last sign.
Dataset flip_flop(const TaskOptions& options) {
  constexpr double kPulse = 0.1;
  Builder builder(3, {"0", "1", "2", "3", "4", "5", "6", "7"});
  for (std::int64_t s = 0; s < *options.sequences; ++s) {
    Random random(options.seed, static_cast<std::uint64_t>(s));
    const std::size_t length = draw_length(options, random);
    std::array<int, 3> plus{};
    for (std::size_t t = 0; t < length; ++t) {
      std::array<float, 3> x{};
      for (std::size_t c = 0; c < 3; ++c) {
        if (t > 0 && random.uniform() >= kPulse) continue;
        plus[c] = static_cast<int>(random.below(2));
        x[c] = plus[c] == 1 ? 1.0F : -1.0F;
      }
      builder.step(x, 4 * plus[0] + 2 * plus[1] + plus[2]);
    }
    builder.end_sequence();
  }
  return builder.take();
}

// Columns: X, Y, and four symbols that mean nothing; one of the six is 1 at each step. One X or Y stands in the first
// third of the steps and one in the last third.
Dataset temporal_order(const TaskOptions& options) {
  constexpr std::size_t kSymbols = 6;
  Builder builder(kSymbols, {"XX", "XY", "YX", "YY"});
  TaskOptions at_least_two = options;
  at_least_two.length_min = std::max<std::int64_t>(options.length_min, 2);
  for (std::int64_t s = 0; s < *options.sequences; ++s) {
    Random random(options.seed, static_cast<std::uint64_t>(s));
    const std::size_t length = draw_length(at_least_two, random);
    const std::size_t third = (length + 2) / 3;
    const std::size_t first = random.below(third);
    const std::size_t second = length - third + random.below(third);
    const auto first_symbol = random.below(2);
    const auto second_symbol = random.below(2);
    for (std::size_t t = 0; t < length; ++t) {
      std::array<float, kSymbols> x{};
      x[t == first ? first_symbol : t == second ? second_symbol : 2 + random.below(kSymbols - 2)] = 1.0F;
      builder.step(x, t + 1 == length ? static_cast<int>(2 * first_symbol + second_symbol) : kNoTarget);
    }
    builder.end_sequence();
  }
  return builder.take();
}

// `zero`, `one`: what the two symbols are as numbers.
Dataset strings(const TaskOptions& options, StringSampler sampler, float zero, float one) {
  Builder builder(1, {"0", "1"});
  for (std::int64_t s = 0; s < *options.sequences; ++s) {
    Random random(options.seed, static_cast<std::uint64_t>(s));
    const LabelledString string = sampler.draw(draw_length(options, random), random);
    for (std::size_t t = 0; t < string.symbol.size(); ++t)
      builder.step(string.symbol[t] == 1 ? one : zero, string.label[t]);
    builder.end_sequence();
  }
  return builder.take();
}

constexpr int kRunoffDays = 730;       // of one recording
constexpr double kRunoffNoise = 0.15;  // standard deviation: no model can be better on fresh data

// Between -1 and 1 like a sine, over a year that begins in autumn. No libm: the same everywhere.
double season(int day) {
  const double p = 2.0 * static_cast<double>((day + 180) % 365) / 365.0 - 1.0;
  return 4.0 * p * (1.0 - std::abs(p));
}

double to_one_decimal(double value) { return std::round(10.0 * value) / 10.0; }

// A basin day by day: what falls is kept in a snow store, which lets go of the more the warmer it is; what melts, less
// what evaporates, fills a soil store, which drains slowly into the river.
Dataset runoff(const TaskOptions& options) {
  Dataset data;
  data.schema.task = Task::kRegression;
  data.schema.inputs = {"rain", "temp"};
  data.schema.targets = {"y"};
  data.schema.id = "sequence";
  data.schema.time = "step";
  Sequences& to = data.sequences;
  to.n_x = 2;
  to.n_y = 1;
  for (std::int64_t s = 0; s < *options.sequences; ++s) {
    Random random(options.seed, static_cast<std::uint64_t>(s));
    double away = 0, snow = 0, soil = 0;
    for (int day = 0; day < kRunoffDays; ++day) {
      away = 0.7 * away + 2.2 * random.normal();
      const double temp = to_one_decimal(6.0 + 11.0 * season(day) + away);
      const bool wet = random.uniform() < 0.35;
      const double rain = wet ? to_one_decimal(-5.0 * log(1.0 - random.uniform())) : 0.0;
      snow += rain;
      const double melt = static_cast<double>(sigmoid(static_cast<float>(0.6 * temp - 1.5))) * snow;
      snow -= melt;
      soil += std::max(0.0, melt - 1.0);
      const double drained = 0.06 * soil;
      soil -= drained;
      to.x.push_back(static_cast<float>(rain));
      to.x.push_back(static_cast<float>(temp));
      to.value.push_back(static_cast<float>(0.2 + 0.9 * drained + kRunoffNoise * random.normal()));
      to.weight.push_back(1.0F);
      data.times.push_back(fmt::format_int(day).c_str());
      data.row.push_back(to.offset.back() + day);
    }
    data.ids.push_back(fmt::format_int(s).c_str());
    to.offset.push_back(to.offset.back() + kRunoffDays);
  }
  return data;
}

void check(const std::string& task, const TaskInfo& info, const TaskOptions& o) {
  const auto within = [&](const char* what, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value < low || value > high)
      fail("{}: {}: expected a number from {} to {}, got {}", task, what, low, high, value);
  };
  within("sequences", *o.sequences, 1, kMostGeneratedSteps);
  within("delay", o.delay, 0, kMostGeneratedLength);
  within("delay-min", o.delay_min, 0, kMostGeneratedLength);
  within("delay-max", o.delay_max, 0, kMostGeneratedLength);
  within("blocks", o.blocks, 1, kMostGeneratedLength);
  within("block-length", o.block_length, 1, kMostGeneratedLength);
  within("length-min", o.length_min, 1, kMostGeneratedLength);
  within("length-max", o.length_max, task == "temporal-order" ? 2 : 1, kMostGeneratedLength);
  if (o.delay_min > o.delay_max)
    fail("{}: delay-min: expected at most delay-max, {}, got {}", task, o.delay_max, o.delay_min);
  if (o.length_min > o.length_max)
    fail("{}: length-min: expected at most length-max, {}, got {}", task, o.length_max, o.length_min);
  if (!std::isfinite(o.noise_mean) || std::abs(o.noise_mean) > 1e6)
    fail("{}: noise-mean: expected a number between -1e6 and 1e6, got {}", task, o.noise_mean);
  if (!(o.noise_sd >= 0.0 && o.noise_sd <= 1e6))
    fail("{}: noise-sd: expected a number from 0 to 1e6, got {}", task, o.noise_sd);
  double steps = static_cast<double>(info.length ? o.length_max : (info.delay_range ? o.delay_max : o.delay) + 2);
  if (task == "runoff") steps = static_cast<double>(kRunoffDays);
  if (info.blocks) steps = static_cast<double>(o.blocks) * static_cast<double>(o.block_length + o.delay);
  if (steps * static_cast<double>(*o.sequences) > static_cast<double>(kMostGeneratedSteps))
    fail("{}: expected at most {} steps in all, got {} sequences of {}", task, kMostGeneratedSteps, *o.sequences,
         steps);
}

std::vector<TaskInfo> make_tasks() {
  std::vector<TaskInfo> all = {
      {.name = "fixed-delay",
       .summary = "the sign of a value, to be given at a trigger after a fixed delay",
       .delay = true,
       .noise = true},
      {.name = "fixed-delay-2",
       .summary = "the same, the trigger in a channel of its own",
       .delay = true,
       .noise = true},
      {.name = "variable-delay",
       .summary = "the same after a delay that varies, one channel",
       .delay_range = true,
       .noise = true},
      {.name = "variable-delay-2", .summary = "the same, two channels", .delay_range = true, .noise = true},
      {.name = "sign-memory",
       .summary = "at each block of -1 or 1, the sign of the block before",
       .delay = true,
       .blocks = true,
       .noise = true},
      {.name = "parity", .summary = "whether the number of ones so far is odd", .length = true},
      {.name = "flip-flop", .summary = "the last signs of three channels of rare pulses", .length = true},
      {.name = "temporal-order",
       .summary = "which two symbols occurred, and in which order; to be given at the end",
       .length = true},
      {.name = "runoff",
       .summary = "the flow of a river, a number, from rain and temperature; water passes through snow and soil",
       .sequences = 10},
      {.name = "counting", .summary = "whether the symbols so far can become a^n b^n", .length = true},
  };
  const char* const languages[] = {"only ones",
                                   "(10)*",
                                   "no odd block of zeros after an odd block of ones",
                                   "no three zeros in a row",
                                   "zeros even and ones even",
                                   "number of ones minus number of zeros divisible by three",
                                   "0*1*0*1*"};
  for (int i = 1; i <= 7; ++i)
    all.push_back({.name = fmt::format("tomita-{}", i),
                   .summary = fmt::format("whether the bits so far are in the language: {}", languages[i - 1]),
                   .length = true});
  return all;
}

}  // namespace

const std::vector<TaskInfo>& tasks() {
  static const std::vector<TaskInfo> all = make_tasks();
  return all;
}

const TaskInfo* find_task(const std::string& name) {
  const auto found =
      std::find_if(tasks().begin(), tasks().end(), [&](const TaskInfo& task) { return task.name == name; });
  return found == tasks().end() ? nullptr : &*found;
}

Dataset generate(const std::string& task, const TaskOptions& given) {
  const TaskInfo* info = find_task(task);
  if (info == nullptr) fail("expected a task such as fixed-delay, got '{}'", task);
  TaskOptions options = given;
  options.sequences = given.sequences.value_or(info->sequences);
  check(task, *info, options);
  if (task == "fixed-delay") return fixed_delay(options, 1);
  if (task == "fixed-delay-2") return fixed_delay(options, 2);
  if (task == "variable-delay") return variable_delay(options, 1);
  if (task == "variable-delay-2") return variable_delay(options, 2);
  if (task == "sign-memory") return sign_memory(options);
  if (task == "parity") return parity(options);
  if (task == "flip-flop") return flip_flop(options);
  if (task == "temporal-order") return temporal_order(options);
  if (task == "runoff") return runoff(options);
  if (task == "counting") return strings(options, StringSampler::counting(), -1.0F, 1.0F);
  return strings(options, StringSampler::of(tomita(task.back() - '0')), 0.0F, 1.0F);
}

}  // namespace remede
