// What `remede stream` reads: rows of CSV or JSON, and saved states.
#include "remede/stream/lines.h"

#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "fuzz/harness.h"
#include "remede/stream/service.h"

namespace remede::fuzz {
namespace {

// A number, a word, yes and no, and the time since the step before; one cell.
Model model_of_lines() {
  Model model;
  Schema& schema = model.schema;
  schema.inputs = {"x", "wind = N", "on", "t_gap"};
  schema.codes = {{"wind = N", "wind", false, {"N"}, {1.0F}, 0.0F},
                  {"on", "on", false, {"no", "yes"}, {0.0F, 1.0F}, {}},
                  {"t_gap", "t", true, {}, {}, {}}};
  schema.targets = {"y"};
  schema.classes = {"a", "b"};
  schema.id = "id";
  schema.time = "t";
  model.fill = {0.0F, 0.0F, 0.0F, 0.0F};
  model.input_range = {{-1.0F, 1.0F}, {0.0F, 1.0F}, {0.0F, 1.0F}, {0.0F, 10.0F}};
  Tree tree;
  tree.n_x = 4;
  tree.n_m = 1;
  tree.n_y = 2;
  tree.feature = {4};
  tree.threshold = {0.5F};
  tree.missing_right = {1};
  tree.left = {~0};
  tree.right = {~1};
  tree.output = {0.0F, 1.0F, 1.0F, 0.0F};
  tree.gate = {1, 1};
  tree.write = {0.5F, 1.0F, -1.0F, 0.01F, -0.5F, 0.1F, 0.2F, 0.3F};
  model.trees = {tree};
  check(model, "model of lines");
  return model;
}

std::vector<std::string> cut_lines(std::string_view input) {
  std::vector<std::string> lines;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    lines.emplace_back(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return lines;
}

bool feed(LineSession& session, const std::string& line, std::string& out) {
  const LinePosition before = session.position();
  const std::size_t size = out.size();
  const bool good = session.add(line, line.size() + 1, out);
  const LinePosition after = session.position();
  require(after.lines == before.lines + 1 && after.bytes == before.bytes + line.size() + 1, "every line counts");
  require(after.malformed - before.malformed == (good ? 0U : 1U), "malformed lines are counted");
  require(good || (out.size() == size && !session.problem().empty()), "a malformed line is not answered");
  return good;
}

// As the body of a request: answered or refused, in JSON; what is refused as a whole changes nothing.
void ask(const Model& model, const std::string& body) {
  RowService service(model, {});
  for (const bool by_lines : {false, true}) {
    const ServiceReply reply = by_lines ? service.predict_lines(body) : service.predict(body);
    require(reply.status == 200 || reply.status == 400, "a request is answered or refused");
    if (by_lines && reply.status == 200) continue;
    const auto said = nlohmann::ordered_json::parse(reply.text, nullptr, false);
    require(!said.is_discarded(), "what is said is JSON");
    require(reply.status == 200 || said.contains("error"), "a refusal says why");
  }
  require(!nlohmann::ordered_json::parse(service.recent(0, 10).text, nullptr, false).is_discarded(),
          "recent rows are JSON");
}

}  // namespace

void lines(std::string_view input) {
  static const Model model = model_of_lines();
  ask(model, std::string(input));
  LineSession loaded(model, {});
  if (error_of([&] { loaded.load(input, "state"); }).empty()) {
    LineSession again(model, {});
    again.load(loaded.save(), "state");
    require(again.save() == loaded.save(), "a state round-trips");
  }
  const std::vector<std::string> rows = cut_lines(input);
  LineOptions options;
  options.watch = true;
  options.most_ids = 3;
  LineSession whole(model, options), first(model, options), second(model, options);
  std::string expected, got;
  const std::string error = error_of([&] {
    for (const std::string& row : rows) feed(whole, row, expected);
  });
  whole.watch()->take();
  if (!error.empty()) return;
  for (std::size_t i = 0; i < rows.size() / 2; ++i) feed(first, rows[i], got);
  second.load(first.save(), "state");
  for (std::size_t i = rows.size() / 2; i < rows.size(); ++i) feed(second, rows[i], got);
  require(got == expected, "the same answers from a saved state on");
}

}  // namespace remede::fuzz
