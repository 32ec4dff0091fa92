// remede describe DATA: how a data file is interpreted.
#include "remede/data/describe.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/base/text.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

struct DescribeFlags {
  std::string data;
  Roles roles;
  bool json = false;
};

std::string share(std::size_t part, std::size_t whole) {
  if (part == 0) return "-";
  const double percentage = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return percentage < 0.1 ? "<0.1%" : fmt::format("{:.1f}%", percentage);
}

// Numbers: smallest, median, largest. Words: the most frequent, with their shares.
std::string values_text(const ColumnDescription& column, std::size_t steps) {
  constexpr std::size_t kMaxListedWords = 8;
  if (column.role == "id") return fmt::format("{} sequences", grouped(static_cast<long long>(column.distinct)));
  if (column.role == "time")
    return fmt::format("{} to {}", printable(column.words[0].first), printable(column.words[1].first));
  if (column.type == "number") {
    if (std::isnan(column.low)) return "no value";
    if (std::isnan(column.median)) return fmt::format("{:.6g} to {:.6g}", column.low, column.high);
    return fmt::format("{:.6g} to {:.6g}, median {:.6g}", column.low, column.high, column.median);
  }
  std::string text;
  const std::size_t there = steps - column.missing;
  for (std::size_t w = 0; w < std::min(kMaxListedWords, column.words.size()); ++w)
    text += fmt::format("{}{} {}", w == 0 ? "" : ", ", printable(column.words[w].first),
                        share(column.words[w].second, there));
  if (column.words.size() > kMaxListedWords) text += fmt::format(", {} more", column.words.size() - kMaxListedWords);
  return text;
}

std::string type_text(const ColumnDescription& column) {
  if (column.type == "category") return fmt::format("{} categories", column.distinct);
  if (column.type == "class") return fmt::format("{} classes", column.distinct);
  return column.type;
}

std::string columns_text(const Description& d) {
  std::vector<std::vector<std::string>> rows = {{"column", "role", "type", "missing", "values"}};
  for (const ColumnDescription& column : d.columns)
    rows.push_back({printable(column.name), column.role, type_text(column), share(column.missing, d.steps),
                    values_text(column, d.steps)});
  std::string text = '\n' + left_table(rows);
  if (!d.suggestions.empty()) text += '\n';
  for (const std::string& suggestion : d.suggestions) text += fmt::format("suggestion: {}\n", suggestion);
  return text;
}

std::string text_of(const Description& d) {
  const auto count = [](std::size_t n) { return grouped(static_cast<long long>(n)); };
  std::string text =
      fmt::format("{} sequence{}, {} steps", count(d.sequences), d.sequences == 1 ? "" : "s", count(d.steps));
  if (d.sequences > 1)
    text += fmt::format(" ({} to {} each, median {})", count(d.shortest), count(d.longest), count(d.median_length));
  text += '\n';
  if (d.has_target) {
    text += fmt::format("{}: {} steps with a target", d.task == Task::kClassification ? "classification" : "regression",
                        count(d.steps_with_target));
    if (d.sequences_with_one_target == d.sequences && d.sequences > 1 && d.longest > 1)
      text += ", one per sequence, at its last step";
    text += '\n';
  }
  return text + columns_text(d);
}

Json json_of(const Description& d) {
  Json json = {
      {"sequences", d.sequences},
      {"steps", d.steps},
      {"length", {{"shortest", d.shortest}, {"median", d.median_length}, {"longest", d.longest}}},
      {"task", !d.has_target ? Json(nullptr) : Json(d.task == Task::kClassification ? "classification" : "regression")},
      {"steps_with_target", d.steps_with_target},
      {"columns", Json::array()},
      {"notes", d.notes},
      {"suggestions", d.suggestions}};
  for (const ColumnDescription& c : d.columns) {
    Json column = {{"name", c.name}, {"role", c.role}, {"type", c.type}, {"missing", c.missing}};
    if (c.type == "number" && c.role != "time" && std::isfinite(c.median)) {
      column["low"] = c.low;
      column["median"] = c.median;
      column["high"] = c.high;
    }
    if (c.type == "class" || c.type == "category")
      for (const auto& [word, count] : c.words) column["counts"][word] = count;
    json["columns"].push_back(std::move(column));
  }
  return json;
}

// Standard input can be read once only, and may have to be read twice: what was read of it is kept.
class Rereadable {
 public:
  explicit Rereadable(std::string path) : path_(std::move(path)) {}

  // From the beginning, the second time, too. The first table must not be read any more then.
  std::vector<TableSource> open() {
    if (path_ != "-") return open_files(path_);
    if (!input_.read) input_ = open_bytes(path_);
    std::vector<TableSource> sources;
    sources.emplace_back(
        ByteSource{input_.name, input_.size, [this, at = std::size_t{0}](char* to, std::size_t room) mutable {
                     if (at == kept_.size()) {
                       const std::size_t got = input_.read(to, room);
                       kept_.append(to, got);
                       at += got;
                       return got;
                     }
                     const std::size_t n = kept_.copy(to, room, at);
                     at += n;
                     return n;
                   }});
    return sources;
  }

 private:
  std::string path_;
  ByteSource input_;
  std::string kept_;
};

// The words of a file may be any bytes.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

// What can be said where the data cannot be read as asked: every column, then the complaint.
void show_survey(const DescribeFlags& flags, const Survey& s, const std::string& complaint) {
  Description d;
  d.columns = s.columns;
  d.suggestions = s.suggestions;
  d.sequences = 0;
  d.steps = s.rows;
  if (flags.json) {
    Json json = json_of(d);
    for (const char* const unknown : {"sequences", "length", "task", "steps_with_target"}) json[unknown] = nullptr;
    json["error"] = complaint;
    put(text_of(json));
    return;
  }
  put(fmt::format("{} rows\n{}", grouped(static_cast<long long>(s.rows)), columns_text(d)));
}

RawDataset read_or_survey(const DescribeFlags& flags) {
  Rereadable data(flags.data);
  try {
    return read_raw(data.open(), flags.roles);
  } catch (const Error& error) {
    const Survey s = survey(data.open(), flags.roles.format);
    if (!s.columns.empty()) show_survey(flags, s, error.what());
    throw;
  }
}

void describe_file(DescribeFlags flags) {
  flags.roles.need_target = false;
  const RawDataset raw = read_or_survey(flags);
  const Description d = describe(raw, flags.roles);
  if (flags.json) {
    put(text_of(json_of(d)));
  } else {
    show_notes(flags.data, raw.data);
    put(text_of(d));
  }
  learn_code(raw);  // what cannot be trained is refused here, too
}

}  // namespace

void add_describe(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("describe", "Summarise how a data file is interpreted");
  const auto flags = std::make_shared<DescribeFlags>();
  reads_file(verb->add_option("data", flags->data,
                              "CSV or .ts file, optionally gzip or zstd compressed; 'data/*.csv' for several files")
                 ->type_name("DATA")
                 ->required());
  add_json_flag(*verb, flags->json);
  add_role_flags(*verb, flags->roles, true);
  verb->footer("Takes the same options for columns and formats as `remede train`.");
  on_run(*verb, [flags] { describe_file(*flags); });
}

}  // namespace remede
