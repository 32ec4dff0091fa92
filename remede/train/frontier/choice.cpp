#include "remede/train/frontier/choice.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/train/choose.h"

namespace remede::frontier {
namespace {

const Entry* best_within(const std::vector<Entry>& entries, const std::function<bool(const Entry&)>& counts) {
  const Entry* best = nullptr;
  for (const Entry& e : entries)
    if (counts(e) &&
        (best == nullptr || e.merit < best->merit || (e.merit == best->merit && e.size.numbers < best->size.numbers)))
      best = &e;
  return best;
}

const Entry* default_choice(const std::vector<Entry>& entries, const Recipe& recipe, double constant,
                            std::string& why) {
  const Entry* best = best_within(entries, [](const Entry&) { return true; });
  const double distance = std::max(0.0, constant - best->merit);
  bool by_size = false;   // something was given up that is more than a standard error
  bool too_much = false;  // a model within a standard error gives up too much
  const auto as_good_as = [&](const Entry& e, const Entry& other) {
    const double worse = e.merit - other.merit;
    const bool within = as_good(e.units.merit, other.units.merit, other.units.weight, recipe.choice_errors);
    if (within && worse <= recipe.choice_given_up * distance) return true;
    too_much = too_much || within;
    const double times = static_cast<double>(other.size.numbers) / static_cast<double>(std::max(1LL, e.size.numbers));
    const bool worth = times > 1 && worse <= recipe.choice_halving * log(times) / log(2.0) * distance;
    by_size = by_size || worth;
    return worth;
  };
  const Entry* of_cells = best;
  for (long long fewer = 0; fewer < best->size.cells; ++fewer) {
    const Entry* e = best_within(entries, [&](const Entry& c) { return c.size.cells == fewer; });
    if (e == nullptr || !as_good_as(*e, *best)) continue;
    of_cells = e;
    break;
  }
  const Entry* chosen = of_cells;
  for (const Entry& e : entries)
    if (e.size.cells == of_cells->size.cells && e.size.numbers < chosen->size.numbers && as_good_as(e, *of_cells))
      chosen = &e;
  const std::string cells = fmt::format("{} cell{}", of_cells->size.cells, of_cells->size.cells == 1 ? "" : "s");
  if (chosen != best && by_size)
    why = fmt::format("the best on validation data has {} numbers, but its gain is too small for its size",
                      best->size.numbers);
  else if (chosen == best)
    why = too_much ? fmt::format(
                         "the best on validation data: smaller models within one standard error lose more than "
                         "{:.3g}% of its gain over a constant",
                         100 * recipe.choice_given_up)
                   : "the best on validation data: no smaller model is as good within one standard error";
  else
    why = fmt::format("the smallest model with {} that is as good as the best within one standard error", cells);
  return chosen;
}

}  // namespace

std::vector<const Entry*> best_of_each_size(const std::vector<Entry>& entries) {
  std::vector<const Entry*> order;
  order.reserve(entries.size());
  for (const Entry& e : entries) order.push_back(&e);
  std::stable_sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return a->size.numbers != b->size.numbers ? a->size.numbers < b->size.numbers : a->merit < b->merit;
  });
  std::vector<const Entry*> kept;
  for (const Entry* e : order)
    if (kept.empty() || e->merit < kept.back()->merit) kept.push_back(e);
  return kept;
}

const Entry* choose_entry(const std::vector<Entry>& entries, const Config& config, bool solved, double constant,
                          std::string& why) {
  const auto fits = [&](const Entry& e) { return !config.numbers || e.size.numbers <= *config.numbers; };
  if (config.numbers || config.accurate) {
    const Entry* chosen = best_within(entries, fits);
    if (chosen == nullptr) {
      const Entry* smallest = &*std::min_element(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.size.numbers < b.size.numbers;
      });
      fail("--numbers: expected at least {}, the size of the smallest model found, got {}", smallest->size.numbers,
           *config.numbers);
    }
    why = config.numbers ? fmt::format("the best on validation data with at most {} numbers", *config.numbers)
                         : "the best on validation data, whatever its size";
    return chosen;
  }
  if (solved)
    for (const Entry& e : entries)
      if (e.as_found && e.candidate == 0) {
        why = "it leaves nothing to learn on validation data";
        return &e;
      }
  return default_choice(entries, config.recipe, constant, why);
}

}  // namespace remede::frontier
