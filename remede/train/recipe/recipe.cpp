#include "remede/train/recipe/recipe.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/base/text.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

struct FieldLimits {
  double low = 0;
  double high = 0;
};
template <typename T>
constexpr std::string_view type_name() {
  return std::is_same_v<T, bool> ? "bool" : std::is_floating_point_v<T> ? "float" : "int";
}

template <auto field>
struct FieldAccess {
  using T = std::remove_cvref_t<decltype(std::declval<Recipe>().*field)>;
  static double get(const Recipe& recipe) { return static_cast<double>(recipe.*field); }
  static void set(Recipe& recipe, double value) { recipe.*field = static_cast<T>(value); }
};

// Its own words for limits: config.cpp has others of the same name.
namespace field_table {
constexpr FieldLimits range(double low, double high) { return {low, high}; }
constexpr FieldLimits flag() { return {0, 1}; }

constexpr RecipeField kFields[] = {
#define REMEDE_RECIPE(type, name, value, limits, group, unit, meaning, why) \
  {#name,                                                                   \
   type_name<type>(),                                                       \
   group,                                                                   \
   unit,                                                                    \
   meaning,                                                                 \
   why,                                                                     \
   (limits).low,                                                            \
   (limits).high,                                                           \
   &FieldAccess<&Recipe::name>::get,                                        \
   &FieldAccess<&Recipe::name>::set},
#include "remede/train/recipe/recipe.def"
#undef REMEDE_RECIPE
};
}  // namespace field_table
using field_table::kFields;

Json value_of(const RecipeField& field, const Recipe& recipe) {
  const double value = field.get(recipe);
  if (field.type == "bool") return value != 0;
  if (field.type == "int" || (value == std::floor(value) && std::abs(value) < 1e15))
    return static_cast<std::int64_t>(value);
  return value;
}

// For a message.
std::string brief_value(const Json& value) {
  constexpr std::size_t kMost = 40;  // bytes
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kMost ? text : shown(text);
}

std::string limits_text(const RecipeField& field) {
  if (field.type == "bool") return "true or false";
  return fmt::format("{} in {} .. {}", field.type == "int" ? "a whole number" : "a number", field.low, field.high);
}

void set_field(const RecipeField& field, const Json& value, const std::string& where, Recipe& recipe) {
  const bool is_flag = field.type == "bool";
  double number = 0;
  bool good = is_flag ? value.is_boolean() : value.is_number();
  if (good) number = is_flag ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>();
  good = good && number >= field.low && number <= field.high && (field.type == "float" || number == std::floor(number));
  if (!good) fail("{}: '{}': expected {}, got {}", where, field.name, limits_text(field), brief_value(value));
  field.set(recipe, number);
}

struct NamedRecipe {
  std::string_view name;
  Recipe (*make)();
};
constexpr NamedRecipe kNamed[] = {{"default", default_recipe}, {"paper", paper_recipe}, {"gradtree", gradtree_recipe}};

Recipe named(const std::string& name, const std::string& where) {
  for (const NamedRecipe& known : kNamed)
    if (name == known.name) return known.make();
  fail("{}: expected a recipe called default, paper or gradtree, or a JSON object, got {}", where, shown(name));
}

// The first of those with the fewest other fields.
std::string_view base_of(const Recipe& recipe) {
  const auto others = [&recipe](const NamedRecipe& base) {
    const Recipe from = base.make();
    return std::count_if(std::begin(kFields), std::end(kFields),
                         [&](const RecipeField& field) { return field.get(recipe) != field.get(from); });
  };
  return std::min_element(std::begin(kNamed), std::end(kNamed),
                          [&](const NamedRecipe& a, const NamedRecipe& b) { return others(a) < others(b); })
      ->name;
}

}  // namespace

Recipe default_recipe() { return {}; }

Recipe paper_recipe() {
  Recipe recipe;
  recipe.single_start = true;
  recipe.most_folds = 1;
  recipe.polish_rounds = recipe.polish_noise_rounds = 0;
  return recipe;
}

// Rates, depth and batch are the defaults of the published program. Without exact moves: gradient descent is compared.
Recipe gradtree_recipe() {
  Recipe recipe = paper_recipe();
  recipe.restarts = 3;
  recipe.single_cells = 0;
  recipe.single_patience = 0.1;
  recipe.single_average = 0.02;
  recipe.single_softsign = recipe.single_entmax = recipe.quantile_transform = true;
  recipe.rate_index = recipe.rate_threshold = recipe.rate_output = 0.01;
  recipe.batch_most = 64;
  recipe.improved = 0;
  return recipe;
}

std::span<const RecipeField> recipe_fields() { return kFields; }

std::string recipe_text(const Recipe& recipe) {
  const std::string base(base_of(recipe));
  const Recipe from = named(base, "");
  if (recipe == from) return base;
  Json json = {{"base", base}};
  for (const RecipeField& field : kFields)
    if (field.get(recipe) != field.get(from)) json[std::string(field.name)] = value_of(field, recipe);
  return json.dump();
}

Recipe recipe_from_text(std::string_view text, const std::string& where) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return named(std::string(text), where);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) fail("{}: expected a JSON object of recipe fields, got something else", where);
  const auto base = json.find("base");
  if (base != json.end() && !base->is_string()) fail("{}: 'base': expected a name, got {}", where, brief_value(*base));
  Recipe recipe = base == json.end() ? default_recipe() : named(base->get<std::string>(), where);
  for (const auto& [name, value] : json.items()) {
    if (name == "base") continue;
    const auto found = std::find_if(std::begin(kFields), std::end(kFields),
                                    [&key = name](const RecipeField& field) { return field.name == key; });
    if (found == std::end(kFields))
      fail("{}: expected a field of a recipe (see remede recipe --fields), got {}", where, shown(name));
    set_field(*found, value, where, recipe);
  }
  return recipe;
}

std::string recipe_json(const Recipe& recipe) {
  Json json = {{"base", base_of(recipe)}};
  for (const RecipeField& field : kFields) json[std::string(field.name)] = value_of(field, recipe);
  return json.dump(2) + "\n";
}

std::string recipe_fields_json() {
  Json all = Json::array();
  for (const RecipeField& field : kFields) {
    Json one = {{"name", field.name}, {"type", field.type}, {"group", field.group},
                {"unit", field.unit}, {"low", field.low},   {"high", field.high}};
    for (const NamedRecipe& recipe : kNamed) one[std::string(recipe.name)] = value_of(field, recipe.make());
    one["meaning"] = field.meaning;
    one["why"] = field.why;
    all.push_back(std::move(one));
  }
  return all.dump(2) + "\n";
}

std::string recipe_page() {
  std::string page =
      "# Recipes\n\n"
      "Generated from `remede/train/recipe/recipe.def` by `remede recipe --page`; do not edit.\n\n"
      "A recipe is a value: every constant that decides how a model is searched for, chosen and finished. Print one, "
      "change a\n"
      "field, and train with it; a flag of `remede train` overrides the file:\n\n"
      "    remede recipe > mine.json\n"
      "    remede train data.csv --recipe mine.json --starts 8\n\n"
      "A file may hold only the fields that differ: `{\"base\": \"default\", \"starts\": 16}`. In Python:\n"
      "`RecurrentTreeClassifier(recipe={\"starts\": 16})`, or the path of a file; `remede.recipe()` gives all fields. "
      "The model\n"
      "file records what differs from the named recipe. [training.md](training.md) says how the parts work together.\n";
  std::string_view group;
  for (const RecipeField& field : kFields) {
    if (field.group != group) {
      group = field.group;
      page += fmt::format(
          "\n## {}\n\n| field | default | paper | gradtree | unit | meaning | why |\n|---|---|---|---|---|---|---|\n",
          group);
    }
    const std::string value = value_of(field, default_recipe()).dump();
    const auto other = [&](const Recipe& recipe) {
      const std::string own = value_of(field, recipe).dump();
      return own == value ? std::string() : own;
    };
    page += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", field.name, value, other(paper_recipe()),
                        other(gradtree_recipe()), field.unit, field.meaning, field.why);
  }
  return page;
}

}  // namespace remede
