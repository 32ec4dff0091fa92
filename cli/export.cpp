// remede export MODEL --to c -o FOLDER: the model as a program of its own.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/export/files.h"
#include "remede/export/names.h"
#include "remede/model/file.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct ExportFlags {
  std::string model;
  std::string to;
  std::string folder;
  std::string name;
  std::string data;
  int steps = 0;  // not given
  Roles roles;
  bool quiet = false;
};

std::string name_of(const ExportFlags& flags) {
  if (!flags.name.empty()) return flags.name;
  return as_identifier(std::filesystem::path(flags.model).stem().string());
}

void export_model(const ExportFlags& flags) {
  if (flags.folder.empty()) throw UsageError("export: --output: expected the name of a folder, got ''");
  const bool fixed = flags.to.starts_with("c-q");
  if (!fixed && (!flags.data.empty() || flags.steps > 0))
    throw UsageError(
        fmt::format("export: {} has no effect with --to {}", flags.data.empty() ? "--steps" : "--data", flags.to));
  if (fixed && flags.data.empty())
    throw UsageError(fmt::format("export: expected --data FILE with --to {}, got none", flags.to));
  const Model model = load_model(flags.model);
  Dataset data;
  FixedNeeds needs;
  if (fixed) {
    data = read_dataset(flags.data, model.schema, flags.roles, false);
    if (!flags.quiet) show_notes(flags.data, data);
    needs.data = &data.sequences;
    if (flags.steps > 0) needs.steps = flags.steps;
  }
  const std::vector<ExportedFile> files = exported_files(model, flags.to, name_of(flags), needs);
  std::vector<NamedFile> written;
  written.reserve(files.size());
  for (const ExportedFile& file : files)
    written.push_back({file.name, (std::filesystem::path(flags.folder) / file.name).string()});
  expect_separate_files({{"the model", flags.model}}, written);
  for (const std::string& path : write_exported(files, flags.folder))
    if (!flags.quiet) print("saved: {}\n", path);
}

}  // namespace

void add_export(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("export", "Write a model as a standalone program or an ONNX graph");
  const auto flags = std::make_shared<ExportFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->required()->type_name("MODEL"));
  verb->add_option(
          "--to", flags->to,
          "c: C99, NAME.h and NAME.c; cpp: a constexpr header for C++20, NAME.hpp; onnx: NAME.onnx for a step, "
          "NAME_sequence.onnx for a sequence; c-q15, c-q31: C99 in fixed point")
      ->required()
      ->type_name("LANGUAGE")
      ->check(one_of(kExportWords));
  verb->add_option("-o,--output", flags->folder, "Folder to write into; it is created if it does not exist")
      ->required()
      ->type_name("FOLDER");
  verb->add_option("--name", flags->name,
                   "Name of the files and prefix of all names in them (default: from the name of the model file)")
      ->type_name("NAME");
  reads_file(verb->add_option("--data", flags->data, "Fixed point: data with values such as the program will receive")
                 ->type_name("FILE"));
  verb->add_option("--steps", flags->steps,
                   "Fixed point: state the error bound for the first N steps of a sequence (default: 1000)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""));
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, false);
  verb->footer(
      "The program gives the same answers as remede, bit for bit, and needs neither heap nor libm (docs/deploy.md); in "
      "fixed\n"
      "point it states how much its answers may differ.\n"
      "Examples:\n"
      "  remede export model.json --to c -o firmware           firmware/model.h and firmware/model.c\n"
      "  remede export model.json --to cpp -o src --name pump  src/pump.hpp\n"
      "  remede export model.json --to c-q15 --data data.csv -o firmware");
  on_run(*verb, [flags] { export_model(*flags); });
}

}  // namespace remede
