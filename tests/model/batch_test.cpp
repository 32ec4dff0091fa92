// Prediction in lanes gives the bits of the reference predictor: every form, forests, ragged lengths, missing and wild
// inputs.
#include "remede/model/batch.h"

#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "support/random_model.h"

namespace remede {
namespace {

Sequences random_sequences(const Model& model, Random& random) {
  Sequences s;
  s.n_x = model.n_x();
  s.n_y = model.n_y();
  const std::size_t count = random.below(40);
  for (std::size_t i = 0; i < count; ++i) {
    const auto length = static_cast<std::int64_t>(random.below(9));
    for (std::int64_t k = 0; k < length * s.n_x; ++k) {
      const auto kind = random.below(20);
      s.x.push_back(kind == 0   ? std::numeric_limits<float>::quiet_NaN()
                    : kind == 1 ? std::numeric_limits<float>::infinity()
                    : kind == 2 ? -1e30F
                                : static_cast<float>(random.normal()));
    }
    s.offset.push_back(s.offset.back() + length);
  }
  return s;
}

// Equal as bits, but any NaN equals any other: which one an operation gives is not ours to say.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

TEST(predict_batch, gives_the_bits_of_the_reference) {
  Random random(21);
  for (int trial = 0; trial < 600; ++trial) {
    test::RandomModelOptions options;
    options.most_trees = 3;
    options.most_inner = trial % 10 == 0 ? 200 : 12;
    options.awkward = trial % 2 == 0;
    options.laws = true;
    const Model model = test::random_model(random, options);
    const Sequences data = random_sequences(model, random);
    const Predictions want = predict(model, data), got = predict_batch(model, data, 1 + trial % 3);
    ASSERT_EQ(want.leaf, got.leaf) << "trial " << trial;
    ASSERT_TRUE(same(want.output, got.output)) << "trial " << trial;
  }
}

}  // namespace
}  // namespace remede
