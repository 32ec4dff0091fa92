#include "remede/stream/stream.h"

#include <algorithm>
#include <bit>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "remede/base/error.h"
#include "remede/model/predict.h"
#include "stream/allocations.h"
#include "support/random_model.h"

namespace remede {
namespace {

using test::random_model;
using test::random_sequences;

const test::RandomModelOptions kForest = {.most_trees = 3, .laws = true};

std::span<const float> inputs(const Sequences& sequences, std::size_t step) {
  const auto n_x = static_cast<std::size_t>(sequences.n_x);
  return {sequences.x.data() + step * n_x, n_x};
}

bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

TEST(Stream, StepByStepEqualsTheWholeSequence) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Random random(seed);
    const Model model = random_model(random, kForest);
    const Sequences sequences = random_sequences(random, model.n_x(), 3, 12);
    const Predictions whole = predict(model, sequences);
    const auto n_y = static_cast<std::size_t>(model.n_y());
    Stream stream(model);
    for (std::size_t s = 0; s < sequences.count(); ++s) {
      stream.reset();
      for (auto t = static_cast<std::size_t>(sequences.offset[s]);
           t < static_cast<std::size_t>(sequences.offset[s + 1]); ++t) {
        const auto y = stream.step(inputs(sequences, t));
        for (std::size_t o = 0; o < n_y; ++o) RC_ASSERT(same_bits(y[o], whole.output[t * n_y + o]));
        for (std::size_t i = 0; i < model.trees.size(); ++i)
          RC_ASSERT(stream.leaves()[i] == whole.leaf[i * sequences.steps() + t]);
      }
    }
  }));
}

TEST(Stream, AForkGoesOnAsTheOriginal) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Random random(seed);
    const Model model = random_model(random, kForest);
    const Sequences before = random_sequences(random, model.n_x(), 1, 8);
    const Sequences after = random_sequences(random, model.n_x(), 1, 8);
    Stream original(model);
    for (std::size_t t = 0; t < before.steps(); ++t) original.step(inputs(before, t));
    const std::vector<float> saved(original.state().begin(), original.state().end());
    Stream fork(model);
    fork.set_state(saved);
    std::vector<float> first;
    for (std::size_t t = 0; t < after.steps(); ++t) {
      const auto a = original.step(inputs(after, t));
      const auto b = fork.step(inputs(after, t));
      RC_ASSERT(std::equal(a.begin(), a.end(), b.begin(), b.end(), same_bits));
      if (t == 0) first.assign(a.begin(), a.end());
    }
    if (after.steps() == 0) return;
    original.set_state(saved);  // and back in time
    const auto again = original.step(inputs(after, 0));
    RC_ASSERT(std::equal(again.begin(), again.end(), first.begin(), first.end(), same_bits));
  }));
}

TEST(Stream, AStepAllocatesNothing) {
  for (unsigned form = 0; form < 32; ++form) {
    Random random(form);
    Model model = random_model(random, {.most_trees = 3});
    for (Tree& tree : model.trees)
      tree = test::random_tree(random, model.n_x(), 3, model.n_y(), 7, test::form_number(form));
    const Sequences sequences = random_sequences(random, model.n_x(), 1, 20);
    Stream stream(model);
    const std::vector<float> saved(stream.state().begin(), stream.state().end());
    const std::size_t before = test::allocations();
    for (std::size_t t = 0; t < sequences.steps(); ++t) stream.step(inputs(sequences, t));
    stream.set_state(saved);
    stream.reset();
    EXPECT_EQ(test::allocations(), before) << "form " << form;
  }
}

TEST(Stream, SizesThatDifferAreErrors) {
  Random random(1);
  const Model model = random_model(random);
  Stream stream(model);
  const std::vector<float> x(static_cast<std::size_t>(model.n_x()) + 1);
  EXPECT_THROW(stream.step(x), Error);
  const std::vector<float> state(stream.state().size() + 1);
  EXPECT_THROW(stream.set_state(state), Error);
}

}  // namespace
}  // namespace remede
