#include "remede/model/file.h"

#include "remede/base/file.h"
#include "remede/base/json.h"

namespace remede {

void save_model(const Model& model, const std::string& path) { write_file(path, to_json(model)); }

Model load_model(const std::string& path) {
  return model_from_json(read_json_file(path), path == "-" ? "standard input" : path);
}

}  // namespace remede
