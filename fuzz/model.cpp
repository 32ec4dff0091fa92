// Model files: what loads round-trips, predicts the same bits step by step, all at once and live, and can be shown in
// every way.
#include <cmath>
#include <vector>

#include "fuzz/same.h"
#include "remede/analysis/machine.h"
#include "remede/base/random.h"
#include "remede/draw/dot.h"
#include "remede/draw/importance.h"
#include "remede/draw/machine.h"
#include "remede/draw/rules.h"
#include "remede/draw/svg.h"
#include "remede/draw/text.h"
#include "remede/draw/trace.h"
#include "remede/model/batch.h"
#include "remede/model/file.h"
#include "remede/pages/explorer.h"
#include "remede/pages/report.h"
#include "remede/stream/stream.h"

namespace remede::fuzz {
namespace {

constexpr std::size_t kMostWork = 20000;  // nodes times inputs and outputs of a model that is drawn

std::size_t work_of(const Model& model) {
  std::size_t cells = 1;
  for (const Tree& tree : model.trees) cells += static_cast<std::size_t>(tree.n_m);
  return static_cast<std::size_t>(model.node_count()) *
         (cells + static_cast<std::size_t>(model.n_x()) + static_cast<std::size_t>(model.n_y()));
}

// Sequences of 0 to 5 steps with ordinary, extreme and missing values, and targets.
Dataset data_for(const Model& model) {
  const float values[] = {0.0F, -0.0F, 1.0F, -1.5F, 0.5F, 1e30F, -3e38F, 1e-40F, std::nanf("")};
  Dataset data;
  data.schema = model.schema;
  Sequences& s = data.sequences;
  s.n_x = model.n_x();
  s.n_y = model.n_y();
  Random random(1);
  for (int sequence = 0; sequence < 18; ++sequence) {
    for (int t = 0; t < sequence % 6; ++t) {
      for (int k = 0; k < s.n_x; ++k) s.x.push_back(values[random.below(std::size(values))]);
      s.weight.push_back(random.below(4) == 0 ? 0.0F : 1.0F);
      if (model.schema.task == Task::kClassification) {
        s.label.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(s.n_y))));
      } else {
        for (int k = 0; k < s.n_y; ++k) s.value.push_back(values[random.below(6)]);
      }
      data.row.push_back(static_cast<std::int64_t>(data.row.size()));
    }
    s.offset.push_back(static_cast<std::int64_t>(s.weight.size()));
  }
  return data;
}

void require_one_answer(const Model& model, const Sequences& s) {
  const Predictions plain = predict(model, s);
  const Predictions batch = predict_batch(model, s);
  require_same(plain.output, batch.output, "predict() and predict_batch() agree");
  require_same(plain.leaf, batch.leaf, "they reach the same leaves");
  const auto n_x = static_cast<std::size_t>(model.n_x());
  const auto n_y = static_cast<std::size_t>(model.n_y());
  Stream stream(model);
  for (std::size_t i = 0; i < s.count(); ++i) {
    stream.reset();
    for (auto t = static_cast<std::size_t>(s.offset[i]); t < static_cast<std::size_t>(s.offset[i + 1]); ++t) {
      const std::span<const float> y = stream.step({s.x.data() + t * n_x, n_x});
      require(std::memcmp(y.data(), plain.output.data() + t * n_y, n_y * sizeof(float)) == 0, "a stream agrees");
    }
  }
}

void show_in_every_way(const Model& model, const Dataset& data) {
  const Observations seen = observe(model, data.sequences);
  require(!to_text(model).empty() && !to_svg(model).empty() && !to_dot(model).empty(), "pictures of the tree");
  require(!rules_text(model, &seen).empty() && !rules_json(model).empty(), "rules");
  const Trace steps = trace(model, data, 5);
  require(!trace_table(model, steps).empty() && !trace_json(model, steps).empty() && !trace_svg(model, steps).empty(),
          "one sequence, step by step");
}

void show_pages(const Model& model, const Dataset& data) {
  error_of([&] {
    const Machine machine = find_machine(model, data.sequences);
    require(!machine_text(machine).empty() && !machine_svg(machine).empty(), "the state machine");
    require(!machine_dot(machine).empty() && !machine_json(machine).empty(), "the state machine");
  });
  error_of([&] { require(!machine_text(possible_machine(model)).empty(), "the possible machine"); });
  error_of([&] { require(!importance_text(find_importance(model, data.sequences)).empty(), "importance"); });
  error_of([&] { require(!explorer_page(model, data).empty(), "the explorer"); });
  error_of([&] { require(!report_page(model, data).empty(), "the report"); });
}

}  // namespace

void model(std::string_view input) {
  const unsigned pages = take_byte(input);
  Model loaded;
  if (!error_of([&] { loaded = model_from_json(input, "file"); }).empty()) return;
  std::string written;
  if (!error_of([&] { written = to_json(loaded); }).empty()) return;
  require(to_json(model_from_json(written, "written")) == written, "a model round-trips");
  if (work_of(loaded) > kMostWork) return;
  const Dataset data = data_for(loaded);
  require_one_answer(loaded, data.sequences);
  show_in_every_way(loaded, data);
  if (pages % 16 == 1) show_pages(loaded, data);
}

}  // namespace remede::fuzz
