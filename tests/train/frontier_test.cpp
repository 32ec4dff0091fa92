// Small models whose cells have laws: what they say in raw units, how they are counted, pruned, constrained and chosen.
#include "remede/train/frontier/frontier.h"

#include <cmath>

#include <gtest/gtest.h>

#include "remede/data/tasks.h"
#include "remede/executor/laws/plain.h"
#include "remede/model/predict.h"
#include "remede/train/fit.h"
#include "remede/train/frontier/choice.h"
#include "remede/train/frontier/fold.h"
#include "remede/train/frontier/search.h"
#include "remede/train/frontier/start.h"
#include "remede/train/frontier/trends.h"

namespace remede::frontier {
namespace {

Sequences first_sequences(const Sequences& all, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t s = from; s < to; ++s) numbers.push_back(s);
  return select(all, numbers);
}

Problem runoff_problem(std::vector<Trend> trend = {}) {
  const Sequences all = generate("runoff", {.sequences = 4, .seed = 11}).sequences;
  return make_problem(first_sequences(all, 0, 3), first_sequences(all, 3, 4), std::move(trend));
}

SearchOptions short_search(int threads) {
  SearchOptions options;
  options.seed = 3;
  options.threads = threads;
  options.starts = 4;
  options.work = 1.5e8;
  return options;
}

// The tree in the units of the file says what the parameters say of scaled data, also where constants are not in use.
void expect_same_answers(const Dataset& data, const Problem& problem, std::uint64_t number) {
  Sequences scaled = data.sequences;
  apply(problem.scaling, scaled);
  laws::Parameters p = draw_start(problem, 5, number).parameters;
  for (std::size_t i = 0; i < p.shape.law.size(); i += 2) p.used[p.shape.at(laws::Group::kBias, i)] = 0;
  if (number % 3 == 0) p.used[p.shape.at(laws::Group::kOutput, 0)] = 0;
  for (std::size_t i = p.shape.begin(laws::Group::kBias); i < p.used.size(); ++i)
    p.values[i] = p.used[i] == 0 ? 0 : p.values[i] == 0 ? 0.01 : p.values[i];
  drop_unread(p);
  const Tree tree = fold_tree(problem, p);
  check(tree, "folded");
  std::vector<float> values(p.values.begin(), p.values.end());
  set_free_constants(problem, p, values);
  laws::Parameters whole = p;
  whole.values.assign(values.begin(), values.end());
  const laws::PlainRun run = laws::run_plain(whole, scaled, 0, 0, nullptr, &problem.objective);
  const auto n_y = static_cast<std::size_t>(problem.n_y);
  std::vector<float> m(static_cast<std::size_t>(tree.memory_size())), y(n_y);
  std::size_t off = 0;
  for (std::size_t t = 0; t < 200; ++t) {
    step(tree, data.sequences.x.data() + 2 * t, problem.scaling.x_shift.data(), m.data(), y.data());
    for (std::size_t o = 0; o < n_y; ++o) {
      const double expected = (run.output[t * n_y + o] + problem.y_zero[o]) * problem.y_scale[o];
      // A level within rounding of a threshold may go the other way.
      if (std::abs(static_cast<double>(y[o]) - expected) > 2e-3 * (1 + std::abs(expected))) ++off;
    }
  }
  EXPECT_LE(off, 4U) << word_of(problem.objective) << ", start " << number;
  // What is counted in training is what the saved model has.
  Model model;
  model.schema = data.schema;
  model.own_objective = problem.objective;
  model.trees = {tree};
  EXPECT_EQ(static_cast<std::size_t>(size_of(model).numbers), numbers_in_use(p)) << "start " << number;
}

TEST(Fold, KeepsTheAnswers) {
  const Dataset data = generate("runoff", {.sequences = 2, .seed = 7});
  Dataset positive = data;
  for (float& v : positive.sequences.value) v = std::abs(v);
  for (const Objective& objective : {Objective{.loss = Loss::kSquaredError}, Objective{.loss = Loss::kPoisson},
                                     Objective{.loss = Loss::kQuantile, .quantiles = {0.2F, 0.5F, 0.7F}}}) {
    const Dataset& used = objective.loss == Loss::kPoisson ? positive : data;
    const Problem problem = make_problem(used.sequences, used.sequences, {}, &objective);
    for (std::uint64_t number = 0; number < 24; ++number) expect_same_answers(used, problem, number);
  }
}

// With inputs of 1e38 a constant in the units of a cell may be more than a float holds.
TEST(Fold, GivesFiniteNumbers) {
  Problem problem = runoff_problem();
  for (float& scale : problem.scaling.x_scale) scale = 3e38F;
  for (std::uint64_t number = 0; number < 24; ++number) {
    laws::Parameters p = draw_start(problem, 5, number).parameters;
    for (std::size_t k = 0; k < p.shape.law.size(); ++k) p[laws::Group::kBias][k] = 50;
    EXPECT_NO_THROW(check(fold_tree(problem, p), "folded")) << number;
  }
}

// Every objective has small models, and they learn.
TEST(SmallModels, LearnEveryObjective) {
  Sequences all = generate("runoff", {.sequences = 4, .seed = 11}).sequences;
  for (float& v : all.value) v = std::abs(v);
  for (const Objective& objective :
       {Objective{.loss = Loss::kAbsoluteError}, Objective{.loss = Loss::kHuber}, Objective{.loss = Loss::kPoisson},
        Objective{.loss = Loss::kQuantile, .quantiles = {0.1F, 0.5F, 0.9F}}}) {
    const Problem problem = make_problem(first_sequences(all, 0, 3), first_sequences(all, 3, 4), {}, &objective);
    double best = 1e9;
    for (const Snapshot& s : search_small_models(problem, short_search(2))) best = std::min(best, s.validation.loss);
    Sequences scaled = first_sequences(all, 3, 4);
    apply(problem.scaling, scaled);
    EXPECT_LT(best, 0.8 * constant_loss(objective, scaled)) << word_of(objective);
  }
}

TEST(SmallModels, AreTheSameForAnyNumberOfThreads) {
  const Problem problem = runoff_problem();
  const std::vector<Snapshot> one = search_small_models(problem, short_search(1));
  const std::vector<Snapshot> two = search_small_models(problem, short_search(2));
  ASSERT_EQ(one.size(), two.size());
  ASSERT_GT(one.size(), 10U);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].parameters.values, two[i].parameters.values);
}

TEST(SmallModels, ShrinkStepByStep) {
  const Problem problem = runoff_problem();
  std::size_t last = 0;
  double best = 1e9;
  for (const Snapshot& s : search_small_models(problem, short_search(2))) {
    EXPECT_EQ(s.numbers, numbers_in_use(s.parameters));
    last = std::min(last == 0 ? s.numbers : last, s.numbers);
    best = std::min(best, s.validation.loss);
  }
  EXPECT_LE(last, 8U);
  EXPECT_LT(best, 0.5);  // of the variance
}

TEST(Trends, HoldForEveryModelOnTheWay) {
  const Dataset data = generate("runoff", {.sequences = 4, .seed = 11});
  const Problem problem = runoff_problem({Trend::kRising, Trend::kFalling});
  SearchOptions options = short_search(2);
  options.starts = 6;
  for (const Snapshot& s : search_small_models(problem, options)) {
    Model model;
    model.schema = data.schema;
    model.fill = problem.scaling.x_shift;
    model.trees = {fold_tree(problem, s.parameters)};
    Sequences wetter = first_sequences(data.sequences, 0, 1), colder = wetter;
    const std::vector<float> before = predict(model, wetter).output;
    for (std::size_t t = 100; t < 103; ++t) {
      wetter.x[2 * t] += 20.0F;
      colder.x[2 * t + 1] -= 10.0F;
    }
    const std::vector<float> more = predict(model, wetter).output, also_more = predict(model, colder).output;
    for (std::size_t t = 0; t < before.size(); ++t) {
      ASSERT_GE(more[t], before[t] - 1e-4F * (1 + std::abs(before[t])));
      ASSERT_GE(also_more[t], before[t] - 1e-4F * (1 + std::abs(before[t])));
    }
  }
}

TEST(Trends, NameInputsOrAreRefused) {
  Schema schema;
  schema.task = Task::kRegression;
  schema.inputs = {"rain", "temp"};
  schema.targets = {"y"};
  Config config;
  config.increasing = ColumnNames{{"rain"}};
  config.decreasing = ColumnNames{{"temp"}};
  EXPECT_EQ(trends_of(config, schema), (std::vector<Trend>{Trend::kRising, Trend::kFalling}));
  config.decreasing = ColumnNames{{"snow"}};
  EXPECT_THROW(trends_of(config, schema), Error);
  config.decreasing = ColumnNames{{"rain"}};
  EXPECT_THROW(trends_of(config, schema), Error);
  config.decreasing.reset();
  schema.task = Task::kClassification;
  schema.classes = {"a", "b", "c"};
  EXPECT_THROW(trends_of(config, schema), Error);
}

// An entry whose merit is about `merit` on 20 units, which differ from one entry to the next by `spread`.
Entry entry(long long numbers, long long cells, double merit, double spread) {
  Entry e;
  e.size = {numbers, cells, 0};
  for (int u = 0; u < 20; ++u) {
    e.units.merit.push_back(merit + (u % 2 == 0 ? spread : -spread));
    e.units.weight.push_back(1);
  }
  e.merit = e.units.mean_merit();
  return e;
}

TEST(Choice, TakesTheNumberOfCellsFirst) {
  std::vector<Entry> entries;
  entries.push_back(entry(10, 1, 0.50, 0));
  entries.push_back(entry(20, 2, 0.201, 0.05));
  entries.push_back(entry(40, 2, 0.2, 0));
  entries.push_back(entry(15, 3, 0.2005, 0.05));
  entries.push_back(entry(90, 3, 0.199, 0.05));
  std::string why;
  EXPECT_EQ(choose_entry(entries, {}, false, 1.0, why)->size.numbers, 20);
  EXPECT_NE(why.find("2 cells"), std::string::npos) << why;
  Config config;
  config.accurate = true;
  EXPECT_EQ(choose_entry(entries, config, false, 1.0, why)->size.numbers, 90);
  config.accurate = false;
  config.numbers = 16;
  EXPECT_EQ(choose_entry(entries, config, false, 1.0, why)->size.numbers, 15);
  config.numbers = 9;
  EXPECT_THROW(choose_entry(entries, config, false, 1.0, why), Error);
}

// However large the error, no more is given up than a small share of what the best model is worth.
TEST(Choice, GivesUpLittle) {
  std::vector<Entry> entries;
  entries.push_back(entry(10, 1, 0.6, 10));
  entries.push_back(entry(40, 1, 0.2, 0));
  std::string why;
  EXPECT_EQ(choose_entry(entries, {}, false, 1.0, why)->size.numbers, 40);
}

// What is certain may still be too little to matter.
TEST(Choice, IgnoresWhatIsNegligible) {
  std::vector<Entry> entries;
  entries.push_back(entry(8, 2, 0.2001, 0));
  entries.push_back(entry(12, 3, 0.2, 0));
  std::string why;
  EXPECT_EQ(choose_entry(entries, {}, false, 1.0, why)->size.numbers, 8);
  entries[0] = entry(8, 2, 0.21, 0);
  EXPECT_EQ(choose_entry(entries, {}, false, 1.0, why)->size.numbers, 12);
}

TEST(FitOnTheFrontierSlow, SavesAModelOfTheSizeAskedFor) {
  const Dataset data = generate("runoff", {.sequences = 5, .seed = 2});
  Config config;
  config.starts = 2;
  config.updates = 100;
  config.numbers = 20;
  const Fit result = fit(data, nullptr, config);
  EXPECT_LE(size_of(result.model).numbers, 20);
  ASSERT_FALSE(result.frontier.points.empty());
  long long before = -1;
  int chosen = 0;
  for (const FrontierPoint& p : result.frontier.points) {
    EXPECT_GT(p.size.numbers, before);
    before = p.size.numbers;
    chosen += p.chosen ? 1 : 0;
    EXPECT_EQ(p.size.numbers, size_of(p.model).numbers);
    EXPECT_EQ(p.chosen, p.size.numbers == size_of(result.model).numbers);
  }
  EXPECT_EQ(chosen, 1);

  Frontier frontier = result.frontier;
  ASSERT_GE(frontier.points.size(), 3U);
  for (FrontierPoint& p : frontier.points) p.chosen = &p == &frontier.points[1];
  const Model larger = frontier.points[2].model;
  finish_frontier(larger, frontier);  // after its last training the chosen model is as large as the next
  EXPECT_EQ(frontier.points.size(), result.frontier.points.size() - 1);
  EXPECT_TRUE(frontier.points[1].chosen);
  EXPECT_EQ(frontier.points[1].size.numbers, size_of(larger).numbers);
}

}  // namespace
}  // namespace remede::frontier
