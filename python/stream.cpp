// Live sequences from Python: one, or a pool of many. The answer is an object that exists already or one float.
#include "remede/stream/stream.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/arrays.h"
#include "python/bindings.h"
#include "python/steps.h"
#include "remede/base/error.h"
#include "remede/model/checksum.h"
#include "remede/model/predict.h"
#include "remede/stream/pool.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

nb::object as_tuple(std::span<const float> y) {
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(y.size()));
  for (std::size_t k = 0; k < y.size(); ++k)
    PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(k), PyFloat_FromDouble(static_cast<double>(y[k])));
  return nb::steal(tuple);
}

// What a stream and a pool share: the model, which they keep alive, and how steps are read and answered.
class Live {
 public:
  // names: columns of a step; answers: an object per class, empty in regression.
  Live(nb::object model, std::vector<std::string> names, nb::tuple answers)
      : owner(std::move(model)),
        model(nb::cast<const Model&>(owner)),
        names(std::move(names)),
        answers(std::move(answers)),
        reader(this->model, this->names) {}

  nb::object answer(std::span<const float> y) const {
    if (answers.size() > 0) return answers[static_cast<std::size_t>(arg_max(y))];
    if (y.size() == 1) return nb::steal(PyFloat_FromDouble(static_cast<double>(y[0])));
    return as_tuple(y);
  }

  nb::object owner;
  const Model& model;
  std::vector<std::string> names;
  nb::tuple answers;
  StepReader reader;
};

class LiveStream {
 public:
  LiveStream(nb::object model, std::vector<std::string> names, nb::tuple answers)
      : live_(std::move(model), std::move(names), std::move(answers)), stream_(live_.model) {}
  LiveStream(nb::object model, std::vector<std::string> names, nb::tuple answers, const nb::bytes& saved)
      : LiveStream(std::move(model), std::move(names), std::move(answers)) {
    restore(saved);
  }

  nb::object step(nb::handle x) { return live_.answer(advance(x)); }
  nb::object step_proba(nb::handle x) { return as_tuple(advance(x)); }
  void reset() {
    stream_.reset();
    last_ = kNoTime;
  }
  Stream& stream() { return stream_; }
  const Stream& stream() const { return stream_; }

  nb::bytes save() const {
    StateWriter writer;
    writer.raw(stream_.save());
    if (live_.reader.needs_time()) writer.real(last_);
    return nb::bytes(writer.bytes().data(), writer.bytes().size());
  }
  void restore(const nb::bytes& bytes) {
    std::string_view text(bytes.c_str(), bytes.size());
    double last = kNoTime;
    if (live_.reader.needs_time() && text.size() > sizeof last) {
      StateReader reader(text.substr(text.size() - sizeof last), "state");
      last = reader.real();
      text.remove_suffix(sizeof last);
    }
    stream_.restore(text);
    last_ = last;
  }
  nb::object fork() const {
    auto copy = std::make_unique<LiveStream>(live_.owner, live_.names, live_.answers);
    copy->stream_.set_state(stream_.state());
    copy->last_ = last_;
    return nb::cast(copy.release(), nb::rv_policy::take_ownership);
  }
  nb::tuple reduce() const {
    return nb::make_tuple(nb::type<LiveStream>(), nb::make_tuple(live_.owner, live_.names, live_.answers, save()));
  }

 private:
  std::span<const float> advance(nb::handle x) {
    double now = kNoTime;
    const std::span<const float> row = live_.reader.read(x, last_, now);
    const std::span<const float> y = stream_.step(row);
    last_ = now;
    return y;
  }

  Live live_;
  Stream stream_;
  double last_ = kNoTime;
};

std::string id_text(nb::handle id) {
  const nb::object text = nb::steal(PyObject_Str(id.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  return nb::cast<std::string>(text);
}

class LivePool {
 public:
  LivePool(nb::object model, std::vector<std::string> names, nb::tuple answers, std::size_t most)
      : live_(std::move(model), std::move(names), std::move(answers)),
        checksum_(checksum(live_.model)),
        pool_(live_.model, most) {}
  LivePool(nb::object model, std::vector<std::string> names, nb::tuple answers, std::size_t most,
           const nb::bytes& saved)
      : LivePool(std::move(model), std::move(names), std::move(answers), most) {
    restore(saved);
  }

  nb::object step(nb::handle id, nb::handle x) { return live_.answer(advance(id, x)); }
  nb::object step_proba(nb::handle id, nb::handle x) { return as_tuple(advance(id, x)); }
  StreamPool& pool() { return pool_; }
  const StreamPool& pool() const { return pool_; }

  nb::bytes save() const {
    StateWriter writer;
    writer.raw("RMP\x01");
    writer.number(checksum_, 8);
    pool_.save(writer);
    return nb::bytes(writer.bytes().data(), writer.bytes().size());
  }
  void restore(const nb::bytes& bytes) {
    StateReader reader({bytes.c_str(), bytes.size()}, "state");
    if (reader.raw(4) != "RMP\x01") fail("state: expected the bytes of a saved pool, got others");
    if (reader.number(8) != checksum_) fail("state: expected that of the same model, got that of another");
    StreamPool loaded(live_.model, pool_.most());
    loaded.load(reader);
    if (reader.left() != 0) reader.damaged();
    pool_ = std::move(loaded);
  }
  nb::tuple reduce() const {
    return nb::make_tuple(nb::type<LivePool>(),
                          nb::make_tuple(live_.owner, live_.names, live_.answers, pool_.most(), save()));
  }

 private:
  std::span<const float> advance(nb::handle id, nb::handle x) {
    const std::string text = id_text(id);
    const bool known = pool_.contains(text);
    double now = kNoTime;
    const double last = known ? pool_.time(pool_.find(text)) : kNoTime;
    const std::span<const float> row = live_.reader.read(x, last, now);  // a bad step makes no sequence
    const StreamPool::Slot slot = pool_.find(text);
    const std::span<const float> y = pool_.step(slot, row);
    pool_.set_time(slot, now);
    return y;
  }

  Live live_;
  std::uint64_t checksum_;
  StreamPool pool_;
};

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

void bind_pool(nb::module_& module) {
  nb::class_<LivePool>(module, "StreamPool",
                       "Many live sequences, each with an id. Beyond `most` the least recently used one is forgotten.\n"
                       "Use a pool from one thread at a time; it can be pickled.")
      .def(nb::init<nb::object, std::vector<std::string>, nb::tuple, std::size_t>(), nb::arg("model"), nb::arg("names"),
           nb::arg("answers"), nb::arg("most"))
      .def(nb::init<nb::object, std::vector<std::string>, nb::tuple, std::size_t, const nb::bytes&>(), nb::arg("model"),
           nb::arg("names"), nb::arg("answers"), nb::arg("most"), nb::arg("saved"))
      .def("step", &LivePool::step, nb::arg("id"), nb::arg("x"),
           nb::sig("def step(self, id: object, x: object) -> typing.Any"),
           "The next step of sequence `id`, as Stream.step. A new id begins a sequence.")
      .def("step_proba", &LivePool::step_proba, nb::arg("id"), nb::arg("x"),
           nb::sig("def step_proba(self, id: object, x: object) -> tuple[float, ...]"),
           "The next step of sequence `id`, as Stream.step_proba.")
      .def(
          "forget", [](LivePool& p, nb::handle id) { return p.pool().forget(id_text(id)); }, nb::arg("id"),
          "Forgets a sequence: its next step is a first step. Returns False if the id is unknown.")
      .def_prop_ro(
          "ids", [](const LivePool& p) { return p.pool().ids(); }, "The ids as strings, the least recently used first.")
      .def_prop_ro(
          "evicted", [](const LivePool& p) { return p.pool().evicted(); },
          "The number of sequences that were forgotten because the pool was full.")
      .def("__len__", [](const LivePool& p) { return p.pool().size(); })
      .def("__contains__", [](const LivePool& p, nb::handle id) { return p.pool().contains(id_text(id)); })
      .def("save", &LivePool::save, "All sequences as bytes.")
      .def("restore", &LivePool::restore, nb::arg("bytes"),
           "Restores the bytes of save() of the same model; replaces all sequences.")
      .def("__reduce__", &LivePool::reduce);
}

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<LiveStream>(module, "Stream",
                         "One live sequence. `step(x)` takes one step's inputs (a dict by the names of the columns, or "
                         "a list, a tuple, an\n"
                         "array or a number in their order; None or NaN where a value is missing, texts for columns of "
                         "words) and gives the\n"
                         "answer at once: the class, or the value. Its memory is `state`: a few numbers that can be "
                         "saved and set again. Use\n"
                         "one stream per sequence, and from one thread at a time; it can be pickled.")
      .def(nb::init<nb::object, std::vector<std::string>, nb::tuple>(), nb::arg("model"), nb::arg("names"),
           nb::arg("answers"))
      .def(nb::init<nb::object, std::vector<std::string>, nb::tuple, const nb::bytes&>(), nb::arg("model"),
           nb::arg("names"), nb::arg("answers"), nb::arg("saved"))
      .def("step", &LiveStream::step, nb::arg("x"), nb::sig("def step(self, x: object) -> typing.Any"),
           "The next step: the class, the value, or a tuple if there are several values.")
      .def("step_proba", &LiveStream::step_proba, nb::arg("x"),
           nb::sig("def step_proba(self, x: object) -> tuple[float, ...]"),
           "The next step: a tuple with the probability of each class (in regression: the values).")
      .def("reset", &LiveStream::reset, "Clears the memory: the next step is a first step.")
      .def("fork", &LiveStream::fork, nb::sig("def fork(self) -> Stream"), "A copy of the stream with the same memory.")
      .def("save", &LiveStream::save, "The memory as bytes, for restore() of a stream of the same model.")
      .def("restore", &LiveStream::restore, nb::arg("bytes"), "Restores the memory from the bytes of save().")
      .def("__reduce__", &LiveStream::reduce)
      .def_prop_ro(
          "leaves",
          [](const LiveStream& s) { return std::vector<int>(s.stream().leaves().begin(), s.stream().leaves().end()); },
          "The leaf that each tree reached in the last step.")
      .def_prop_rw(
          "state", [](const LiveStream& s) { return to_numpy(copy(s.stream().state()), {s.stream().state().size()}); },
          [](LiveStream& s, const Vector<float>& state) {
            s.stream().set_state({state.data(), state.shape(0)});
          },
          nb::rv_policy::automatic, "The memory between steps, as an array of float32.");
  bind_pool(module);
}

}  // namespace remede::python
