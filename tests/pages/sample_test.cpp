#include "remede/pages/sample.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "remede/base/random.h"
#include "remede/data/unknown.h"

namespace remede {
namespace {

// A label 0 at every step; p: the probability of it.
struct Case {
  Sequences data;
  Predictions predictions;

  void add(const std::vector<float>& p) {
    data.n_x = 1;
    data.n_y = 2;
    for (const float v : p) {
      data.x.push_back(0);
      data.label.push_back(0);
      data.weight.push_back(1);
      predictions.output.insert(predictions.output.end(), {v, 1 - v});
      predictions.leaf.push_back(0);
    }
    data.offset.push_back(data.offset.back() + static_cast<std::int64_t>(p.size()));
  }
  Sample choose(const SampleOptions& options = {}) const {
    return choose_sample(default_objective(Task::kClassification), data, predictions, options);
  }
};

TEST(Sample, WorstComeFirst) {
  Case c;
  c.add({0.9F, 0.9F});         // right
  c.add({0.1F, 0.2F, 0.9F});   // two mistakes
  c.add({});                   // nothing to show
  c.add({0.6F, 0.6F});         // right, but less sure
  c.add({0.01F, 0.9F, 0.9F});  // one mistake, a bad one
  const Sample sample = c.choose();
  std::vector<std::size_t> order;
  for (const Excerpt& e : sample.excerpts) order.push_back(e.sequence);
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 4, 3, 0}));
  EXPECT_EQ(sample.excerpts[0].marked, 2U);
  EXPECT_EQ(sample.note, "all 4 sequences");
}

TEST(Sample, UnknownClassesAreMistakes) {
  Case c;
  c.add({0.9F, 0.9F});
  c.add({0.9F, 0.9F});
  c.data.label[3] = kUnknownClass;
  const Sample sample = c.choose();
  EXPECT_EQ(sample.excerpts[0].sequence, 1U);
  EXPECT_EQ(sample.excerpts[0].marked, 1U);
  EXPECT_EQ(sample.excerpts[0].targets, 2U);
}

TEST(Sample, StepsWithoutTargetDoNotCount) {
  Case c;
  c.add({0.1F, 0.1F, 0.9F});
  c.data.weight[0] = 0;
  const Sample sample = c.choose();
  EXPECT_EQ(sample.excerpts[0].marked, 1U);
  EXPECT_EQ(sample.excerpts[0].targets, 2U);
}

TEST(Sample, OfALongSequenceTheWorstStretch) {
  Case c;
  std::vector<float> p(100, 0.9F);
  p[40] = p[43] = 0.1F;
  c.add(p);
  SampleOptions options;
  options.most_length = 5;
  const Excerpt e = c.choose(options).excerpts[0];
  EXPECT_EQ(e.end - e.begin, 5U);
  EXPECT_LE(e.begin, 40U);
  EXPECT_GT(e.end, 43U);
  EXPECT_EQ(e.marked, 2U);
}

TEST(Sample, RegressionMarksWhatIsFarOff) {
  Sequences data;
  data.n_x = data.n_y = 1;
  Predictions predictions;
  for (int t = 0; t < 10; ++t) {
    data.x.push_back(0);
    data.value.push_back(t == 7 ? 10.0F : 1.0F);
    data.weight.push_back(1);
    predictions.output.push_back(0);
    predictions.leaf.push_back(0);
  }
  data.offset.push_back(10);
  const Sample sample = choose_sample(default_objective(Task::kRegression), data, predictions, {});
  ASSERT_EQ(sample.far_off.size(), 1U);
  EXPECT_NEAR(sample.far_off[0], 2 * std::sqrt(109.0 / 10), 1e-5);
  EXPECT_EQ(sample.excerpts[0].marked, 1U);
  EXPECT_NEAR(sample.excerpts[0].loss, std::sqrt(109.0 / 10), 1e-9);
}

RC_GTEST_PROP(Sample, KeepsToItsLimitsAndHasTheWorst, (unsigned seed)) {
  Random random(seed);
  Case c;
  const auto sequences = 1 + random.below(40);
  for (std::uint64_t s = 0; s < sequences; ++s) {
    std::vector<float> p(1 + random.below(30));
    for (float& v : p) v = static_cast<float>(random.uniform());
    c.add(p);
  }
  SampleOptions options;
  options.most_sequences = 1 + random.below(20);
  options.most_length = 1 + random.below(40);
  const Sample sample = c.choose(options);
  RC_ASSERT(sample.excerpts.size() == std::min<std::size_t>(options.most_sequences, sequences));
  std::set<std::size_t> seen;
  std::size_t most = 0;
  for (const Excerpt& e : sample.excerpts) {
    RC_ASSERT(seen.insert(e.sequence).second);
    RC_ASSERT(e.begin < e.end && e.end - e.begin <= options.most_length);
    RC_ASSERT(static_cast<std::int64_t>(e.begin) >= c.data.offset[e.sequence] &&
              static_cast<std::int64_t>(e.end) <= c.data.offset[e.sequence + 1]);
    most = std::max(most, e.marked);
  }
  RC_ASSERT(sample.excerpts[0].marked == most);
  SampleOptions everything = options;
  everything.most_sequences = sequences;
  RC_ASSERT(c.choose(everything).excerpts[0].sequence == sample.excerpts[0].sequence);
}

}  // namespace
}  // namespace remede
