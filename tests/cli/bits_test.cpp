// The same bits whatever the machine does: number of threads, width of the vectors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "remede/base/vector_targets.h"

namespace remede {
namespace {

using test::CliTest;
using test::shell;

class Bits : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(shell("$remede generate variable-delay-2 --sequences 400 --seed 3 -o data.csv --quiet").code, 0);
  }
  static std::string train(const std::string& environment, const std::string& flags, const std::string& model) {
    return environment + " $remede train data.csv --quiet --starts 8 " + flags + " -o " + model;
  }
};

TEST_F(Bits, a_model_does_not_depend_on_the_number_of_threads) {
  for (const int threads : {1, 2, 3})
    ASSERT_EQ(shell(train("", fmt::format("--threads {}", threads), fmt::format("{}.json", threads))).code, 0);
  EXPECT_EQ(read("1.json"), read("2.json"));
  EXPECT_EQ(read("1.json"), read("3.json"));
}

TEST_F(Bits, a_model_does_not_depend_on_the_width_of_vectors_with_fused_operations) {
  if (vector_target() < VectorTarget::kAvx512) GTEST_SKIP() << "this machine has one such width at most";
  ASSERT_EQ(shell(train("REMEDE_VECTOR=avx512", "", "wide.json")).code, 0);
  ASSERT_EQ(shell(train("REMEDE_VECTOR=avx2", "", "narrow.json")).code, 0);
  EXPECT_EQ(read("wide.json"), read("narrow.json"));
}

TEST_F(Bits, a_prediction_does_not_depend_on_the_width_of_vectors) {
  ASSERT_EQ(shell(train("", "", "model.json")).code, 0);
  ASSERT_EQ(shell("$remede predict model.json data.csv -o first.csv --quiet").code, 0);
  for (const VectorTarget t :
       {VectorTarget::kPortable, VectorTarget::kSse4, VectorTarget::kAvx2, VectorTarget::kAvx512}) {
    if (t > vector_target()) continue;
    ASSERT_EQ(
        shell(fmt::format("REMEDE_VECTOR={} $remede predict model.json data.csv -o again.csv --quiet", name(t))).code,
        0);
    EXPECT_EQ(read("first.csv"), read("again.csv")) << name(t);
  }
}

}  // namespace
}  // namespace remede
