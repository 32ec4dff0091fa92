// A trained model: predictions, views, and the file.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/arrays.h"
#include "python/bindings.h"
#include "python/frame.h"
#include "remede/analysis/wording.h"
#include "remede/base/error.h"
#include "remede/draw/dot.h"
#include "remede/draw/svg.h"
#include "remede/draw/text.h"
#include "remede/draw/trace.h"
#include "remede/draw/tree_picture.h"
#include "remede/model/batch.h"
#include "remede/model/file.h"
#include "remede/model/names.h"
#include "remede/model/size.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

// REQUIRES: the data were read for this model.
auto predict_data(const Model& model, const Dataset& data, int threads) {
  Predictions said;
  {
    const nb::gil_scoped_release release;
    said = predict_batch(model, data.sequences, threads);
  }
  const std::size_t steps = data.sequences.steps();
  return std::make_pair(to_numpy(std::move(said.output), {steps, static_cast<std::size_t>(model.n_y())}),
                        to_numpy(std::move(said.leaf), {model.trees.size(), steps}));
}

// The columns that the model's inputs are made from, in the order of the inputs.
std::vector<std::string> columns_of(const Schema& schema) {
  std::vector<std::string> columns;
  for (const std::string& input : schema.inputs) {
    const InputCode* const code = schema.code_of(input);
    const std::string& column = code == nullptr ? input : code->column;
    const bool gap = code != nullptr && code->gap;
    if (!gap && std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
  }
  return columns;
}

// One sequence of data that has the model's inputs: as JSON, as a table and as SVG.
auto trace_views(const Model& model, const Dataset& data, std::size_t sequence) {
  if (sequence >= data.sequences.count())
    fail("expected a sequence below {}, got {}", data.sequences.count(), sequence);
  const Trace trace = remede::trace(model, data, sequence);
  return std::make_tuple(trace_json(model, trace), trace_table(model, trace), trace_svg(model, trace));
}

// The boxes of one tree and where they stand, for whoever draws it. Boxes come parents first; y grows downwards.
nb::list boxes(const Model& model, std::size_t tree) {
  if (tree >= model.trees.size()) fail("expected a tree below {}, got {}", model.trees.size(), tree);
  WordOptions options;
  options.symbols = true;
  const Wording words = make_wording(model, tree, options);
  const TreePicture picture = plan_tree(words, {});
  nb::list all;
  for (std::size_t i = 0; i < picture.cards.size(); ++i) {
    const View::Node& node = words.view.nodes[i];
    const Card& card = picture.cards[i];
    nb::list lines;
    for (const CardLine& line : card.lines)
      if (line.kind != CardLine::Kind::kBar) lines.append(line.text);
    nb::dict box;
    box["parent"] = node.parent;
    box["yes"] =
        node.parent >= 0 && words.view.nodes[static_cast<std::size_t>(node.parent)].right == static_cast<int>(i);
    box["leaf"] = node.is_leaf();
    box["asks_memory"] = !node.is_leaf() && words.is_cell(words.tree->feature[static_cast<std::size_t>(node.id)]);
    box["x"] = picture.layout.places[i].x;
    box["y"] = picture.layout.places[i].y;
    box["width"] = card.width;
    box["height"] = card.height;
    box["lines"] = lines;
    all.append(box);
  }
  return all;
}

std::string svg(const Model& model, bool heading) {
  SvgOptions options;
  options.heading = heading;
  return to_svg(model, options);
}

Model renamed(const Model& model, const std::vector<std::pair<std::string, std::string>>& names) {
  Model copy = model;
  rename_cells(copy, names);
  return copy;
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model", "Trees with memory and the words around them: what a model file holds.")
      .def_static("load", &load_model, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def_static(
          "from_json", [](const std::string& text) { return model_from_json(text, "model"); }, nb::arg("text"))
      .def("save", &save_model, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def("to_json", &to_json)
      .def("__getstate__", &to_json)
      .def("__setstate__",
           [](Model& self, const std::string& text) { new (&self) Model(model_from_json(text, "pickled model")); })
      .def(
          "read",
          [](const Model& m, const nb::list& tables, const RoleLines& roles, bool need_target) {
            return read_for(m.schema, tables, roles, need_target);
          },
          nb::arg("tables"), nb::arg("roles"), nb::arg("need_target"), "Tables, read for this model.")
      .def("predict", &predict_data, nb::arg("data"), nb::arg("threads") = 0,
           "Outputs (steps, n_y) and leaves (trees, steps).")
      .def("trace", &trace_views, nb::arg("data"), nb::arg("sequence"))
      .def("to_text", [](const Model& m) { return to_text(m); })
      .def("to_dot", [](const Model& m) { return to_dot(m); })
      .def("to_svg", &svg, nb::arg("heading") = true)
      .def("boxes", &boxes, nb::arg("tree") = 0)
      .def_prop_ro("objective", [](const Model& m) { return std::string(word_of(m.objective())); })
      .def_prop_ro("quantiles", [](const Model& m) { return m.objective().quantiles; })
      .def_prop_ro(
          "points",
          [](const Model& m) {
            std::vector<int> outputs;
            for (int k = 0; k < m.schema.n_y(); ++k) outputs.push_back(point_output(m.objective(), k));
            return outputs;
          },
          "The output that answers with one number, for every target.")
      .def("renamed", &renamed, nb::arg("names"), "A copy whose cells have these new names: pairs of old and new.")
      .def_prop_ro("cell_names",
                   [](const Model& m) {
                     std::vector<std::vector<std::string>> names;
                     for (const Tree& tree : m.trees) names.push_back(cell_names(m, tree));
                     return names;
                   })
      .def_prop_ro("size",
                   [](const Model& m) {
                     const Size size = size_of(m);
                     return std::make_tuple(size.numbers, size.cells, size.splits);
                   })
      .def_prop_ro("is_classifier", [](const Model& m) { return m.schema.task == Task::kClassification; })
      .def_prop_ro("inputs", [](const Model& m) { return m.schema.inputs; })
      .def_prop_ro("targets", [](const Model& m) { return m.schema.targets; })
      .def_prop_ro("classes", [](const Model& m) { return m.schema.classes; })
      .def_prop_ro("columns", [](const Model& m) { return columns_of(m.schema); })
      .def_prop_ro("reads_words", [](const Model& m) { return !m.schema.codes.empty(); })
      .def_prop_ro(
          "words", [](const Model& m) { return words_of_columns(m.schema); },
          "Columns of words, each with those it had.")
      .def_prop_ro("per_sequence", [](const Model& m) { return m.schema.target_per == TargetPer::kSequence; })
      .def_prop_ro("horizon", [](const Model& m) { return m.schema.horizon; })
      .def_prop_ro("time_gap", [](const Model& m) { return m.schema.time_gap; })
      .def_prop_ro("categorical", [](const Model& m) { return m.schema.categorical; })
      .def_prop_ro("ignore", [](const Model& m) { return m.schema.ignore; })
      .def_prop_ro("id", [](const Model& m) { return m.schema.id; })
      .def_prop_ro("time", [](const Model& m) { return m.schema.time; })
      .def_prop_ro("node_count", &Model::node_count)
      .def_prop_ro("tree_count", [](const Model& m) { return m.trees.size(); })
      .def_prop_ro("settings", [](const Model& m) { return m.training.settings; })
      .def_prop_ro("training_loss", [](const Model& m) { return m.training.training_loss; })
      .def_prop_ro("validation_loss", [](const Model& m) { return m.training.validation_loss; });
}

}  // namespace remede::python
