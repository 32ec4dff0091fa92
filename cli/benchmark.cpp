// remede benchmark train|predict|stream: how many steps per second this machine does, on a tree and sequences of a
// given shape. Time is cut into slices; the median and the best slice are reported, since other programs may run
// beside.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/base/vector_targets.h"
#include "remede/data/tasks.h"
#include "remede/executor/executor.h"
#include "remede/executor/workload.h"
#include "remede/model/batch.h"
#include "remede/model/file.h"
#include "remede/model/predict.h"
#include "remede/stream/stream.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSlices = 9;  // odd: the median is one of them
constexpr std::size_t kMinSequences =
    2048;  // size of the pool from which batches are drawn, so that data are not always in the cache
constexpr std::size_t kMaxPoolSteps = 1U << 20;  // but from at most this number of steps
constexpr double kMaxBatchSteps = 1e8;           // of a batch
constexpr std::size_t kStepsPerReading =
    1000;  // stepping: the clock is read this often, so that reading it costs nothing
constexpr std::size_t kMaxParameters = 1U << 27;  // half a gigabyte; training needs four times as much
constexpr float kTimingLearningRate = 1e-6F;      // every number is updated, but the tree does not change noticeably

struct BenchmarkFlags {
  std::string what;
  int depth = 6;
  int memory = 5;
  int inputs = 1;
  int classes = 3;
  std::int64_t length = 16;
  std::optional<std::int64_t> batch;
  int threads = 0;
  std::string form = "paper";
  std::string split_gradient = "softsign";
  double slope = 4;
  double seconds = 2;
  std::int64_t trained = 0;
  std::string device = "cpu";
  int starts = 1;
  std::uint64_t seed = 1;
  std::string model;
  std::string data;
  bool json = false;
};

const std::map<std::string, LeafForm>& forms() {
  static const std::map<std::string, LeafForm> all = {
      {"paper", {}},
      {"add-bias", {WriteRule::kAdd, WriteReads::kInputs, true, LeafOutput::kConstant, OutputOrder::kZero}},
      {"blend-bias", {WriteRule::kBlend, WriteReads::kInputs, true, LeafOutput::kConstant, OutputOrder::kZero}},
      {"blend-linear", {WriteRule::kBlend, WriteReads::kInputs, true, LeafOutput::kLinear, OutputOrder::kZero}},
      {"richest", {WriteRule::kBlend, WriteReads::kInputsAndMemory, true, LeafOutput::kLinear, OutputOrder::kZero}},
  };
  return all;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// What the slices measured, in steps per second.
struct Rate {
  double median = 0;
  double best = 0;
};

// Calls `run` (which does `steps` steps) over and over, for about `seconds` in all.
template <typename Run>
Rate measure(double seconds, double steps, const Run& run) {
  run();  // grows the scratch memory
  const double slice = seconds / kSlices;
  std::vector<double> rates;
  for (int i = 0; i < kSlices; ++i) {
    const double begin = now();
    double passed = 0;
    int runs = 0;
    while (passed < slice || runs == 0) {
      run();
      ++runs;
      passed = now() - begin;
    }
    rates.push_back(steps * runs / passed);
  }
  std::sort(rates.begin(), rates.end());
  return {rates[rates.size() / 2], rates.back()};
}

Shape shape_of(const BenchmarkFlags& flags) {
  const Shape shape = {flags.depth, flags.inputs, flags.memory, flags.classes, forms().at(flags.form)};
  if (shape.total() > kMaxParameters)
    throw UsageError(
        fmt::format("benchmark: expected a tree of at most {} parameters, got {}", kMaxParameters, shape.total()));
  return shape;
}

GradientForm gradient_of(const BenchmarkFlags& flags) {
  GradientForm form;
  form.split = flags.split_gradient == "sigmoid" ? SplitGradient::kSigmoid : SplitGradient::kSoftsign;
  form.slope = static_cast<float>(flags.slope);
  return form;
}

// Batches one after the other, in the order of the data, and one update of the optimiser after each gradient.
class Training {
 public:
  Training(Engine& engine, const GradientForm& form, const Sequences& data, std::size_t batch,
           Parameters<float>& parameters, const Rates& rates)
      : engine_(engine),
        form_(form),
        data_(data),
        batch_(batch),
        parameters_(parameters),
        adam_(parameters.shape, rates) {
    order_.resize(data.count() / batch * batch);
    std::iota(order_.begin(), order_.end(), 0U);
  }
  void update() {
    engine_.gradient(parameters_, form_, objective_, data_, {}, std::span(order_).subspan(at_, batch_), gradient_);
    adam_.update(parameters_, gradient_, clip_factor(gradient_.values, 1.0F), 1.0F);
    at_ = at_ + batch_ == order_.size() ? 0 : at_ + batch_;
  }

 private:
  Engine& engine_;
  GradientForm form_;
  const Objective objective_ = default_objective(Task::kClassification);
  const Sequences& data_;
  std::size_t batch_;
  Parameters<float>& parameters_;
  Adam adam_;
  Parameters<float> gradient_;
  std::vector<std::uint32_t> order_;
  std::size_t at_ = 0;
};

// A start of the default recipe after some updates on the paper's fifth task, whose shape is that of the default
// workload.
Parameters<float> trained_parameters(const BenchmarkFlags& flags, const Sequences& data, Engine& engine) {
  StartPlan plan;
  plan.shape = shape_of(flags);
  Random random(flags.seed);
  Parameters<float> p = initial_parameters(plan, {}, random);
  Training training(engine, gradient_of(flags), data, static_cast<std::size_t>(plan.batch), p, plan.rates);
  for (std::int64_t i = 0; i < flags.trained; ++i) training.update();
  return p;
}

// Sequences to cut batches from: several batches, unless they are large.
std::size_t whole_batches(const BenchmarkFlags& flags, std::size_t batch) {
  const std::size_t fit = kMaxPoolSteps / (batch * static_cast<std::size_t>(flags.length));
  return batch * std::max<std::size_t>(1, std::min((kMinSequences + batch - 1) / batch, fit));
}

Json train(const BenchmarkFlags& flags) {
  const auto batch = static_cast<std::size_t>(flags.batch.value_or(512));
  const Shape shape = shape_of(flags);
  const auto engine = make_engine(flags.threads);
  Sequences data;
  Parameters<float> parameters;
  if (flags.trained > 0) {
    TaskOptions options;
    options.sequences = static_cast<std::int64_t>(whole_batches(flags, batch));
    options.seed = flags.seed;
    data = generate("sign-memory", options).sequences;
    if (data.n_x != shape.n_x || data.n_y != shape.n_y || data.length(0) != static_cast<std::size_t>(flags.length))
      throw UsageError(fmt::format("benchmark: --trained expects --inputs {} --classes {} --length {}", data.n_x,
                                   data.n_y, data.length(0)));
    parameters = trained_parameters(flags, data, *engine);
  } else {
    data = random_sequences({shape, whole_batches(flags, batch), static_cast<std::size_t>(flags.length), flags.seed},
                            Task::kClassification);
    parameters = random_parameters(shape, flags.seed);
  }
  Rates still;
  still.fill(kTimingLearningRate);
  Training training(*engine, gradient_of(flags), data, batch, parameters, still);
  const double steps = static_cast<double>(batch) * static_cast<double>(flags.length);
  const Rate rate = measure(flags.seconds, steps, [&] { training.update(); });
  return {{"benchmark", "train"},    {"steps_per_second", rate.median},        {"best_steps_per_second", rate.best},
          {"batch", batch},          {"split_gradient", flags.split_gradient}, {"slope", flags.slope},
          {"trained", flags.trained}};
}

// Many starts of one shape at a time, through an executor: as a search trains them. Data are loaded once.
Json train_starts(const BenchmarkFlags& flags) {
  StartPlan plan;
  plan.shape = shape_of(flags);
  plan.gradient = gradient_of(flags);
  plan.batch = static_cast<int>(flags.batch.value_or(512));
  plan.rates.fill(kTimingLearningRate);
  plan.seed = flags.seed;
  plan.first_round = 1U << 20U;  // as in a long fit: the GPU compiles kernels for the shape
  TrainingData data;
  data.training = random_sequences({plan.shape, whole_batches(flags, static_cast<std::size_t>(plan.batch)),
                                    static_cast<std::size_t>(flags.length), flags.seed},
                                   Task::kClassification);
  data.fill.assign(static_cast<std::size_t>(plan.shape.n_x), 0.0F);
  const auto executor = make_executor(flags.device == "gpu" ? Device::kGpu : Device::kCpu, {&data}, flags.threads);
  std::vector<std::unique_ptr<Trainer>> starts;
  std::vector<Trainer*> all;
  for (int i = 0; i < flags.starts; ++i) {
    plan.stream = static_cast<std::uint64_t>(i);
    starts.push_back(executor->start(plan, 0));
    starts.back()->begin_at(random_parameters(plan.shape, flags.seed + plan.stream));
    all.push_back(starts.back().get());
  }
  // A call takes a slice of the time: what starts and ends a call is then small beside it.
  std::uint64_t updates = 8;
  executor->advance(all, updates);  // compiles, and gets memory
  for (double passed = 0; passed < flags.seconds / kSlices / 2;) {
    const double begin = now();
    executor->advance(all, updates);
    passed = now() - begin;
    updates = std::max(updates, static_cast<std::uint64_t>(static_cast<double>(updates) *
                                                           std::min(16.0, flags.seconds / kSlices / passed)));
  }
  const double steps = static_cast<double>(flags.starts) * static_cast<double>(updates) *
                       static_cast<double>(plan.batch) * static_cast<double>(flags.length);
  const Rate rate = measure(flags.seconds, steps, [&] { executor->advance(all, updates); });
  return {{"benchmark", "train"},
          {"steps_per_second", rate.median},
          {"best_steps_per_second", rate.best},
          {"update_microseconds", 1e6 * steps / static_cast<double>(updates) / rate.median},
          {"device", flags.device},
          {"starts", flags.starts},
          {"batch", plan.batch},
          {"split_gradient", flags.split_gradient},
          {"slope", flags.slope}};
}

// The model file given, or a random tree.
Model model_for(const BenchmarkFlags& flags) {
  if (!flags.model.empty()) return load_model(flags.model);
  const Shape shape = shape_of(flags);
  Model model;
  for (int i = 0; i < shape.n_x; ++i) model.schema.inputs.push_back(fmt::format("x{}", i + 1));
  for (int i = 0; i < shape.n_y; ++i) model.schema.classes.push_back(fmt::format("{}", i));
  model.schema.targets = {"y"};
  model.fill.assign(static_cast<std::size_t>(shape.n_x), 0.0F);
  model.trees = {harden(random_parameters(shape, flags.seed))};
  return model;
}

// The file given, or random sequences that fit the model.
Sequences data_for(const BenchmarkFlags& flags, const Model& model, std::size_t sequences) {
  if (!flags.data.empty()) {
    Sequences data = read_dataset(flags.data, model.schema, {}, false).sequences;
    if (data.steps() == 0) fail("{}: expected at least one step, got none", flags.data);
    return data;
  }
  Workload workload;
  workload.shape.n_x = model.n_x();
  workload.shape.n_y = model.n_y();
  workload.sequences = sequences;
  workload.length = static_cast<std::size_t>(flags.length);
  workload.seed = flags.seed;
  return random_sequences(workload, model.schema.task);
}

Json predict_whole(const BenchmarkFlags& flags) {
  const Model model = model_for(flags);
  const Sequences data = data_for(flags, model, static_cast<std::size_t>(flags.batch.value_or(8192)));
  const Rate rate =
      measure(flags.seconds, static_cast<double>(data.steps()), [&] { predict_batch(model, data, flags.threads); });
  return {{"benchmark", "predict"}, {"steps_per_second", rate.median}, {"best_steps_per_second", rate.best},
          {"batch", data.count()},  {"nodes", model.node_count()},     {"steps", data.steps()}};
}

// One live sequence after the other. A reading of the clock spans whole sequences of about kStepsPerReading steps
// together.
Json step_live(const BenchmarkFlags& flags) {
  const Model model = model_for(flags);
  const Sequences data = data_for(flags, model, 512);
  Stream stream(model);
  const auto n_x = static_cast<std::size_t>(model.n_x());
  std::vector<double> nanoseconds;
  std::size_t sequence = 0;
  float kept = 0;  // an answer that is read cannot be optimised away
  const double end = now() + flags.seconds;
  for (double begin = now(); begin < end || nanoseconds.size() < 3;) {
    std::size_t steps = 0;
    while (steps < kStepsPerReading) {
      stream.reset();
      const auto first = static_cast<std::size_t>(data.offset[sequence]),
                 last = static_cast<std::size_t>(data.offset[sequence + 1]);
      for (std::size_t t = first; t < last; ++t) kept += stream.step({data.x.data() + t * n_x, n_x})[0];
      steps += last - first;
      sequence = sequence + 1 == data.count() ? 0 : sequence + 1;
    }
    const double passed = now();
    nanoseconds.push_back((passed - begin) * 1e9 / static_cast<double>(steps));
    begin = passed;
  }
  volatile float sink = kept;
  static_cast<void>(sink);
  std::sort(nanoseconds.begin(), nanoseconds.end());
  const double median = nanoseconds[nanoseconds.size() / 2];
  return {{"benchmark", "stream"},
          {"steps_per_second", 1e9 / median},
          {"best_steps_per_second", 1e9 / nanoseconds.front()},
          {"latency_ns", median},
          {"best_latency_ns", nanoseconds.front()},
          {"nodes", model.node_count()},
          {"readings", nanoseconds.size()}};
}

void benchmark(const BenchmarkFlags& flags) {
  if (flags.what == "train" && !(flags.model.empty() && flags.data.empty()))
    throw UsageError("benchmark: expected --model and --data with predict or stream, got train");
  if (static_cast<double>(flags.batch.value_or(1)) * static_cast<double>(flags.length) > kMaxBatchSteps)
    throw UsageError(fmt::format("benchmark: expected a batch of at most {:.0f} steps, got {} sequences of {}",
                                 kMaxBatchSteps, flags.batch.value_or(1), flags.length));
  const bool executor = flags.device == "gpu" || flags.starts > 1;
  if (executor && (flags.what != "train" || flags.trained > 0))
    throw UsageError("benchmark: expected --device gpu and --starts with train and without --trained");
  Json result = executor                  ? train_starts(flags)
                : flags.what == "train"   ? train(flags)
                : flags.what == "predict" ? predict_whole(flags)
                                          : step_live(flags);
  const int threads = flags.what == "stream" ? 1 : flags.threads > 0 ? flags.threads : hardware_threads();
  result.update({{"threads", threads}, {"vector", name(vector_target())}, {"seed", flags.seed}});
  if (flags.model.empty())
    result.update({{"depth", flags.depth},
                   {"memory", flags.memory},
                   {"inputs", flags.inputs},
                   {"classes", flags.classes},
                   {"form", flags.form}});
  if (flags.data.empty()) result["length"] = flags.length;
  if (flags.json) {
    put(result.dump() + "\n");
    return;
  }
  const double median = result["steps_per_second"], best = result["best_steps_per_second"];
  print("{}: {:.2f} million steps per second (best {:.2f}), {} thread{}, {}\n", flags.what, median / 1e6, best / 1e6,
        threads, threads == 1 ? "" : "s", name(vector_target()));
  if (flags.what == "stream") print("stream: {:.1f} ns per step (median)\n", result["latency_ns"].get<double>());
}

void add_shape_flags(CLI::App& verb, BenchmarkFlags& flags) {
  const std::string group = "Workload";
  const auto number = [&](const char* name, auto& value, std::int64_t least, std::int64_t most, const char* help) {
    return verb.add_option(name, value, help)
        ->check(CLI::Range(least, most).description(""))
        ->type_name("N")
        ->group(group);
  };
  number("--depth", flags.depth, 0, 16, "Depth of the tree")->capture_default_str();
  number("--memory", flags.memory, 0, 256, "Number of memory cells")->capture_default_str();
  number("--inputs", flags.inputs, 1, 4096, "Number of inputs")->capture_default_str();
  number("--classes", flags.classes, 2, 1000, "Number of classes")->capture_default_str();
  number("--length", flags.length, 1, 1000000, "Steps per sequence")->capture_default_str();
  number("--batch", flags.batch, 1, 1000000, "Sequences per update, or per call of predict (default: 512, 8192)");
  number("--seed", flags.seed, 0, 1000000000000000000, "Seed of the random tree and sequences")->capture_default_str();
  std::vector<std::string> names;
  for (const auto& form : forms()) names.push_back(form.first);
  verb.add_option("--form", flags.form, fmt::format("Leaf form: {}", fmt::join(names, ", ")))
      ->check(one_of(names))
      ->type_name("FORM")
      ->capture_default_str()
      ->group(group);
}

}  // namespace

void add_benchmark(CLI::App& app) {
  auto flags = std::make_shared<BenchmarkFlags>();
  CLI::App* verb = app.add_subcommand("benchmark", "Measure speed on this machine");
  verb->add_option("what", flags->what,
                   "train (gradient and update), predict (whole sequences) or stream (one step at a time)")
      ->required()
      ->check(one_of({"train", "predict", "stream"}))
      ->type_name("");
  add_shape_flags(*verb, *flags);
  verb->add_option("--split-gradient", flags->split_gradient,
                   "train: surrogate derivative of a split: sigmoid, softsign")
      ->check(one_of({"sigmoid", "softsign"}))
      ->type_name("FORM")
      ->capture_default_str();
  verb->add_option("--slope", flags->slope, "train: slope of the surrogate derivative at the threshold")
      ->check(CLI::Range(0.01, 1000.0).description(""))
      ->type_name("S")
      ->capture_default_str();
  verb->add_option("--trained", flags->trained,
                   "train: first train for N updates on the task sign-memory, then measure that tree")
      ->check(CLI::Range(0, 1000000).description(""))
      ->type_name("N");
  verb->add_option("--device", flags->device, "train: device to measure: cpu, gpu")
      ->check(one_of({"cpu", "gpu"}))
      ->type_name("DEVICE")
      ->capture_default_str();
  verb->add_option("--starts", flags->starts, "train: number of starts trained at the same time, as in a search")
      ->check(CLI::Range(1, 65536).description(""))
      ->type_name("N")
      ->capture_default_str();
  reads_file(verb->add_option("--model", flags->model, "predict, stream: measure this model instead of a random tree")
                 ->type_name("FILE"));
  reads_file(verb->add_option("--data", flags->data, "predict, stream: measure on the sequences of this file")
                 ->type_name("FILE"));
  verb->add_option("--seconds", flags->seconds, "Duration of the measurement in seconds")
      ->check(CLI::Range(0.001, 3600.0).description(""))
      ->type_name("S")
      ->capture_default_str();
  add_threads_flag(*verb, flags->threads);
  add_json_flag(*verb, flags->json);
  on_run(*verb, [flags] { benchmark(*flags); });
}

}  // namespace remede
