// Arrays in and out: numbers are copied once, into the packed form the library works on.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/arrays.h"
#include "python/bindings.h"
#include "python/frame.h"
#include "remede/base/error.h"
#include "remede/data/tasks.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

using Names = std::vector<std::string>;
constexpr auto kOwn =
    nb::rv_policy::automatic;  // an array owns its numbers; a property would else tie it to its object

void expect_steps(std::size_t got, std::size_t steps, const char* what) {
  if (got != steps) fail("expected {} {}, one per step, got {}", steps, what, got);
}

void set_labels(Dataset& data, const Vector<std::int32_t>& label, const Vector<float>& weight,
                const std::string& target, const Names& classes, bool per_sequence) {
  Sequences& s = data.sequences;
  data.schema.target_per = per_sequence ? TargetPer::kSequence : TargetPer::kStep;
  expect_steps(label.shape(0), s.steps(), "labels");
  expect_steps(weight.shape(0), s.steps(), "weights");
  data.schema.task = Task::kClassification;
  data.schema.targets = {target};
  data.schema.classes = classes;
  s.n_y = data.schema.n_y();
  s.label.assign(label.data(), label.data() + label.shape(0));
  s.weight.assign(weight.data(), weight.data() + weight.shape(0));
  for (const std::int32_t k : s.label)
    if (k < 0 || k >= s.n_y) fail("expected labels below {}, got {}", s.n_y, k);
}

void set_values(Dataset& data, const Matrix& value, const Vector<float>& weight, const Names& targets,
                bool per_sequence) {
  Sequences& s = data.sequences;
  data.schema.target_per = per_sequence ? TargetPer::kSequence : TargetPer::kStep;
  expect_steps(value.shape(0), s.steps(), "rows of values");
  expect_steps(weight.shape(0), s.steps(), "weights");
  if (value.shape(1) != targets.size()) fail("expected {} names of targets, got {}", value.shape(1), targets.size());
  data.schema.task = Task::kRegression;
  data.schema.targets = targets;
  s.n_y = data.schema.n_y();
  s.value.assign(value.data(), value.data() + value.size());
  s.weight.assign(weight.data(), weight.data() + weight.shape(0));
}

void multiply_weights(Dataset& data, const Vector<float>& weight) {
  Column<float>& weights = data.sequences.weight;
  expect_steps(weight.shape(0), data.sequences.steps(), "weights");
  for (std::size_t t = 0; t < weights.size(); ++t) weights[t] *= weight.data()[t];
}

RawDataset read_tables(const nb::list& tables, const RoleLines& lines, bool need_target, bool guess) {
  Roles roles = roles_of(lines, guess);
  roles.need_target = need_target;
  std::vector<TableSource> sources = sources_of(tables);
  const nb::gil_scoped_release release;
  return read_raw(std::move(sources), roles);
}

Dataset read_like(const Dataset& data, const nb::list& tables, const RoleLines& lines, bool need_target) {
  return read_for(data.schema, tables, lines, need_target);
}

Names names_of(const Texts& texts) {
  Names names;
  for (std::size_t i = 0; i < texts.size(); ++i) names.emplace_back(texts[i]);
  return names;
}

// The options of a task by their names in TaskOptions.
TaskOptions task_options(const nb::dict& options) {
  TaskOptions o;
  for (const auto& [key, value] : options) {
    const std::string name = nb::cast<std::string>(key);
    const auto whole = [&](auto& field) { field = nb::cast<std::remove_reference_t<decltype(field)>>(value); };
    if (name == "sequences")
      o.sequences = nb::cast<std::int64_t>(value);
    else if (name == "seed")
      whole(o.seed);
    else if (name == "delay")
      whole(o.delay);
    else if (name == "delay_min")
      whole(o.delay_min);
    else if (name == "delay_max")
      whole(o.delay_max);
    else if (name == "blocks")
      whole(o.blocks);
    else if (name == "block_length")
      whole(o.block_length);
    else if (name == "noise_mean")
      o.noise_mean = nb::cast<double>(value);
    else if (name == "noise_sd")
      o.noise_sd = nb::cast<double>(value);
    else if (name == "length_min")
      whole(o.length_min);
    else if (name == "length_max")
      whole(o.length_max);
    else
      fail("expected an option of a task, got '{}'", name);
  }
  return o;
}

}  // namespace

Dataset read_for(const Schema& schema, const nb::list& tables, const RoleLines& lines, bool need_target) {
  const Roles roles = roles_of(lines, false);
  std::vector<TableSource> sources = sources_of(tables);
  const nb::gil_scoped_release release;
  return encode(read_raw(std::move(sources), schema, roles, need_target), {schema.inputs, schema.codes});
}

WordsOfColumns words_of_columns(const Schema& schema) {
  WordsOfColumns words;
  for (const InputCode& code : schema.codes)
    if (!code.gap) words.emplace_back(code.column, code.words);
  return words;
}

// What Data and Raw have in common; `of` gives the data set.
template <typename Class, typename Of>
void define_data(Class& bound, Of of) {
  using T = typename Class::Type;
  bound
      .def(
          "set_labels",
          [of](T& d, const Vector<std::int32_t>& label, const Vector<float>& weight, const std::string& target,
               const Names& classes,
               bool per_sequence) { set_labels(of(d), label, weight, target, classes, per_sequence); },
          nb::arg("label"), nb::arg("weight"), nb::arg("target"), nb::arg("classes"), nb::arg("per_sequence") = false)
      .def(
          "set_values",
          [of](T& d, const Matrix& value, const Vector<float>& weight, const Names& targets, bool per_sequence) {
            set_values(of(d), value, weight, targets, per_sequence);
          },
          nb::arg("value"), nb::arg("weight"), nb::arg("targets"), nb::arg("per_sequence") = false)
      .def(
          "multiply_weights", [of](T& d, const Vector<float>& weight) { multiply_weights(of(d), weight); },
          nb::arg("weight"))
      .def(
          "rename",
          [of](T& d, const std::string& id, const std::string& time) {
            of(d).schema.id = id;
            of(d).schema.time = time;
          },
          nb::arg("id"), nb::arg("time"), "What the model will call the columns of ids and times.")
      .def_prop_ro("id", [of](T& d) { return of(d).schema.id; })
      .def_prop_ro("time", [of](T& d) { return of(d).schema.time; })
      .def_prop_ro("is_classifier", [of](T& d) { return of(d).schema.task == Task::kClassification; })
      .def_prop_ro("classes", [of](T& d) { return of(d).schema.classes; })
      .def_prop_ro("targets", [of](T& d) { return of(d).schema.targets; })
      .def_prop_ro("notes", [of](T& d) { return of(d).notes; })
      .def_prop_ro("ids", [of](T& d) { return names_of(of(d).ids); })
      .def_prop_ro("steps", [of](T& d) { return of(d).sequences.steps(); })
      .def(
          "add_unknown",
          [of](T& d, std::size_t count, double weight) {
            of(d).unknown.count += count;
            of(d).unknown.weight += weight;
          },
          nb::arg("count"), nb::arg("weight"), "Targets of classes that the model does not know.")
      .def_prop_ro("unknown_weight", [of](T& d) { return of(d).unknown.weight; })
      .def_prop_ro(
          "x",
          [of](T& d) {
            const Sequences& s = of(d).sequences;
            return to_numpy(s.x, {s.steps(), static_cast<std::size_t>(s.n_x)});
          },
          kOwn)
      .def_prop_ro(
          "offset", [of](T& d) { return to_numpy(of(d).sequences.offset, {of(d).sequences.offset.size()}); }, kOwn)
      .def_prop_ro(
          "row", [of](T& d) { return to_numpy(of(d).row, {of(d).row.size()}); }, kOwn, "(steps) The row of each step.")
      .def_prop_ro(
          "label", [of](T& d) { return to_numpy(of(d).sequences.label, {of(d).sequences.label.size()}); }, kOwn)
      .def_prop_ro(
          "value",
          [of](T& d) {
            const Sequences& s = of(d).sequences;
            const std::size_t width = s.value.empty() ? 1 : static_cast<std::size_t>(s.n_y);
            return to_numpy(s.value, {s.value.size() / width, width});
          },
          kOwn)
      .def_prop_ro(
          "weight", [of](T& d) { return to_numpy(of(d).sequences.weight, {of(d).sequences.weight.size()}); }, kOwn);
}

// Groups of sequences that must not be split between folds. code: (steps).
static void set_groups(RawDataset& raw, const Vector<std::int32_t>& code, const Names& names) {
  expect_steps(code.shape(0), raw.data.sequences.steps(), "groups");
  raw.data.group.assign(code.data(), code.data() + code.shape(0));
  raw.data.groups = names;
}

void bind_data(nb::module_& module) {
  nb::class_<Dataset> data(module, "Data", "Sequences packed one after the other, and the words around them.");
  define_data(data, [](Dataset& d) -> Dataset& { return d; });
  data.def("read_like", &read_like, nb::arg("tables"), nb::arg("roles"), nb::arg("need_target"),
           "Other tables, read for the inputs of these data.")
      .def(
          "encode_like",
          [](const Dataset& d, const RawDataset& raw) {
            return encode(raw, {d.schema.inputs, d.schema.codes});
          },
          nb::arg("raw"), "Other data, with words as what they count as in these.")
      .def_prop_ro("inputs", [](const Dataset& d) { return d.schema.inputs; })
      .def_prop_ro("words", [](const Dataset& d) { return words_of_columns(d.schema); });
  nb::class_<RawDataset> raw(module, "Raw", "Data as they were read: words are not numbers yet.");
  define_data(raw, [](RawDataset& r) -> Dataset& { return r.data; });
  raw.def("set_groups", &set_groups, nb::arg("code"), nb::arg("names"));
  raw.def(
         "select",
         [](const RawDataset& r, const Vector<std::uint32_t>& numbers) {
           return select(r, std::span(numbers.data(), numbers.shape(0)));
         },
         nb::arg("sequences"), "These sequences only; ids and rows are left behind.")
      .def_prop_ro(
          "columns",
          [](const RawDataset& r) {
            Names names;
            for (const RawInput& input : r.inputs)
              if (!input.gap) names.push_back(input.name);
            return names;
          },
          "The columns that inputs are made from.");
  module.def("read", &read_tables, nb::arg("tables"), nb::arg("roles"), nb::arg("need_target"),
             nb::arg("guess") = false, "Tables as the program reads files.");
  module.def(
      "generate",
      [](const std::string& task, const nb::dict& options) { return generate(task, task_options(options)); },
      nb::arg("task"), nb::arg("options"));
  module.def("tasks", [] {
    std::vector<std::string> names;
    for (const TaskInfo& task : tasks()) names.push_back(task.name);
    return names;
  });
}

}  // namespace remede::python
