#include "remede/train/checkpoint.h"

#include <cstdio>
#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/executor/bytes.h"
#include "train/small_data.h"

namespace remede {
namespace {

using ::testing::HasSubstr;

Checkpoint example() {
  Checkpoint checkpoint;
  checkpoint.settings = settings(Config());
  checkpoint.data = fingerprint(testing::fixed_delay(3, 1));
  checkpoint.state = std::string("some\0state", 10);
  checkpoint.notes = {{"output", "model.json"}, {"empty", ""}};
  return checkpoint;
}

std::string complaint(const std::string& bytes) {
  try {
    checkpoint_from_bytes(bytes, "run.checkpoint");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Checkpoint, RoundTrips) {
  const Checkpoint a = example(), b = checkpoint_from_bytes(to_bytes(a), "test");
  EXPECT_EQ(a.settings, b.settings);
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.notes, b.notes);
}

TEST(Checkpoint, AnyDamageIsAOneLineError) {
  const std::string good = to_bytes(example());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int change : {0x01, 0x80}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      const std::string message = complaint(bad);
      ASSERT_THAT(message, HasSubstr("run.checkpoint: expected")) << "byte " << i;
      ASSERT_EQ(message.find('\n'), std::string::npos);
    }
    ASSERT_THAT(complaint(good.substr(0, i)), HasSubstr("run.checkpoint: expected")) << "cut at " << i;
  }
  EXPECT_THAT(complaint(good + "x"), HasSubstr("damaged"));
}

TEST(Checkpoint, AByteThatIsNoTruthValueIsRefused) {
  bool value = false;
  ByteReader good(std::string_view("\1\0", 2), "state");
  good.get(value);
  EXPECT_TRUE(value);
  good.get(value);
  EXPECT_FALSE(value);
  ByteReader bad("\2", "state");
  EXPECT_THROW(bad.get(value), Error);
}

TEST(Checkpoint, AnotherFileIsRefusedBeforeAllOfItIsRead) {
  try {
    load_checkpoint("/dev/zero");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/dev/zero: expected a checkpoint of remede, got another file");
  }
}

TEST(Checkpoint, OtherSettingsAndOtherDataAreNamed) {
  const Checkpoint checkpoint = example();
  Config config;
  config.threads = 3;
  EXPECT_NO_THROW(expect_same(checkpoint, config, checkpoint.data)) << "threads are nobody's business";
  config.depth = 4;
  try {
    expect_same(checkpoint, config, checkpoint.data);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "resume: expected --depth auto as in the checkpoint, got 4");
  }
  EXPECT_THROW(expect_same(checkpoint, Config(), checkpoint.data + 1), Error);
  Checkpoint odd = checkpoint;  // whatever a file says, the message is one line
  for (auto& [name, text] : odd.settings)
    if (name == "increasing") text = "a\nb" + std::string(100, 'c');
  try {
    expect_same(odd, Config(), odd.data);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_LT(std::strlen(error.what()), 150U);
  }
}

TEST(Fingerprint, ChangesWithEveryPartOfTheData) {
  const Dataset base = testing::fixed_delay(10, 1);
  const std::uint64_t print = fingerprint(base);
  EXPECT_EQ(print, fingerprint(testing::fixed_delay(10, 1)));
  Dataset other = base;
  other.sequences.x[17] += 1e-6F;
  EXPECT_NE(print, fingerprint(other));
  other = base;
  other.sequences.label[3] = 2;
  EXPECT_NE(print, fingerprint(other));
  other = base;
  other.sequences.weight.back() = 0.0F;
  EXPECT_NE(print, fingerprint(other));
  other = base;
  other.sequences.offset[1] += 1;
  EXPECT_NE(print, fingerprint(other));
  other = base;
  other.schema.classes[0] = "minus";
  EXPECT_NE(print, fingerprint(other));
  EXPECT_NE(fingerprint(base, 1), fingerprint(base, 2));
}

}  // namespace
}  // namespace remede
