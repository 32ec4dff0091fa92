// A fit that is shared with processes that Python reaches, such as the workers of a Dask cluster: jobs go out through a
// function, answers come in through a method, and a Helper on the other side does the jobs.
#include "python/peers.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.h"
#include "remede/base/error.h"
#include "remede/train/helper.h"
#include "remede/train/travel.h"

namespace nb = nanobind;

namespace remede::python {
namespace {

nb::bytes to_python(const std::string& bytes) { return nb::bytes(bytes.data(), bytes.size()); }
std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// A helper and its own copy of the data.
class PythonHelper {
 public:
  PythonHelper(std::string_view training, std::optional<std::string_view> validation, const Settings& settings)
      : training_(dataset_of(training)) {
    if (validation) validation_ = dataset_of(*validation);
    helper_.emplace(training_, validation_ ? &*validation_ : nullptr, config_of(settings));
  }
  Helper& helper() { return *helper_; }

 private:
  static Dataset dataset_of(std::string_view bytes) {
    Dataset data;
    ByteReader from(bytes, "data");
    get_all(from, data);
    from.expect_end();
    return data;
  }

  Dataset training_;
  std::optional<Dataset> validation_;
  std::optional<Helper> helper_;
};

}  // namespace

PythonPeers::PythonPeers(nb::object submit, std::size_t hands) : submit_(std::move(submit)), hands_(hands) {}

void PythonPeers::begin(const std::string&) {}
std::size_t PythonPeers::hands() { return hands_; }
bool PythonPeers::free() { return sent_ - answered_ < kAhead * hands_; }

std::uint64_t PythonPeers::send(std::string job) {
  note_sent(job.size());
  ++sent_;
  const nb::gil_scoped_acquire acquire;
  submit_(sent_, to_python(job));
  return sent_;
}

std::optional<Peers::Answer> PythonPeers::receive(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait_for(lock, wait, [this] { return !answers_.empty() || !failure_.empty(); })) return std::nullopt;
  if (!failure_.empty()) throw Error(failure_);
  Answer answer = std::move(answers_.front());
  answers_.pop_front();
  ++answered_;
  note_received(answer.bytes.size());
  return answer;
}

void PythonPeers::answer(std::uint64_t number, std::string bytes) {
  const std::lock_guard lock(mutex_);
  answers_.push_back({number, std::move(bytes)});
  arrived_.notify_all();
}

void PythonPeers::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  failure_ = why.empty() ? "a job failed" : why;
  arrived_.notify_all();
}

void bind_peers(nb::module_& module) {
  nb::class_<PythonPeers>(module, "Peers", "Others who do jobs of a fit.")
      .def(nb::init<nb::object, std::size_t>(), nb::arg("submit"), nb::arg("hands"),
           "submit(number, job) is called for every job, from another thread; hands: how many can run at once.")
      .def(
          "answer",
          [](PythonPeers& peers, std::uint64_t number, const nb::bytes& bytes) {
            peers.answer(number, std::string(view_of(bytes)));
          },
          nb::arg("number"), nb::arg("answer"), "The answer of a job, in any order, from any thread.")
      .def("fail", &PythonPeers::fail, nb::arg("why"), "Ends the fit with an error.")
      .def("close", &PythonPeers::close, "Forgets `submit`, which may hold this.")
      .def("set_hands", &PythonPeers::set_hands, nb::arg("hands"))
      .def_prop_ro("traffic", [](const PythonPeers& peers) {
        const Peers::Traffic& t = peers.traffic();
        return std::vector<std::uint64_t>{t.jobs, t.sent, t.received};
      });
  nb::class_<PythonHelper>(module, "Helper", "Does jobs of a fit of the same data and settings.")
      .def(
          "__init__",
          [](PythonHelper* self, const nb::bytes& training, const std::optional<nb::bytes>& validation,
             const Settings& settings) {
            const std::string_view data = view_of(training);
            const auto held = validation ? std::optional(view_of(*validation)) : std::nullopt;
            const nb::gil_scoped_release release;
            new (self) PythonHelper(data, held, settings);
          },
          nb::arg("training"), nb::arg("validation").none(), nb::arg("settings"))
      .def(
          "run",
          [](PythonHelper& self, const nb::bytes& job) {
            std::string answer;
            {
              const std::string_view bytes = view_of(job);
              const nb::gil_scoped_release release;
              answer = self.helper().run(bytes, [] { return false; });
            }
            return to_python(answer);
          },
          nb::arg("job"), "The answer, as bytes. From any thread.");
  module.def(
      "data_bytes",
      [](const Dataset& data) {
        std::string bytes;
        {
          const nb::gil_scoped_release release;
          bytes = bytes_of(data);
        }
        return to_python(bytes);
      },
      nb::arg("data"), "What a fit reads of data, for a Helper.");
}

}  // namespace remede::python
