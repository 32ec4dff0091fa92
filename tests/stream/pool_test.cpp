#include "remede/stream/pool.h"

#include <bit>
#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "remede/base/error.h"
#include "remede/model/checksum.h"
#include "stream/allocations.h"
#include "support/error_of.h"
#include "support/random_model.h"

namespace remede {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool same_floats(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

std::vector<float> some_inputs(Random& random, const Model& model) {
  std::vector<float> x(static_cast<std::size_t>(model.n_x()));
  for (float& v : x) v = random.below(8) == 0 ? NAN : static_cast<float>(random.normal());
  return x;
}

TEST(StreamPool, EverySequenceIsAStreamOfItsOwn) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Random random(seed);
    const Model model = test::random_model(random, {.most_trees = 3, .objectives = true});
    StreamPool pool(model, 100);
    std::map<std::string, Stream> streams;
    for (int t = 0; t < 60; ++t) {
      const std::string id = std::to_string(random.below(5));
      if (random.below(20) == 0) RC_ASSERT(pool.forget(id) == (streams.erase(id) == 1));
      const std::vector<float> x = some_inputs(random, model);
      Stream& stream = streams.try_emplace(id, model).first->second;
      const auto expected = stream.step(x);
      RC_ASSERT(same_floats(pool.step(pool.find(id), x), expected));
    }
    RC_ASSERT(pool.size() == streams.size());
    StateWriter writer;  // and after a save
    pool.save(writer);
    StreamPool again(model, 100);
    StateReader reader(writer.bytes(), "state");
    again.load(reader);
    RC_ASSERT(again.ids() == pool.ids());
    for (auto& [id, stream] : streams) {
      const std::vector<float> x = some_inputs(random, model);
      RC_ASSERT(same_floats(again.step(again.find(id), x), stream.step(x)));
    }
  }));
}

TEST(StreamPool, TheLeastRecentlyUsedIsForgotten) {
  Random random(1);
  const Model model = test::random_model(random);
  StreamPool pool(model, 3);
  for (const char* const id : {"a", "b", "c", "a", "d"}) pool.find(id);
  EXPECT_THAT(pool.ids(), ElementsAre("c", "a", "d"));
  EXPECT_EQ(pool.evicted(), 1U);
  pool.find("c");
  pool.find("e");
  EXPECT_THAT(pool.ids(), ElementsAre("d", "c", "e"));
  EXPECT_TRUE(pool.forget("c"));
  EXPECT_FALSE(pool.forget("c"));
  EXPECT_THAT(pool.ids(), ElementsAre("d", "e"));
  const auto slot = pool.find("new");
  for (const float v : pool.state(slot)) EXPECT_EQ(v, 0.0F);
  EXPECT_TRUE(std::isnan(pool.time(slot)));
  EXPECT_THROW(StreamPool(model, 0), Error);
}

TEST(StreamPool, AStepOfAKnownSequenceAllocatesNothing) {
  Random random(2);
  const Model model = test::random_model(random, {.most_trees = 3});
  StreamPool pool(model, 10);
  pool.find("a");
  pool.find("b");
  const std::vector<float> x = some_inputs(random, model);
  const std::size_t before = test::allocations();
  for (int t = 0; t < 100; ++t) pool.step(pool.find(t % 2 == 0 ? "a" : "b"), x);
  EXPECT_EQ(test::allocations(), before);
}

TEST(StreamState, GoesThroughBytes) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Random random(seed);
    const Model model = test::random_model(random, {.most_trees = 3});
    Stream stream(model);
    for (int t = 0; t < 5; ++t) stream.step(some_inputs(random, model));
    const std::string bytes = stream.save();
    RC_ASSERT(bytes.size() == 12 + 4 * stream.state().size());
    Stream other(model);
    other.restore(bytes);
    RC_ASSERT(same_floats(other.state(), stream.state()));
    const std::vector<float> x = some_inputs(random, model);
    const auto y = stream.step(x);
    RC_ASSERT(same_floats(other.step(x), y));
  }));
}

TEST(StreamState, OtherBytesAreErrors) {
  Random random(3);
  const Model model = test::random_model(random), other = test::random_model(random);
  Stream stream(model);
  const std::string bytes = stream.save();
  const auto error = [&](const std::string& wrong) { return testing::error_of([&] { stream.restore(wrong); }); };
  EXPECT_THAT(error(""), HasSubstr("expected the bytes of a saved stream"));
  EXPECT_THAT(error(bytes.substr(0, 7)), HasSubstr("cut short"));
  EXPECT_THAT(error(bytes + "x"), HasSubstr("damaged"));
  EXPECT_THAT(error("RMS\x02" + bytes.substr(4)), HasSubstr("expected version 1"));
  EXPECT_THAT(error(Stream(other).save()), HasSubstr("got that of another model"));
}

}  // namespace
}  // namespace remede
