// Exported programs, compiled and run, give the bits of the library.
#include "remede/export/c.h"

#include <bit>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/compiled.h"
#include "remede/base/error.h"
#include "remede/export/names.h"
#include "remede/export/tables.h"
#include "remede/model/checksum.h"
#include "remede/model/file.h"
#include "remede/stream/stream.h"
#include "support/error_of.h"
#include "support/hand_built.h"
#include "support/random_model.h"
#include "support/snow.h"

namespace remede {
namespace {

using test::Folder;
using test::has_program;
using test::Library;
using ::testing::HasSubstr;
using StepFunction = void(float*, const float*, float*);

// Every leaf form, laws, forests, objectives, awkward numbers.
std::vector<Model> models_of_all_forms(int count) {
  std::vector<Model> models;
  for (int i = 0; i < count; ++i) {
    Random random(static_cast<std::uint64_t>(i) + 1);
    const bool awkward = i % 3 == 2;
    Model model = test::random_model(random, {.most_inputs = i % 10 == 9 ? 150 : 4,
                                              .most_cells = 5,
                                              .most_inner = i % 7 == 6 ? 200 : 12,
                                              .most_trees = i % 2 == 0 ? 1 : 4,
                                              .awkward = awkward,
                                              .objectives = true});
    if (i < 32 && i % 2 == 0) {  // both halves of the 32 forms, the others are met in the forests
      const LeafForm form = test::form_number(static_cast<unsigned>(i) / 2 + (i % 4 == 0 ? 16U : 0U));
      if (model.classifies() || has_identity_link(model.objective()) || form.output_order == OutputOrder::kZero)
        model.trees = {test::random_tree(random, model.n_x(), 3, model.n_y(), 9, form, awkward)};
    }
    if (i % 11 == 10) {  // no inputs: a clock, or a constant
      model.schema.inputs.clear();
      model.fill.clear();
      const int cells = i % 2 == 0 ? 2 : 0;
      for (Tree& tree : model.trees) {
        tree = test::random_tree(random, 0, cells, model.n_y(), cells > 0 ? 5 : 0, tree.form, awkward);
      }
    }
    models.push_back(std::move(model));
  }
  return models;
}

std::string name_of_model(std::size_t i) { return "m" + std::to_string(i); }

float random_input(Random& random) {
  const auto kind = random.below(40);
  if (kind < 4) return std::numeric_limits<float>::quiet_NaN();
  if (kind == 4) return random.below(2) == 0 ? INFINITY : -INFINITY;
  if (kind == 5) return random.below(2) == 0 ? -0.0F : 3e38F;
  return static_cast<float>(random.normal());
}

// Which NaN it is depends on the processor and on the compiler.
bool same_answer(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

void expect_same_steps(const Model& model, StepFunction* step, int steps, std::uint64_t seed, const std::string& what) {
  Random random(seed);
  Stream stream(model);
  std::vector<float> state(stream.state().size() + 1), y(static_cast<std::size_t>(model.n_y()));
  std::vector<float> x(static_cast<std::size_t>(model.n_x()) + 1);
  for (int t = 0; t < steps; ++t) {
    if (random.below(200) == 0) {
      stream.reset();
      std::fill(state.begin(), state.end(), 0.0F);
    }
    for (float& v : x) v = random_input(random);
    const auto expected = stream.step({x.data(), x.size() - 1});
    step(state.data(), x.data(), y.data());
    for (std::size_t o = 0; o < y.size(); ++o)
      ASSERT_TRUE(same_answer(y[o], expected[o])) << what << " step " << t << ": " << y[o] << ", not " << expected[o];
    for (std::size_t k = 0; k < stream.state().size(); ++k)
      ASSERT_TRUE(same_answer(state[k], stream.state()[k])) << what << " step " << t << " state " << k;
  }
}

// One translation unit with all models.
void write_c(const Folder& folder, const std::vector<Model>& models) {
  std::string all;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const CProgram program = to_c(models[i], name_of_model(i));
    folder.write(name_of_model(i) + ".h", program.header);
    folder.write(name_of_model(i) + ".c", program.source);
    all += "#include \"" + name_of_model(i) + ".c\"\n";
  }
  folder.write("all.c", all);
}

void write_cpp(const Folder& folder, const std::vector<Model>& models) {
  std::string all;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string name = name_of_model(i);
    folder.write(name + ".hpp", to_cpp(models[i], name));
    all +=
        "#include \"" + name + ".hpp\"\nextern \"C\" void " + name + "_step(float* s, const float* x, float* y) {\n  " +
        name + "::State state;\n  for (int i = 0; i < " + name +
        "::kState; ++i) state.m[i] = s[i];\n  std::array<float, " + name +
        "::kInputs> in = {};\n  for (std::size_t i = 0; i < in.size(); ++i) in[i] = x[i];\n  const auto out = " + name +
        "::step(state, in);\n  for (std::size_t i = 0; i < out.size(); ++i) y[i] = out[i];\n  for (int i = 0; i < " +
        name + "::kState; ++i) s[i] = state.m[i];\n}\n";
  }
  folder.write("all.cpp", all);
}

void expect_same_everywhere(const std::vector<Model>& models, int steps, const std::vector<std::string>& commands) {
  Folder folder;
  write_c(folder, models);
  write_cpp(folder, models);
  for (const std::string& command : commands) {
    if (!has_program(command.substr(0, command.find(' ')))) continue;
    const bool cpp = command.find("++") != std::string::npos;
    const std::string line = command + " -Wall -Wextra -Wpedantic -Wshadow -Werror -fPIC -shared -o all.so " +
                             (cpp ? "-std=c++20 all.cpp" : "-Wconversion all.c");
    ASSERT_EQ(folder.run(line).substr(0, 1000), "") << line;
    const Library library(folder.path("all.so"));
    for (std::size_t i = 0; i < models.size(); ++i)
      expect_same_steps(models[i], library.find<StepFunction>(name_of_model(i) + "_step"), steps, i,
                        command + " " + name_of_model(i));
  }
}

TEST(Names, SignsOfNumbersAreWords) {
  EXPECT_EQ(capital_identifiers({"-1", "0", "1", "-0.5", "-.5", "lag = -1", "x-1", "2024-01-02", "minus 1", "-", "-a"}),
            (std::vector<std::string>{"MINUS_1", "0", "1", "MINUS_0_5", "MINUS_5", "LAG_MINUS_1", "X_1", "2024_01_02",
                                      "MINUS_1_2", "_", "A"}));
}

TEST(ExportC, GivesTheBitsOfTheLibrary) {
  expect_same_everywhere(models_of_all_forms(40), 400,
                         {"gcc -std=c99 -O0", "gcc -std=c99 -O3", "clang -std=c99 -O0", "clang -std=c99 -O3"});
}

// Contraction is on in these: the pragmas switch it off.
TEST(ExportC, KeepsItsBitsWhereOperationsCouldBeFused) {
  expect_same_everywhere(models_of_all_forms(24), 200,
                         {"gcc -std=gnu99 -O3 -march=native", "clang -std=gnu99 -O3 -march=native -ffp-contract=on"});
}

TEST(ExportCpp, GivesTheBitsOfTheLibrary) {
  expect_same_everywhere(models_of_all_forms(12), 400,
                         {"g++ -O3 -march=native", "clang++ -O3 -march=native -ffp-contract=on"});
}

// 100 models, a million steps each way.
TEST(ExportLong, AMillionStepsOfAHundredModels) {
  expect_same_everywhere(models_of_all_forms(100), 10000,
                         {"gcc -std=c99 -O0", "gcc -std=c99 -O3", "clang -std=c99 -O0", "clang -std=c99 -O3", "g++ -O0",
                          "g++ -O3", "clang++ -O0", "clang++ -O3"});
}

TEST(ExportC, NeedsNeitherHeapNorLibm) {
  Folder folder;
  write_c(folder, models_of_all_forms(40));
  ASSERT_EQ(folder.run("gcc -std=c99 -O1 -c all.c -o all.o"), "");
  EXPECT_EQ(folder.run("nm -u all.o | grep -vwE 'memset' | grep . || echo none"), "none\n");  // of long local arrays
}

TEST(ExportC, AHeaderOfAnotherModelIsRefused) {
  Folder folder;
  Model model = test::model_of_snow();
  const CProgram one = to_c(model, "pump");
  model.fill[0] += 1.0F;
  folder.write("pump.h", to_c(model, "pump").header);
  folder.write("pump.c", one.source);
  EXPECT_THAT(folder.run("gcc -std=c99 -c pump.c"), HasSubstr("pump.h and pump.c are of different models"));
  folder.write("pump.h", one.header);
  EXPECT_EQ(folder.run("gcc -std=c99 -c pump.c"), "");
  EXPECT_THAT(folder.run("gcc -std=c99 -ffast-math -c pump.c"), HasSubstr("expected a build without -ffast-math"));
}

TEST(ExportC, TablesAreAsLargeAsStated) {
  const Model model = test::model_of_snow();
  EXPECT_THAT(to_c(model, "m").source, HasSubstr("Tables: 74 bytes. State: 8 bytes."));
}

TEST(ExportCpp, AStepIsAConstant) {
  Folder folder;
  folder.write("pump.hpp", to_cpp(test::model_of_snow(), "pump"));
  folder.write("main.cpp",
               "#include \"pump.hpp\"\nconstexpr float flow() {\n  pump::State s;\n  pump::step(s, {1.0F, 2.0F});\n"
               "  return pump::step(s, {3.0F, 2.0F})[pump::Y_FLOW];\n}\nstatic_assert(flow() > 0);\nint main() {}\n");
  for (const char* const compiler : {"g++", "clang++"})
    if (has_program(compiler)) {
      EXPECT_EQ(folder.run(std::string(compiler) + " -std=c++20 -Wall -Wextra -Wpedantic -Werror main.cpp"), "");
    }
}

TEST(ExportC, AnyNamesCompile) {
  Model model = test::model_of_snow();
  model.schema.inputs = {"*/ int x; /* \\", "int"};
  model.schema.targets = {"?\?/\n\"été\""};
  model.trees[0].cell_name = {"*/", "\\"};
  Folder folder;
  const CProgram program = to_c(model, "m");
  folder.write("m.h", program.header);
  folder.write("m.c", program.source);
  folder.write("m.hpp", to_cpp(model, "m"));
  folder.write("main.cpp", "#include \"m.hpp\"\nint main() { return m::X_INT_X + m::X_INT; }\n");
  EXPECT_EQ(folder.run("gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -c m.c"), "");
  EXPECT_EQ(folder.run("g++ -std=c++20 -Wall -Wextra -Wpedantic -Werror -c main.cpp"), "");
}

TEST(ExportC, BadNamesAreErrors) {
  const Model model = test::model_of_snow();
  for (const char* const name : {"", "1a", "a-b", "int", "_a", "namespace", "math", "é"})
    EXPECT_THAT(testing::error_of([&] { to_c(model, name); }), HasSubstr("expected a name")) << name;
  EXPECT_THROW(to_cpp(model, "class"), Error);
  EXPECT_EQ(as_identifier("my-model (2)"), "my_model_2");
  EXPECT_EQ(as_identifier("2nd"), "model_2nd");
  EXPECT_EQ(as_identifier("int"), "model_int");
  EXPECT_EQ(as_identifier("log"), "model_log");
  EXPECT_EQ(as_identifier("é"), "model");
}

TEST(ExportC, WordsBecomeTheirNumbers) {
  const Model model = load_model(REMEDE_TESTS_DIR "/model/files/v2_codes.json");
  Folder folder;
  const CProgram program = to_c(model, "m");
  folder.write("m.h", program.header);
  folder.write("m.c", program.source);
  std::string main = "#include <stdio.h>\n#include \"m.h\"\nint main(void) {\n  float x[M_INPUTS] = {0};\n";
  std::string expected;
  const auto add = [&](const InputCode& code, const std::string& word, const std::string& shown) {
    std::size_t at = 0;
    while (model.schema.inputs[at] != code.input) ++at;
    main += "  printf(\"%d \", m_set_" + capital_identifiers({code.column})[0] + "(x, " + c_string(word) +
            "));\n  printf(\"%g\\n\", (double)x[" + std::to_string(at) + "]);\n";
    expected += shown + "\n";
  };
  for (const InputCode& code : model.schema.codes) {
    if (code.gap) continue;
    for (std::size_t w = 0; w < code.words.size(); ++w) add(code, code.words[w], fmt::format("1 {}", code.values[w]));
    add(code, "never seen", code.other ? fmt::format("0 {}", *code.other) : "0 nan");
    add(code, "", "1 nan");
  }
  folder.write("main.c", main + "  return 0;\n}\n");
  ASSERT_EQ(folder.run("gcc -std=c99 -Wall -Wextra -Wpedantic -Werror main.c m.c -o main"), "");
  EXPECT_EQ(folder.run("./main"), expected);
}

TEST(Checksum, IsOfWhatPredictionReads) {
  const Model model = test::model_of_snow();
  Model named = model;
  named.trees[0].cell_name = {"snow", "soil"};
  named.training.notes = {"a note"};
  EXPECT_EQ(checksum(named), checksum(model));
  Model other = model;
  other.trees[0].output[0] = std::nextafter(other.trees[0].output[0], 1.0F);
  EXPECT_NE(checksum(other), checksum(model));
  other = model;
  other.schema.inputs[0] += "x";
  EXPECT_NE(checksum(other), checksum(model));
}

}  // namespace
}  // namespace remede
