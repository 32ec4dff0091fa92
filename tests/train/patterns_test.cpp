#include "remede/train/patterns/patterns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/data/dataset.h"
#include "remede/model/predict.h"
#include "remede/train/direct.h"
#include "remede/train/fit.h"
#include "remede/train/patterns/features.h"
#include "remede/train/patterns/matrix.h"
#include "remede/train/patterns/tree.h"
#include "remede/train/prepare.h"
#include "remede/train/score.h"

namespace remede {
namespace {

using patterns::Matrix;

const auto kNeverStop = [] { return false; };

// Noise, and somewhere in it one of two shapes, which the label at the last step names: the same values in another
// order, so that no mean or spread tells them apart.
Dataset shapes(int sequences, std::uint64_t seed) {
  Dataset data;
  data.schema.inputs = {"x1"};
  data.schema.targets = {"y"};
  data.schema.classes = {"rises", "falls"};
  Sequences& s = data.sequences;
  s.n_x = 1;
  s.n_y = 2;
  Random random(seed);
  for (int i = 0; i < sequences; ++i) {
    const auto length = static_cast<int>(40 + random.below(20)), begin = static_cast<int>(random.below(30));
    const bool falls = random.below(2) == 1;
    for (int t = 0; t < length; ++t) {
      const int in = t - begin;
      const double up = in < 0 || in >= 8 ? 0.0 : in - 3.5;
      s.x.push_back(static_cast<float>((falls ? -up : up) + 0.3 * random.normal()));
      s.label.push_back(falls ? 1 : 0);
      s.weight.push_back(t + 1 == length ? 1.0F : 0.0F);
    }
    s.offset.push_back(static_cast<std::int64_t>(s.x.size()));
  }
  return data;
}

// Two values to predict at every step: a moving average of the first input, and of how far the second exceeds 1.
Dataset averages(int sequences, std::uint64_t seed) {
  Dataset data;
  data.schema.task = Task::kRegression;
  data.schema.inputs = {"a", "b"};
  data.schema.targets = {"mean", "excess"};
  Sequences& s = data.sequences;
  s.n_x = s.n_y = 2;
  Random random(seed);
  for (int i = 0; i < sequences; ++i) {
    double mean = 0, excess = 0;
    for (int t = 0; t < 60; ++t) {
      const double a = 10 + random.normal(), b = 0.5 + random.normal();
      mean = t == 0 ? a : mean + 0.1 * (a - mean);
      const double over = std::max(0.0, b - 1);
      excess = t == 0 ? over : excess + 0.05 * (over - excess);
      s.x.push_back(static_cast<float>(a));
      s.x.push_back(static_cast<float>(b));
      s.value.push_back(static_cast<float>(mean));
      s.value.push_back(static_cast<float>(100 * excess));
      s.weight.push_back(1.0F);
    }
    s.offset.push_back(static_cast<std::int64_t>(s.weight.size()));
  }
  return data;
}

// Waves whose size has nothing to do with the class, from .001 to 100; of class "long" the positive half is longer.
Dataset waves(int sequences, std::uint64_t seed) {
  Dataset data = shapes(1, seed);
  data.schema.classes = {"short", "long"};
  Sequences& s = data.sequences;
  s = {};
  s.n_x = 1;
  s.n_y = 2;
  Random random(seed);
  for (int i = 0; i < sequences; ++i) {
    const int positive = i % 2 == 0 ? 4 : 7, begin = static_cast<int>(random.below(11));
    const double size = std::pow(10.0, random.uniform(-3, 2));
    for (int t = 0; t < 66; ++t) {
      const bool up = (t + begin) % 11 < positive;
      s.x.push_back(static_cast<float>(size * (up ? 1.0 / positive : -1.0 / (11 - positive))));
      s.label.push_back(i % 2);
      s.weight.push_back(t == 65 ? 1.0F : 0.0F);
    }
    s.offset.push_back(static_cast<std::int64_t>(s.x.size()));
  }
  return data;
}

Model model_of(const Dataset& data, Tree tree) {
  Model model;
  model.schema = data.schema;
  model.fill.assign(static_cast<std::size_t>(data.sequences.n_x), 0.0F);
  model.trees = {std::move(tree)};
  check(model, "patterns");
  return model;
}

// Without those that were not learned.
std::vector<Tree> learn(const Dataset& data, std::vector<int> counts, PatternOptions options = {}, int threads = 1) {
  const std::vector<float> fill(static_cast<std::size_t>(data.sequences.n_x), 0.0F);
  std::vector<Tree> trees;
  for (std::optional<Tree>& tree : learn_patterns(data.sequences, fill, counts, options, threads, kNeverStop))
    if (tree) trees.push_back(std::move(*tree));
  return trees;
}

TEST(Patterns, FindShapesWhereverTheyAre) {
  const Dataset training = shapes(100, 1), test = shapes(500, 2);
  const std::vector<Tree> trees = learn(training, {4, 16});
  ASSERT_EQ(trees.size(), 2U);
  EXPECT_GE(score(model_of(training, trees[0]), test.sequences).accuracy, 0.95);
  EXPECT_GE(score(model_of(training, trees[1]), test.sequences).accuracy, 0.97);
  EXPECT_LT(trees[0].n_m, trees[1].n_m);
}

TEST(Patterns, FollowSeveralValuesOfDifferentUnits) {
  const Dataset training = averages(40, 1), test = averages(40, 2);
  const std::vector<Tree> trees = learn(training, {32});
  ASSERT_EQ(trees.size(), 1U);
  const Model model = model_of(training, trees[0]);
  const auto n = static_cast<double>(test.sequences.steps());
  for (const std::size_t o : {0U, 1U}) {
    double mean = 0, squares = 0, off = 0;
    for (std::size_t t = 0; t < test.sequences.steps(); ++t) mean += test.sequences.value[2 * t + o] / n;
    const std::vector<float> said = predict(model, test.sequences).output;
    for (std::size_t t = 0; t < test.sequences.steps(); ++t) {
      squares += std::pow(test.sequences.value[2 * t + o] - mean, 2);
      off += std::pow(test.sequences.value[2 * t + o] - said[2 * t + o], 2);
    }
    EXPECT_GE(1 - off / squares, 0.9) << training.schema.targets[o];
  }
}

TEST(Patterns, CountsDoNotDependOnTheSizeOfASignal) {
  const Dataset training = waves(80, 1), test = waves(400, 2);
  PatternOptions counting;
  counting.counted = 0.5;
  const Tree sums = learn(training, {16})[0], counts = learn(training, {16}, counting)[0];
  EXPECT_LE(score(model_of(training, sums), test.sequences).accuracy, 0.9);
  EXPECT_GE(score(model_of(training, counts), test.sequences).accuracy, 0.98);
}

TEST(Patterns, DoNotDependOnTheNumberOfThreads) {
  const Dataset data = shapes(60, 3);
  PatternOptions options;
  options.counted = 0.5;
  const std::vector<Tree> one = learn(data, {4, 8}, options, 1), three = learn(data, {4, 8}, options, 3);
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].output, three[i].output);
    EXPECT_EQ(one[i].cells.linear, three[i].cells.linear);
    EXPECT_EQ(one[i].cells.input, three[i].cells.input);
    EXPECT_EQ(one[i].cells.earlier, three[i].cells.earlier);
    EXPECT_EQ(one[i].cells.bias, three[i].cells.bias);
  }
}

TEST(Patterns, OtherStreamsDrawOtherPatterns) {
  const Dataset data = shapes(60, 3);
  PatternOptions other;
  other.stream = 1;
  EXPECT_NE(learn(data, {4})[0].cells.bias, learn(data, {4}, other)[0].cells.bias);
}

TEST(Patterns, TooFewTargetsGiveFewerModels) {
  const Dataset data = shapes(20, 4);
  EXPECT_EQ(learn(data, {4, 8, 16}).size(), 2U);  // two targets for every pattern
  EXPECT_TRUE(learn(data, {11}).empty());
}

TEST(Patterns, NothingToReadGivesNoModel) {
  Dataset data = shapes(40, 5);
  std::fill(data.sequences.x.begin(), data.sequences.x.end(), 3.0F);
  for (const Tree& tree : learn(data, {4}))  // what is left is how long a sequence is
    EXPECT_LE(score(model_of(data, tree), shapes(300, 6).sequences).accuracy, 0.6);
  std::fill(data.sequences.x.begin(), data.sequences.x.end(), std::numeric_limits<float>::quiet_NaN());
  for (const Tree& tree : learn(data, {4})) check(tree, "patterns of missing values");
}

TEST(Patterns, MissingValuesAndOutliersAreNoObstacle) {
  Dataset training = shapes(150, 7);
  for (std::size_t t = 0; t < training.sequences.steps(); t += 17)
    training.sequences.x[t] = std::numeric_limits<float>::quiet_NaN();
  training.sequences.x[5] = 1e30F;
  for (const Tree& tree : learn(training, {8})) check(tree, "patterns");
  training.sequences.x[5] = 0;
  const std::vector<Tree> trees = learn(training, {8});
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_GE(score(model_of(training, trees[0]), shapes(300, 8).sequences).accuracy, 0.9);
}

TEST(Patterns, EndWhenTold) {
  const Dataset data = shapes(60, 9);
  EXPECT_FALSE(learn_patterns(data.sequences, std::array{0.0F}, std::array{4}, {}, 1, [] { return true; })[0]);
}

TEST(Patterns, EveryCountHasItsPlace) {
  const Dataset data = shapes(20, 4);
  const auto found = learn_patterns(data.sequences, std::array{0.0F}, std::array{4, 8, 16}, {}, 1, kNeverStop);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(found[0] && found[1]);
  EXPECT_FALSE(found[2]);
}

TEST(Patterns, TargetsAtTheFirstSteps) {
  Dataset data = shapes(1, 5);
  Sequences& s = data.sequences;
  s = {};
  s.n_x = 1;
  s.n_y = 2;
  Random random(5);
  for (int i = 0; i < 40; ++i)
    for (int t = 0; t < 3000; ++t) {
      s.label.push_back(i % 2);
      s.x.push_back(static_cast<float>((t == 0 ? 4 * (i % 2) : 0) + random.normal()));
      s.weight.push_back(t == 0 ? 1.0F : 0.0F);
      if (t == 2999) s.offset.push_back(static_cast<std::int64_t>(s.weight.size()));
    }
  const std::vector<Tree> trees = learn(data, {4});
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_GE(score(model_of(data, trees[0]), s).accuracy, 0.9);
}

TEST(Patterns, AnyUnitOfTheValuesGivesTheSameColumns) {
  const Dataset data = averages(20, 6);
  const std::vector<Tree> usual = learn(data, {8});
  for (const int exponent : {-80, 80}) {
    Dataset other = data;
    for (float& v : other.sequences.value) v = std::ldexp(v, exponent);
    const std::vector<Tree> trees = learn(other, {8});
    ASSERT_EQ(trees.size(), 1U) << exponent;
    EXPECT_EQ(trees[0].cells.input, usual[0].cells.input) << exponent;
    EXPECT_EQ(trees[0].cells.earlier, usual[0].cells.earlier) << exponent;
  }
}

TEST(Patterns, TreesWithTooManyCellsAreLeftOut) {
  const Dataset data = shapes(60, 3);
  PatternOptions deep;
  deep.drawn = 200;
  deep.speeds = 60;
  deep.stages = 250;
  const auto found = learn_patterns(data.sequences, std::array{0.0F}, std::array{4, 30}, deep, 1, kNeverStop);
  EXPECT_TRUE(found[0]);
  EXPECT_FALSE(found[1]);  // 30 patterns read chains of more than 4,096 averages
}

// What the table says a cell holds is what the reference predictor finds in it.
TEST(Patterns, TheTreeHoldsWhatTheTableSays) {
  for (const bool whole : {true, false}) {
    const Dataset data = whole ? shapes(20, 10) : averages(6, 10);
    const Sequences& s = data.sequences;
    const std::vector<float> fill(static_cast<std::size_t>(s.n_x), 0.0F);
    PatternOptions options;
    options.stores = 0.5;
    options.counted = 0.5;
    const patterns::Basis basis = patterns::make_basis(s, fill, options);
    const patterns::TargetRows rows = patterns::choose_rows(s, 100);
    EXPECT_EQ(rows.whole, whole);
    EXPECT_EQ(rows.count(), whole ? 20U : 100U);
    Random random(1);
    const auto drawn = patterns::draw_patterns(s, basis, rows, 40, options, random, 1);
    EXPECT_TRUE(std::any_of(drawn.begin(), drawn.end(), [](const patterns::Pattern& p) { return p.ramp > 0; }));
    const Matrix<float> table = patterns::measure(s, basis, rows, drawn, 1, kNeverStop);
    // An answer for each column: the tree's outputs are then what the cells hold.
    std::vector<std::size_t> columns;
    Matrix<double> answer(table.columns + 1, table.columns);
    for (std::size_t c = 0; c < table.columns; ++c) {
      columns.push_back(c);
      answer(c, c) = 1;
    }
    const Tree tree = patterns::make_tree(basis, drawn, columns, columns.size(), answer, false);
    check(tree, "patterns");
    std::vector<float> memory(static_cast<std::size_t>(tree.memory_size())), y(static_cast<std::size_t>(tree.n_y));
    std::size_t row = 0;
    for (std::size_t sequence = 0; sequence < s.count(); ++sequence) {
      std::fill(memory.begin(), memory.end(), 0.0F);
      for (auto t = s.offset[sequence]; t < s.offset[sequence + 1]; ++t) {
        step(tree, s.x.data() + t * s.n_x, fill.data(), memory.data(), y.data());
        if (row == rows.count() || rows.step[row] != t) continue;
        for (std::size_t c = 0; c < table.columns; ++c) {
          const float held = table(row, c);
          ASSERT_NEAR(y[c], held, 2e-3 * (1 + std::abs(held))) << "column " << c << " step " << t;
        }
        ++row;
      }
    }
    EXPECT_EQ(row, rows.count());
  }
}

// Gradient descent alone has not found the shapes after so few updates.
TEST(PatternsSlow, AFitTakesThemWhereTheyAreBest) {
  const Dataset training = shapes(120, 11), test = shapes(400, 12);
  Config config;
  config.starts = 2;
  config.updates = 20;
  config.threads = 2;
  config.accurate = true;
  const Fit with = fit(training, nullptr, config);
  config.recipe.pattern_sequences = 1000;
  const Fit without = fit(training, nullptr, config);
  EXPECT_TRUE(with.model.trees[0].has_laws());
  const double found = score(with.model, test.sequences).accuracy;
  EXPECT_GE(found, 0.95);
  EXPECT_GT(found, score(without.model, test.sequences).accuracy + 0.05);
}

// Whatever the unit of the target: what counts as solved was once compared in another one.
TEST(PatternsSlow, AFitTakesThemInRegression) {
  Dataset training = averages(60, 21), test = averages(60, 22);
  for (Dataset* data : {&training, &test})
    for (float& v : data->sequences.value) v *= 1000.0F;
  Config config;
  config.starts = 2;
  config.updates = 5;
  config.threads = 2;
  config.accurate = true;
  const Fit with = fit(training, nullptr, config);
  config.recipe.pattern_sequences = 1000;
  const Fit without = fit(training, nullptr, config);
  EXPECT_GE(with.model.trees[0].n_m, 10);  // small models have fewer cells
  EXPECT_LT(score(with.model, test.sequences).rmse, 0.5 * score(without.model, test.sequences).rmse);
}

TEST(PatternsSlow, AForestTakesOtherPatternsForEachTree) {
  const Dataset training = shapes(120, 13);
  Config config;
  config.starts = 4;
  config.updates = 20;
  config.threads = 2;
  config.trees = 3;
  const Fit found = fit(training, nullptr, config);
  ASSERT_GE(found.model.trees.size(), 2U);
  EXPECT_NE(found.model.trees[0].cells.bias, found.model.trees[1].cells.bias);
  EXPECT_GE(score(found.model, shapes(400, 14).sequences).accuracy, 0.95);
}

// Where nothing can be learned, sequences of other folds are told apart with less confidence.
TEST(Patterns, AreLessSureWhereFoldsSayThatTheyAreWrong) {
  Dataset noise = shapes(40, 1);
  Random random(3);
  for (std::size_t t = 0; t < noise.sequences.steps(); ++t)
    noise.sequences.label[t] = static_cast<std::int32_t>(random.below(2));
  Config config;
  config.threads = 1;
  const std::vector<Prepared> folds = prepare_folds(noise, nullptr, config, {});
  ASSERT_EQ(folds.size(), 5U);
  const auto loss = [&](double dampened) {
    config.recipe.pattern_dampened = dampened;
    DirectModels found;
    add_patterns(noise.schema, folds, config, kNeverStop, found);
    return found.candidates.at(2).loss;  // of 16 patterns
  };
  const double as_learned = loss(0);
  EXPECT_GT(as_learned, 1.2 * std::log(2.0));
  EXPECT_LT(loss(0.5), as_learned);
  EXPECT_LT(loss(1), 1.1 * std::log(2.0));
}

}  // namespace
}  // namespace remede
