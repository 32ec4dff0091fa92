// All exports by their words: the files that each consists of.
#pragma once

#include <string>
#include <vector>

#include "remede/export/fixed.h"
#include "remede/model/model.h"

namespace remede {

inline const std::vector<std::string> kExportWords = {"c", "cpp", "onnx", "c-q15", "c-q31"};

struct ExportedFile {
  std::string name;  // without a folder
  std::string bytes;
};

// What an export in fixed point (c-q15, c-q31) needs: data like those it will meet, and for how many steps its bound is
// stated.
struct FixedNeeds {
  const Sequences* data = nullptr;
  int steps = kFixedSteps;
};

// Throws Error where `to` is none of kExportWords, or `name` no identifier, or where data are missing.
std::vector<ExportedFile> exported_files(const Model& model, const std::string& to, const std::string& name,
                                         const FixedNeeds& needs = {});

// Makes the folder where it is missing and writes the files, all or none; gives their paths.
std::vector<std::string> write_exported(const std::vector<ExportedFile>& files, const std::string& folder);

}  // namespace remede
