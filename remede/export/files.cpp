#include "remede/export/files.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/export/c.h"
#include "remede/export/onnx.h"

namespace remede {

std::vector<ExportedFile> exported_files(const Model& model, const std::string& to, const std::string& name,
                                         const FixedNeeds& needs) {
  if (to == "onnx") {
    OnnxModels models = to_onnx(model, name);
    return {{name + ".onnx", std::move(models.step)}, {name + "_sequence.onnx", std::move(models.sequence)}};
  }
  if (to == "cpp") return {{name + ".hpp", to_cpp(model, name)}};
  if (to == "c-q15" || to == "c-q31") {
    if (needs.data == nullptr || needs.data->steps() == 0)
      fail("export to {}: expected data, from which the ranges of values are taken, got none", to);
    const FixedType type = to == "c-q15" ? FixedType::kQ15 : FixedType::kQ31;
    CProgram program = to_fixed_c(model, name, type, fixed_ranges(model, *needs.data), needs.steps).program;
    return {{name + ".h", std::move(program.header)}, {name + ".c", std::move(program.source)}};
  }
  if (to != "c") fail("expected an export to {}, got {}", fmt::join(kExportWords, ", "), shown(to));
  CProgram program = to_c(model, name);
  return {{name + ".h", std::move(program.header)}, {name + ".c", std::move(program.source)}};
}

std::vector<std::string> write_exported(const std::vector<ExportedFile>& files, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder, error))
    fail("{}: expected a folder, or a path at which one can be created{}", folder,
         error ? ", got: " + error.message() : "");
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<AtomicFile>> open;  // all are written before the first takes its name
  for (const ExportedFile& file : files) {
    paths.push_back((std::filesystem::path(folder) / file.name).string());
    open.push_back(std::make_unique<AtomicFile>(paths.back()));
    open.back()->write(file.bytes);
  }
  for (const auto& file : open) file->commit();
  return paths;
}

}  // namespace remede
