// ONNX graphs; that they give our bits is tested with ONNX Runtime (tests/python/test_deploy.py, bench/onnx_bits.py).
#include "remede/export/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/export/files.h"
#include "remede/export/protobuf.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/snow.h"

namespace remede {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Protobuf, FieldsAreAsTheFormatSays) {
  ProtoMessage inner, outer;
  inner.number(1, 150);
  outer.number(2, 1).message(3, inner).bytes(16, "ab");
  EXPECT_EQ(inner.text(), "\x08\x96\x01");
  EXPECT_EQ(outer.text(), std::string("\x10\x01\x1a\x03\x08\x96\x01\x82\x01\x02") + "ab");
  ProtoMessage negative;
  negative.number(1, -1);
  EXPECT_EQ(negative.text(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

// Operators whose order of operations is the runtime's own would not give our bits.
TEST(Onnx, SumsAndFunctionsAreChains) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Model model = test::random_model(random, {.most_trees = 3, .objectives = true});
    const OnnxModels models = to_onnx(model, "m");
    for (const char* const op : {"Tanh", "Softmax", "MatMul", "Gemm", "ReduceSum", "Sigmoid", "Exp", "Clip"})
      EXPECT_THAT(models.step, Not(HasSubstr(std::string("\x22") + static_cast<char>(std::string(op).size()) + op)));
    EXPECT_EQ(to_onnx(model, "m").step, models.step);
    EXPECT_THAT(models.sequence, HasSubstr("\x22\x04Scan"));
  }
}

TEST(ExportedFiles, ByTheirWords) {
  const Model model = test::model_of_snow();
  for (const std::string to : {"c", "cpp", "onnx"}) EXPECT_FALSE(exported_files(model, to, "m").empty()) << to;
  EXPECT_THAT(testing::error_of([&] { exported_files(model, "java", "m"); }),
              HasSubstr("c, cpp, onnx, c-q15, c-q31, got 'java'"));
  EXPECT_THAT(testing::error_of([&] { exported_files(model, "onnx", "../m"); }), HasSubstr("expected a name"));
}

}  // namespace
}  // namespace remede
