#include "remede/train/config.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/executor/cuda/cuda.h"
#include "remede/train/effects.h"

namespace remede {
namespace {

struct Limits {
  double low = 0;
  double high = 0;
  std::string_view words;  // separated by |; empty: a number between low and high
};

constexpr Limits range(double low, double high) { return {low, high, {}}; }
constexpr Limits choices(std::string_view words) { return {0, 0, words}; }
constexpr Limits columns() { return {}; }

template <typename T>
struct Inner {
  using type = T;
  static constexpr bool kOptional = false;
};
template <typename T>
struct Inner<std::optional<T>> {
  using type = T;
  static constexpr bool kOptional = true;
};

std::string flag_of(std::string_view name) {
  std::string flag = fmt::format("--{}", name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::vector<std::string_view> split_words(std::string_view words, char mark = '|') {
  std::vector<std::string_view> list;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(mark, at), words.size());
    list.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

std::string describe(const Limits& limits) {
  if (!limits.words.empty()) return fmt::format("{}", fmt::join(split_words(limits.words), ", "));
  return fmt::format("{} .. {}", limits.low, limits.high);
}

template <typename T>
[[noreturn]] void refuse(std::string_view name, const Limits& limits, bool optional, std::string_view text) {
  if (std::is_same_v<T, ColumnNames>)
    fail("{}: expected names of columns, separated by commas, got {}", flag_of(name), shown(text));
  const char* const what = std::is_same_v<T, Seconds>              ? "a duration such as 30s, 5m or 2h, in seconds in "
                           : std::is_same_v<T, std::vector<float>> ? "numbers separated by commas, each in "
                           : limits.words.empty()                  ? "a number in "
                                                                   : "one of ";
  fail("{}: expected {}{}{}, got {}", flag_of(name), what, describe(limits), optional ? " or auto" : "", shown(text));
}

template <typename T>
constexpr bool kIsList = std::is_same_v<T, std::vector<float>>;

template <typename T>
std::string value_text(const T& value, const Limits& limits) {
  if constexpr (kIsList<T>)
    return fmt::format("{}", fmt::join(value, ","));
  else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>)
    return std::string(split_words(limits.words).at(static_cast<std::size_t>(value)));
  else if constexpr (std::is_same_v<T, Seconds>)
    return fmt::format("{}s", value.value);
  else if constexpr (std::is_same_v<T, ColumnNames>)
    return fmt::format("{}", fmt::join(value.list, ","));
  else if constexpr (std::is_same_v<T, Recipe>)
    return recipe_text(value);
  else
    return fmt::format("{}", value);
}

// Whether a number lies in its range; words are checked when they are read. NaN does not.
template <typename T>
bool in_range(const T& value, const Limits& limits) {
  if constexpr (kIsList<T>)
    return !value.empty() && std::all_of(value.begin(), value.end(), [&](float v) { return in_range(v, limits); });
  else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>)
    return static_cast<std::size_t>(value) < split_words(limits.words).size();
  else if constexpr (std::is_same_v<T, Seconds>)
    return value.value >= limits.low && value.value <= limits.high;
  else if constexpr (std::is_same_v<T, ColumnNames>)
    return true;
  else
    return static_cast<double>(value) >= limits.low && static_cast<double>(value) <= limits.high;
}

template <typename T>
std::optional<T> read_value(std::string_view text, const Limits& limits) {
  if constexpr (kIsList<T>) {
    T list;
    for (const std::string_view part : split_words(text, ',')) {
      const auto begin = std::min(part.find_first_not_of(' '), part.size());
      const auto value = read_value<float>(part.substr(begin, part.find_last_not_of(' ') + 1 - begin), limits);
      if (!value) return std::nullopt;
      list.push_back(*value);
    }
    return list;
  } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
    std::string word(text);
    std::replace_if(
        word.begin(), word.end(), [](char c) { return c == '_' || c == ' '; }, '-');
    if constexpr (std::is_same_v<T, bool>) word = word == "true" ? "yes" : word == "false" ? "no" : word;
    const std::vector<std::string_view> words = split_words(limits.words);
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) return std::nullopt;
    return static_cast<T>(found - words.begin());
  } else if constexpr (std::is_same_v<T, Recipe>) {
    return recipe_from_text(text, "--recipe");
  } else if constexpr (std::is_same_v<T, Seconds>) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const double seconds = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
    const Seconds value{number * seconds};
    if (error != std::errc() || seconds == 0 || !in_range(value, limits)) return std::nullopt;
    return value;
  } else if constexpr (std::is_same_v<T, ColumnNames>) {
    ColumnNames names;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      if (end == at) return std::nullopt;
      names.list.emplace_back(text.substr(at, end - at));
      at = end + 1;
    }
    return names;
  } else {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !in_range(value, limits)) return std::nullopt;
    return value;
  }
}

// What one line of parameters.def can do, told apart by its field.
template <auto field, typename Line>
struct Access {
  using Field = std::remove_cvref_t<decltype(std::declval<Config>().*field)>;
  using T = typename Inner<Field>::type;
  static constexpr bool kOptional = Inner<Field>::kOptional;

  static constexpr std::string_view placeholder() {
    if (!Line::kLimits.words.empty()) return Line::kLimits.words;
    return kIsList<T> ? "LIST" : std::is_same_v<T, ColumnNames> ? "COLUMN" : std::is_same_v<T, Seconds> ? "TIME" : "N";
  }
  static std::string range() { return std::is_same_v<T, ColumnNames> ? "names of columns" : describe(Line::kLimits); }
  static std::string get(const Config& config) {
    if constexpr (kOptional)
      return (config.*field).has_value() ? value_text(*(config.*field), Line::kLimits) : "auto";
    else
      return value_text(config.*field, Line::kLimits);
  }
  static void set(Config& config, std::string_view text) {
    if constexpr (kOptional) {
      if (text == "auto") {
        (config.*field).reset();
        return;
      }
    }
    const std::optional<T> value = read_value<T>(text, Line::kLimits);
    if (!value) refuse<T>(Line::kName, Line::kLimits, kOptional, text);
    config.*field = *value;
  }
};

#define REMEDE_PARAMETER(type, name, value, limits, group, help) \
  struct Line_##name {                                           \
    static constexpr std::string_view kName = #name;             \
    static constexpr Limits kLimits = limits;                    \
  };
#include "remede/train/parameters.def"
#undef REMEDE_PARAMETER

constexpr HyperParameter kTable[] = {
#define REMEDE_PARAMETER(type, name, value, limits, group, help) \
  {#name,                                                        \
   group,                                                        \
   help,                                                         \
   Line_##name::kLimits.words,                                   \
   Access<&Config::name, Line_##name>::placeholder(),            \
   &Access<&Config::name, Line_##name>::range,                   \
   &Access<&Config::name, Line_##name>::get,                     \
   &Access<&Config::name, Line_##name>::set},
#include "remede/train/parameters.def"
#undef REMEDE_PARAMETER
};

}  // namespace

std::string HyperParameter::flag() const { return flag_of(name); }

std::span<const HyperParameter> hyper_parameters() { return kTable; }

void check(const Config& config) {
  Config copy;
  for (const HyperParameter& p : hyper_parameters()) p.set(copy, p.get(config));
  if (config.updates && config.epochs)
    fail("expected --updates or --epochs, got both ({} and {})", *config.updates, *config.epochs);
  if (config.device != DeviceChoice::kCpu && config.executor != Device::kCpu)
    fail("--device: expected cpu with --executor plain, got {}", config.device == DeviceChoice::kGpu ? "gpu" : "auto");
  if (config.device == DeviceChoice::kGpu && !why_no_gpu().empty())
    fail("--device: expected a GPU, got none: {}", why_no_gpu());
  expect_effects(config);
}

Device device_of(const Config& config) { return config.device == DeviceChoice::kGpu ? Device::kGpu : config.executor; }

std::vector<std::pair<std::string, std::string>> settings(const Config& config) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const HyperParameter& p : hyper_parameters())
    if (p.saved() && (!p.of_device() || p.given(config))) list.emplace_back(p.name, p.get(config));
  return list;
}

Config config_from_settings(std::span<const std::pair<std::string, std::string>> settings, const std::string& where) {
  Config config;
  for (const auto& setting : settings) {
    const auto named = [&setting](const HyperParameter& p) { return p.name == setting.first; };
    const auto found = std::find_if(std::begin(kTable), std::end(kTable), named);
    if (found == std::end(kTable))
      fail("{}: expected a hyper-parameter of this version, got {}", where, shown(setting.first));
    found->set(config, setting.second);
  }
  return config;
}

bool without_memory(const Config& config) {
  return config.recipe.single_start ? config.memory.value_or(config.recipe.single_cells) == 0 : config.memory == 0;
}

LeafForm fixed_by(const Config& config, LeafForm base) {
  if (config.form == FormChoice::kPaper) base = LeafForm();
  if (config.form == FormChoice::kRich)
    base = {WriteRule::kBlend, WriteReads::kInputs, true, LeafOutput::kLinear, OutputOrder::kZero};
  base.write_rule = config.write_rule.value_or(base.write_rule);
  base.write_reads = config.write_reads.value_or(base.write_reads);
  base.write_bias = config.write_bias.value_or(base.write_bias);
  base.leaf_output = config.leaf_output.value_or(base.leaf_output);
  base.output_order = config.output_order.value_or(base.output_order);
  return base;
}

GradientForm fixed_by(const Config& config, GradientForm base) {
  base.split = config.split_gradient.value_or(base.split);
  base.slope = static_cast<float>(config.slope.value_or(static_cast<double>(base.slope)));
  base.index = config.index_gradient.value_or(base.index);
  base.mix = config.mix.value_or(base.mix);
  return base;
}

std::string parameters_page() {
  std::string page =
      "# Hyper-parameters\n\n"
      "Generated from `remede/train/parameters.def` by `remede train --parameters-page`; do not edit.\n"
      "Every one is a flag of `remede train`. `auto`: the recipe decides (docs/training.md).\n";
  std::string_view group;
  for (const HyperParameter& p : hyper_parameters()) {
    if (p.group != group) {
      group = p.group;
      page += fmt::format("\n## {}\n\n| flag | default | values | meaning |\n|---|---|---|---|\n", group);
    }
    page += fmt::format("| `{}` | {} | {} | {} |\n", p.flag(), p.get(Config()), p.range(), p.help);
  }
  return page;
}

}  // namespace remede
