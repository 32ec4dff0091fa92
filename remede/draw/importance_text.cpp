#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/draw/importance.h"
#include "remede/draw/json.h"
#include "remede/draw/table.h"

namespace remede {
namespace {

// A bar of up to `columns` characters, in eighths.
std::string bar(double share, std::size_t columns) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns) * 8));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

std::string look_back_text(const LookBack& look) {
  if (look.reads() == 0) return fmt::format("\n{}\n", look_back_sentence(look));
  std::string text = fmt::format("\nHow far back it looks: {}\n", look_back_sentence(look));
  Table table;
  table.add_column("steps back", Table::Align::kRight);
  table.add_column("reads", Table::Align::kRight);
  table.add_column("");
  const std::vector<DistanceGroup> groups = distance_groups(look);
  std::int64_t most = 1;
  for (const DistanceGroup& g : groups) most = std::max(most, g.count);
  for (const DistanceGroup& g : groups)
    table.add_row({g.low == g.high ? grouped(g.low) : fmt::format("{} to {}", grouped(g.low), grouped(g.high)),
                   grouped(g.count), bar(static_cast<double>(g.count) / static_cast<double>(most), 24)});
  return text + table.text();
}

}  // namespace

std::vector<DistanceGroup> distance_groups(const LookBack& look) {
  std::vector<DistanceGroup> groups;
  for (const auto& [d, count] : look.distance) {
    while (groups.empty() || d > groups.back().high)
      groups.push_back(groups.empty() ? DistanceGroup{1, 1, 0}
                                      : DistanceGroup{groups.back().high + 1, groups.back().high * 2, 0});
    groups.back().count += count;
  }
  return groups;
}

namespace {

// "Half of what a cell holds is gone after 0.43 to 22 steps. 32 of 64 cells lose nothing."
std::string many_averages_sentence(const LookBack& look) {
  double shortest = std::numeric_limits<double>::infinity(), longest = 0;
  long long endless = 0;
  for (const CellMemory& m : look.averages) {
    if (std::isinf(m.half_life)) {
      ++endless;
      continue;
    }
    shortest = std::min(shortest, m.half_life);
    longest = std::max(longest, m.half_life);
  }
  const auto all = static_cast<long long>(look.averages.size());
  std::string text;
  if (endless < all)
    text = shortest == longest
               ? fmt::format("Half of what a cell holds is gone after {} steps.", short_number(longest, 2))
               : fmt::format("Half of what a cell holds is gone after {} to {} steps.", short_number(shortest, 2),
                             short_number(longest, 2));
  if (endless > 0)
    text += fmt::format("{}{} of {} lose{} nothing.", text.empty() ? "" : " ", grouped(endless), plural(all, "cell"),
                        endless == 1 ? "s" : "");
  return text;
}

// "Half of what m1 holds is gone after 40 steps, of m2 after 7."
std::string averages_sentence(const LookBack& look) {
  constexpr std::size_t kMostNamed = 8;
  if (look.averages.size() > kMostNamed) return many_averages_sentence(look);
  std::string text;
  for (const CellMemory& m : look.averages) {
    const bool endless = std::isinf(m.half_life);
    const std::string steps = endless ? "" : short_number(m.half_life, 2);
    const std::string when =
        endless ? "never gone" : fmt::format("gone after {} step{}", steps, steps == "1" ? "" : "s");
    text += text.empty() ? fmt::format("Half of what {} holds is {}", m.name, when)
                         : fmt::format(", of {} {}", m.name, endless ? "never" : when.substr(5));
  }
  return text.empty() ? "" : text + ".";
}

}  // namespace

std::string look_back_sentence(const LookBack& look) {
  const std::string averages = averages_sentence(look);
  if (look.reads() == 0) return averages.empty() ? "No value in memory was read after it was written." : averages;
  const std::int64_t half = look.quantile(0.5);
  return fmt::format(
      "Half of the values read from memory were written at most {} step{} before, 90% at most {}, all at most {}.{}{}",
      grouped(half), half == 1 ? "" : "s", grouped(look.quantile(0.9)), grouped(look.distance.back().first),
      averages.empty() ? "" : " ", averages);
}

std::string scored_text(const Importance& importance) {
  if (importance.scored == importance.steps) return plural(importance.steps, "step");
  return fmt::format("{} of {}", grouped(importance.scored), plural(importance.steps, "step"));
}

std::string importance_text(const Importance& importance, bool colours) {
  std::string text =
      fmt::format("{} {} on {}. Loss of score when the values of a feature are shuffled or a cell is held at zero:\n\n",
                  importance.score_name, short_number(importance.score, 4), scored_text(importance));
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  double most = 0;
  for (const FeatureImportance& f : importance.features) most = std::max({most, f.shuffled, f.frozen});
  Table table;
  table.add_column("");
  table.add_column("shuffled", Table::Align::kRight);
  table.add_column("at zero", Table::Align::kRight);
  table.add_column("", Table::Align::kLeft, 0, "36");
  table.add_column("splits", Table::Align::kRight);
  table.add_column("tested", Table::Align::kRight);
  table.add_column("in formulas", Table::Align::kRight);
  for (const FeatureImportance& f : importance.features)
    table.add_row({f.name, short_number(f.shuffled), f.cell < 0 ? "" : short_number(f.frozen),
                   bar(most > 0 ? std::max(f.shuffled, f.frozen) / most : 0.0, 20), std::to_string(f.splits),
                   percent(f.tested), std::to_string(f.formulas)});
  return text + table.text(colours) + look_back_text(importance.look_back);
}

std::string importance_json(const Importance& importance) {
  using Json = nlohmann::ordered_json;
  Json features = Json::array(), distances = Json::array();
  for (const FeatureImportance& f : importance.features)
    features.push_back({{"name", f.name},
                        {"kind", f.cell < 0 ? "input" : "cell"},
                        {"shuffled", f.shuffled},
                        {"frozen", f.frozen},
                        {"splits", f.splits},
                        {"tested", f.tested},
                        {"formulas", f.formulas}});
  Json half_lives = Json::array();
  for (const CellMemory& m : importance.look_back.averages)
    half_lives.push_back({{"name", m.name}, {"steps", std::isinf(m.half_life) ? Json(nullptr) : Json(m.half_life)}});
  for (const auto& [d, count] : importance.look_back.distance) distances.push_back({{"steps", d}, {"reads", count}});
  return json_text(
      {{"score_name", importance.score_name},
       {"higher_is_better", importance.higher_is_better},
       {"score", importance.score},
       {"steps", importance.steps},
       {"scored_steps", importance.scored},
       {"features", features},
       {"look_back",
        {{"distances", distances}, {"unwritten_reads", importance.look_back.unwritten}, {"half_lives", half_lives}}}});
}

}  // namespace remede
