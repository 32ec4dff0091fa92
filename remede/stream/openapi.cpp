// The description of what RowService answers, for programs that make clients from it.
#include <string>

#include <nlohmann/json.hpp>

#include "remede/stream/service.h"

namespace remede {
namespace {

using ApiJson = nlohmann::ordered_json;

ApiJson content(const char* type, ApiJson schema) {
  ApiJson json;
  json[type]["schema"] = std::move(schema);
  return json;
}

ApiJson reference(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

ApiJson list_of(ApiJson schema) { return {{"type", "array"}, {"items", std::move(schema)}}; }

ApiJson types(std::initializer_list<const char*> names) {
  ApiJson list = ApiJson::array();
  for (const char* const name : names) list.push_back(name);
  return {{"type", list}};
}

ApiJson response(const char* words, ApiJson schema) {
  return {{"description", words}, {"content", content("application/json", std::move(schema))}};
}

ApiJson row_schema(const LineSession& session) {
  ApiJson properties = ApiJson::object(), required = ApiJson::array();
  const auto add = [&](const std::string& name, ApiJson schema) {
    properties[name] = std::move(schema);
    required.push_back(name);
  };
  if (!session.id_column().empty()) add(session.id_column(), types({"string", "number"}));
  if (!session.time_column().empty()) add(session.time_column(), types({"string", "number"}));
  for (std::size_t c = 0; c < session.columns().size(); ++c)
    add(session.columns()[c],
        session.reads_words(c) ? types({"string", "number", "boolean", "null"}) : types({"number", "string", "null"}));
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

ApiJson answer_schema(const Model& model, const LineSession& session) {
  ApiJson properties = ApiJson::object();
  if (!session.id_column().empty()) properties[session.id_column()] = types({"string", "number"});
  if (!session.time_column().empty()) properties[session.time_column()] = types({"string", "number"});
  const ApiJson numbers = {{"type", "object"}, {"additionalProperties", types({"number", "null"})}};
  if (model.classifies()) {
    properties["prediction"] = {{"type", "string"}, {"enum", model.schema.classes}};
    properties["probabilities"] = numbers;
  } else if (!model.objective().quantiles.empty()) {
    properties["prediction"] = types({"number", "null"});
    properties["quantiles"] = numbers;
  } else {
    properties["prediction"] = model.n_y() == 1 ? types({"number", "null"}) : numbers;
  }
  return {{"type", "object"}, {"properties", properties}, {"required", {"prediction"}}};
}

ApiJson predict_path() {
  const ApiJson row = reference("Row"), answer = reference("Answer");
  ApiJson accepted = content("application/json", {{"oneOf", {row, list_of(row)}}});
  accepted["application/x-ndjson"]["schema"] = {{"type", "string"}, {"description", "a row per line"}};
  ApiJson answered = content("application/json", {{"oneOf", {answer, list_of(answer)}}});
  answered["application/x-ndjson"]["schema"] = {{"type", "string"}, {"description", "an answer per line"}};
  const ApiJson error = reference("Error");
  return {{"summary", "The next step of a sequence, or of several"},
          {"operationId", "predict"},
          {"requestBody", {{"required", true}, {"content", accepted}}},
          {"responses",
           {{"200", {{"description", "An answer per row, in their order"}, {"content", answered}}},
            {"400", response("A malformed row; it changed nothing", error)},
            {"413", response("More than 16 MiB", error)},
            {"415", response("Another type or encoding of content", error)}}}};
}

ApiJson query(const char* name, const char* words, ApiJson schema, bool required) {
  return {
      {"name", name}, {"in", "query"}, {"description", words}, {"required", required}, {"schema", std::move(schema)}};
}

ApiJson get_path(const char* summary, const char* name, const char* words) {
  return {
      {"get",
       {{"summary", summary}, {"operationId", name}, {"responses", {{"200", response(words, {{"type", "object"}})}}}}}};
}

}  // namespace

std::string RowService::openapi(const std::string& version) const {
  const ApiJson error = {{"type", "object"},
                         {"properties",
                          {{"error", {{"type", "string"}}},
                           {"row", {{"type", "integer"}, {"description", "of a batch, from 0"}}},
                           {"answers", list_of(reference("Answer"))}}},
                         {"required", {"error"}}};
  ApiJson paths;
  paths["/predict"]["post"] = predict_path();
  paths["/status"] = get_path("Rows, malformed rows and sequences so far", "status", "Counts");
  paths["/recent"] =
      get_path("The last rows with inputs, memory and outputs", "recent", "The number of the last row, and rows");
  paths["/recent"]["get"]["parameters"] = ApiJson::array(
      {query("after", "rows after the one with this number", {{"type", "integer"}, {"minimum", 0}}, false)});
  paths["/sequence"]["delete"] = {
      {"summary", "Forget a sequence: its next row is its first"},
      {"operationId", "forget"},
      {"parameters", ApiJson::array({query("id", "of the sequence", {{"type", "string"}}, true)})},
      {"responses",
       {{"200", response("Forgotten", {{"type", "object"}})},
        {"404", response("No such sequence", reference("Error"))}}}};
  const ApiJson json = {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "remede serve"},
        {"version", version},
        {"description", "Predictions of a tree with memory, row by row."}}},
      {"paths", paths},
      {"components",
       {{"schemas", {{"Row", row_schema(session_)}, {"Answer", answer_schema(model_, session_)}, {"Error", error}}}}}};
  return json.dump(2, ' ', false, ApiJson::error_handler_t::replace) + "\n";
}

}  // namespace remede
