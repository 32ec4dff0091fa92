#include "cli/train_frontier.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/tables.h"
#include "remede/draw/text.h"
#include "remede/model/file.h"
#include "remede/pages/frontier.h"
#include "remede/simplify/simplify.h"

namespace remede {
namespace {

constexpr std::size_t kMostRows = 12;
constexpr double kRowsApart = 1.15;  // times as many numbers

bool classifies(const Fit& fit) { return fit.model.schema.task == Task::kClassification; }

double score_of(const FrontierPoint& point, bool classes) {
  return classes ? point.validation.accuracy : point.validation.rmse;
}

// The rows that are printed: sizes well apart, the smallest, the saved and the best always.
std::vector<const FrontierPoint*> printed_points(const std::vector<FrontierPoint>& points) {
  double apart = kRowsApart;
  for (;; apart *= 1.1) {
    std::vector<const FrontierPoint*> rows;
    for (const FrontierPoint& p : points) {
      const bool always = p.chosen || &p == &points.front() || &p == &points.back();
      const auto last = rows.empty() ? 0.0 : static_cast<double>(rows.back()->size.numbers);
      if (always || static_cast<double>(p.size.numbers) >= apart * last) rows.push_back(&p);
    }
    if (rows.size() <= kMostRows) return rows;
  }
}

std::string frontier_json(const std::vector<FrontierRow>& rows, const std::string& why, bool classes) {
  nlohmann::ordered_json j;
  j["score"] = classes ? "accuracy" : "RMSE";
  j["reason"] = why;
  for (const FrontierRow& row : rows)
    j["models"].push_back({{"file", row.file},
                           {"numbers", row.size.numbers},
                           {"cells", row.size.cells},
                           {"splits", row.size.splits},
                           {"score", row.score},
                           {"standard_error", row.standard_error},
                           {"saved", row.saved}});
  return j.dump(2) + "\n";
}

}  // namespace

std::string frontier_table(const Fit& fit) {
  if (fit.frontier.points.size() < 2) return "";
  const bool classes = classifies(fit);
  TableRows rows = {{"", "numbers", "cells", "splits", classes ? "accuracy" : "RMSE", "standard error"}};
  for (const FrontierPoint* p : printed_points(fit.frontier.points)) {
    const double score = score_of(*p, classes);
    rows.push_back({p->chosen ? "*" : "", std::to_string(p->size.numbers), std::to_string(p->size.cells),
                    std::to_string(p->size.splits),
                    classes ? fmt::format("{:.4f}", score) : fmt::format("{:.5g}", score),
                    classes ? fmt::format("{:.4f}", p->standard_error) : fmt::format("{:.2g}", p->standard_error)});
  }
  return "the best model of each size, on validation data:\n" + table(rows, "  ") +
         fmt::format("* saved: {}\n", fit.frontier.why);
}

void make_frontier_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("{}: cannot make the folder: {}", folder, error.message());
  const AtomicFile probe((std::filesystem::path(folder) / "index.html").string());
}

bool is_frontier_file(const std::string& folder, const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = file.filename().string();
  const bool taken =
      name == "index.html" || name == "frontier.json" || (name.starts_with("model-") && name.ends_with(".json"));
  std::error_code error;
  const std::filesystem::path parent = file.parent_path().empty() ? std::filesystem::path(".") : file.parent_path();
  return taken && std::filesystem::equivalent(parent, folder, error) && !error;
}

void save_frontier(const Fit& fit, const std::string& folder) {
  const bool classes = classifies(fit);
  std::vector<FrontierRow> rows;
  for (const FrontierPoint& p : fit.frontier.points) {
    const Model model = without_unused_inputs(p.chosen ? fit.model : p.model);
    FrontierRow row;
    row.size = p.size;
    row.score = score_of(p, classes);
    row.standard_error = p.standard_error;
    row.saved = p.chosen;
    row.file = fmt::format("model-{:04}.json", p.size.numbers);
    row.words = to_text(model, {});
    save_model(model, (std::filesystem::path(folder) / row.file).string());
    rows.push_back(std::move(row));
  }
  if (rows.empty())
    fail("--frontier: expected models of several sizes, got one: the options given leave no choice of size");
  write_file((std::filesystem::path(folder) / "frontier.json").string(),
             frontier_json(rows, fit.frontier.why, classes));
  FrontierPageOptions options;
  options.title = fmt::format("{}: models of all sizes", fmt::join(fit.model.schema.targets, ", "));
  options.score_name = classes ? "accuracy" : "RMSE";
  options.share = classes;
  options.why = fit.frontier.why;
  write_file((std::filesystem::path(folder) / "index.html").string(), frontier_page(rows, options));
}

}  // namespace remede
