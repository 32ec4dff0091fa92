// remede describe DATA: how a data file is interpreted.
#include "remede/data/describe.h"

#include <memory>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/draw/description.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct DescribeFlags {
  std::string data;
  Roles roles;
  bool json = false;
};

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

RawDataset read_or_survey(const DescribeFlags& flags) {
  Rereadable data(flags.data);
  try {
    return read_raw(data.open(), flags.roles);
  } catch (const Error& error) {
    const Survey s = survey(data.open(), flags.roles.format);
    if (!s.columns.empty()) put(flags.json ? survey_json(s, error.what()) : survey_text(s));
    throw;
  }
}

void describe_file(DescribeFlags flags) {
  flags.roles.need_target = false;
  const RawDataset raw = read_or_survey(flags);
  const Description d = describe(raw, flags.roles);
  if (flags.json) {
    put(description_json(d));
  } else {
    show_notes(flags.data, raw.data);
    put(description_text(d));
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
