// remede export MODEL --to c -o FOLDER: the model as a program of its own.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/export/c.h"
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
  bool quiet = false;
};

using ExportedFiles = std::vector<std::pair<std::string, std::string>>;  // names and contents

ExportedFiles exported_files(const Model& model, const std::string& to, const std::string& name) {
  if (to == "cpp") return {{name + ".hpp", to_cpp(model, name)}};
  CProgram program = to_c(model, name);
  return {{name + ".h", std::move(program.header)}, {name + ".c", std::move(program.source)}};
}

std::string name_of(const ExportFlags& flags) {
  if (!flags.name.empty()) return flags.name;
  return as_identifier(std::filesystem::path(flags.model).stem().string());
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder))
    fail("{}: expected a folder, or a place where one can be made{}", folder, error ? ", got: " + error.message() : "");
}

void export_model(const ExportFlags& flags) {
  if (flags.folder.empty()) throw UsageError("export: --output: expected the name of a folder, got ''");
  const Model model = load_model(flags.model);
  const ExportedFiles files = exported_files(model, flags.to, name_of(flags));
  make_folder(flags.folder);
  const auto path = [&](const std::string& name) { return (std::filesystem::path(flags.folder) / name).string(); };
  std::vector<NamedFile> written;
  for (const auto& [name, bytes] : files) written.push_back({name, path(name)});
  expect_separate_files({{"the model", flags.model}}, written);
  std::vector<std::unique_ptr<AtomicFile>> open;  // all are written before the first takes its name
  for (const auto& [name, bytes] : files) {
    open.push_back(std::make_unique<AtomicFile>(path(name)));
    open.back()->write(bytes);
  }
  for (const auto& file : open) file->commit();
  if (flags.quiet) return;
  for (const auto& [name, bytes] : files) print("saved: {}\n", path(name));
}

}  // namespace

void add_export(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("export", "Write a model as a program of its own");
  const auto flags = std::make_shared<ExportFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->required()->type_name("MODEL"));
  verb->add_option("--to", flags->to, "c: C99, NAME.h and NAME.c; cpp: a constexpr header for C++20, NAME.hpp")
      ->required()
      ->type_name("LANGUAGE")
      ->check(one_of({"c", "cpp"}));
  verb->add_option("-o,--output", flags->folder, "Folder to write into; it is made where it is missing")
      ->required()
      ->type_name("FOLDER");
  verb->add_option("--name", flags->name,
                   "Name of the files and before all names in them (default: from the name of the model file)")
      ->type_name("NAME");
  add_quiet_flag(*verb, flags->quiet);
  verb->footer(
      "The program gives the same answers as remede, bit for bit, and needs neither heap nor libm (docs/deploy.md).\n"
      "Examples:\n"
      "  remede export model.json --to c -o firmware           firmware/model.h and firmware/model.c\n"
      "  remede export model.json --to cpp -o src --name pump  src/pump.hpp");
  on_run(*verb, [flags] { export_model(*flags); });
}

}  // namespace remede
