// Writes explorer pages of many kinds of models, and what the library says of their sequences, for tests/browser/run.
// Usage: browser_pages FOLDER
#include <bit>
#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/file.h"
#include "remede/data/tasks.h"
#include "remede/model/file.h"
#include "remede/model/predict.h"
#include "remede/pages/explorer.h"
#include "support/hand_built.h"
#include "support/random_model.h"

namespace remede::test {
namespace {

using Json = nlohmann::ordered_json;

// Leaves and the bits of the answers, by the id of the sequence. Every NaN counts as one.
Json expected(const Model& model, const Dataset& data) {
  const Predictions predictions = predict(model, data.sequences);
  const std::size_t steps = data.sequences.steps();
  const auto n_y = static_cast<std::size_t>(model.n_y());
  Json json = Json::object();
  for (std::size_t s = 0; s < data.sequences.count(); ++s) {
    const auto begin = static_cast<std::size_t>(data.sequences.offset[s]);
    const auto end = static_cast<std::size_t>(data.sequences.offset[s + 1]);
    Json leaves = Json::array(), bits = Json::array();
    for (std::size_t t = begin; t < end; ++t) {
      for (std::size_t i = 0; i < model.trees.size(); ++i) leaves.push_back(predictions.leaf[i * steps + t]);
      for (std::size_t o = 0; o < n_y; ++o) {
        const float y = predictions.output[t * n_y + o];
        bits.push_back(std::isnan(y) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(y));
      }
    }
    const std::string id = data.ids.empty() ? std::to_string(s + 1) : std::string(data.ids[s]);
    json[id] = {{"leaves", std::move(leaves)}, {"bits", std::move(bits)}};
  }
  return json;
}

void write_case(const std::string& folder, const std::string& name, const Model& model, const Dataset& data,
                const ExplorerOptions& options = {}) {
  check(model, name);
  write_explorer(fmt::format("{}/{}.html", folder, name), model, data, options);
  write_file(fmt::format("{}/{}.json", folder, name), expected(model, data).dump());
}

// Sequences with missing values and, but for some steps, targets.
Dataset random_data(Random& random, const Model& model, int count, int length) {
  Dataset data;
  data.schema = model.schema;
  data.sequences = random_sequences(random, model.n_x(), count, length);
  Sequences& s = data.sequences;
  s.n_y = model.n_y();
  for (std::size_t t = 0; t < s.steps(); ++t) {
    s.weight.push_back(random.below(8) == 0 ? 0.0F : 1.0F);
    if (model.schema.task == Task::kClassification)
      s.label.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(s.n_y))));
    for (int o = 0; model.schema.task == Task::kRegression && o < s.n_y; ++o)
      s.value.push_back(static_cast<float>(random.normal()));
  }
  return data;
}

// Every form of leaf, in classification and regression, single trees and forests, some with awkward numbers.
void write_forms(const std::string& folder) {
  for (unsigned number = 0; number < 32; ++number) {
    Random random(7, number);
    RandomModelOptions options;
    options.awkward = number % 3 == 2;
    Model model = random_model(random, options);
    while (model.schema.task != ((number + number / 8) % 2 == 0 ? Task::kClassification : Task::kRegression))
      model = random_model(random, options);
    model.trees.clear();
    const int trees = 1 + static_cast<int>(number % 3);
    for (int t = 0; t < trees; ++t)
      model.trees.push_back(random_tree(random, model.n_x(), 1 + static_cast<int>(random.below(4)), model.n_y(),
                                        static_cast<int>(random.below(13)),
                                        form_number((number + 11U * static_cast<unsigned>(t)) % 32), options.awkward));
    write_case(folder, fmt::format("form_{:02}", number), model, random_data(random, model, 12, 40));
  }
}

// 100 models whose cells have laws, alone and mixed with other forms in forests, as one file: the model, the inputs,
// and the leaves and the bits of the answers.
void write_law_cases(const std::string& folder) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (unsigned number = 0; number < 100; ++number) {
    Random random(17, number);
    RandomModelOptions options;
    options.awkward = number % 3 == 2;
    Model model = random_model(random, options);
    LeafForm form;
    form.memory = Memory::kLaws;
    form.output_order = number % 5 == 4 ? OutputOrder::kFirst : OutputOrder::kZero;
    model.trees.clear();
    const int cells = static_cast<int>(random.below(6)), inner = static_cast<int>(random.below(6));
    model.trees.push_back(random_tree(random, model.n_x(), cells, model.n_y(), inner, form, options.awkward));
    if (number % 4 == 3)
      model.trees.push_back(random_tree(random, model.n_x(), 2, model.n_y(), 3, form_number(number % 32)));
    const Sequences data = random_sequences(random, model.n_x(), 1, 60);
    const Predictions predictions = predict(model, data);
    nlohmann::ordered_json x = nlohmann::ordered_json::array(), bits = nlohmann::ordered_json::array();
    for (const float v : data.x) std::isnan(v) ? x.push_back(nullptr) : x.push_back(static_cast<double>(v));
    for (const float y : predictions.output)
      bits.push_back(std::isnan(y) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(y));
    cases.push_back({{"model", nlohmann::ordered_json::parse(to_json(model))},
                     {"steps", data.steps()},
                     {"x", std::move(x)},
                     {"leaves", predictions.leaf},  // (trees, steps)
                     {"bits", std::move(bits)}});
  }
  write_file(folder + "/law_cases.txt", cases.dump());
}

// The paper's tree, spoilt a little so that it makes mistakes.
void write_paper_tree(const std::string& folder) {
  TaskOptions options;
  options.sequences = 300;
  Model model = paper_tree();
  for (float& weight : model.trees[0].write) weight /= 20;
  write_case(folder, "paper", model, generate("fixed-delay", options));
}

// 200 sequences of 500 steps, a tree of 63 nodes: the page must stay quick.
void write_large(const std::string& folder) {
  Random random(3);
  Model model;
  for (int i = 0; i < 8; ++i) model.schema.inputs.push_back(fmt::format("sensor {}", i + 1));
  model.schema.targets = {"state"};
  model.schema.classes = {"idle", "warm", "run", "stop"};
  model.fill.assign(8, 0.0F);
  LeafForm form;
  form.write_rule = WriteRule::kBlend;
  form.write_bias = true;
  model.trees = {random_tree(random, 8, 4, 4, 31, form)};
  Dataset data = random_data(random, model, 0, 0);
  Sequences& s = data.sequences;
  for (int i = 0; i < 200; ++i) {
    for (int t = 0; t < 500; ++t) {
      for (int f = 0; f < 8; ++f) s.x.push_back(static_cast<float>(random.normal()));
      s.weight.push_back(1);
      s.label.push_back(static_cast<int>(random.below(4)));
    }
    s.offset.push_back(s.offset.back() + 500);
  }
  write_case(folder, "large", model, data);
}

// Only a stretch of this sequence is in the page, so it starts with a memory that is not empty. No targets.
void write_long(const std::string& folder) {
  Random random(5);
  LeafForm form;
  form.output_order = OutputOrder::kFirst;
  Model model = make_model(2, 2, {}, form, leaf({0}));
  model.trees = {random_tree(random, 2, 2, 1, 9, form)};
  Dataset data;
  data.schema = model.schema;
  data.sequences = random_sequences(random, 2, 0, 0);
  for (int t = 0; t < 3000; ++t)
    for (int f = 0; f < 2; ++f) data.sequences.x.push_back(static_cast<float>(random.normal()));
  data.sequences.offset.push_back(3000);
  data.sequences.n_y = 1;
  for (int t = 0; t < 3000; ++t) {
    data.sequences.weight.push_back(1);
    data.sequences.value.push_back(t > 2500 && t < 2600 ? 1e6F : 0.0F);
  }
  ExplorerOptions options;
  options.sample.most_length = 400;
  write_case(folder, "long", model, data, options);
  data.sequences.weight.clear();
  data.sequences.value.clear();
  write_case(folder, "untargeted", model, data);
}

// Names that would break a page that trusts them.
void write_hostile(const std::string& folder) {
  Random random(9);
  Model model = random_model(random);
  while (model.n_x() < 3 || model.schema.task != Task::kClassification) model = random_model(random);
  model.trees = {random_tree(random, model.n_x(), 2, model.n_y(), 6, form_number(13))};
  model.schema.inputs[0] = "</script><script>alert(1)</script>";
  model.schema.inputs[1] = "<img src=x onerror=alert(2)> & \"quotes\" 'too'";
  model.schema.inputs[2] = "{{model}} \xE2\x80\xA8 \xF0\x9F\x8C\xB3";
  model.schema.classes[0] = "<b>bold</b>";
  model.schema.targets = {"--><!--"};
  Dataset data = random_data(random, model, 6, 12);
  for (std::size_t s = 0; s < data.sequences.count(); ++s) data.ids.push_back(fmt::format("</script> {} \xFF <i>", s));
  for (std::size_t t = 0; t < data.sequences.steps(); ++t) data.times.push_back(fmt::format("<u>{}</u>", t));
  data.schema.time = "<time>";
  ExplorerOptions options;
  options.data_name = "<data>.csv";
  check(model, "hostile");
  write_explorer(folder + "/hostile.html", model, data, options);
}

}  // namespace
}  // namespace remede::test

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: browser_pages FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  remede::test::write_forms(folder);
  remede::test::write_law_cases(folder);
  remede::test::write_paper_tree(folder);
  remede::test::write_large(folder);
  remede::test::write_long(folder);
  remede::test::write_hostile(folder);
  return 0;
}
