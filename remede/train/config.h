// Every hyper-parameter of training. They are declared once, in parameters.def; everything here comes from that list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remede/executor/executor.h"
#include "remede/train/recipe/recipe.h"

namespace remede {

enum class FormChoice : std::uint8_t { kAuto, kPaper, kRich };
enum class ClassWeights : std::uint8_t { kNone, kBalanced };
enum class DeviceChoice : std::uint8_t { kCpu, kGpu, kAuto };
enum class Effort : std::uint8_t { kQuick, kDefault, kThorough };

// A duration; as text "30s", "5m", "2h" or a plain number of seconds.
struct Seconds {
  double value = 0;
  bool operator==(const Seconds&) const = default;
};

// Names of columns, as a list separated by commas.
struct ColumnNames {
  std::vector<std::string> list;
  bool operator==(const ColumnNames&) const = default;
};

// Plain fields; an empty optional leaves the choice to the recipe.
struct Config {
#define REMEDE_PARAMETER(type, name, value, limits, group, help) type name = value;
#include "remede/train/parameters.def"
#undef REMEDE_PARAMETER
  bool operator==(const Config&) const = default;
};

// One line of parameters.def, for code that lists, reads or writes all of them.
struct HyperParameter {
  std::string_view name;              // as the field: rate_index. The flag is --rate-index
  std::string_view group;             // heading
  std::string_view help;              // one line
  std::string_view words;             // the choices, separated by |; empty if there are none
  std::string_view placeholder;       // of its value in help texts: the choices, "N", "LIST", "COLUMN", "TIME"
  std::string (*range)();             // "0 .. 12" or "add, blend"
  std::string (*get)(const Config&);  // as text; "auto" where nothing is given
  void (*set)(Config&, std::string_view text);  // throws Error naming the flag when the text is not in range

  std::string flag() const;  // "--rate-index"
  // Whether the user set it: it differs from its default.
  bool given(const Config& config) const { return get(config) != get(Config()); }
  bool is_switch() const { return words == "no|yes" && get(Config()) == "no"; }  // a flag without a value
  bool saved() const { return group != "Machine"; }     // whether it belongs in a model file and in a checkpoint,
  bool of_device() const { return group == "Device"; }  // there only where it is not the default, and free to change
};

std::span<const HyperParameter> hyper_parameters();

// Throws Error when a value is out of its range, two values contradict each other, or one that was given could have no
// effect beside the others (effects.h).
void check(const Config& config);

// The saved hyper-parameters by name, as text that set() reads back to the same bits.
std::vector<std::pair<std::string, std::string>> settings(const Config& config);
// Throws Error naming `where` for a name or value it does not know.
Config config_from_settings(std::span<const std::pair<std::string, std::string>> settings, const std::string& where);

// What trains its starts. REQUIRES: the device is not auto.
Device device_of(const Config& config);

bool without_memory(const Config& config);  // every start has no cells

// `base` with what the configuration fixes.
LeafForm fixed_by(const Config& config, LeafForm base);
GradientForm fixed_by(const Config& config, GradientForm base);

// docs/parameters.md.
std::string parameters_page();

}  // namespace remede
