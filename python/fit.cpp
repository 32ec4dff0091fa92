// Training. The fit runs on a thread of its own without the interpreter's lock; the calling thread waits, hands
// progress to Python and looks for Ctrl-C. What is delivered is delivered before training goes on, so that a callback
// that stops a fit stops it at the same place every time.
#include "remede/train/fit.h"

#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.h"
#include "python/peers.h"
#include "remede/analysis/importance.h"
#include "remede/base/error.h"
#include "remede/data/parts.h"
#include "remede/simplify/simplify.h"
#include "remede/train/adapt.h"
#include "remede/train/cross_validate.h"
#include "remede/train/prepare.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);  // for Ctrl-C

bool asks_to_stop(const nb::object& answer) {
  const int truth = PyObject_IsTrue(answer.ptr());
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

// A training thread and the thread that started it.
class Watch {
 public:
  // Called by the training thread: returns when the other has shown the progress to Python.
  void deliver(const Progress& progress) {
    std::unique_lock lock(mutex_);
    waiting_ = progress;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !waiting_; });
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }

  // Called by the starting thread, which holds the interpreter's lock. Returns when training has ended; throws nothing.
  void run(const nb::object& callback) {
    for (bool ended = false; !ended;) {
      std::optional<Progress> progress;
      {
        const nb::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kBetweenLooks, [&] { return waiting_ || ended_; });
        progress = waiting_;
        ended = ended_;
      }
      try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress && !callback.is_none() && asks_to_stop(callback(*progress))) stop_ = true;
      } catch (...) {
        stop_ = true;
        error_ = std::current_exception();  // the last one: of two Ctrl-C the second counts
        ++errors_;
      }
      if (progress) {
        const std::lock_guard lock(mutex_);
        waiting_.reset();
        changed_.notify_all();
      }
    }
  }
  int errors() const { return errors_; }
  std::exception_ptr error() const { return error_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Progress> waiting_;
  bool ended_ = false;
  std::atomic<bool> stop_ = false;
  std::exception_ptr error_;
  int errors_ = 0;
};

// What an argument of the estimators is called: scikit-learn's word, where it has one.
std::string python_name(const HyperParameter& p) {
  if (p.name == "seed") return "random_state";
  if (p.name == "threads") return "n_jobs";
  if (p.name == "numbers") return "max_numbers";
  return p.name == "class_weights" ? "class_weight" : std::string(p.name);
}

// Python says depth where the program says --depth.
std::string in_python(std::string message) {
  for (const HyperParameter& p : hyper_parameters()) {
    const std::string flag = p.flag();
    for (std::size_t at = message.find(flag); at != std::string::npos; at = message.find(flag, at)) {
      const std::size_t end = at + flag.size();
      const bool whole = end == message.size() ||
                         (message[end] != '-' && (std::isalnum(static_cast<unsigned char>(message[end])) == 0));
      if (whole) message.replace(at, flag.size(), python_name(p));
      at += 1;
    }
  }
  return message;
}

}  // namespace

Config config_of(const Settings& settings) {
  try {
    Config config;
    for (const auto& [name, text] : settings) {
      const HyperParameter* found = nullptr;
      for (const HyperParameter& p : hyper_parameters())
        if (p.name == name) found = &p;
      if (found == nullptr) fail("expected a hyper-parameter, got '{}'", name);
      found->set(config, text);
    }
    check(config);
    return config;
  } catch (const Error& error) {
    throw Error(in_python(error.what()));
  }
}

namespace {

// As Python sees one: what was raised while training ran, or None.
nb::object raised(const Watch& watch) {
  if (!watch.error()) return nb::none();
  try {
    std::rethrow_exception(watch.error());
  } catch (nb::python_error& error) {
    return nb::borrow(error.value());
  } catch (const std::exception& error) {
    return nb::module_::import_("builtins").attr("RuntimeError")(error.what());
  }
}

nb::dict score_of(const Fit& fit) {
  nb::dict score;
  const bool classes = fit.model.schema.task == Task::kClassification;
  if (classes) score["accuracy"] = fit.validation.accuracy;
  if (classes) score["log_loss"] = fit.validation.loss;
  if (!classes) score["rmse"] = fit.validation.rmse;
  if (!classes && fit.model.objective().loss != Loss::kSquaredError) score["loss"] = fit.validation.loss;
  score["sequences"] = fit.validation.sequences;
  score["targets"] = fit.validation.targets;
  score["held_out"] = fit.held_out;
  return score;
}

// As the model file records it, counts as whole numbers.
nb::dict test_score_of(const Fit& fit) {
  nb::dict score;
  for (const auto& [name, value] : fit.model.training.test)
    if (name == "sequences" || name == "targets") {
      score[name.c_str()] = static_cast<std::int64_t>(value);
    } else {
      score[name.c_str()] = value;
    }
  return score;
}

// Models of other sizes: each a model with its score and standard error on validation data.
nb::list frontier_of(const Fit& fit) {
  nb::list all;
  for (const FrontierPoint& p : fit.frontier.points) {
    nb::dict point;
    const bool classes = fit.model.schema.task == Task::kClassification;
    if (classes) point["accuracy"] = p.validation.accuracy;
    if (classes) point["log_loss"] = p.validation.loss;
    if (!classes) point["rmse"] = p.validation.rmse;
    point["standard_error"] = p.standard_error;
    point["sequences"] = p.validation.sequences;
    point["targets"] = p.validation.targets;
    point["held_out"] = fit.held_out;
    point["chosen"] = p.chosen;
    nb::list pair;
    pair.append(nb::cast(without_unused_inputs(p.chosen ? fit.model : p.model)));
    pair.append(point);
    all.append(pair);
  }
  return all;
}

// How much each input of the model matters on (a sample of) the training data, summed over the inputs that are made
// from one column: pairs of column and lost score.
std::vector<std::pair<std::string, double>> column_importances(const Model& model, const Dataset& training,
                                                               int threads) {
  ImportanceOptions options;
  options.most_steps = 10000;  // quick beside any training
  options.threads = threads;
  const std::vector<double> lost = input_importances(model, training.sequences, options);
  std::vector<std::pair<std::string, double>> all;
  for (std::size_t i = 0; i < lost.size(); ++i) {
    const InputCode* const code = model.schema.code_of(model.schema.inputs[i]);
    all.emplace_back(code == nullptr ? model.schema.inputs[i] : code->column, lost[i]);
  }
  return all;
}

// Runs `work` on a thread of its own while this one hands progress to Python. Returns what it threw.
template <typename Work>
std::exception_ptr run_watched(Watch& watch, const nb::object& callback, Work work) {
  std::exception_ptr failure;
  std::thread thread([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    watch.end();
  });
  watch.run(callback);
  thread.join();
  return failure;
}

[[noreturn]] void rethrow_in_python(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    throw Error(in_python(error.what()));
  }
}

// Returns what the fit left, or only what was raised where it left nothing.
nb::dict fit_data(const Dataset& training, const Dataset* validation, const Settings& settings,
                  const nb::object& callback, const Dataset* test, const Model* start, PythonPeers* peers) {
  const Config config = config_of(settings);
  Watch watch;
  Callbacks callbacks;
  callbacks.stop = [&] { return watch.stopped(); };
  callbacks.peers = peers;
  if (!callback.is_none()) callbacks.progress = [&](const Progress& p) { watch.deliver(p); };
  std::optional<Fit> found;
  std::vector<std::pair<std::string, double>> importances;
  const std::exception_ptr failure = run_watched(watch, callback, [&] {
    found = start != nullptr ? adapt(*start, training, validation, config, callbacks)
                             : fit(training, validation, config, callbacks);
    if (test != nullptr) score_on_test(*test, config.threads, *found);
    importances = column_importances(found->model, training, config.threads);
    if (config.simplify) found->model = without_unused_inputs(found->model);
  });
  nb::dict result;
  result["raised"] = raised(watch);
  result["interruptions"] = watch.errors();
  if (!found && watch.errors() == 0) rethrow_in_python(failure);
  if (!found) return result;
  result["score"] = score_of(*found);
  if (test != nullptr) result["test_score"] = test_score_of(*found);
  result["trained_nodes"] = found->trained_nodes;
  result["stopped"] = found->stopped;
  result["late"] = found->late;
  result["frontier"] = frontier_of(*found);
  result["importances"] = nb::cast(importances);
  result["frontier_reason"] = found->frontier.why;
  result["model"] = nb::cast(std::move(found->model));
  return result;
}

// The data of a fit: `raw` is used up.
Dataset encode_raw(RawDataset& raw, const Settings& settings, bool validation) {
  const Config config = config_of(settings);
  const nb::gil_scoped_release release;
  return encode_for_fit(std::move(raw), validation, config);
}

// A share for a test, drawn by the seed of the settings: what is left, and the test part.
std::pair<RawDataset, RawDataset> hold_out_part(const RawDataset& raw, double share, const Settings& settings) {
  const Config config = config_of(settings);
  const nb::gil_scoped_release release;
  try {
    TestParts parts = hold_out_test(raw, share, static_cast<std::uint64_t>(config.seed));
    return {std::move(parts.training), std::move(parts.test)};
  } catch (const Error& error) {
    const std::string message = error.what();
    throw Error(message.starts_with("--test") ? message.substr(2) : message);
  }
}

// The parts that `split` asks for, and whether a share was drawn. `raw` is used up.
std::tuple<Dataset, Dataset, bool> split_raw(RawDataset& raw, const std::string& by, const Settings& settings) {
  const Config config = config_of(settings);
  const nb::gil_scoped_release release;
  try {
    Parts parts = parts_of(std::move(raw), by, validation_fraction(config), static_cast<std::uint64_t>(config.seed));
    return {std::move(parts.training), std::move(parts.validation), parts.by_share};
  } catch (const Error& error) {
    const std::string message = error.what();
    throw Error(message.starts_with("--split") ? message.substr(2) : message);
  }
}

// The scores of every fold by name, as `remede cross-validate --json` gives them. `raw` is used up.
nb::dict cross_validate_data(RawDataset& raw, std::size_t folds, bool forward, const Settings& settings,
                             const nb::object& callback) {
  const Config config = config_of(settings);
  Watch watch;
  Callbacks callbacks;
  callbacks.stop = [&] { return watch.stopped(); };
  if (!callback.is_none()) callbacks.progress = [&](const Progress& p) { watch.deliver(p); };
  CrossValidation found;
  const std::exception_ptr failure = run_watched(watch, callback, [&] {
    const std::vector<Split> splits = make_folds(raw.data, {folds, forward}, static_cast<std::uint64_t>(config.seed));
    found = cross_validate(raw, splits, config, callbacks);
  });
  if (watch.error()) std::rethrow_exception(watch.error());
  if (failure) rethrow_in_python(failure);
  nb::dict scores, mean, sd;
  for (const FoldFigure& figure : found.figures()) {
    scores[figure.name.c_str()] = nb::cast(figure.values);
    mean[figure.name.c_str()] = figure.mean;
    sd[figure.name.c_str()] = figure.sd;
  }
  std::vector<int> nodes;
  for (const FoldResult& fold : found.folds) nodes.push_back(fold.nodes);
  nb::dict result;
  result["scores"] = scores;
  result["mean"] = mean;
  result["sd"] = sd;
  result["nodes"] = nb::cast(nodes);
  result["stopped"] = found.stopped;
  return result;
}

template <typename T>
struct PythonType {
  static constexpr bool kOptional = false;
  static constexpr const char* kName = std::is_same_v<T, bool>                 ? "bool"
                                       : std::is_same_v<T, Seconds>            ? "float | str"
                                       : std::is_same_v<T, ColumnNames>        ? "str | list[str]"
                                       : std::is_same_v<T, Recipe>             ? "str | dict[str, Any]"
                                       : std::is_enum_v<T>                     ? "str"
                                       : std::is_same_v<T, std::vector<float>> ? "list[float]"
                                       : std::is_floating_point_v<T>           ? "float"
                                                                               : "int";
};
template <typename T>
struct PythonType<std::optional<T>> {
  static constexpr bool kOptional = true;
  static constexpr const char* kName = PythonType<T>::kName;
};

struct TypedName {
  const char* type;
  bool optional;
};
constexpr TypedName kTypes[] = {
#define REMEDE_PARAMETER(type, name, value, limits, group, help) {PythonType<type>::kName, PythonType<type>::kOptional},
#include "remede/train/parameters.def"
#undef REMEDE_PARAMETER
};

nb::list parameters() {
  const Config defaults;
  const TypedName* typed = kTypes;
  nb::list all;
  for (const HyperParameter& p : hyper_parameters()) {
    nb::dict line;
    line["name"] = nb::cast(std::string(p.name));
    line["python_name"] = nb::cast(python_name(p));
    line["group"] = nb::cast(std::string(p.group));
    line["help"] = nb::cast(std::string(p.help));
    line["words"] = nb::cast(std::string(p.words));
    line["range"] = nb::cast(p.range());
    line["default"] = nb::cast(p.get(defaults));
    line["type"] = typed->type;
    line["optional"] = typed->optional;
    ++typed;
    all.append(line);
  }
  return all;
}

nb::dict default_rates() {
  const Rates rates = rates_of(Config());
  const char* const names[kGroups] = {"rate_index", "rate_threshold", "rate_output", "rate_gate",
                                      "rate_write", "rate_bias",      "rate_rate",   "rate_linear"};
  nb::dict all;
  for (std::size_t g = 0; g < kGroups; ++g) all[names[g]] = static_cast<double>(rates[g]);
  return all;
}

}  // namespace

void bind_fit(nb::module_& module) {
  nb::class_<Progress>(module, "Progress", "The progress of a fit, which callbacks receive.")
      .def_ro("done", &Progress::done, "Share of the budget, 0 to 1; a fit may end before it is 1.")
      .def_ro("updates", &Progress::updates, "Updates of the best start so far.")
      .def_ro("training_loss", &Progress::training_loss)
      .def_ro("validation_loss", &Progress::validation_loss)
      .def_ro("best_loss", &Progress::best_loss, "Lowest validation loss so far.")
      .def_ro("best_accuracy", &Progress::best_accuracy, "The accuracy at the lowest validation loss; 0 in regression.")
      .def_ro("phase", &Progress::phase);
  module.def(
      "recipe", [](const std::string& text) { return recipe_json(recipe_from_text(text, "recipe")); }, nb::arg("text"),
      "All fields of a recipe, as JSON.");
  module.def("default_rates", &default_rates, "The learning rates where none are given, by name.");
  module.def("parameters", &parameters, "Every hyper-parameter of training, as declared in C++.");
  module.def("encode", &encode_raw, nb::arg("raw"), nb::arg("settings"), nb::arg("validation"),
             "The data of a fit, with words as what they count as in the part that will not be held out.");
  module.def("hold_out_test", &hold_out_part, nb::arg("raw"), nb::arg("share"), nb::arg("settings"),
             "What is left to learn from, and a share of the sequences for a test.");
  module.def("split", &split_raw, nb::arg("raw"), nb::arg("by"), nb::arg("settings"),
             "The data to learn from, those to validate on, and whether a share was drawn.");
  module.def("cross_validate", &cross_validate_data, nb::arg("raw"), nb::arg("folds"), nb::arg("forward"),
             nb::arg("settings"), nb::arg("callback").none());
  module.def("fit", &fit_data, nb::arg("training"), nb::arg("validation").none(), nb::arg("settings"),
             nb::arg("callback").none(), nb::arg("test").none(), nb::arg("start").none(),
             nb::arg("peers").none() = nb::none());
}

}  // namespace remede::python
