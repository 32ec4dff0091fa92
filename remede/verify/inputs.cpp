#include "remede/verify/inputs.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "remede/schema/words.h"

namespace remede {
namespace {

Range value_range(const std::optional<float>& value) {
  return value ? Range::point(*value) : Range{Range::none().low, Range::none().high, true};
}

// A word that no code of the column knows.
std::string unknown_word(const std::vector<const InputCode*>& codes) {
  for (int i = 0;; ++i) {
    const std::string word = i == 0 ? "other" : fmt::format("other{}", i);
    if (std::none_of(codes.begin(), codes.end(), [&](const InputCode* code) {
          return std::find(code->words.begin(), code->words.end(), word) != code->words.end();
        }))
      return word;
  }
}

void add_word_options(const Schema& schema, InputColumn& column) {
  std::vector<const InputCode*> codes;
  std::vector<std::string> words;
  for (const int input : column.inputs) {
    codes.push_back(schema.code_of(schema.inputs[static_cast<std::size_t>(input)]));
    for (const std::string& word : codes.back()->words)
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  words.push_back(unknown_word(codes));
  for (const std::string& word : words) {
    InputOption option{word, false, {}};
    for (const InputCode* code : codes) option.range.push_back(value_range(value_of_word(*code, word)));
    column.options.push_back(std::move(option));
  }
  column.options.push_back({"", true, std::vector<Range>(codes.size(), value_range(std::nullopt))});
}

}  // namespace

std::vector<InputColumn> all_inputs(const Schema& schema) {
  std::vector<InputColumn> columns;
  for (int i = 0; i < schema.n_x(); ++i) {
    const std::string& input = schema.inputs[static_cast<std::size_t>(i)];
    const InputCode* const code = schema.code_of(input);
    if (code == nullptr || code->gap) {
      InputColumn column{input, false, code != nullptr, {i}, {}};
      Range range = Range::finite();
      if (column.gap) range.low = 0.0F;
      column.options.push_back({"", false, {range}});
      columns.push_back(std::move(column));
      continue;
    }
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const InputColumn& column) {
      return column.words && column.name == code->column;
    });
    if (found != columns.end()) {
      found->inputs.push_back(i);
      continue;
    }
    columns.push_back({code->column, true, false, {i}, {}});
  }
  for (InputColumn& column : columns)
    if (column.words) add_word_options(schema, column);
  return columns;
}

int column_named(const std::vector<InputColumn>& columns, const std::string& name) {
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].name == name) return static_cast<int>(c);
  return -1;
}

int column_of_input(const std::vector<InputColumn>& columns, int input) {
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (std::find(columns[c].inputs.begin(), columns[c].inputs.end(), input) != columns[c].inputs.end())
      return static_cast<int>(c);
  return -1;
}

}  // namespace remede
