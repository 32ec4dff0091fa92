// Every case_*.json of the golden folder, in double and in float, in every engine: forward values, leaves, loss, all
// gradients. The folder is tests/golden, or the one named by REMEDE_GOLDEN_DIR.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "remede/executor/cuda/cuda.h"
#include "remede/executor/plain.h"

namespace remede {
namespace {

using json = nlohmann::ordered_json;

struct Case {
  std::string name;
  json j;
  Shape shape;
  GradientForm form;
  bool classification = false;
  std::size_t batch = 0, steps = 0;

  const Objective& objective() const {
    return default_objective(classification ? Task::kClassification : Task::kRegression);
  }
};

std::vector<double> flat(const json& j) {
  std::vector<double> values;
  if (!j.is_array()) return {j.get<double>()};
  for (const json& part : j)
    for (const double v : flat(part)) values.push_back(v);
  return values;
}

// Reads a field that must be one of two words.
bool second(const json& j, const char* key, const char* first_word, const char* second_word) {
  const auto word = j.at(key).get<std::string>();
  if (word != first_word && word != second_word) throw std::runtime_error(std::string(key) + " is " + word);
  return word == second_word;
}

std::vector<Case> load_cases() {
  const char* folder = std::getenv("REMEDE_GOLDEN_DIR");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(
           folder != nullptr ? std::filesystem::path(folder) : std::filesystem::path(REMEDE_TESTS_DIR) / "golden")) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("case_", 0) == 0 && entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const auto& file : files) {
    Case c;
    c.name = file.filename().string();
    std::ifstream(file) >> c.j;
    const json& j = c.j;
    c.shape = {j.at("depth"), j.at("n_x"), j.at("n_m"), j.at("n_y"), {}};
    LeafForm& leaf = c.shape.form;
    leaf.write_rule = second(j, "write_rule", "add", "blend") ? WriteRule::kBlend : WriteRule::kAdd;
    leaf.write_reads =
        second(j, "write_reads", "inputs", "inputs and memory") ? WriteReads::kInputsAndMemory : WriteReads::kInputs;
    leaf.write_bias = j.at("write_bias");
    leaf.leaf_output = second(j, "leaf_output", "constant", "linear") ? LeafOutput::kLinear : LeafOutput::kConstant;
    leaf.output_order = j.at("output_order").get<int>() == 1 ? OutputOrder::kFirst : OutputOrder::kZero;
    c.form.split =
        second(j, "split_gradient", "sigmoid", "softsign") ? SplitGradient::kSoftsign : SplitGradient::kSigmoid;
    c.form.slope = j.at("slope").get<float>();
    c.form.index =
        second(j, "index_gradient", "softmax", "identity") ? IndexGradient::kIdentity : IndexGradient::kSoftmax;
    c.form.mix = second(j, "mix", "parameters", "effects") ? Mix::kEffects : Mix::kParameters;
    c.classification = !second(j, "loss_kind", "cross_entropy", "squared_error");
    c.batch = j.at("lengths").size();
    c.steps = j.at("x").at(0).size();
    cases.push_back(std::move(c));
  }
  std::cout << cases.size() << " golden cases\n";
  return cases;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = load_cases();
  return all;
}

template <typename T>
Parameters<T> parameters(const Case& c, const char* key) {
  Parameters<T> p(c.shape);
  for (int g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    if (p[group].empty()) continue;
    const std::vector<double> values = flat(c.j.at(key).at(name(group)));
    if (values.size() != p[group].size()) throw std::runtime_error(c.name + ": size of " + name(group));
    std::copy(values.begin(), values.end(), p[group].begin());
  }
  return p;
}

// The steps that count, packed.
Sequences packed(const Case& c) {
  Sequences s;
  s.n_x = c.shape.n_x;
  s.n_y = c.shape.n_y;
  for (std::size_t b = 0; b < c.batch; ++b) {
    const auto length = c.j.at("lengths")[b].get<std::size_t>();
    for (std::size_t t = 0; t < length; ++t) {
      for (const double v : flat(c.j.at("x")[b][t])) s.x.push_back(static_cast<float>(v));
      if (c.classification) {
        s.label.push_back(c.j.at("target")[b][t]);
      } else {
        for (const double v : flat(c.j.at("target")[b][t])) s.value.push_back(static_cast<float>(v));
      }
      s.weight.push_back(1.0F);
    }
    s.offset.push_back(s.offset.back() + static_cast<std::int64_t>(length));
  }
  return s;
}

// Largest difference, relative to the largest magnitude in the group.
template <typename T>
double difference(std::span<const T> got, std::span<const T> want) {
  double worst = 0, scale = 1e-30;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])));
    scale = std::max(scale, std::abs(static_cast<double>(want[i])));
  }
  return worst / scale;
}

template <typename T>
void expect_gradients(const Case& c, const Parameters<T>& got, double tolerance) {
  const auto want = parameters<T>(c, "gradients");
  for (int g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    EXPECT_LE(difference<T>(got[group], want[group]), tolerance) << c.name << " " << name(group);
  }
}

template <typename T>
void check_plain(const Case& c, double tolerance) {
  const auto p = parameters<T>(c, "parameters");
  const PlainTree<T> tree(p, c.form, c.objective(), {});
  const auto convert = [](const std::vector<double>& from) { return std::vector<T>(from.begin(), from.end()); };
  double weight = 0;
  for (const auto& length : c.j.at("lengths")) weight += length.get<double>();
  Parameters<T> sums(c.shape);
  BatchLoss loss;
  for (std::size_t b = 0; b < c.batch; ++b) {
    const auto length = c.j.at("lengths")[b].get<std::size_t>();
    const std::vector<T> x = convert(flat(c.j.at("x")[b])), ones(length, T(1));
    const std::vector<double> target = flat(c.j.at("target")[b]);
    const std::vector<std::int32_t> label(target.begin(), target.end());
    const std::vector<T> value = convert(target);
    SequenceView<T> s{length,       x.data(),    c.classification ? label.data() : nullptr,
                      value.data(), ones.data(), c.shape.n_y};
    Trace<T> trace;
    std::vector<T> g;
    tree.forward(s, trace);
    const std::vector<T> output = convert(flat(c.j.at("output")[b])), memory = convert(flat(c.j.at("memory")[b]));
    for (std::size_t t = 0; t < length; ++t)
      ASSERT_EQ(trace.leaf[t], c.j.at("leaf")[b][t].get<int>()) << c.name << " step " << t;
    EXPECT_LE(difference<T>(trace.y, std::span(output).first(trace.y.size())), tolerance) << c.name;
    EXPECT_LE(difference<T>(std::span<const T>(trace.memory).subspan(c.shape.n_m),
                            std::span<const T>(memory).first(length * c.shape.n_m)),
              tolerance)
        << c.name;
    loss += tree.loss(s, trace, static_cast<T>(1.0 / weight), &g);
    tree.backward(s, trace, g, sums);
  }
  tree.finish(sums);
  EXPECT_NEAR(loss.mean(), c.j.at("loss").get<double>(), tolerance * std::max(1.0, loss.mean())) << c.name;
  expect_gradients<T>(c, sums, tolerance);
}

void check_engine(const Case& c, Engine& engine) {
  const Sequences data = packed(c);
  std::vector<std::uint32_t> all(data.count());
  for (std::size_t s = 0; s < all.size(); ++s) all[s] = static_cast<std::uint32_t>(s);
  const auto p = parameters<float>(c, "parameters");
  Parameters<float> gradient;
  const BatchLoss loss = engine.gradient(p, c.form, c.objective(), data, {}, all, gradient);
  EXPECT_NEAR(loss.mean(), c.j.at("loss").get<double>(), 1e-4 * std::max(1.0, loss.mean())) << c.name;
  EXPECT_NEAR(engine.loss(p, c.objective(), data, {}, all).mean(), loss.mean(), 1e-6) << c.name;
  expect_gradients<float>(c, gradient, 1e-4);
}

TEST(golden, cases_are_there) { EXPECT_GT(cases().size(), 0U) << "no case_*.json in the golden folder"; }

TEST(golden, plain_in_double) {
  for (const Case& c : cases()) check_plain<double>(c, 1e-9);
}

TEST(golden, plain_in_float) {
  for (const Case& c : cases()) check_plain<float>(c, 1e-4);
}

TEST(golden, plain_engine) {
  const auto engine = make_plain_engine(2);
  for (const Case& c : cases()) check_engine(c, *engine);
}

TEST(golden, fast_engine) {
  const auto engine = make_engine(2);
  for (const Case& c : cases()) check_engine(c, *engine);
}

TEST(golden, gpu_engine) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << "skipped: no GPU: " << why_no_gpu();
  const auto engine = make_gpu_engine();
  for (const Case& c : cases()) check_engine(c, *engine);
}

}  // namespace
}  // namespace remede
