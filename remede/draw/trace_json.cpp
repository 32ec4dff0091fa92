#include "remede/analysis/wording.h"
#include "remede/draw/json.h"
#include "remede/draw/trace.h"
#include "remede/model/names.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

Json step_or_null(int step) { return step < 0 ? Json(nullptr) : Json(step); }

const char* name(ReadUse use) { return use == ReadUse::kTest ? "test" : use == ReadUse::kAnswer ? "answer" : "write"; }

Json tree_json(const Tree& tree, const std::vector<std::string>& features, const TreeStep& step) {
  Json path = Json::array(), reads = Json::array();
  for (const PathTest& t : step.path)
    path.push_back({{"node", t.node},
                    {"feature", features[static_cast<std::size_t>(t.feature)]},
                    {"value", json_number(t.value)},
                    {"threshold", json_number(t.threshold)},
                    {"margin", json_number(t.margin())},
                    {"right", t.right},
                    {"pivotal", t.pivotal},
                    {"written_at", step_or_null(t.written_at)}});
  for (const MemoryRead& r : step.reads)
    reads.push_back({{"cell", features[static_cast<std::size_t>(tree.n_x + r.cell)]},
                     {"use", name(r.use)},
                     {"value", json_number(r.value)},
                     {"written_at", step_or_null(r.written_at)}});
  return {{"leaf", step.leaf},
          {"path", path},
          {"decided", step_or_null(step.decided)},
          {"before", json_numbers(step.before)},
          {"after", json_numbers(step.after)},
          {"written", step.written},
          {"reads", reads},
          {"output", json_numbers(step.output)}};
}

Json target_json(const Model& model, const TraceStep& step) {
  if (!step.has_target) return nullptr;
  if (step.label >= 0) return model.schema.classes[static_cast<std::size_t>(step.label)];
  return json_numbers(step.value);
}

}  // namespace

std::string trace_json(const Model& model, const Trace& trace) {
  Json steps = Json::array(), cells = Json::array();  // cells: their names, of each tree
  for (const Tree& tree : model.trees) cells.push_back(cell_names(model, tree));
  const bool classes = model.schema.task == Task::kClassification;
  for (const TraceStep& s : trace.steps) {
    Json trees = Json::array();
    for (std::size_t t = 0; t < s.trees.size(); ++t)
      trees.push_back(tree_json(model.trees[t], feature_names(model, model.trees[t]), s.trees[t]));
    steps.push_back(
        {{"name", s.name},
         {"x", json_numbers(s.x)},
         {"trees", trees},
         {"output", json_numbers(s.output)},
         {"answer", classes ? Json(model.schema.classes[static_cast<std::size_t>(arg_max(s.output))]) : Json(nullptr)},
         {"target", target_json(model, s)}});
  }
  return json_text({{"sequence", trace.id},
                    {"step_name", trace.step_name},
                    {"inputs", model.schema.inputs},
                    {"targets", model.schema.targets},
                    {"classes", model.schema.classes},
                    {"cells", cells},
                    {"steps", steps}});
}

}  // namespace remede
