// remede export: the files it writes, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "remede/model/file.h"
#include "support/snow.h"

namespace remede::test {
namespace {

using testing::HasSubstr;

class Export : public CliTest {};

TEST_F(Export, WritesAProgramIntoAFolder) {
  save_model(model_of_snow(), "my-river.json");
  const Result result = remede({"export", "my-river.json", "--to", "c", "-o", "new/firmware"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "saved: new/firmware/my_river.h\nsaved: new/firmware/my_river.c\n");
  EXPECT_THAT(read("new/firmware/my_river.h"), HasSubstr("#define MY_RIVER_INPUTS 2\n"));
  EXPECT_THAT(read("new/firmware/my_river.h"), HasSubstr("MY_RIVER_X_RAIN = 0"));
  EXPECT_THAT(
      read("new/firmware/my_river.h"),
      HasSubstr("void my_river_step(my_river_state *s, const float x[MY_RIVER_INPUTS], float y[MY_RIVER_OUTPUTS]);"));
  EXPECT_EQ(remede({"export", "my-river.json", "--to", "cpp", "-o", ".", "--name", "pump", "-q"}).out, "");
  EXPECT_THAT(read("pump.hpp"), HasSubstr("namespace pump {"));
}

TEST_F(Export, WritesGraphs) {
  save_model(model_of_snow(), "m.json");
  EXPECT_EQ(remede({"export", "m.json", "--to", "onnx", "-o", "g"}).out, "saved: g/m.onnx\nsaved: g/m_sequence.onnx\n");
  EXPECT_THAT(read("g/m_sequence.onnx"), HasSubstr("Scan"));
}

TEST_F(Export, ReadsAModelFromStandardInput) {
  save_model(model_of_snow(), "m.json");
  EXPECT_EQ(remede({"export", "-", "--to", "c", "-o", "."}, read("m.json")).out,
            "saved: ./model.h\nsaved: ./model.c\n");
}

TEST_F(Export, BadUseLeavesNothingBehind) {
  save_model(model_of_snow(), "m.json");
  EXPECT_TRUE(is_error(remede({"export", "m.json", "--to", "fortran", "-o", "x"}), 2, "fortran"));
  EXPECT_TRUE(is_error(remede({"export", "m.json", "--to", "c"}), 2, "--output"));
  EXPECT_TRUE(is_error(remede({"export", "m.json", "--to", "c", "-o", "x", "--name", "a-b"}), 1, "expected a name"));
  EXPECT_TRUE(is_error(remede({"export", "none.json", "--to", "c", "-o", "x"}), 1, "none.json"));
  EXPECT_TRUE(is_error(remede({"export", "m.json", "--to", "c", "-o", "m.json"}), 1, "expected a folder"));
  EXPECT_TRUE(is_error(remede({"export", "m.json", "--to", "c", "-o", ""}), 2, "expected the name of a folder"));
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace remede::test
