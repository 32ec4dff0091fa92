#include "remede/simplify/simplify.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/simplify/lossy.h"

namespace remede {
namespace {

void check_data(const Model& model, const Sequences* data, const char* what) {
  if (data == nullptr) return;
  if (data->n_x != model.n_x())
    fail("expected {} data with the {} inputs of the model, got {}", what, model.n_x(), data->n_x);
  if (!data->has_targets()) return;
  const bool has_classes = data->value.empty();
  if (data->n_y != model.schema.n_y() || has_classes != model.classifies())
    fail("expected {} data with the targets of the model ({} {}), got {} {}", what, model.schema.n_y(),
         model.classifies() ? "classes" : "values", data->n_y, has_classes ? "classes" : "values");
}

// "64 contradicted by the tests above, 40 never visited by the data"
std::string count_nodes(const std::vector<Removal>& removed) {
  int nodes[kCauses] = {};
  for (const Removal& removal : removed) nodes[static_cast<std::size_t>(removal.cause)] += removal.nodes;
  std::string text;
  for (int c = 0; c < kCauses; ++c)
    if (nodes[c] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", nodes[c], reason(static_cast<Cause>(c)));
  return text;
}

// What else was removed, by cause: "never read: cell m2, cell m4".
std::string list_others(const std::vector<Removal>& removed) {
  std::string text;
  for (int c = 0; c < kCauses; ++c) {
    std::vector<std::pair<std::string, int>> things;  // and how often
    for (const Removal& removal : removed) {
      if (removal.nodes > 0 || removal.cause != static_cast<Cause>(c)) continue;
      const auto known =
          std::find_if(things.begin(), things.end(), [&](const auto& thing) { return thing.first == removal.what; });
      if (known == things.end())
        things.emplace_back(removal.what, 1);
      else
        ++known->second;
    }
    std::string names;
    for (const auto& [what, times] : things)
      names +=
          fmt::format("{}{}{}", names.empty() ? "" : ", ", what, times > 1 ? fmt::format(" ({} times)", times) : "");
    if (!names.empty()) text += fmt::format("{}: {}\n", reason(static_cast<Cause>(c)), names);
  }
  return text;
}

// Whether there is a split or a write that might go.
bool may_collapse(const Model& model) {
  return std::any_of(model.trees.begin(), model.trees.end(),
                     [](const Tree& tree) { return tree.inner_count() > 0 || !tree.has_laws(); });
}

}  // namespace

Simplified simplify(const Model& model, const SimplifyOptions& options, const Sequences* training,
                    const Sequences* validation) {
  check_data(model, training, "training");
  check_data(model, validation, "validation");
  Draft draft(model);
  ExactOptions keep_inputs = options.exact;  // the data have them all
  keep_inputs.drop_inputs = false;
  simplify_exactly(draft, keep_inputs);
  const bool collapses = options.collapse && may_collapse(draft.model);
  const bool judged = collapses || options.drop_small || options.round_digits > 0;  // takes time and memory
  Judge judge(draft.model, judged ? training : nullptr, judged ? validation : nullptr, options.tolerance);
  ExactOptions last = options.exact;
  if (judge.has_data() && collapses)
    while (collapse(draft, judge, options.close_writes) && simplify_exactly(draft, keep_inputs)) judge.restart();
  if (judge.has_targets() && options.drop_small) {
    drop_small(draft, judge);
    last.reach.zero_is_none = true;  // a dropped term is gone, also for infinite inputs
  }
  if (judge.has_targets() && options.round_digits > 0) round_numbers(draft, judge, options.round_digits);
  simplify_exactly(draft, last);
  Simplified result{std::move(draft.model), std::move(draft.removed), std::move(draft.inputs), model.node_count(), 0};
  result.nodes_after = result.model.node_count();
  return result;
}

Model without_unused_inputs(const Model& model) { return simplify(model, {}, nullptr, nullptr).model; }

Sequences select_inputs(const Sequences& sequences, const std::vector<int>& inputs) {
  Sequences selected = sequences;
  selected.n_x = static_cast<int>(inputs.size());
  selected.x.clear();
  selected.x.reserve(sequences.steps() * inputs.size());
  const auto n_x = static_cast<std::size_t>(sequences.n_x);
  for (std::size_t i = 0; i < sequences.steps(); ++i)
    for (const int input : inputs) selected.x.push_back(sequences.x[i * n_x + static_cast<std::size_t>(input)]);
  return selected;
}

std::string summary(const Simplified& result) {
  const int gone = result.nodes_before - result.nodes_after;
  const std::string why = count_nodes(result.removed);
  return fmt::format("removed {} of {} nodes{}{}\n", gone, result.nodes_before, why.empty() ? "" : ": ", why) +
         list_others(result.removed);
}

std::string removals_json(const Simplified& result) {
  using Json = nlohmann::ordered_json;
  Json json = {{"nodes_before", result.nodes_before},
               {"nodes_after", result.nodes_after},
               {"inputs", result.model.schema.inputs},
               {"removed", Json::array()}};
  for (const Removal& removal : result.removed)
    json["removed"].push_back({{"cause", name(removal.cause)},
                               {"exact", is_exact(removal.cause)},
                               {"what", removal.what},
                               {"why", removal.why},
                               {"nodes", removal.nodes}});
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace remede
