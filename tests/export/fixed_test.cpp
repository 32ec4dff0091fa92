// Programs in fixed point, compiled and run beside the library: never further away than they state.
#include "remede/export/fixed.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/compiled.h"
#include "remede/model/predict.h"
#include "remede/stream/stream.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/snow.h"

namespace remede {
namespace {

using ::testing::HasSubstr;

// One tree, cells written by leaves, answers in reach of fixed point.
Model fixed_model(std::uint64_t seed) {
  Random random(seed);
  Model model = test::random_model(random, {.laws = false});
  LeafForm form = test::random_form(random);
  form.output_order = OutputOrder::kZero;
  if (model.classifies()) form.leaf_output = LeafOutput::kConstant;
  model.trees = {test::random_tree(random, model.n_x(), static_cast<int>(seed % 4), model.n_y(),
                                   static_cast<int>(seed % 9), form, false)};
  return model;
}

template <typename Value>
class FixedRun {
 public:
  using Step = void(Value*, const Value*, Value*);

  FixedRun(const Model& model, const FixedProgram& program, Step* step, int places)
      : model_(model), program_(program), step_(step), most_(std::ldexp(1.0, places) - 1) {}

  // Runs sequences until a value leaves its range or comes too close to a threshold; gives the steps compared.
  int compare(const Sequences& data, const std::string& what) {
    int steps = 0;
    for (std::size_t s = 0; s < data.count(); ++s) {
      Stream stream(model_);
      std::vector<Value> state(stream.state().size() + 1), x(static_cast<std::size_t>(model_.n_x()) + 1),
          y(static_cast<std::size_t>(model_.n_y()));
      for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t) {
        const float* const raw = data.x.data() + t * static_cast<std::size_t>(data.n_x);
        if (!is_covered(raw, stream.state())) break;
        for (std::size_t i = 0; i + 1 < x.size(); ++i) x[i] = quantised(raw[i], i);
        const auto expected = stream.step({raw, x.size() - 1});
        step_(state.data(), x.data(), y.data());
        for (std::size_t o = 0; o < y.size(); ++o)
          EXPECT_LE(std::abs(std::ldexp(static_cast<double>(y[o]), -program_.output_bits[o]) -
                             std::clamp(static_cast<double>(expected[o]), -range(program_.output_bits[o]),
                                        range(program_.output_bits[o]))),
                    program_.bound.output[o])
              << what << " step " << t << " output " << o;
        if (!in_range(stream.state())) break;
        for (std::size_t k = 0; k < stream.state().size(); ++k)
          EXPECT_LE(std::abs(std::ldexp(static_cast<double>(state[k]), -program_.cell_bits[k]) -
                             static_cast<double>(stream.state()[k])),
                    program_.bound.cell[k])
              << what << " step " << t << " cell " << k;
        if (::testing::Test::HasFailure()) return steps;
        ++steps;
      }
    }
    return steps;
  }

 private:
  double range(int bits) const { return std::ldexp(most_, -bits); }
  Value quantised(float value, std::size_t input) const {
    if (std::isnan(value)) return static_cast<Value>(-most_ - 1);
    return static_cast<Value>(std::nearbyint(std::ldexp(static_cast<double>(value), program_.input_bits[input])));
  }
  bool in_range(std::span<const float> state) const {
    for (std::size_t k = 0; k < state.size(); ++k)
      if (std::abs(static_cast<double>(state[k])) > 1.0001 * range(program_.cell_bits[k])) return false;
    return true;
  }
  // Inputs lie in their ranges, and no test of the path is close.
  bool is_covered(const float* x, std::span<const float> state) const {
    const Tree& tree = model_.trees[0];
    for (int i = 0; i < tree.n_x; ++i)
      if (!std::isnan(x[i]) &&
          std::abs(static_cast<double>(x[i])) > range(program_.input_bits[static_cast<std::size_t>(i)]))
        return false;
    for (std::int32_t node = tree.root(); node >= 0;) {
      const auto i = static_cast<std::size_t>(node);
      const int f = tree.feature[i];
      const float v = f < tree.n_x ? x[f] : state[static_cast<std::size_t>(f - tree.n_x)];
      if (std::abs(static_cast<double>(v) - static_cast<double>(tree.threshold[i])) <=
          program_.bound.margin[static_cast<std::size_t>(f)])
        return false;
      const bool right = std::isnan(v) ? tree.missing_right[i] != 0 : v >= tree.threshold[i];
      node = right ? tree.right[i] : tree.left[i];
    }
    return true;
  }

  const Model& model_;
  const FixedProgram& program_;
  Step* step_;
  double most_;
};

template <typename Value>
void expect_within_bounds(FixedType type, int places, const std::string& compiler) {
  constexpr int kModels = 24;
  test::Folder folder;
  std::vector<Model> models;
  std::vector<FixedProgram> programs;
  std::string all;
  for (int i = 0; i < kModels; ++i) {
    models.push_back(fixed_model(static_cast<std::uint64_t>(i) + 1));
    Random random(static_cast<std::uint64_t>(i));
    const std::string name = "m" + std::to_string(i);
    programs.push_back(
        to_fixed_c(models.back(), name, type,
                   fixed_ranges(models.back(), test::random_sequences(random, models.back().n_x(), 40, 60))));
    folder.write(name + ".h", programs.back().program.header);
    folder.write(name + ".c", programs.back().program.source);
    all += "#include \"" + name + ".c\"\n";
  }
  folder.write("all.c", all);
  if (!test::has_program(compiler.substr(0, compiler.find(' ')))) GTEST_SKIP() << compiler;
  ASSERT_EQ(folder
                .run(compiler + " -std=c99 -Wall -Wextra -Wpedantic -Wshadow -Wno-unused-function -Wno-type-limits "
                                "-Wno-tautological-unsigned-zero-compare -Wno-unknown-warning-option -Werror -fPIC "
                                "-shared all.c -o all.so")
                .substr(0, 3000),
            "");
  const test::Library library(folder.path("all.so"));
  int steps = 0;
  for (int i = 0; i < kModels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    Random random(static_cast<std::uint64_t>(i) + 1000);
    FixedRun<Value> run(models[at], programs[at],
                        library.find<typename FixedRun<Value>::Step>("m" + std::to_string(i) + "_step"), places);
    steps += run.compare(test::random_sequences(random, models[at].n_x(), 40, 100), "m" + std::to_string(i));
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(steps, kModels * 100);
}

TEST(ExportFixed, Q15KeepsItsBound) {
  expect_within_bounds<std::int16_t>(FixedType::kQ15, 15, "gcc -O0 -fsanitize=undefined -fno-sanitize-recover");
}
TEST(ExportFixed, Q31KeepsItsBound) {
  expect_within_bounds<std::int32_t>(FixedType::kQ31, 31,
                                     "clang -O2 -fsanitize=signed-integer-overflow,shift -fsanitize-trap=all");
}

// The bounds are of use: far below what Q15 and Q31 could not hold.
TEST(ExportFixed, BoundsAreSmall) {
  Random random(1);
  const Model model = fixed_model(5);
  const FixedRanges ranges = fixed_ranges(model, test::random_sequences(random, model.n_x(), 40, 60));
  const FixedProgram rough = to_fixed_c(model, "m", FixedType::kQ15, ranges),
                     fine = to_fixed_c(model, "m", FixedType::kQ31, ranges);
  for (std::size_t o = 0; o < fine.bound.output.size(); ++o) {
    EXPECT_GT(rough.bound.output[o], 0);
    EXPECT_LT(fine.bound.output[o], 0.1 * rough.bound.output[o]);
  }
  EXPECT_THAT(rough.program.header, HasSubstr("Distance from the answers of the library in the first 1000 steps"));
  EXPECT_THAT(rough.program.source, ::testing::Not(::testing::AnyOf(HasSubstr("float "), HasSubstr("double "))));
}

TEST(ExportFixed, OtherModelsAreRefused) {
  EXPECT_THAT(testing::error_of([] { to_fixed_c(test::model_of_snow(), "m", FixedType::kQ15, {}); }),
              HasSubstr("got cells with laws"));
  Random random(1);
  Model forest = fixed_model(3);
  forest.trees.push_back(forest.trees[0]);
  EXPECT_THAT(testing::error_of([&] { to_fixed_c(forest, "m", FixedType::kQ15, {}); }), HasSubstr("got 2 trees"));
  Model first = fixed_model(3);
  first.trees[0].form.output_order = OutputOrder::kFirst;
  EXPECT_THAT(testing::error_of([&] { to_fixed_c(first, "m", FixedType::kQ31, {}); }), HasSubstr("added up"));
}

}  // namespace
}  // namespace remede
