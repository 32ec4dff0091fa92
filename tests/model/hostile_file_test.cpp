// Small files of every form, damaged in every byte: each loads to a sound model or gives a one-line Error.
#include <array>
#include <bitset>
#include <string>

#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/model/file.h"
#include "remede/model/predict.h"
#include "support/random_model.h"
#include "support/sanitized.h"

namespace remede {
namespace {

// As small as a file with a test of an input, a test of a cell, and a cell that is written can be.
Model small_model(const LeafForm& form, Task task, int trees) {
  Random random(7);
  Model model;
  model.schema.task = task;
  model.schema.inputs = {"x"};
  model.schema.targets = {"y"};
  if (task == Task::kClassification) model.schema.classes = {"a", "b"};
  model.fill = {0.5F};
  for (int t = 0; t < trees; ++t) {
    Tree tree = test::random_tree(random, 1, 1, model.n_y(), 2, form);
    tree.feature = {0, 1};
    if (!tree.has_laws()) tree.gate.back() = 1;
    for (auto* numbers : {&tree.threshold, &tree.output, &tree.linear, &tree.write, &tree.bias, &tree.blend})
      for (float& v : *numbers) v = static_cast<float>(static_cast<int>(v * 8.0F)) / 8.0F;  // few digits, few bytes
    model.trees.push_back(tree);
  }
  model.training = {{{"depth", "2"}}, {0.5}, {0.25}};
  return model;
}

struct Outcome {
  int loaded = 0;
  int refused = 0;
};

// Loads, and when that works, predicts: a model that got through is used.
void try_file(const std::string& text, Outcome& outcome) {
  try {
    const Model model = model_from_json(text, "file");
    Sequences sequences;
    sequences.n_x = model.n_x();
    sequences.offset.push_back(3);
    for (int i = 0; i < 3 * model.n_x(); ++i) sequences.x.push_back(static_cast<float>(i) - 1.0F);
    const Predictions predictions = predict(model, sequences);
    ASSERT_EQ(predictions.output.size(), 3U * static_cast<std::size_t>(model.n_y()));
    ++outcome.loaded;
  } catch (const Error& error) {
    const std::string message = error.what();
    ASSERT_TRUE(message.starts_with("file: ")) << message;
    ASSERT_EQ(message.find_first_of("\r\n"), std::string::npos) << message;
    ASSERT_LT(message.size(), 400U);
    ++outcome.refused;
  }
}

// Five kinds of damage to each byte. `one_of_them`: only one of the five, which differs from byte to byte and form to
// form: all take minutes under the sanitizers, where the slow test below tries them.
Outcome damage_every_byte(const Model& model, std::size_t form = 0, bool one_of_them = test::kSanitized) {
  const std::string file = to_json(model);
  Outcome outcome;
  for (std::size_t i = 0; i < file.size(); ++i) {
    const char flipped = static_cast<char>(static_cast<unsigned char>(file[i]) ^ (1U << (i % 8)));
    const std::array<char, 5> damages = {'\0', '\xFF', flipped, '7', '"'};
    for (std::size_t k = 0; k < damages.size(); ++k) {
      if (one_of_them && (i + form) % damages.size() != k) continue;
      std::string damaged = file;
      damaged[i] = damages[k];
      try_file(damaged, outcome);
      if (testing::Test::HasFatalFailure()) ADD_FAILURE() << "byte " << i << " of " << file;
    }
  }
  return outcome;
}

class HostileFile : public testing::TestWithParam<unsigned> {};

TEST_P(HostileFile, EveryByteDamaged) {
  const unsigned form = GetParam();
  const Task task = std::bitset<5>(form).count() % 2 == 0 ? Task::kClassification : Task::kRegression;
  const Outcome outcome = damage_every_byte(small_model(test::form_number(form), task, 1), form);
  EXPECT_GT(outcome.loaded, 0);  // a digit changed in a weight is still a model
  EXPECT_GT(outcome.refused, outcome.loaded);
}

INSTANTIATE_TEST_SUITE_P(AllForms, HostileFile, testing::Range(0U, 32U));

TEST(HostileFileSlow, EveryKindOfDamageUnderTheSanitizers) {
  if (!test::kSanitized) GTEST_SKIP() << "the tests above try every kind";
  for (unsigned form = 0; form < 32; ++form)
    EXPECT_GT(damage_every_byte(small_model(test::form_number(form), Task::kRegression, 1), form, false).refused, 0);
}

TEST(HostileForest, EveryByteOfAForestDamaged) {
  const Outcome outcome = damage_every_byte(small_model(test::form_number(0), Task::kClassification, 2));
  EXPECT_GT(outcome.loaded, 0);
  EXPECT_GT(outcome.refused, outcome.loaded);
}

TEST(HostileLaws, EveryByteOfLawsDamaged) {
  LeafForm form;
  form.memory = Memory::kLaws;
  const Outcome outcome = damage_every_byte(small_model(form, Task::kRegression, 1));
  EXPECT_GT(outcome.loaded, 0);
  EXPECT_GT(outcome.refused, outcome.loaded);
}

TEST(TruncatedFile, EveryBeginningIsRefused) {
  const std::string file = to_json(small_model(test::form_number(31), Task::kRegression, 1));
  Outcome outcome;
  for (std::size_t size = 0; size + 2 < file.size(); ++size) try_file(file.substr(0, size), outcome);
  EXPECT_EQ(outcome.loaded, 0);
}

}  // namespace
}  // namespace remede
