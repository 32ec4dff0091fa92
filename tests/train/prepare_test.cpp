#include "remede/train/prepare.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/data/parts.h"
#include "remede/data/split.h"
#include "train/small_data.h"

namespace remede {
namespace {

double total(const Column<float>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(Prepare, HoldsOutWholeSequencesAndLosesNone) {
  const Dataset data = testing::fixed_delay(50, 1);
  const Prepared p = prepare(data, nullptr, Config(), {});
  EXPECT_EQ(p.validation.count(), 10U);
  EXPECT_EQ(p.data.training.count(), 40U);
  EXPECT_TRUE(p.held_out);
  EXPECT_NEAR(total(p.data.training.x) + total(p.validation.x), total(data.sequences.x), 1e-4);
  Config other;
  other.seed = 2;
  EXPECT_NE(prepare(data, nullptr, other, {}).validation.x, p.validation.x);
}

TEST(Prepare, FewSequencesAreHeldOutInTurn) {
  const Dataset data = testing::fixed_delay(50, 1);
  const std::vector<Prepared> folds = prepare_folds(data, nullptr, Config(), {});
  ASSERT_EQ(folds.size(), 5U);
  double held = 0;
  for (const Prepared& p : folds) {
    EXPECT_EQ(p.validation.count(), 10U);
    EXPECT_EQ(p.training.count(), 40U);
    EXPECT_NEAR(total(p.training.x) + total(p.validation.x), total(data.sequences.x), 1e-4);
    held += total(p.validation.x);
  }
  EXPECT_NEAR(held, total(data.sequences.x), 1e-4);
  EXPECT_EQ(prepare_folds(data, &data, Config(), {}).size(), 1U);  // validation data are given
  EXPECT_EQ(prepare_folds(testing::fixed_delay(120, 1), nullptr, Config(), {}).size(), 1U);  // 24 are held out at once
  Config config;
  config.validation_fraction = 0;
  EXPECT_EQ(prepare_folds(data, nullptr, config, {}).size(), 1U);
}

// (n_y) Sums of the weights of each class.
std::vector<double> of_classes(const Sequences& data) {
  std::vector<double> sums(static_cast<std::size_t>(data.n_y), 0.0);
  for (std::size_t t = 0; t < data.steps(); ++t)
    sums[static_cast<std::size_t>(data.label[t])] += static_cast<double>(data.weight[t]);
  return sums;
}

TEST(Prepare, ClassesOfFewSequencesKeepTheirShares) {
  const Dataset data = testing::colours(25, 2, 1, 4);
  Config config;
  for (const Prepared& p : prepare_folds(data, nullptr, config, {})) {
    ASSERT_EQ(p.validation.count(), 10U);
    for (const Sequences* learned : {&p.training, &p.data.training})
      for (const double weight : of_classes(*learned)) EXPECT_NEAR(weight, 40.0 / 25, 1e-4);
    EXPECT_EQ(total(p.validation.weight), 10) << "what is held out counts as it does";
  }
  config.recipe.class_share_kept = 0;
  EXPECT_EQ(of_classes(prepare_folds(data, nullptr, config, {})[0].training)[0], 1);
}

TEST(Prepare, ClassesOfManySequencesAreNotWeighted) {
  for (const int of_each : {5, 10, 40}) {
    const Dataset data = testing::colours(4, of_each, 1, 4);
    for (const Prepared& p : prepare_folds(data, nullptr, Config(), {}))
      for (const float weight : p.data.training.weight) EXPECT_TRUE(weight == 0.0F || weight == 1.0F) << weight;
  }
}

TEST(Prepare, AClassThatIsHeldOutWholeLeavesTheSharesOfTheOthers) {
  Dataset data = testing::colours(25, 2, 1, 4);
  std::vector<std::uint32_t> kept(49);
  std::iota(kept.begin(), kept.end(), 1U);
  data.sequences = select(data.sequences, kept);  // of the first class there is one
  int without = 0;
  for (const Prepared& p : prepare_folds(data, nullptr, Config(), {})) {
    const std::vector<double> sums = of_classes(p.training);
    const auto learned = static_cast<double>(p.training.count());
    EXPECT_NEAR(std::accumulate(sums.begin(), sums.end(), 0.0), learned, 1e-4);
    if (sums[0] == 0) ++without;
    for (std::size_t c = 1; c < sums.size(); ++c) EXPECT_NEAR(sums[c], learned * 2 / (sums[0] == 0 ? 48 : 49), 1e-4);
  }
  EXPECT_EQ(without, 1);
}

TEST(Prepare, FewerHeldOutThanClassesAreHeldOutInTurn) {
  EXPECT_EQ(prepare_folds(testing::colours(30, 4, 1, 4), nullptr, Config(), {}).size(), 5U);  // 24 of 30 classes
  EXPECT_EQ(prepare_folds(testing::colours(24, 5, 1, 4), nullptr, Config(), {}).size(), 1U);
}

// A column of twelve words beside a number; where `held` names sequences, their targets say the opposite.
RawDataset with_cities(int sequences, const std::vector<std::uint32_t>& held) {
  RawDataset raw;
  raw.inputs = {{"city", true, false, {}}, {"x", false, false, {}}};
  Sequences& s = raw.data.sequences;
  raw.data.schema.task = Task::kRegression;
  raw.data.schema.targets = {"y"};
  s.n_x = 2;
  s.n_y = 1;
  for (int c = 0; c < 12; ++c) raw.inputs[0].known.push_back("c" + std::to_string(10 + c));
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(sequences); ++i) {
    const bool opposite = std::find(held.begin(), held.end(), i) != held.end();
    for (int c = 0; c < 12; ++c) {
      s.x.insert(s.x.end(), {static_cast<float>(c), 0.5F});
      s.value.push_back(static_cast<float>(opposite ? -1000 * c : c));
      s.weight.push_back(1.0F);
    }
    s.offset.push_back(static_cast<std::int64_t>(s.weight.size()));
  }
  return raw;
}

TEST(Prepare, WordsAreOrderedByTheTargetsOfTheTrainingPart) {
  for (const int sequences : {40, 200}) {  // few enough for folds, and many
    const std::vector<std::uint32_t> held = split(with_cities(sequences, {}).data.sequences, 0.2, 1).validation;
    const RawDataset raw = with_cities(sequences, held);
    const Dataset data = encode_for_fit(raw, false, Config());
    EXPECT_EQ(data.schema.codes.at(0).words.front(), "c10") << sequences;
    EXPECT_EQ(data.schema.codes.at(0).words.back(), "c21");
    EXPECT_EQ(prepare_folds(data, nullptr, Config(), {}).size(), 1U) << "folds cannot each have an order of their own";
    EXPECT_EQ(encode_for_fit(raw, true, Config()).schema.codes.at(0).words.back(), "c10") << "nothing is held out";
  }
}

TEST(Prepare, WordsOfOneSequenceAreOrderedByItsFirstTargets) {
  RawDataset raw = with_cities(1, {});
  raw.inputs[0].known.push_back("late");
  Sequences& s = raw.data.sequences;
  for (int i = 0; i < 3; ++i) {  // three of fifteen targets are held out: the last ones
    s.x.insert(s.x.end(), {i == 0 ? 12.0F : 0.0F, 0.5F});
    s.value.push_back(1000.0F);
    s.weight.push_back(1.0F);
  }
  s.offset.back() = 15;
  const Dataset data = encode_for_fit(raw, false, Config());
  EXPECT_EQ(data.schema.codes.at(0).words.front(), "c10");
  EXPECT_EQ(data.schema.codes.at(0).words.size(), 12U);
  EXPECT_TRUE(std::isnan(data.sequences.x[12 * 14])) << "a word that the training part has not is not known";
}

// The targets of the test and validation parts say the opposite of the others: whoever learned from them would show.
TEST(Prepare, WordsAreNotOrderedByTheTargetsOfATestPart) {
  constexpr int kSequences = 200;
  const RawDataset plain = with_cities(kSequences, {});
  std::vector<std::uint32_t> held;  // test and validation
  RawDataset numbered = plain;      // the first input says which sequence it is
  for (std::size_t s = 0; s < kSequences; ++s)
    for (std::int64_t t = plain.data.sequences.offset[s]; t < plain.data.sequences.offset[s + 1]; ++t)
      numbered.data.sequences.x[static_cast<std::size_t>(t) * 2 + 1] = static_cast<float>(s);
  const auto numbers_of = [](const Sequences& some) {
    std::vector<std::uint32_t> numbers;
    for (std::size_t s = 0; s < some.count(); ++s)
      numbers.push_back(static_cast<std::uint32_t>(some.x[static_cast<std::size_t>(some.offset[s]) * 2 + 1]));
    return numbers;
  };
  const TestParts drawn = hold_out_test(numbered, 0.2, 1);
  held = numbers_of(drawn.test.data.sequences);
  ASSERT_EQ(held.size(), 40U);
  const Sequences& rest = drawn.training.data.sequences;
  for (const std::uint32_t s : split(rest, 0.2, 1).validation) held.push_back(numbers_of(rest)[s]);
  ASSERT_EQ(held.size(), 72U);
  TestParts parts = hold_out_test(with_cities(kSequences, held), 0.2, 1);
  const Dataset data = encode_for_fit(std::move(parts.training), false, Config());
  EXPECT_EQ(data.schema.codes.at(0).words.front(), "c10");
  EXPECT_EQ(data.schema.codes.at(0).words.back(), "c21");
}

TEST(Prepare, OneSequenceIsHeldOutAtItsEnd) {
  Dataset data = testing::fixed_delay(1, 1, 18);
  data.sequences.weight[0] = 0.0F;
  const Prepared p = prepare(data, nullptr, Config(), {});
  EXPECT_EQ(p.data.training.steps(), 20U);
  EXPECT_EQ(p.validation.steps(), 20U);
  EXPECT_EQ(total(p.data.training.weight), 15.0);
  EXPECT_EQ(total(p.validation.weight), 4.0);
  EXPECT_EQ(p.data.training.weight[15], 1.0F);
  EXPECT_EQ(p.data.training.weight[16], 0.0F);
  EXPECT_EQ(p.validation.weight[16], 1.0F);
}

TEST(Prepare, VeryManySequencesAreJudgedByAPartOfThem) {
  const Sequences few = testing::fixed_delay(100, 1).sequences;
  EXPECT_EQ(thinned(few).x, few.x);
  const Dataset many = testing::fixed_delay(130'000, 1);  // 650,000 steps
  const Prepared p = prepare(many, nullptr, Config(), {});
  EXPECT_EQ(p.data.training.count(), 104'000U);
  EXPECT_LE(p.training.steps(), 250'000U);
  EXPECT_GT(p.training.steps(), 125'000U);
  EXPECT_EQ(p.validation.steps(), 130'000U);
}

TEST(Prepare, NothingToHoldOutIsSaid) {
  Config config;
  config.validation_fraction = 0;
  const Prepared p = prepare(testing::fixed_delay(5, 1), nullptr, config, {});
  EXPECT_FALSE(p.held_out);
  EXPECT_EQ(p.validation.count(), 5U);
  EXPECT_EQ(p.data.training.count(), 5U);
}

TEST(Prepare, BalancedClassesCountTheSame) {
  Config config;
  config.class_weights = ClassWeights::kBalanced;
  const Dataset data = testing::fixed_delay(200, 1);
  const Prepared p = prepare(data, nullptr, config, {});
  double of_class[3] = {0, 0, 0};
  for (std::size_t t = 0; t < p.data.training.steps(); ++t)
    of_class[p.data.training.label[t]] += static_cast<double>(p.data.training.weight[t]);
  EXPECT_NEAR(of_class[0], of_class[1], 1e-2);
  EXPECT_NEAR(of_class[2], of_class[1], 1e-2);
  EXPECT_NEAR(of_class[0] + of_class[1] + of_class[2], static_cast<double>(p.data.training.steps()), 1e-2);
  EXPECT_EQ(p.validation.weight[0], 1.0F) << "the score is of the data as they are";
}

TEST(Prepare, ScalesOnlyWhatNeedsIt) {
  EXPECT_TRUE(prepare(testing::fixed_delay(20, 1), nullptr, Config(), {true, true}).scaling.x_scale.empty());
  const Dataset raw = testing::regimes(20, 1);
  const Prepared p = prepare(raw, nullptr, Config(), {true, true});
  EXPECT_NEAR(p.scaling.x_shift[0], 300.0F, 2.0F);
  EXPECT_NEAR(p.scaling.x_scale[0], 5.0F, 1.0F);
  EXPECT_EQ(p.fill, p.scaling.x_shift) << "a missing input counts as the mean";
  EXPECT_NEAR(p.scaling.y_shift[0], 5000.0F, 100.0F);
  EXPECT_EQ(prepare(raw, nullptr, Config(), {false, false}).scaling.x_shift, (std::vector<float>{0, 0}));
  Config config;
  config.standardise = false;
  EXPECT_EQ(prepare(raw, nullptr, config, {true, true}).data.validation.value,
            prepare(raw, nullptr, config, {true, true}).validation.value);
}

TEST(Prepare, SaysWhatCannotBeLearnedFrom) {
  Dataset data = testing::fixed_delay(10, 1);
  Dataset other = testing::fixed_delay(10, 2);
  other.schema.classes = {"a", "b", "c"};
  EXPECT_THROW(prepare(data, &other, Config(), {}), Error);
  other = testing::fixed_delay(10, 2);
  other.schema.inputs = {"other"};
  EXPECT_THROW(prepare(data, &other, Config(), {}), Error);
  data.sequences.weight.assign(data.sequences.weight.size(), 0.0F);
  EXPECT_THROW(prepare(data, nullptr, Config(), {}), Error);
}

TEST(Budget, CountsInUpdates) {
  Config config;
  config.recipe.single_updates = 1000;
  Budget budget = budget_of(config, 320);
  EXPECT_EQ(budget.updates, 1000U);
  EXPECT_EQ(budget.decay, 250U);
  EXPECT_EQ(budget.validate_every, 100U);
  config.epochs = 7;
  EXPECT_EQ(budget_of(config, 320).updates, 70U);
  EXPECT_EQ(budget_of(config, 32000).validate_every, 1000U);
}

}  // namespace
}  // namespace remede
