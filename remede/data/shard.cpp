#include "remede/data/shard.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "remede/base/error.h"
#include "remede/base/shuffled.h"
#include "remede/base/text.h"
#include "remede/data/number.h"
#include "remede/data/target.h"

namespace remede {
namespace {

std::uint64_t id_hash(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = mixed(hash ^ (static_cast<unsigned char>(c) + 0x9e3779b97f4a7c15ULL));
  return hash;
}

// Appends what `to` does not hold yet, and gives the number of each text in it.
std::vector<std::size_t> unite(const std::vector<std::string>& from, std::vector<std::string>& to) {
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < to.size(); ++i) known.emplace(to[i], i);
  std::vector<std::size_t> numbers;
  for (const std::string& text : from) {
    const auto [at, added] = known.emplace(text, to.size());
    if (added) to.push_back(text);
    numbers.push_back(at->second);
  }
  return numbers;
}

void unite_inputs(const ShardSummary& from, ShardSummary& to) {
  if (from.inputs.empty()) return;
  if (to.inputs.empty()) {
    to.inputs = from.inputs;
    to.numeric = from.numeric;
    return;
  }
  for (std::size_t i = 0; i < to.inputs.size(); ++i) {
    to.inputs[i].words = to.inputs[i].words || from.inputs[i].words;
    if (from.numeric[i] != 0) to.numeric[i] = 1;
    unite(from.inputs[i].known, to.inputs[i].known);
  }
}

void expect_words_or_numbers(const ShardSummary& all, const std::string& file) {
  for (std::size_t i = 0; i < all.inputs.size(); ++i) {
    const RawInput& input = all.inputs[i];
    if (input.words && all.numeric[i] != 0)
      fail("{}: column {}: expected numbers or words, got both; if it holds categories, use --categorical {}", file,
           shown(input.name), shown(input.name));
    if (input.known.size() > kMostWords)
      fail("{}: column {}: expected at most {} different words, got {}: leave the column out with --ignore {}", file,
           shown(input.name), kMostWords, input.known.size(), shown(input.name));
  }
}

// The classes in their order: that of their numbers where all are numbers (equal ones are one class, named as first
// seen), else that of their bytes.
struct Classes {
  std::vector<std::string> names;
  bool all_numbers = true;
};
Classes classes_of(const std::vector<std::string>& texts) {
  Classes classes;
  std::vector<std::pair<double, std::string>> sorted;
  for (const std::string& text : texts) {
    double value = 0;
    if (parse_cell(text, value) != CellKind::kNumber) classes.all_numbers = false;
    sorted.emplace_back(value, text);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    return classes.all_numbers ? a.first < b.first : a.second < b.second;
  });
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (i == 0 || !classes.all_numbers || sorted[i].first != sorted[i - 1].first)
      classes.names.push_back(sorted[i].second);
  return classes;
}

void settle_targets(const ShardSummary& all, const std::string& file, const std::optional<Task>& task, Schema& schema) {
  const Classes classes = classes_of(all.classes);
  const std::string column = fmt::format("{}", fmt::join(schema.targets, ", "));
  const bool many =
      classes.all_numbers && classes.names.size() > TargetReader::kMostClassNumbers && task != Task::kClassification;
  schema.task = all.numbers || many ? Task::kRegression : Task::kClassification;
  if (schema.task == Task::kRegression) {
    for (const std::string& name : classes.names)
      if (double value = 0; parse_cell(name, value) != CellKind::kNumber || !std::isfinite(static_cast<float>(value)))
        fail("{}: column {}: expected a number as in other rows (for classes, use --task classification), got {}", file,
             shown(column), shown(name));
    return;
  }
  if (classes.names.empty()) fail("{}: column {}: expected a value in some row, got none", file, column);
  if (classes.names.size() == 1)
    fail("{}: column {}: expected at least two classes, got only {}", file, shown(column), shown(classes.names[0]));
  if (classes.names.size() > TargetReader::kMostClasses)
    fail("{}: expected at most {} classes, got more: is {} the column to predict?", file,
         std::size_t{TargetReader::kMostClasses}, shown(column));
  schema.classes = classes.names;
}

}  // namespace

ShardFacts merged(const std::vector<ShardSummary>& all, const PiecedFiles& files) {
  ShardFacts facts;
  ShardSummary together;
  for (const ShardSummary& one : all) {
    facts.first.push_back(facts.sequences);
    for (const std::uint64_t n : one.sequences) facts.sequences += n;
    for (const std::uint64_t n : one.steps) facts.steps += n;
    unite_inputs(one, together);
    unite(one.classes, together.classes);
    together.numbers = together.numbers || one.numbers;
  }
  if (facts.sequences < 2)
    fail("{}: --shard rows: expected at least two sequences, got {}", files.name(), facts.sequences);
  expect_words_or_numbers(together, files.name());
  facts.schema = files.schema();
  settle_targets(together, files.name(), files.task(), facts.schema);
  facts.inputs = std::move(together.inputs);
  return facts;
}

Shard::Shard(const PiecedFiles& files, const Roles& roles, std::size_t first_piece, std::size_t last_piece,
             const std::function<bool()>& stop)
    : first_piece_(first_piece),
      targets_(std::max<std::size_t>(1, files.layout().targets.size())),
      offset_(roles.store),
      x_(roles.store),
      value_(roles.store),
      weight_(roles.store),
      ids_(roles.store) {
  offset_.push_back(0);
  const bool keep_ids = !files.layout().file && files.layout().id != "row";
  for (std::size_t piece = first_piece; piece < last_piece && !(stop && stop()); ++piece) {
    summary_.sequences.push_back(0);
    summary_.steps.push_back(0);
    labels_.push_back(0);
    if (const std::optional<RawDataset> raw = files.read(piece)) take(*raw, keep_ids);
  }
}

void Shard::take(const RawDataset& raw, bool keep_ids) {
  const Sequences& s = raw.data.sequences;
  std::vector<std::vector<float>> words;
  take_inputs(raw, words);
  take_targets(raw);
  const std::size_t columns = raw.inputs.size(), steps = s.steps();
  x_.reserve(x_.size() + steps * columns);
  for (std::size_t k = 0; k < steps * columns; ++k) {
    const std::vector<float>& number = words[k % columns];
    const float value = s.x[k];
    x_.push_back(number.empty() || std::isnan(value) ? value : number[static_cast<std::size_t>(value)]);
  }
  const std::int64_t before = offset_.back();
  for (std::size_t i = 1; i < s.offset.size(); ++i) offset_.push_back(before + s.offset[i]);
  for (std::size_t i = 0; keep_ids && i < raw.data.ids.size(); ++i) ids_.push_back(id_hash(raw.data.ids[i]));
  summary_.sequences.back() = s.count();
  summary_.steps.back() = steps;
}

// `words`: (columns) from the numbers of the words of this piece to those of this process; empty where they are equal.
void Shard::take_inputs(const RawDataset& raw, std::vector<std::vector<float>>& words) {
  const Sequences& s = raw.data.sequences;
  const std::size_t columns = raw.inputs.size();
  if (summary_.inputs.empty()) {
    summary_.inputs = raw.inputs;
    for (RawInput& input : summary_.inputs) input.known.clear();
    summary_.numeric.assign(columns, 0);
  }
  words.resize(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    RawInput& input = summary_.inputs[i];
    input.words = input.words || raw.inputs[i].words;
    for (const std::size_t number : unite(raw.inputs[i].known, input.known))
      words[i].push_back(static_cast<float>(number));
    for (std::size_t t = 0; t < s.steps() && !raw.inputs[i].words && summary_.numeric[i] == 0; ++t)
      if (!std::isnan(s.x[t * columns + i])) summary_.numeric[i] = 1;
  }
}

void Shard::take_targets(const RawDataset& raw) {
  const Sequences& s = raw.data.sequences;
  const std::size_t steps = s.steps();
  if (!s.has_targets()) {
    weight_.resize(weight_.size() + steps, 0.0F);
    value_.resize(value_.size() + steps * targets_, 0.0F);
    return;
  }
  weight_.insert(weight_.end(), s.weight.begin(), s.weight.end());
  if (raw.data.schema.task == Task::kRegression) {
    summary_.numbers = true;
    value_.insert(value_.end(), s.value.begin(), s.value.end());
    return;
  }
  labels_.back() = 1;
  const std::vector<std::size_t> numbers = unite(raw.data.schema.classes, summary_.classes);
  value_.reserve(value_.size() + steps);
  for (const std::int32_t label : s.label)
    value_.push_back(static_cast<float>(numbers[static_cast<std::size_t>(label)]));
}

void Shard::agree(const ShardFacts& facts, std::uint64_t first) {
  first_ = first;
  schema_ = facts.schema;
  inputs_ = facts.inputs;
  begin_ = {first};
  for (const std::uint64_t n : summary_.sequences) begin_.push_back(begin_.back() + n);
  word_.assign(inputs_.size(), {});
  for (std::size_t i = 0; i < summary_.inputs.size(); ++i) {
    std::vector<std::string> known = inputs_[i].known;
    for (const std::size_t number : unite(summary_.inputs[i].known, known))
      word_[i].push_back(static_cast<float>(number));
  }
  std::vector<double> values;  // of the classes, where all are numbers
  for (const std::string& name : schema_.classes)
    if (double value = 0; parse_cell(name, value) == CellKind::kNumber) values.push_back(value);
  for (const std::string& name : summary_.classes) {
    double value = 0;
    parse_cell(name, value);
    class_value_.push_back(static_cast<float>(value));
    const auto by_name = std::find(schema_.classes.begin(), schema_.classes.end(), name);
    const auto number = by_name != schema_.classes.end()
                            ? by_name - schema_.classes.begin()
                            : std::find(values.begin(), values.end(), value) - values.begin();
    class_.push_back(static_cast<std::int32_t>(number));
  }
}

std::pair<std::uint64_t, std::uint64_t> Shard::sequences(std::size_t piece) const {
  return {begin_[piece], begin_[piece + 1]};
}

std::size_t Shard::length(std::uint64_t sequence) const {
  return static_cast<std::size_t>(offset_[local(sequence) + 1] - offset_[local(sequence)]);
}

bool Shard::has_target(std::uint64_t sequence) const {
  const std::size_t s = local(sequence);
  return std::any_of(weight_.begin() + offset_[s], weight_.begin() + offset_[s + 1], [](float w) { return w > 0.0F; });
}

RawDataset Shard::chunk() const {
  RawDataset chunk;
  chunk.inputs = inputs_;
  chunk.data.schema = schema_;
  chunk.data.sequences.n_x = static_cast<int>(inputs_.size());
  chunk.data.sequences.n_y = schema_.n_y();
  return chunk;
}

void Shard::append(std::uint64_t sequence, std::size_t begin, std::size_t end, std::size_t judged,
                   RawDataset& to) const {
  Sequences& s = to.data.sequences;
  const std::size_t columns = inputs_.size(), base = static_cast<std::size_t>(offset_[local(sequence)]);
  const auto piece =
      static_cast<std::size_t>(std::upper_bound(begin_.begin(), begin_.end(), sequence) - begin_.begin()) - 1;
  const bool classes = schema_.task == Task::kClassification, labels = labels_[piece] != 0;
  for (std::size_t t = base + begin; t < base + end; ++t) {
    for (std::size_t i = 0; i < columns; ++i) {
      const float value = x_[t * columns + i];
      s.x.push_back(word_[i].empty() || std::isnan(value) ? value : word_[i][static_cast<std::size_t>(value)]);
    }
    const float weight = t < base + judged ? 0.0F : weight_[t];
    s.weight.push_back(weight);
    if (classes) {
      s.label.push_back(labels ? class_[static_cast<std::size_t>(value_[t])] : 0);
    } else if (labels) {
      s.value.push_back(weight > 0.0F ? class_value_[static_cast<std::size_t>(value_[t])] : 0.0F);
    } else {
      s.value.insert(s.value.end(), value_.begin() + static_cast<std::ptrdiff_t>(t * targets_),
                     value_.begin() + static_cast<std::ptrdiff_t>((t + 1) * targets_));
    }
  }
  s.offset.push_back(s.offset.back() + static_cast<std::int64_t>(end - begin));
}

}  // namespace remede
