// The C interface against the library: the same bits, and errors instead of crashes.
#include <bit>
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capi/remede.h"
#include "remede/model/checksum.h"
#include "remede/model/file.h"
#include "remede/stream/stream.h"
#include "support/random_model.h"

namespace remede {
namespace {

using ::testing::HasSubstr;

struct Handle {
  remede_model* model = nullptr;
  explicit Handle(const Model& from) {
    const std::string json = to_json(from);
    EXPECT_EQ(remede_model_parse(json.data(), json.size(), &model), REMEDE_OK) << remede_last_error();
  }
  ~Handle() { remede_model_free(model); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

TEST(CApi, GivesTheBitsOfTheLibrary) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const Model model = test::random_model(random, {.most_trees = 3, .awkward = seed % 3 == 0, .objectives = true});
    const Handle handle(model);
    const std::size_t n_x = remede_model_inputs(handle.model), n_y = remede_model_outputs(handle.model), steps = 50;
    ASSERT_EQ(n_x, static_cast<std::size_t>(model.n_x()));
    ASSERT_EQ(n_y, static_cast<std::size_t>(model.n_y()));
    EXPECT_EQ(remede_model_checksum(handle.model), checksum(model));
    std::vector<float> x(steps * n_x), whole(steps * n_y), y(n_y);
    for (float& v : x) v = random.below(8) == 0 ? NAN : static_cast<float>(random.normal());
    ASSERT_EQ(remede_predict(handle.model, x.data(), steps, whole.data()), REMEDE_OK);
    remede_stream* live = nullptr;
    ASSERT_EQ(remede_stream_new(handle.model, &live), REMEDE_OK);
    Stream stream(model);
    for (std::size_t t = 0; t < steps; ++t) {
      if (t == steps / 2) {  // through bytes
        std::vector<char> bytes(remede_stream_state_size(live));
        ASSERT_EQ(remede_stream_save(live, bytes.data(), bytes.size()), REMEDE_OK);
        remede_stream_reset(live);
        ASSERT_EQ(remede_stream_restore(live, bytes.data(), bytes.size()), REMEDE_OK) << remede_last_error();
        EXPECT_EQ(std::string(bytes.data(), bytes.size()), stream.save());
      }
      const auto expected = stream.step({x.data() + t * n_x, n_x});
      ASSERT_EQ(remede_stream_step(live, x.data() + t * n_x, y.data()), REMEDE_OK);
      EXPECT_EQ(std::memcmp(y.data(), expected.data(), n_y * sizeof(float)), 0) << seed;
      EXPECT_EQ(std::memcmp(whole.data() + t * n_y, expected.data(), n_y * sizeof(float)), 0) << seed;
    }
    remede_stream_free(live);
  }
}

TEST(CApi, AStreamKeepsItsModelAlive) {
  Random random(5);
  const Model model = test::random_model(random);
  remede_stream* live = nullptr;
  {
    const Handle handle(model);
    ASSERT_EQ(remede_stream_new(handle.model, &live), REMEDE_OK);
  }
  std::vector<float> x(static_cast<std::size_t>(model.n_x())), y(static_cast<std::size_t>(model.n_y()));
  EXPECT_EQ(remede_stream_step(live, x.data(), y.data()), REMEDE_OK);
  remede_stream_free(live);
}

TEST(CApi, NamesAndWords) {
  remede_model* model = nullptr;
  ASSERT_EQ(remede_model_load(REMEDE_TESTS_DIR "/model/files/v2_codes.json", &model), REMEDE_OK);
  EXPECT_STREQ(remede_model_input_name(model, 0), "wind = NW");
  EXPECT_EQ(remede_model_input_name(model, 3), nullptr);
  EXPECT_STREQ(remede_model_output_name(model, 1), "yes");
  EXPECT_EQ(remede_model_classifies(model), 1);
  float value = 7;
  EXPECT_EQ(remede_model_word(model, 0, "NW", &value), REMEDE_OK);
  EXPECT_EQ(value, 1.0F);
  EXPECT_EQ(remede_model_word(model, 0, "S", &value), REMEDE_OK);
  EXPECT_EQ(value, 0.0F);
  EXPECT_EQ(remede_model_word(model, 1, "z", &value), REMEDE_OK);
  EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(remede_model_word(model, 2, "z", &value), REMEDE_BAD_ARGUMENT);
  EXPECT_THAT(remede_last_error(), HasSubstr("made from words"));
  EXPECT_EQ(remede_model_word(model, 9, "z", &value), REMEDE_BAD_ARGUMENT);
  remede_model_free(model);
}

TEST(CApi, ErrorsInsteadOfCrashes) {
  remede_model* model = nullptr;
  EXPECT_EQ(remede_model_load("none.json", &model), REMEDE_BAD_DATA);
  EXPECT_THAT(remede_last_error(), HasSubstr("none.json"));
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(remede_model_load(nullptr, &model), REMEDE_BAD_ARGUMENT);
  EXPECT_EQ(remede_model_parse("{", 1, &model), REMEDE_BAD_DATA);
  EXPECT_EQ(remede_model_inputs(nullptr), 0U);
  EXPECT_EQ(remede_stream_step(nullptr, nullptr, nullptr), REMEDE_BAD_ARGUMENT);
  remede_model_free(nullptr);
  remede_stream_free(nullptr);
  Random random(1);
  const Handle handle(test::random_model(random)), other(test::random_model(random));
  remede_stream *live = nullptr, *of_other = nullptr;
  ASSERT_EQ(remede_stream_new(handle.model, &live), REMEDE_OK);
  ASSERT_EQ(remede_stream_new(other.model, &of_other), REMEDE_OK);
  std::vector<char> bytes(remede_stream_state_size(of_other));
  EXPECT_EQ(remede_stream_save(of_other, bytes.data(), bytes.size() - 1), REMEDE_BAD_ARGUMENT);
  EXPECT_EQ(remede_stream_save(of_other, bytes.data(), bytes.size()), REMEDE_OK);
  EXPECT_EQ(remede_stream_restore(live, bytes.data(), bytes.size()), REMEDE_BAD_DATA);
  EXPECT_THAT(remede_last_error(), HasSubstr("another model"));
  remede_stream_free(live);
  remede_stream_free(of_other);
}

TEST(CApi, Versions) {
  EXPECT_EQ(remede_api_version(), REMEDE_API_VERSION);
  EXPECT_THAT(remede_version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

// What programs were compiled with cannot change without a new version.
static_assert(REMEDE_API_VERSION == 1 && REMEDE_OK == 0 && REMEDE_BAD_ARGUMENT == 1 && REMEDE_BAD_DATA == 2 &&
              REMEDE_NO_MEMORY == 3 && REMEDE_INTERNAL_ERROR == 4);

}  // namespace
}  // namespace remede
