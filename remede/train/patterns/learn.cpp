#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "remede/base/random.h"
#include "remede/base/threads.h"
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

}  // namespace

std::vector<Tree> learn_patterns(const Sequences& data, std::span<const float> fill, std::span<const int> counts,
                                 const PatternOptions& options, int threads, const std::function<bool()>& stop) {
  using namespace patterns;
  const TargetRows rows = choose_rows(data, options.rows);
  std::vector<int> wanted;
  for (const int count : counts)
    if (2 * static_cast<std::size_t>(count) <= rows.count()) wanted.push_back(count);
  if (wanted.empty() || data.n_x == 0) return {};
  const Basis basis = make_basis(data, fill, options);
  Random random(options.seed, kPatternStream + options.stream);
  const double affordable = options.work / static_cast<double>(steps_to_walk(data, rows));
  const int drawn = static_cast<int>(std::min<double>(options.drawn, affordable));
  const std::vector<Pattern> drawn_patterns = draw_patterns(data, basis, rows, drawn, options, random, threads);
  const Matrix<float> table = measure(data, basis, rows, drawn_patterns, threads, stop);
  const Targets targets = targets_of(data, rows);
  const std::vector<std::size_t> columns = choose_columns(table, targets, wanted.back(), threads, stop);
  if (stop()) return {};
  // Targets of one sequence resemble one another: together they say about as much as one.
  const double ridge = options.ridge * static_cast<double>(rows.count()) / static_cast<double>(rows.sequences.size());
  std::vector<std::optional<Tree>> found(wanted.size());
  parallel_for(wanted.size(), threads, [&](std::size_t i, int) {
    const auto count = static_cast<std::size_t>(wanted[i]);
    if (columns.size() < count || stop()) return;
    const Matrix<double> answer = learn_answer(table, columns, count, targets, ridge);
    Tree tree = make_tree(basis, drawn_patterns, columns, count, answer, targets.classes);
    if (is_finite(tree)) found[i] = std::move(tree);
  });
  std::vector<Tree> trees;
  for (std::optional<Tree>& tree : found)
    if (tree) trees.push_back(std::move(*tree));
  return trees;
}

}  // namespace remede
