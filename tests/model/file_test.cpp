#include "remede/model/file.h"

#include <bit>
#include <filesystem>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/model/file_limits.h"
#include "remede/model/limits.h"
#include "remede/model/predict.h"
#include "support/random_model.h"
#include "support/same_model.h"
#include "support/snow.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

const std::string kFiles = std::string(REMEDE_TESTS_DIR) + "/model/files/";

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string load_error(const std::string& text) {
  return error_of([&] { model_from_json(text, "m.json"); });
}

TEST(ModelFile, EveryModelComesBackToTheBit) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Random random(seed);
    Model model = test::random_model(random, {.most_trees = 3, .awkward = true, .laws = true, .objectives = true});
    model.training.settings = {{"zeta", "1"}, {"alpha", "a \"quoted\"\n\xE2\x82\xAC"}};
    model.training.training_loss = {1.0 / 3.0, -0.0, 1e-300, random.uniform()};
    model.schema.inputs[0] = "\t\"x\\\" \xF0\x9F\x8C\xB3";
    const std::string text = to_json(model);
    const Model back = model_from_json(text, "m.json");
    RC_ASSERT(test::same_model(model, back));
    RC_ASSERT(to_json(back) == text);
  }));
}

// Floats whose shortest text a reader of doubles would round to a neighbour must be written longer.
TEST(ModelFile, NumbersSurviveReadersOfDoubles) {
  Random random(11);
  Model model = test::random_model(random);
  model.fill.clear();
  model.schema.inputs.clear();
  for (int i = 0; i < 60000; ++i) {
    auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    if (i == 0) value = std::bit_cast<float>(0x15ae43fdU);  // 7.038531e-26: as a double, exactly between two floats
    if (!std::isfinite(value)) value = std::numeric_limits<float>::max();
    model.fill.push_back(value);
    model.schema.inputs.push_back(std::to_string(i));
  }
  model.trees = {test::random_tree(random, 60000, 0, model.n_y(), 0, {})};
  const Model back = model_from_json(to_json(model), "m.json");
  EXPECT_TRUE(test::same_bits(model.fill, back.fill));
}

// A cell that a leaf does not write has no meaning, whatever its weights: the file leaves it out.
TEST(ModelFile, ClosedCellsAreLeftOut) {
  Random random(5);
  Model model = test::random_model(random);
  model.trees = {test::random_tree(random, model.n_x(), 2, model.n_y(), 3, {})};
  Model noisy = model;
  Tree& tree = noisy.trees[0];
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  for (std::size_t i = 0; i < tree.write.size(); ++i)
    if (tree.gate[i / n_w] == 0) tree.write[i] = 3.5F;
  ASSERT_FALSE(test::same_model(model, noisy));
  EXPECT_EQ(to_json(model), to_json(noisy));
}

TEST(ModelFile, SavesAndLoads) {
  const std::string path = testing::TempDir() + "remede_model_file_test.json";
  Random random(9);
  const Model model = test::random_model(random);
  save_model(model, path);
  EXPECT_TRUE(test::same_model(model, load_model(path)));
  std::filesystem::remove(path);
  EXPECT_THAT(error_of([&] { load_model(path); }), HasSubstr("cannot open"));
}

TEST(ModelFile, OldFilesOfEveryFormStillPredictTheSame) {
  const Json expected = Json::parse(read_file(kFiles + "v1_expected.json"));
  Sequences sequences;
  sequences.n_x = 2;
  for (const Json& step : expected["inputs"])
    for (const Json& x : step)
      sequences.x.push_back(x.is_null() ? std::numeric_limits<float>::quiet_NaN() : x.get<float>());
  sequences.offset.push_back(static_cast<std::int64_t>(expected["inputs"].size()));
  std::size_t forms = 0;
  for (const auto& [name, outputs] : expected["outputs"].items()) {
    const Model model = load_model(kFiles + name);
    const Predictions predictions = predict(model, sequences);
    EXPECT_TRUE(test::same_bits(predictions.output, outputs.get<std::vector<float>>())) << name;
    ++forms;
  }
  EXPECT_EQ(forms, 34U);  // 32 forms and two forests
}

TEST(ModelFile, TheExampleOfTheDocumentationIsOne) {
  const std::string page = read_file(std::string(REMEDE_TESTS_DIR) + "/../docs/file-format.md");
  const std::size_t begin = page.find("```json\n") + 8;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  EXPECT_EQ(to_json(model_from_json(example, "example")), example);
}

// Version 2: what words count as, and how targets are read. A model without any of it is written as version 1.
TEST(ModelFile, CodesAndTargetsComeBack) {
  Model model = load_model(kFiles + "v1_blend_memory_bias_linear_first.json");
  EXPECT_THAT(to_json(model), HasSubstr("\"version\": 1,"));
  InputCode words;
  words.input = model.schema.inputs[0];
  words.column = "wind";
  words.words = {"NW", "cv \"calm\""};
  words.values = {1.0F, 0.25F};
  words.other = 0.0F;
  InputCode gap;
  gap.input = model.schema.inputs[1];
  gap.column = "time";
  gap.gap = true;
  InputCode unused = words;
  unused.input = "an input that was not needed";
  model.schema.codes = {words, gap, unused};
  model.schema.target_per = TargetPer::kSequence;
  model.schema.horizon = 24;
  const std::string json = to_json(model);
  EXPECT_THAT(json, HasSubstr("\"version\": 2,"));
  const Model back = model_from_json(json, "m.json");
  EXPECT_EQ(back.schema.codes, (std::vector<InputCode>{words, gap}));
  EXPECT_EQ(back.schema.target_per, TargetPer::kSequence);
  EXPECT_EQ(back.schema.horizon, 24);
  EXPECT_EQ(to_json(back), json);
}

TEST(ModelFile, OldFilesWithCodesStillReadTheSame) {
  const Model model = load_model(kFiles + "v2_codes.json");
  EXPECT_EQ(model.schema.code_of("wind = NW")->column, "wind");
  EXPECT_EQ(model.schema.code_of("shop")->words, (std::vector<std::string>{"b", "a"}));
  EXPECT_FALSE(model.schema.code_of("shop")->other);
  EXPECT_TRUE(model.schema.code_of("time_gap")->gap);
  EXPECT_EQ(model.schema.target_per, TargetPer::kSequence);
  EXPECT_EQ(model.schema.horizon, 2);
  EXPECT_EQ(to_json(model), read_file(kFiles + "v2_codes.json"));
}

TEST(ModelFile, FilesWithAllRolesStillReadTheSame) {
  const Model model = load_model(kFiles + "v3_roles.json");
  EXPECT_EQ(model.schema.categorical, (std::vector<std::string>{"shop"}));
  EXPECT_EQ(model.schema.ignore, (std::vector<std::string>{"note", "row number"}));
  EXPECT_TRUE(model.schema.time_gap);
  EXPECT_EQ(to_json(model), read_file(kFiles + "v3_roles.json"));
  std::string wrong = read_file(kFiles + "v3_roles.json");
  wrong.replace(wrong.find("\"time_gap\": true"), 16, "\"time_gap\": 1   ");
  EXPECT_THAT(error_of([&] { model_from_json(wrong, "m.json"); }), HasSubstr("time_gap: expected true or false"));
}

// Version 3: the objective, whose link makes the answers.
TEST(ModelFile, FilesWithAnObjectiveAnswerByItsLink) {
  Sequences data;
  data.n_x = 1;
  data.x = {0.0F, 1.0F};
  data.offset = {0, 2};
  const auto answers = [&](const std::string& name) {
    const Model model = load_model(kFiles + name);
    EXPECT_EQ(to_json(model), read_file(kFiles + name));
    return predict(model, data).output;
  };
  const float e = exp(1.0F), least = exp(-80.0F), most = exp(80.0F);
  EXPECT_EQ(answers("v3_quantile.json"),
            (std::vector<float>{2.0F - exp(0.0F), 2.0F, 2.0F + e, -3.0F - exp(-1.0F), -3.0F, -3.0F + most}));
  EXPECT_EQ(answers("v3_poisson.json"), (std::vector<float>{e, least}));
  EXPECT_EQ(answers("v3_huber.json"), (std::vector<float>{1.0F, -3.0F}));
}

TEST(ModelFile, AnObjectiveThatDoesNotFitIsRefused) {
  const std::string good = read_file(kFiles + "v3_quantile.json");
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    return error_of([&] { model_from_json(bad, "m.json"); });
  };
  EXPECT_THAT(refused("\"quantile\"", "\"pinball\""), HasSubstr("objective.name: expected one of cross-entropy|"));
  EXPECT_THAT(refused("0.5, 0.9", "0.9, 0.5"), HasSubstr("expected quantiles in ascending order, got 0.5 after 0.9"));
  EXPECT_THAT(refused("\"quantile\", \"quantiles\": [0.1, 0.5, 0.9]", "\"cross-entropy\""),
              HasSubstr("expected an objective of numbers"));
  EXPECT_THAT(refused("\"y\"", "\"y\", \"z\""), HasSubstr("expected one target with the objective quantile, got 2"));
  EXPECT_THAT(refused("\"zero\"", "\"first\""),
              HasSubstr("expected the output order zero with the objective quantile"));
  EXPECT_THAT(refused("[0, 2, 1]", "[0, 2]"), HasSubstr("expected 3 numbers, got 2"));
}

TEST(ModelFile, LawsNamesAndRangesComeBack) {
  Model model = test::model_of_snow();
  Tree& tree = model.trees[0];
  tree.cells.tap_leaf = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  tree.cells.leaf_linear.resize(6);
  tree.cell_name = {"snow", "soil \"deep\""};
  tree.level_range = {{0, 312.5F}, {-1, 40}};
  tree.share_range = {{0.003F, 0.08F}, {0.07F, 0.13F}};
  model.input_range = {{0, 30}, {-12, 21.5F}};
  const std::string text = to_json(model);
  EXPECT_THAT(text, HasSubstr("\"version\": 3"));
  EXPECT_THAT(text,
              HasSubstr(R"({"law": "store", "bias": -2.73, "inputs": [["rain", 0.185]], "earlier": [[0, 0.494]], )"));
  EXPECT_THAT(text, HasSubstr(R"("taps": [[0, "open"], [1, "closed"]])"));
  const Model back = model_from_json(text, "m.json");
  EXPECT_TRUE(test::same_model(model, back));
  EXPECT_EQ(to_json(back), text);
}

TEST(ModelFile, OldFilesWithLawsStillReadTheSame) {
  const Model model = load_model(kFiles + "v3_laws.json");
  EXPECT_EQ(to_json(model), read_file(kFiles + "v3_laws.json"));
  Random random(9);
  const Sequences data = test::random_sequences(random, 2, 4, 60);
  EXPECT_TRUE(test::same_bits(predict(model, data).output, predict(test::model_of_snow(), data).output));
}

TEST(ModelFile, DamagedLawsAreNamed) {
  const Json sound = Json::parse(to_json(test::model_of_snow()));
  const auto error = [&](const std::function<void(Json&)>& damage) {
    Json json = sound;
    damage(json["trees"][0]);
    return load_error(json.dump());
  };
  EXPECT_EQ(error([](Json&) {}), "no error");
  EXPECT_EQ(error([](Json& t) { t["cells"][0]["law"] = "tank"; }),
            R"(m.json: trees[0].cells[0].law: expected "store", "average" or "positive average", got "tank")");
  EXPECT_EQ(error([](Json& t) { t["cells"][1]["earlier"][0][0] = 1; }),
            "m.json: trees[0].cells[1].earlier[0][0]: expected a cell from 0 to 0, got 1");
  EXPECT_EQ(error([](Json& t) { t["cells"][0]["inputs"][0][0] = "snow"; }),
            R"(m.json: trees[0].cells[0].inputs[0][0]: expected the name of an input, got "snow")");
  EXPECT_EQ(error([](Json& t) { t["cells"][0]["inputs"][1] = t["cells"][0]["inputs"][0]; }),
            R"(m.json: trees[0].cells[0].inputs[1][0]: expected one that differs from those before, got "rain")");
  EXPECT_EQ(error([](Json& t) { t["answer"][0]["levels"][0][1] = "much"; }),
            R"(m.json: trees[0].answer[0].levels[0][1]: expected a number, got "much")");
  EXPECT_EQ(error([](Json& t) { t["leaves"][0]["taps"] = 3; }),
            "m.json: trees[0].leaves[0].taps: expected a list, got 3");
  EXPECT_EQ(error([](Json& t) { t["cell_names"] = {"snow"}; }),
            "m.json: tree 0: expected 2 cell names, one per cell, got 1");
  EXPECT_EQ(error([](Json& t) {
              t["cell_names"] = {"snow", "snow"};
            }),
            R"(m.json: tree 0: expected names of cells that differ, got "snow" twice)");
}

TEST(ModelFile, AnUnsoundModelIsNotWritten) {
  Random random(2);
  Model model = test::random_model(random);
  model.trees[0].output[0] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(error_of([&] { to_json(model); }), HasSubstr("expected finite values of output"));
}

// A change to a sound file, and what the error must say.
struct Damage {
  const char* name;
  std::function<void(Json&)> apply;
  const char* message;
};

Json sound() { return Json::parse(read_file(kFiles + "v1_blend_memory_bias_linear_first.json")); }
Json& tree(Json& json) { return json["trees"][0]; }
Json& node(Json& json, int i) { return tree(json)["nodes"][static_cast<std::size_t>(i)]; }
Json& leaf(Json& json, int i) { return tree(json)["leaves"][static_cast<std::size_t>(i)]; }

const std::vector<Damage> kDamages = {
    {"other JSON", [](Json& j) { j = Json::parse("[1]"); }, "m.json: expected a remede model, got a list of 1"},
    {"other format", [](Json& j) { j["format"] = "pickle"; }, "expected a remede model, got other JSON"},
    {"later version", [](Json& j) { j["version"] = kFileVersion + 1; }, "of the model file or an earlier one, got "},
    {"codes of one word less",
     [](Json& j) {
       j["codes"] =
           Json::parse(R"([{"input": "flow", "column": "flow", "words": ["a"], "values": [], "other": null}])");
     },
     "codes[0].values: expected 1 numbers, got 0"},
    {"a code without column", [](Json& j) { j["codes"] = Json::parse(R"([{"input": "flow"}])"); },
     "codes[0]: expected 'column'"},
    {"a word twice",
     [](Json& j) {
       j["codes"] =
           Json::parse(R"([{"input": "flow", "column": "flow", "words": ["a", "a"], "values": [0, 1], "other": 0}])");
     },
     "expected words of a column that differ, got \"a\" twice"},
    {"a negative horizon", [](Json& j) { j["horizon"] = -1; }, "horizon: expected a whole number from 0"},
    {"targets per file", [](Json& j) { j["target_per"] = "file"; }, "expected \"step\" or \"sequence\", got \"file\""},
    {"huge version", [](Json& j) { j["version"] = 18446744073709551615ULL; }, "version: expected a version number"},
    {"version in words", [](Json& j) { j["version"] = "1"; }, "version: expected a version number, got \"1\""},
    {"no task", [](Json& j) { j.erase("task"); }, "expected 'task', got an object without it"},
    {"other task", [](Json& j) { j["task"] = "ranking"; },
     "expected \"classification\" or \"regression\", got \"ranking\""},
    {"input of a number", [](Json& j) { j["inputs"][1] = 3; }, "m.json: inputs[1]: expected text, got 3"},
    {"input twice", [](Json& j) { j["inputs"][1] = "temperature"; },
     "expected inputs that differ, got \"temperature\" twice"},
    {"too few fills", [](Json& j) { j["fill"].erase(0); }, "fill: expected 2 numbers, got 1"},
    {"fill of null", [](Json& j) { j["fill"][0] = nullptr; }, "fill[0]: expected a number, got null"},
    {"fill beyond float", [](Json& j) { j["fill"][0] = 1e300; }, "fill[0]: expected a number, got 1e+300"},
    {"no targets", [](Json& j) { j["targets"] = Json::array(); }, "expected at least one target, got none"},
    {"classes in regression", [](Json& j) { j["classes"] = {"a"}; }, "expected no classes in regression, got 1"},
    {"no trees", [](Json& j) { j["trees"] = Json::array(); }, "expected 1 to 1000 trees, got 0"},
    {"cells below 0", [](Json& j) { tree(j)["cells"] = -1; },
     "trees[0].cells: expected a whole number from 0 to 4096, got -1"},
    {"cells of 2.0", [](Json& j) { tree(j)["cells"] = 2.0; }, "got 2.0"},
    {"a billion cells", [](Json& j) { tree(j)["cells"] = 1000000000; }, "expected a whole number from 0 to 4096"},
    {"more cells than numbers", [](Json& j) { tree(j)["cells"] = 3; }, "linear[0]: expected 5 numbers, got 4"},
    {"bias of 1", [](Json& j) { tree(j)["write_bias"] = 1; }, "write_bias: expected true or false, got 1"},
    {"node numbered otherwise", [](Json& j) { node(j, 1)["number"] = 2; }, "nodes[1].number: expected 1, got 2"},
    {"unknown input", [](Json& j) { node(j, 0)["input"] = "wind"; },
     "input: expected the name of an input, got \"wind\""},
    {"unknown cell", [](Json& j) { node(j, 1)["cell"] = 2; },
     "nodes[1].cell: expected a whole number from 0 to 1, got 2"},
    {"input and cell", [](Json& j) { node(j, 1)["input"] = "flow"; }, "nodes[1]: expected 'input' or 'cell', got both"},
    {"threshold of text", [](Json& j) { node(j, 1)["threshold"] = "0"; }, "threshold: expected a number, got \"0\""},
    {"missing nowhere", [](Json& j) { node(j, 1)["missing"] = "up"; }, "expected \"left\" or \"right\", got \"up\""},
    {"child is the root", [](Json& j) { node(j, 1)["left"] = 0; }, "left: expected a whole number from 1 to 6, got 0"},
    {"child beyond the leaves", [](Json& j) { node(j, 1)["left"] = 7; }, "from 1 to 6, got 7"},
    {"child before its parent", [](Json& j) { node(j, 2)["left"] = 1; }, "node 2: expected a child after it"},
    {"child of two", [](Json& j) { node(j, 1)["left"] = 4; },
     "node 1: expected a child without another parent, got leaf 1"},
    {"own child", [](Json& j) { node(j, 1)["left"] = 1; }, "node 1: expected a child after it"},
    {"a leaf less", [](Json& j) { tree(j)["leaves"].erase(3); }, "expected 4 leaves for 3 nodes, got 3"},
    {"a leaf that is a number", [](Json& j) { leaf(j, 1) = 4; }, "leaves[1]: expected an object, got 4"},
    {"a row less", [](Json& j) { leaf(j, 1)["linear"].erase(0); }, "linear: expected 2 lists, one per output, got 1"},
    {"cell written twice", [](Json& j) { leaf(j, 0)["writes"][1]["cell"] = 0; },
     "expected a cell that differs from those before"},
    {"blend above 1", [](Json& j) { leaf(j, 0)["writes"][0]["blend"] = 1.5; }, "expected blend from 0 to 1, got 1.5"},
    {"no bias", [](Json& j) { leaf(j, 0)["writes"][0].erase("bias"); }, "writes[0]: expected 'bias'"},
    {"a weight too many", [](Json& j) { leaf(j, 0)["writes"][0]["weights"].push_back(0); },
     "weights: expected 4 numbers, got 5"},
    {"writes of an object", [](Json& j) { leaf(j, 0)["writes"] = Json::object(); },
     "writes: expected a list, got an object"},
    {"settings of a list", [](Json& j) { j["training"]["settings"] = {1}; },
     "settings: expected an object, got a list of 1"},
    {"loss of text", [](Json& j) { j["training"]["training_loss"][1] = "nan"; }, "training_loss[1]: expected a number"},
};

TEST(ModelFile, EveryDamageIsNamed) {
  for (const Damage& damage : kDamages) {
    Json json = sound();
    damage.apply(json);
    const std::string message = load_error(json.dump());
    EXPECT_THAT(message, HasSubstr(damage.message)) << damage.name;
    EXPECT_TRUE(message.starts_with("m.json: ")) << damage.name;
  }
}

TEST(ModelFile, KeysOfLaterVersionsAreIgnored) {
  Json json = sound();
  json["units"] = {"C", "l/s"};
  node(json, 0)["gain"] = 0.5;
  leaf(json, 0)["support"] = {{"steps", 12}};
  EXPECT_TRUE(test::same_model(model_from_json(json.dump(), "m.json"), model_from_json(sound().dump(), "m.json")));
}

TEST(ModelFile, TextThatIsNotJson) {
  EXPECT_THAT(load_error(""), HasSubstr("m.json: expected JSON, got a parse error at line 1, column 1"));
  EXPECT_THAT(load_error("a,b\n1,2\n"), HasSubstr("expected JSON"));
  EXPECT_THAT(load_error("{\"format\": \"\xFF\"}"), HasSubstr("expected JSON"));
  EXPECT_THAT(load_error("{\"a\": 1, \"a\": 2}"), HasSubstr("expected every key once, got \"a\" twice"));
  EXPECT_THAT(load_error("[1e999]"), HasSubstr("expected JSON"));
  std::string endless(100000, 'x');
  endless[0] = '"';
  EXPECT_LT(load_error(endless).size(), 400U);
}

TEST(ModelFile, DeepNestingIsRefused) {
  for (const char* const open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += open;
    EXPECT_THAT(load_error(text), HasSubstr("at most 16 deep"));
  }
}

// Few bytes must not stand for much memory: 4,096 cells that read each other, in 200 leaves that write none of them.
TEST(ModelFile, SmallFilesDoNotAskForMuchMemory) {
  Json json = sound();
  Json& t = tree(json);
  t["cells"] = kMostCells;
  t["leaf_output"] = "constant";
  t["nodes"] = Json::array();
  t["leaves"] = Json::array();
  for (int i = 0; i < 200; ++i) {
    t["nodes"].push_back(
        {{"number", i}, {"cell", 0}, {"threshold", 0}, {"missing", "left"}, {"left", i + 1}, {"right", 201 + i}});
    t["leaves"].push_back({{"number", 200 + i}, {"output", {0, 0}}, {"writes", Json::array()}});
  }
  t["leaves"].push_back({{"number", 400}, {"output", {0, 0}}, {"writes", Json::array()}});
  EXPECT_THAT(load_error(json.dump()), HasSubstr("weights of cells that are not written"));
}

}  // namespace
}  // namespace remede
