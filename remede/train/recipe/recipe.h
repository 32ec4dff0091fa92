// The policy of training as a value: every constant that decides how a model is searched for, chosen and finished.
// Copy it, change a field, train with it; its JSON form is a file for `remede train --recipe FILE.json`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace remede {

// Plain fields, declared in recipe.def with their meaning, unit and reason; the values are those of the default recipe.
struct Recipe {
#define REMEDE_RECIPE(type, name, value, limits, group, unit, meaning, why) type name = value;
#include "remede/train/recipe/recipe.def"
#undef REMEDE_RECIPE
  bool operator==(const Recipe&) const = default;
};

Recipe default_recipe();   // stages of many starts, halved from round to round: event, then signal
Recipe paper_recipe();     // one start with a fixed schedule, neither folds nor a last training
Recipe gradtree_recipe();  // static trees as GradTree trains them: entmax, softsign, averages, quantiles, restarts

// One line of recipe.def, for code that lists, reads or writes all of them.
struct RecipeField {
  std::string_view name;
  std::string_view type;  // "bool", "int" or "float"
  std::string_view group;
  std::string_view unit;     // empty: none
  std::string_view meaning;  // one line
  std::string_view why;      // the reason for the default; may be empty
  double low = 0;            // the limits, both included
  double high = 0;
  double (*get)(const Recipe&);
  void (*set)(Recipe&, double value);  // REQUIRES: within the limits, whole where the type is not "float"
};
std::span<const RecipeField> recipe_fields();

// "default", "paper" or "gradtree", or where it is none of them, one line of JSON: {"base": "default", "starts": 16},
// the fields that differ from the base, which is the one with the fewest such fields. recipe_from_text() reads both
// back to the same bits; fields that are not there are the base's, and a base that is not there is the default recipe.
// Throws Error naming `where` for an unknown field or a value out of its limits.
std::string recipe_text(const Recipe& recipe);
Recipe recipe_from_text(std::string_view text, const std::string& where);

// All fields as a JSON object, one per line; and what each means, as a JSON array.
std::string recipe_json(const Recipe& recipe);
std::string recipe_fields_json();

// docs/recipe.md.
std::string recipe_page();

}  // namespace remede
