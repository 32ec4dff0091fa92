#include "remede/pages/live.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/text.h"
#include "remede/draw/text.h"
#include "remede/pages/web.h"

namespace remede {

std::string live_page(const Model& model, const std::vector<std::string>& cells) {
  using Json = nlohmann::ordered_json;
  std::vector<std::string> outputs = model.classifies() ? model.schema.classes : model.schema.targets;
  while (outputs.size() < static_cast<std::size_t>(model.n_y()))  // quantiles
    outputs.push_back(fmt::format("output {}", outputs.size() + 1));
  const Json names = {
      {"inputs", model.schema.inputs}, {"cells", cells}, {"outputs", outputs}, {"classifies", model.classifies()}};
  return filled_page("live.html", {{"title", xml_escaped(title_text(model))},
                                   {"names", script_safe(names.dump(-1, ' ', false, Json::error_handler_t::replace))}});
}

}  // namespace remede
