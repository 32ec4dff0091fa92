// The class behind c_text(): its tables are written in c_tables.cpp, its functions in c_text.cpp. Only these include
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "remede/export/c_text.h"
#include "remede/export/names.h"

namespace remede {

struct IntegerType {
  const char* name;
  std::size_t bytes;
};

inline IntegerType unsigned_type(std::int64_t most) {
  if (most <= std::numeric_limits<std::uint8_t>::max()) return {"uint8_t", 1};
  if (most <= std::numeric_limits<std::uint16_t>::max()) return {"uint16_t", 2};
  return {"uint32_t", 4};
}

inline IntegerType signed_type(std::int64_t least, std::int64_t most) {
  if (least >= std::numeric_limits<std::int8_t>::min() && most <= std::numeric_limits<std::int8_t>::max())
    return {"int8_t", 1};
  if (least >= std::numeric_limits<std::int16_t>::min() && most <= std::numeric_limits<std::int16_t>::max())
    return {"int16_t", 2};
  return {"int32_t", 4};
}

class CWriter {
 public:
  CWriter(const Model& model, const Tables& tables, const CDialect& dialect)
      : model_(model), t_(tables), dialect_(dialect), several_(tables.trees.size() > 1) {}

  CText write() {
    write_types();
    write_tables();
    write_functions();
    write_step();
    for (std::string* text : {&out_.tables, &out_.functions, &out_.step}) *text = with_names(*text);
    return std::move(out_);
  }

 private:
  bool has_nodes() const { return !t_.nodes.empty(); }
  bool has_sums() const { return !t_.linear.empty() || !t_.shared.empty() || !t_.writes.empty() || !t_.cells.empty(); }
  bool any(bool Tables::TreeForm::*flag) const {
    return std::any_of(t_.trees.begin(), t_.trees.end(), [&](const auto& tree) { return tree.*flag; });
  }
  bool all(bool Tables::TreeForm::*flag) const {
    return std::all_of(t_.trees.begin(), t_.trees.end(), [&](const auto& tree) { return tree.*flag; });
  }

  // $_ stands for the prefix, $F and $T for what begins functions and tables, and the constants for themselves.
  std::string with_names(const std::string& text) const {
    const std::pair<std::string_view, const std::string*> names[] = {
        {"$INPUTS", &dialect_.inputs}, {"$OUTPUTS", &dialect_.outputs},
        {"$STATE", &dialect_.state},   {"$BITS", &dialect_.bits_to_float},
        {"$_", &dialect_.prefix},      {"$F", &dialect_.function},
        {"$T", &dialect_.table}};
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      bool found = false;
      for (const auto& [token, name] : names)
        if (text[i] == '$' && text.compare(i, token.size(), token) == 0) {
          out += *name;
          i += token.size();
          found = true;
          break;
        }
      if (!found) out += text[i++];
    }
    return out;
  }

  // name[size] = {...}, several numbers in a line; a table of nothing holds one zero that nobody reads.
  template <typename T, typename Text>
  void add_table(const std::string& comment, const std::string& type, std::size_t bytes, const std::string& name,
                 const std::vector<T>& values, const Text& text) {
    constexpr std::size_t kWidth = 100;
    const std::size_t size = std::max<std::size_t>(values.size(), 1);
    out_.tables += fmt::format("\n/* {} */\n$T {} $_{}[{}] = {{\n", comment, type, name, size);
    std::string line = "   ";
    for (std::size_t i = 0; i < size; ++i) {
      const std::string one = values.empty() ? "0" : text(values[i]);
      if (line.size() + one.size() + 2 > kWidth) {
        out_.tables += line + "\n";
        line = "   ";
      }
      line += fmt::format(" {}{}", one, i + 1 < size ? "," : "");
    }
    out_.tables += line + "\n};\n";
    out_.table_bytes += size * bytes;
  }

  void add_floats(const char* comment, const std::string& name, const std::vector<float>& values) {
    add_table(comment, "float", sizeof(float), name, values, c_number);
  }
  void add_counts(const char* comment, const std::string& name, const std::vector<int>& values) {
    const int most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    const IntegerType type = unsigned_type(most);
    add_table(comment, type.name, type.bytes, name, values, [](int v) { return fmt::format("{}u", v); });
  }
  template <typename Get>
  void add_tree_counts(const char* comment, const std::string& name, const Get& get) {
    if (!several_) return;
    std::vector<int> values;
    for (const Tables::TreeForm& tree : t_.trees) values.push_back(get(tree));
    add_counts(comment, "tree_" + name, values);
  }
  // A number of the tree at hand: a constant where there is one tree only.
  std::string of_tree(const std::string& name, int of_first) const {
    return several_ ? fmt::format("$_tree_{}[tree]", name) : fmt::format("{}u", of_first);
  }

  void write_types();
  void write_tables();
  void write_nodes();
  void write_answers();
  void write_law_tables();
  void write_functions();
  void write_readers();
  void write_leaf_functions();
  void write_laws();
  void write_step();
  std::string value_words(int value) const;
  std::string answer_steps() const;

  const Model& model_;
  const Tables& t_;
  const CDialect& dialect_;
  bool several_;
  CText out_;
};

}  // namespace remede
