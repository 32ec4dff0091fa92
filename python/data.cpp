// Arrays in and out: numbers are copied once, into the packed form the library works on.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/arrays.h"
#include "python/bindings.h"
#include "python/codes.h"
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

Dataset make_data(const Matrix& x, const Offsets& offset, const Names& inputs, const std::string& id,
                  const std::string& time) {
  Dataset data;
  data.schema.inputs = inputs;
  data.schema.id = id;
  data.schema.time = time;
  data.sequences = pack(x, offset);
  if (data.schema.n_x() != data.sequences.n_x)
    fail("expected {} names of inputs, got {}", data.sequences.n_x, inputs.size());
  return data;
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

// REQUIRES of encode(): the column that an input is made from is there.
void expect_column(const RawDataset& raw, const Code& code, const std::string& input) {
  std::string column = input;
  for (const InputCode& c : code.codes) {
    if (c.input != input) continue;
    if (c.gap)
      fail(
          "expected inputs that are columns, got {}, which is made from the times between steps: use the program for "
          "this model",
          input);
    column = c.column;
  }
  for (const RawInput& there : raw.inputs)
    if (there.name == column) return;
  fail("expected the column {}, got none", column);
}

// Inputs whose list of words is not empty hold numbers of words; afterwards they are what the words count as: as in the
// code given, else as these data teach. Returns the code.
std::pair<Names, std::vector<PlainCode>> encode_words(
    Dataset& data, const std::vector<Names>& words,
    const std::optional<std::pair<Names, std::vector<PlainCode>>>& known) {
  if (words.size() != data.schema.inputs.size())
    fail("expected words for {} inputs, got {}", data.schema.inputs.size(), words.size());
  RawDataset raw;
  const Sequences& s = data.sequences;
  for (std::size_t i = 0; i < words.size(); ++i) {
    raw.inputs.push_back({data.schema.inputs[i], !words[i].empty(), false, words[i]});
    for (std::size_t t = 0; t < s.steps() && !words[i].empty(); ++t) {
      const float number = s.x[t * words.size() + i];
      if (number < 0.0F || number >= static_cast<float>(words[i].size()))
        fail("expected numbers of words below {}, got {}", words[i].size(), number);
    }
  }
  raw.data = std::move(data);
  Code code;
  if (known) {
    code = {known->first, from_plain(known->second)};
    for (const std::string& input : code.inputs) expect_column(raw, code, input);
  } else {
    code = learn_code(raw);
  }
  data = encode(std::move(raw), code);
  return {code.inputs, to_plain(code.codes)};
}

Texts texts_of(const Names& names) {
  Texts texts;
  for (const std::string& name : names) texts.push_back(name);
  return texts;
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

Sequences pack(const Matrix& x, const Offsets& offset) {
  Sequences s;
  s.n_x = static_cast<int>(x.shape(1));
  s.offset.assign(offset.data(), offset.data() + offset.shape(0));
  const bool rising = std::is_sorted(s.offset.begin(), s.offset.end());
  if (s.offset.empty() || s.offset.front() != 0 || !rising || s.steps() != x.shape(0))
    fail("expected offsets that rise from 0 to {}, got others", x.shape(0));
  s.x.assign(x.data(), x.data() + x.size());
  return s;
}

void bind_data(nb::module_& module) {
  nb::class_<Dataset>(module, "Data", "Sequences packed one after the other, and the words around them.")
      .def(nb::new_(&make_data), nb::arg("x"), nb::arg("offset"), nb::arg("inputs"), nb::arg("id") = "",
           nb::arg("time") = "")
      .def("set_labels", &set_labels, nb::arg("label"), nb::arg("weight"), nb::arg("target"), nb::arg("classes"),
           nb::arg("per_sequence") = false)
      .def("set_values", &set_values, nb::arg("value"), nb::arg("weight"), nb::arg("targets"),
           nb::arg("per_sequence") = false)
      .def("encode", &encode_words, nb::arg("words"), nb::arg("code").none())
      .def(
          "name_sequences", [](Dataset& d, const Names& ids) { d.ids = texts_of(ids); }, nb::arg("ids"))
      .def(
          "name_steps", [](Dataset& d, const Names& times) { d.times = texts_of(times); }, nb::arg("times"))
      .def_prop_ro("inputs", [](const Dataset& d) { return d.schema.inputs; })
      .def_prop_ro("classes", [](const Dataset& d) { return d.schema.classes; })
      .def_prop_ro("steps", [](const Dataset& d) { return d.sequences.steps(); })
      .def_prop_ro(
          "x",
          [](const Dataset& d) {
            return to_numpy(d.sequences.x, {d.sequences.steps(), static_cast<std::size_t>(d.sequences.n_x)});
          },
          kOwn)
      .def_prop_ro(
          "offset", [](const Dataset& d) { return to_numpy(d.sequences.offset, {d.sequences.offset.size()}); }, kOwn)
      .def_prop_ro(
          "label", [](const Dataset& d) { return to_numpy(d.sequences.label, {d.sequences.label.size()}); }, kOwn)
      .def_prop_ro(
          "value",
          [](const Dataset& d) {
            return to_numpy(d.sequences.value, {d.sequences.steps(), static_cast<std::size_t>(d.sequences.n_y)});
          },
          kOwn)
      .def_prop_ro(
          "weight", [](const Dataset& d) { return to_numpy(d.sequences.weight, {d.sequences.weight.size()}); }, kOwn);
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
