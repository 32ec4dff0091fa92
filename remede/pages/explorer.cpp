#include "remede/pages/explorer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/data/unknown.h"
#include "remede/draw/canvas.h"
#include "remede/draw/json.h"
#include "remede/draw/text.h"
#include "remede/model/file.h"
#include "remede/model/metrics.h"
#include "remede/model/ranges.h"
#include "remede/objective/truth.h"
#include "remede/pages/explorer_words.h"
#include "remede/pages/web.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxNodes = 100'000;  // larger pages are useless to readers and too slow for browsers

// The page reads the constants of the arithmetic instead of having its own: a double holds a float exactly.
Json arithmetic_json() {
  const auto list = [](std::span<const float> values) { return std::vector<double>(values.begin(), values.end()); };
  return {{"tanh", {{"limit", TanhConstants::kLimit}, {"p", list(TanhConstants::kP)}, {"q", list(TanhConstants::kQ)}}},
          {"exp",
           {{"lowest", ExpConstants::kLowest},
            {"highest", ExpConstants::kHighest},
            {"log2e", static_cast<double>(ExpConstants::kLog2e)},
            {"round", ExpConstants::kRound},
            {"ln2_high", static_cast<double>(ExpConstants::kLn2High)},
            {"ln2_low", static_cast<double>(ExpConstants::kLn2Low)},
            {"p", list(ExpConstants::kP)}}}};
}

// What the memory holds before `step`, a step of sequence s.
std::vector<float> state_before(const Model& model, const Sequences& data, std::size_t s, std::size_t step_number) {
  std::vector<float> state(state_size(model));
  std::vector<float> scratch(static_cast<std::size_t>(model.n_y()));
  std::vector<float> y(scratch.size());
  std::vector<std::int32_t> leaf(model.trees.size());
  for (auto t = static_cast<std::size_t>(data.offset[s]); t < step_number; ++t)
    step(model, data.x.data() + t * static_cast<std::size_t>(data.n_x), state.data(), scratch.data(), y.data(),
         leaf.data());
  return state;
}

// One number for all leaves and answers of an excerpt. The page makes the same number of its own and shows whether they
// agree.
std::uint32_t check_number(const Model& model, const Predictions& predictions, const Excerpt& excerpt) {
  const auto n_y = static_cast<std::size_t>(model.n_y());
  const std::size_t trees = model.trees.size();
  const std::size_t steps = predictions.leaf.size() / trees;
  std::uint32_t number = 2166136261U;
  const auto add = [&](std::uint32_t word) { number = (number ^ word) * 16777619U; };
  for (std::size_t t = excerpt.begin; t < excerpt.end; ++t) {
    for (std::size_t i = 0; i < trees; ++i) add(static_cast<std::uint32_t>(predictions.leaf[i * steps + t]));
    for (std::size_t o = 0; o < n_y; ++o) {
      const float y = predictions.output[t * n_y + o];
      add(std::isnan(y) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(y));
    }
  }
  return number;
}

// Names of steps: null where they are their numbers from 1, a number where they count from there in every sequence,
// else texts.
Json times_json(const Dataset& data, const std::vector<Excerpt>& excerpts) {
  if (data.times.empty()) return nullptr;
  Json texts = Json::array();
  bool counting = true;
  long long first = 0;
  for (const Excerpt& excerpt : excerpts) {
    const auto offset = static_cast<std::size_t>(data.sequences.offset[excerpt.sequence]);
    for (std::size_t t = excerpt.begin; t < excerpt.end; ++t) {
      const std::string text(data.times[t]);
      if (texts.empty() && (text == "0" || text == "1")) first = text == "1" ? 1 : 0;
      counting = counting && text == std::to_string(first + static_cast<long long>(t - offset));
      texts.push_back(text);
    }
  }
  return counting ? Json(first) : texts;
}

Json excerpt_json(const Model& model, const Dataset& data, const Predictions& predictions, const Excerpt& excerpt) {
  const Sequences& sequences = data.sequences;
  const auto begin = static_cast<std::size_t>(sequences.offset[excerpt.sequence]);
  const std::string id =
      data.ids.empty() ? std::to_string(excerpt.sequence + 1) : std::string(data.ids[excerpt.sequence]);
  Json json = {{"id", id},
               {"steps", excerpt.end - excerpt.begin},
               {"targets", excerpt.targets},
               {"marked", excerpt.marked},
               {"loss", excerpt.loss},
               {"check", check_number(model, predictions, excerpt)}};
  if (sequences.length(excerpt.sequence) != excerpt.end - excerpt.begin) {
    json["of"] = sequences.length(excerpt.sequence);
    json["before"] = excerpt.begin - begin;
    json["state"] = base64(state_before(model, sequences, excerpt.sequence, excerpt.begin));
  }
  return json;
}

// Inputs, and targets with -1 or NaN where a step has none, -2 where its class is unknown, of all excerpts one after
// the other. `sequences`: those of the data, with unknown targets.
Json data_json(const Model& model, const Dataset& data, const Sequences& sequences, const Predictions& predictions,
               const Sample& sample) {
  const auto n_x = static_cast<std::size_t>(sequences.n_x);
  const auto n_y = static_cast<std::size_t>(model.n_y());
  std::vector<float> x, value;
  std::vector<std::int32_t> label;
  Json list = Json::array();
  for (const Excerpt& excerpt : sample.excerpts) {
    list.push_back(excerpt_json(model, data, predictions, excerpt));
    x.insert(x.end(), sequences.x.begin() + static_cast<std::ptrdiff_t>(excerpt.begin * n_x),
             sequences.x.begin() + static_cast<std::ptrdiff_t>(excerpt.end * n_x));
    for (std::size_t t = excerpt.begin; sequences.has_targets() && t < excerpt.end; ++t) {
      const bool known = sequences.weight[t] > 0;
      if (model.classifies())
        label.push_back(!known ? -1 : sequences.label[t] == kUnknownClass ? -2 : sequences.label[t]);
      for (std::size_t o = 0; !model.classifies() && o < n_y; ++o)
        value.push_back(known ? truth_at(sequences, t)
                                    .value[static_cast<std::size_t>(target_of(model.objective(), static_cast<int>(o)))]
                              : std::numeric_limits<float>::quiet_NaN());
    }
  }
  Json json = {{"note", sample.note}, {"sequences", std::move(list)}, {"x", base64(x)}};
  if (!label.empty()) json["label"] = base64(label);
  if (!value.empty()) json["value"] = base64(value);
  if (!sample.far_off.empty()) json["far_off"] = json_numbers(sample.far_off);
  json["times"] = times_json(data, sample.excerpts);
  json["time_name"] = data.times.empty() || data.schema.time.empty() ? "step" : data.schema.time;
  return json;
}

// "accuracy 99.8% on 1,400 targets"; empty without targets.
std::string score_text(const Model& model, const Dataset& dataset, const Predictions& predictions) {
  const Sequences& data = dataset.sequences;
  const bool some = std::any_of(data.weight.begin(), data.weight.end(), [](float w) { return w > 0; });
  if (!data.has_targets() || (!some && dataset.unknown.count == 0)) return "";
  const Scores scores = evaluate(model.objective(), predictions, data, dataset.unknown);
  const double figure =
      model.schema.task == Task::kClassification ? scores.classification.accuracy : scores.regression.overall.rmse;
  if (!std::isfinite(figure)) return "";
  const std::string score =
      model.schema.task == Task::kClassification ? "accuracy " + percent(figure) : "RMSE " + short_number(figure, 4);
  return fmt::format("{} on {} targets", score, grouped(static_cast<long long>(scores.steps)));
}

std::string script_json(const Json& json) {
  return script_safe(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string explorer_page(const Model& given, const Dataset& data, const ExplorerOptions& options) {
  Model model = given;
  if (data.sequences.steps() == 0) fail("explorer: expected data with at least one step, got none");
  if (model.node_count() > kMaxNodes)
    fail("explorer: expected a model of at most {} nodes, got {}", kMaxNodes, model.node_count());
  note_ranges(model, data.sequences);  // what the cells held on these data
  const Predictions predictions = predict(model, data.sequences, options.threads);
  std::optional<Dataset> with_unknown;
  if (data.unknown.count > 0) with_unknown = with_unknown_targets(data);
  const Sequences& judged = with_unknown ? with_unknown->sequences : data.sequences;
  const Sample sample = choose_sample(model.objective(), judged, predictions, options.sample);
  Json shown = data_json(model, data, judged, predictions, sample);
  shown["name"] = options.data_name;
  shown["score"] = score_text(model, data, predictions);
  const Json page = {{"title", title_text(model)},
                     {"arithmetic", arithmetic_json()},
                     {"data", std::move(shown)},
                     {"words", words_json(model, judged)},
                     {"machine", machine_part_json(model, data.sequences)}};
  return filled_page("explorer.html", {{"title", xml_escaped(title_text(model))},
                                       {"inks", svg_style_sheet()},
                                       {"model", script_safe(to_json(given))},
                                       {"page", script_json(page)}});
}

void write_explorer(const std::string& path, const Model& model, const Dataset& data, const ExplorerOptions& options) {
  write_file(path, explorer_page(model, data, options));
}

}  // namespace remede
