// All exports by their words: the files that each consists of.
#pragma once

#include <string>
#include <vector>

#include "remede/model/model.h"

namespace remede {

inline const std::vector<std::string> kExportWords = {"c", "cpp", "onnx"};

struct ExportedFile {
  std::string name;  // without a folder
  std::string bytes;
};

// Throws Error where `to` is none of kExportWords, or `name` no identifier.
std::vector<ExportedFile> exported_files(const Model& model, const std::string& to, const std::string& name);

// Makes the folder where it is missing and writes the files, all or none; gives their paths.
std::vector<std::string> write_exported(const std::vector<ExportedFile>& files, const std::string& folder);

}  // namespace remede
