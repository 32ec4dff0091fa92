// What matters, how far back the model looks, and the leaves as sentences: sections of the report.
#include <algorithm>

#include <fmt/format.h>

#include "remede/analysis/importance.h"
#include "remede/analysis/rules.h"
#include "remede/base/text.h"
#include "remede/draw/importance.h"
#include "remede/pages/html.h"
#include "remede/pages/report_parts.h"

namespace remede {
namespace {

constexpr std::size_t kMaxImportanceSteps = 20000;  // looked at: the page should not take long to write
constexpr std::size_t kMaxFeatures = 60;
constexpr std::size_t kMaxRules = 100;

std::string rail(double share, const char* ink) {
  return fmt::format("<span class=\"rail\"><i style=\"width:{:.1f}%;background:var(--rm-{})\"></i></span>",
                     100 * std::clamp(share, 0.0, 1.0), ink);
}

std::string feature_table(const Importance& importance) {
  double most = 0;
  for (const FeatureImportance& f : importance.features) most = std::max({most, f.shuffled, f.frozen});
  std::vector<std::vector<std::string>> rows;
  for (const FeatureImportance& f : importance.features) {
    if (rows.size() == kMaxFeatures) break;
    const double worth = std::max(f.shuffled, f.frozen);
    rows.push_back({xml_escaped(f.name), rail(most > 0 ? worth / most : 0.0, f.cell < 0 ? "input-line" : "cell-line"),
                    short_number(f.shuffled), f.cell < 0 ? "" : short_number(f.frozen), std::to_string(f.splits),
                    percent(f.tested), std::to_string(f.formulas)});
  }
  std::string body = html::table({"", "", "shuffled", "at zero", "splits", "tested at", "in formulas"}, rows);
  if (importance.features.size() > kMaxFeatures)
    body += html::paragraph(fmt::format("... and {} of lower importance.", importance.features.size() - kMaxFeatures));
  return body;
}

std::string distance_table(const LookBack& look) {
  std::vector<std::vector<std::string>> rows;
  std::int64_t most = 1;
  const std::vector<DistanceGroup> groups = distance_groups(look);
  for (const DistanceGroup& g : groups) most = std::max(most, g.count);
  rows.reserve(groups.size());
  for (const DistanceGroup& g : groups)
    rows.push_back({g.low == g.high ? grouped(g.low) : fmt::format("{} to {}", grouped(g.low), grouped(g.high)),
                    rail(static_cast<double>(g.count) / static_cast<double>(most), "cell-line"), grouped(g.count)});
  return rows.empty() ? "" : html::table({"steps back", "", "reads"}, rows);
}

}  // namespace

std::string importance_section(const Model& model, const Sequences& data, int threads) {
  ImportanceOptions options;
  options.most_steps = kMaxImportanceSteps;
  options.threads = threads;
  const Importance importance = find_importance(model, data, options);
  const bool cells = std::any_of(importance.features.begin(), importance.features.end(),
                                 [](const FeatureImportance& f) { return f.cell >= 0; });
  std::string body = html::paragraph(
      fmt::format("Loss of {} on {} when the values of an input are shuffled{}. The unchanged model: {} {}.",
                  importance.score_name, scored_text(importance),
                  cells ? ", or when a memory cell takes its values from another sequence or is held at zero" : "",
                  importance.score_name, short_number(importance.score, 4)));
  body += feature_table(importance);
  if (cells)
    body += "<h3>How far back it looks</h3>\n" + html::paragraph(look_back_sentence(importance.look_back)) +
            distance_table(importance.look_back);
  return html::section("importance", "Importance", body);
}

std::string rule_list(const Model& model, const Observations& seen) {
  std::string items;
  std::size_t count = 0;
  const std::vector<Rule> rules = find_rules(model, &seen);
  for (const Rule& rule : rules) {
    if (count++ == kMaxRules) break;
    const LeafCount& reached = seen.leaves[static_cast<std::size_t>(rule.tree)][static_cast<std::size_t>(rule.leaf)];
    items += fmt::format("<li>{}{} <small>{}</small></li>\n",
                         model.trees.size() > 1 ? fmt::format("Tree {}: ", rule.tree + 1) : "",
                         xml_escaped(rule.sentence), xml_escaped(count_text(reached, model.schema.task)));
  }
  if (rules.size() > kMaxRules) items += fmt::format("<li>... and {} more.</li>\n", rules.size() - kMaxRules);
  return fmt::format("<details><summary>Rules: each leaf as a sentence</summary>\n<ul>\n{}</ul></details>\n", items);
}

}  // namespace remede
