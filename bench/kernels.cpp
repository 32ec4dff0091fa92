// The kernels by themselves: steps per second of gradient and loss, plain and fast, over depth, form and batch.
#include <numeric>

#include <benchmark/benchmark.h>

#include "remede/executor/workload.h"
#include "remede/schema/schema.h"

namespace remede {
namespace {

LeafForm richest() {
  return {WriteRule::kBlend, WriteReads::kInputsAndMemory, true, LeafOutput::kLinear, OutputOrder::kZero};
}

void run(benchmark::State& state, Engine& engine, const Workload& w, bool gradient) {
  const Sequences data = random_sequences(w, Task::kClassification);
  const Objective objective = default_objective(Task::kClassification);
  const Parameters<float> p = random_parameters(w.shape, 2);
  GradientForm form;
  form.split = SplitGradient::kSoftsign;
  form.slope = 4;
  std::vector<std::uint32_t> batch(w.sequences);
  std::iota(batch.begin(), batch.end(), 0U);
  Parameters<float> sums(w.shape);
  for (auto _ : state) {
    if (gradient) {
      benchmark::DoNotOptimize(engine.gradient(p, form, objective, data, {}, batch, sums));
    } else {
      benchmark::DoNotOptimize(engine.loss(p, objective, data, {}, batch));
    }
  }
  state.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * data.steps()), benchmark::Counter::kIsRate);
}

void plain(benchmark::State& state) {
  const auto engine = make_plain_engine();
  run(state, *engine, {{static_cast<int>(state.range(0)), 1, 5, 3, {}}, 512, 16, 1}, true);
}
void fast(benchmark::State& state) {
  const auto engine = make_engine();
  run(state, *engine,
      {{static_cast<int>(state.range(0)), 1, 5, 3, {}}, static_cast<std::size_t>(state.range(1)), 16, 1}, true);
}
void fast_loss(benchmark::State& state) {
  const auto engine = make_engine();
  run(state, *engine, {{static_cast<int>(state.range(0)), 1, 5, 3, {}}, 512, 16, 1}, false);
}
void fast_richest(benchmark::State& state) {
  const auto engine = make_engine();
  run(state, *engine,
      {{static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), 5, 3, richest()}, 512, 16, 1}, true);
}

// The signal stage: depth and sequences; 15 inputs, 16 cells, linear leaves, 200 steps.
void signal(benchmark::State& state) {
  const auto engine = make_engine();
  Workload w{
      {static_cast<int>(state.range(0)), 15, 16, 2, richest()}, static_cast<std::size_t>(state.range(1)), 200, 1};
  run(state, *engine, w, true);
}

// The event stage: depth and inputs; five cells, constant leaves, 32 sequences of 40 steps.
void event(benchmark::State& state) {
  const auto engine = make_engine();
  LeafForm form;
  form.write_rule = WriteRule::kBlend;
  form.write_bias = true;
  run(state, *engine, {{static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), 5, 3, form}, 32, 40, 1},
      true);
}

BENCHMARK(event)->ArgsProduct({{4, 5, 6}, {1, 2, 4, 8, 15, 30}});
BENCHMARK(signal)->ArgsProduct({{0, 1, 2, 3, 4}, {1, 16}});
BENCHMARK(plain)->Arg(6)->Arg(10);
BENCHMARK(fast)->ArgsProduct({{4, 6, 8, 10, 12}, {32, 512}});
BENCHMARK(fast_loss)->Arg(4)->Arg(6)->Arg(10);
BENCHMARK(fast_richest)->Args({6, 1})->Args({6, 20});

}  // namespace
}  // namespace remede

BENCHMARK_MAIN();
