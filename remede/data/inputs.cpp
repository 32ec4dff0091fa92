#include "remede/data/inputs.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/data/frame.h"
#include "remede/data/number.h"

namespace remede {

InputReader::InputReader(const std::vector<std::string>& names, const std::vector<std::string>& categorical, bool known)
    : names_(names), columns_(names.size()), known_(known) {
  const std::unordered_set<std::string_view> of_words(categorical.begin(), categorical.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool words = of_words.contains(names[i]);
    columns_[i].state = words ? State::kWords : known ? State::kNumbers : State::kOpen;
    columns_[i].given = words;
  }
}

template <typename Rows>
float InputReader::number_of(const Rows& csv, std::size_t column, std::string_view word, Column& input) {
  const std::uint32_t number = input.words.intern(word);
  if (number < kMostWords || known_) return static_cast<float>(number);
  fail("{}: expected at most {} different words, got more: leave the column out with --ignore {}", csv.where(column),
       kMostWords, shown(csv.columns()[column]));
}

template <typename Rows>
float InputReader::read_word(Rows& csv, std::size_t column, Column& input) {
  const std::string_view word = trim(csv.text());
  double value = 0.0;
  const CellKind kind = parse_cell(word, value);
  if (kind == CellKind::kMissing) return kMissingValue;
  if (kind == CellKind::kText) {
    if (!is_utf8(word)) fail("{}: expected text in UTF-8, got {}", csv.where(column), shown(word));
    return number_of(csv, column, word, input);
  }
  if (!input.given)
    fail("{}: expected a word as in the rows before, got {}; if the column holds categories, use --categorical {}",
         csv.where(column), shown(word), shown(csv.columns()[column]));
  spelt_ = fmt::format("{}", value);  // 1 and 1.0 are one category
  return number_of(csv, column, spelt_, input);
}

template <typename Rows>
float InputReader::read_text(Rows& csv, std::size_t column, Column& input) {
  const std::string_view word = trim(csv.last_cell());
  if (input.state == State::kOpen && !begins_like_a_number(word)) {
    if (!is_utf8(word)) fail("{}: expected text in UTF-8, got {}", csv.where(column), shown(word));
    input.state = State::kWords;
    return number_of(csv, column, word, input);
  }
  const std::string name = shown(csv.columns()[column]);
  double time = 0.0;
  if (!known_ && parse_time(word, time))
    fail(
        "{}: expected a number, got {}; a column of dates orders the steps with --time {}, or is left out with "
        "--ignore {}",
        csv.where(column), shown(csv.last_cell()), name, name);
  if (has_decimal_comma(word))
    fail("{}: expected a number with a decimal point, got {} with a comma", csv.where(column), shown(csv.last_cell()));
  const std::string hint =
      known_ ? ""
             : fmt::format(
                   "; if the column holds categories, use --categorical {}, otherwise leave it out with --ignore {}",
                   name, name);
  fail("{}: expected a number, got {}{}", csv.where(column), shown(csv.last_cell()), hint);
}

template <typename Rows>
float InputReader::read_odd_number(const Rows& csv, std::size_t column, double value) const {
  if (std::isnan(value)) return kMissingValue;
  fail("{}: expected {}, got {}", csv.where(column), kFittingNumber, value);
}

template float InputReader::read(CsvReader&, std::size_t, std::size_t);
template float InputReader::read(FrameReader&, std::size_t, std::size_t);

std::vector<RawInput> InputReader::finish() {
  std::vector<RawInput> inputs;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    RawInput input;
    input.name = names_[i];
    input.words = columns_[i].state == State::kWords;
    const Texts known = columns_[i].words.take();
    for (std::size_t w = 0; w < known.size(); ++w) input.known.emplace_back(known[w]);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace remede
