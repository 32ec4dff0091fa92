// Words to numbers: what each counts as is learned from training data and goes into the model's schema.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/data/number.h"
#include "remede/data/raw.h"
#include "remede/schema/words.h"

namespace remede {
namespace {

constexpr std::string_view kNoWords[] = {"false", "no"};
constexpr std::string_view kYesWords[] = {"true", "yes"};

bool is_boolean(const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [](const std::string& w) {
    return is_one_of(lower(w), kNoWords) || is_one_of(lower(w), kYesWords);
  });
}

// What the target is on average where a word stands: (words, outputs), less the mean of all, drawn to it where a word
// is rare. A step without a target counts with the next one of its sequence. The sums are those of add_word_sums().
class WordMeans {
 public:
  WordMeans(std::size_t words, std::size_t outputs, std::vector<double>& sums)
      : words_(words), outputs_(outputs), sums_(sums) {
    if (sums_.empty()) sums_.resize(2 * words + words * outputs + outputs + 1);
  }

  void see(std::size_t word) { sums_[word] += 1; }
  bool seen(std::size_t word) const { return sums_[word] > 0; }
  void add(const Sequences& data, std::size_t word, std::size_t target_step) {
    const double w = data.weight[target_step];
    sums_[words_ + word] += w;
    sums_.back() += w;
    for (std::size_t k = 0; k < outputs_; ++k) {
      const double y = target(data, target_step, k);
      of_word(word, k) += w * y;
      of_all(k) += w * y;
    }
  }

  // Deviations from the mean, in a common unit.
  std::vector<double> means(bool classes) const {
    constexpr double kDrawn = 10.0;  // a word seen this often is half way to the mean of all
    std::vector<double> means(words_ * outputs_);
    for (std::size_t k = 0; k < outputs_; ++k) {
      const double mean = of_all(k) / std::max(sums_.back(), 1e-300);
      double largest = 0.0;
      for (std::size_t w = 0; w < words_; ++w) {
        double& here = means[w * outputs_ + k];
        here = (of_word(w, k) - weight(w) * mean) / (weight(w) + kDrawn);
        largest = std::max(largest, std::fabs(here));
      }
      for (std::size_t w = 0; w < words_ && largest > 0.0 && !classes; ++w)
        means[w * outputs_ + k] /= largest;  // outputs of a regression have different units
    }
    return means;
  }
  double weight(std::size_t word) const { return sums_[words_ + word]; }

 private:
  double& of_word(std::size_t word, std::size_t k) const { return sums_[2 * words_ + word * outputs_ + k]; }
  double& of_all(std::size_t k) const { return sums_[2 * words_ + words_ * outputs_ + k]; }
  double target(const Sequences& data, std::size_t step, std::size_t k) const {
    if (!data.label.empty()) return data.label[step] == static_cast<std::int32_t>(k) ? 1.0 : 0.0;
    return data.value[step * outputs_ + k];
  }

  std::size_t words_, outputs_;
  std::vector<double>& sums_;
};

// The direction in which the rows (words, outputs) differ most, by power iteration from a fixed start. Its largest
// component is positive.
std::vector<double> main_direction(const std::vector<double>& rows, const WordMeans& means, std::size_t n) {
  constexpr int kRounds = 100;
  std::vector<double> direction(n);
  if (n == 0) return direction;  // nothing to predict
  for (std::size_t k = 0; k < n; ++k) direction[k] = 1.0 + static_cast<double>(k + 1) / static_cast<double>(n + 7);
  if (n > 1) direction[n - 1] = -1.0;  // proportions of classes sum to one: all ones would be no direction of theirs
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> next(n);
    for (std::size_t w = 0; w * n < rows.size(); ++w) {
      double along = 0.0;
      for (std::size_t k = 0; k < n; ++k) along += rows[w * n + k] * direction[k];
      for (std::size_t k = 0; k < n; ++k) next[k] += means.weight(w) * along * rows[w * n + k];
    }
    double length = 0.0;
    for (const double v : next) length += v * v;
    if (length <= 0.0) break;
    for (std::size_t k = 0; k < n; ++k) direction[k] = next[k] / std::sqrt(length);
  }
  const auto largest = std::max_element(direction.begin(), direction.end(),
                                        [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  if (*largest < 0.0)
    for (double& v : direction) v = -v;
  return direction;
}

// The words in the order of the target; those that were not seen up to the last target of a sequence are left out. In
// the order of their bytes where there is no target.
std::vector<std::string> ordered_words(const std::vector<std::string>& words, const Schema& schema,
                                       std::vector<double> sums) {
  const auto n_y = static_cast<std::size_t>(schema.n_y());
  const WordMeans means(words.size(), n_y, sums);
  const std::vector<double> rows = means.means(schema.task == Task::kClassification);
  const std::vector<double> direction = main_direction(rows, means, n_y);
  std::vector<double> place(words.size());
  for (std::size_t w = 0; w < words.size(); ++w)
    for (std::size_t k = 0; k < n_y; ++k) place[w] += rows[w * n_y + k] * direction[k];
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return place[a] != place[b] ? place[a] < place[b] : words[a] < words[b];
  });
  std::vector<std::string> ordered;
  for (const std::size_t w : order)
    if (means.seen(w)) ordered.push_back(words[w]);
  return ordered;
}

InputCode ordinal(const std::string& column, std::vector<std::string> words) {
  InputCode code;
  code.input = code.column = column;
  code.words = std::move(words);
  for (std::size_t w = 0; w < code.words.size(); ++w) code.values.push_back(static_cast<float>(w));
  return code;
}

// Both words of each pair that occurs, as they are spelt in the file where they are there.
InputCode boolean(const std::string& column, const std::vector<std::string>& known) {
  InputCode code;
  code.input = code.column = column;
  for (const auto& [list, value] : {std::pair(kNoWords, 0.0F), std::pair(kYesWords, 1.0F)})
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const std::string_view both[] = {kNoWords[pair], kYesWords[pair]};
      if (std::none_of(known.begin(), known.end(), [&](const std::string& w) { return is_one_of(lower(w), both); }))
        continue;
      const std::string_view one[] = {list[pair]};
      const auto spelt =
          std::find_if(known.begin(), known.end(), [&](const std::string& w) { return is_one_of(lower(w), one); });
      code.words.push_back(spelt == known.end() ? std::string(one[0]) : *spelt);
      code.values.push_back(value);
    }
  return code;
}

void add_code(const RawDataset& raw, std::size_t i, const std::vector<double>& sums, Code& code) {
  const RawInput& input = raw.inputs[i];
  const auto add = [&](InputCode one) {
    code.inputs.push_back(one.input);
    code.codes.push_back(std::move(one));
  };
  if (input.gap) {
    InputCode gap;
    gap.input = gap_name(input.name);
    gap.column = input.name;
    gap.gap = true;
    return add(std::move(gap));
  }
  if (!input.words) return code.inputs.push_back(input.name);
  if (!input.known.empty() && is_boolean(input.known)) return add(boolean(input.name, input.known));
  std::vector<std::string> words = ordered_words(input.known, raw.data.schema, sums);
  if (words.size() > kMostIndicators) add(ordinal(input.name, words));
  if (words.size() > kMostIndicatorsBesideRank) return;
  std::sort(words.begin(), words.end());
  if (words.size() <= 2) return add(ordinal(input.name, std::move(words)));
  for (const std::string& word : words) {
    InputCode one;
    one.input = indicator_name(input.name, word);
    one.column = input.name;
    one.words = {word};
    one.values = {1.0F};
    one.other = 0.0F;
    add(std::move(one));
  }
}

// What the known words of a raw input count as in one input of the model. (words)
std::vector<float> table_of(const InputCode& code, const RawInput& input) {
  std::vector<float> values;
  for (const std::string& word : input.known) values.push_back(value_of_word(code, word).value_or(kMissingValue));
  return values;
}

}  // namespace

std::string gap_name(const std::string& time_column) { return time_column + "_gap"; }

std::string indicator_name(const std::string& column, const std::string& word) {
  return fmt::format("{} = {}", column, word);
}

bool is_ordered_by_target(const InputCode& code) { return !code.gap && code.words.size() > kMostIndicators; }

RawDataset select(const RawDataset& raw, std::span<const std::uint32_t> sequences) {
  RawDataset part;
  part.inputs = raw.inputs;
  part.data.schema = raw.data.schema;
  part.data.sequences = select(raw.data.sequences, sequences);
  return part;
}

void add_word_sums(const RawDataset& raw, std::size_t i, std::span<const std::uint32_t> sequences,
                   std::vector<double>& sums) {
  const Sequences& data = raw.data.sequences;
  const std::size_t n_x = raw.inputs.size();
  WordMeans means(raw.inputs[i].known.size(), static_cast<std::size_t>(raw.data.schema.n_y()), sums);
  for (const std::uint32_t s : sequences) {
    const auto begin = static_cast<std::size_t>(data.offset[s]);
    auto target_step = data.steps();
    for (auto t = static_cast<std::size_t>(data.offset[s + 1]); t-- > begin;) {
      if (data.has_targets() && data.weight[t] > 0.0F) target_step = t;
      const float code = data.x[t * n_x + i];
      if (std::isnan(code) || (data.has_targets() && target_step == data.steps())) continue;
      means.see(static_cast<std::size_t>(code));
      if (data.has_targets()) means.add(data, static_cast<std::size_t>(code), target_step);
    }
  }
}

Code learn_code(const RawDataset& raw, std::span<const std::uint32_t> sequences) {
  std::vector<std::vector<double>> sums(raw.inputs.size());
  for (std::size_t i = 0; i < raw.inputs.size(); ++i)
    if (raw.inputs[i].words) add_word_sums(raw, i, sequences, sums[i]);
  return learn_code(raw, sums);
}

Code learn_code(const RawDataset& raw, const std::vector<std::vector<double>>& sums) {
  Code code;
  for (std::size_t i = 0; i < raw.inputs.size(); ++i) add_code(raw, i, sums[i], code);
  if (code.inputs.size() > kMostInputColumns)
    fail("expected at most {} inputs, got {} (a column of words may make several): leave columns out with --ignore",
         kMostInputColumns, code.inputs.size());
  return code;
}

Code learn_code(const RawDataset& raw) {
  std::vector<std::uint32_t> all(raw.data.sequences.count());
  std::iota(all.begin(), all.end(), 0U);
  return learn_code(raw, all);
}

Encoder::Encoder(const std::vector<RawInput>& columns, const Code& code) : same_(columns.size() == code.inputs.size()) {
  const CodeIndex codes(code.codes);
  std::unordered_map<std::string_view, std::size_t> column_of;
  std::size_t gap_column = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].gap) {
      gap_column = i;
    } else {
      column_of.emplace(columns[i].name, i);
    }
  for (const std::string& input : code.inputs) {
    const InputCode* const made = codes.find(input);
    const std::size_t column =
        made != nullptr && made->gap ? gap_column : column_of.at(made == nullptr ? input : made->column);
    const RawInput& raw_input = columns[column];
    same_ = same_ && column == from_.size() && !raw_input.words;
    from_.push_back(column);
    values_.push_back(raw_input.words && made != nullptr ? table_of(*made, raw_input) : std::vector<float>());
  }
}

Dataset encode(RawDataset raw, const Code& code) {
  Dataset data = std::move(raw.data);
  data.schema.inputs = code.inputs;
  data.schema.codes = code.codes;
  Sequences& s = data.sequences;
  s.n_x = data.schema.n_x();
  const Encoder encoder(raw.inputs, code);
  if (encoder.same()) return data;
  const std::size_t columns = raw.inputs.size();
  Column<float> x(s.x.store());
  x.reserve(s.steps() * encoder.inputs());
  for (std::size_t t = 0; t < s.steps(); ++t)
    for (std::size_t i = 0; i < encoder.inputs(); ++i) x.push_back(encoder.input(i, s.x.data() + t * columns));
  s.x = std::move(x);
  return data;
}

}  // namespace remede
