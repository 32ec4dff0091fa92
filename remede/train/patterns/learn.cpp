#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "remede/base/random.h"
#include "remede/base/threads.h"
#include "remede/model/limits.h"
#include "remede/train/patterns/answer.h"
#include "remede/train/patterns/features.h"
#include "remede/train/patterns/matrix.h"
#include "remede/train/patterns/patterns.h"
#include "remede/train/patterns/tree.h"

namespace remede {
namespace {

constexpr std::uint64_t kPatternStream = 0x7061747465726e00;

bool is_finite(const Tree& tree) {
  const auto finite = [](const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  };
  return finite(tree.output) && finite(tree.cells.linear) && finite(tree.cells.bias) && finite(tree.cells.input) &&
         finite(tree.cells.earlier);
}

std::size_t most_rows(const PatternOptions& options, std::size_t basis, int n_y) {
  const double columns = options.drawn + static_cast<double>(basis);
  const double most = std::min(options.table / columns, options.answered / n_y);
  return std::min(options.rows, std::max<std::size_t>(1, static_cast<std::size_t>(most)));
}

// The patterns among the chosen columns, and the numbers of these columns in a table of such patterns alone.
struct Chosen {
  std::vector<patterns::Pattern> patterns;
  std::vector<std::size_t> columns;
};
Chosen chosen_of(const std::vector<patterns::Pattern>& drawn, const std::vector<std::size_t>& columns) {
  Chosen chosen;
  for (const std::size_t c : columns)
    if (c < drawn.size()) chosen.patterns.push_back(drawn[c]);
  std::size_t next = 0;
  chosen.columns.reserve(columns.size());
  for (const std::size_t c : columns)
    chosen.columns.push_back(c < drawn.size() ? next++ : chosen.patterns.size() + (c - drawn.size()));
  return chosen;
}

}  // namespace

std::vector<std::optional<Tree>> learn_patterns(const Sequences& data, std::span<const float> fill,
                                                std::span<const int> counts, const PatternOptions& options, int threads,
                                                const std::function<bool()>& stop) {
  using namespace patterns;
  std::vector<std::optional<Tree>> found(counts.size());
  if (data.n_x == 0) return found;
  const Basis basis = make_basis(data, fill, options);
  const TargetRows rows = choose_rows(data, most_rows(options, basis.size(), data.n_y));
  std::size_t wanted = 0;  // of the counts
  while (wanted < counts.size() && 2 * static_cast<std::size_t>(counts[wanted]) <= rows.count()) ++wanted;
  if (wanted == 0) return found;
  Random random(options.seed, kPatternStream + options.stream);
  const double affordable = options.work / static_cast<double>(steps_to_walk(data, rows));
  const int drawn = static_cast<int>(std::min<double>(options.drawn, affordable));
  const std::vector<Pattern> drawn_patterns = draw_patterns(data, basis, rows, drawn, options, random, threads);
  const Targets targets = targets_of(data, rows);
  const Chosen chosen =
      chosen_of(drawn_patterns, choose_columns(measure(data, basis, rows, drawn_patterns, threads, stop), targets,
                                               counts[wanted - 1], threads, stop));
  const Matrix<float> table = measure(data, basis, rows, chosen.patterns, threads, stop);
  if (stop()) return found;
  // Targets of one sequence resemble one another: together they say about as much as one.
  const double ridge = options.ridge * static_cast<double>(rows.count()) / static_cast<double>(rows.sequences.size());
  parallel_for(wanted, threads, [&](std::size_t i, int) {
    const auto count = static_cast<std::size_t>(counts[i]);
    if (chosen.columns.size() < count) return;
    const Matrix<double> answer = learn_answer(table, chosen.columns, count, targets, ridge, stop);
    if (stop()) return;
    Tree tree = make_tree(basis, chosen.patterns, chosen.columns, count, answer, targets.classes);
    if (tree.n_m <= kMostCells && is_finite(tree)) found[i] = std::move(tree);
  });
  return found;
}

}  // namespace remede
