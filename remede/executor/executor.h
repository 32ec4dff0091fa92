// The interface between training and the hardware: it holds the data, loaded once, and advances starts on them. A start
// is its parameters, its optimiser, its random numbers and its memory carried between windows; clipping, averaging,
// shrinkage and noise on the inputs are all behind this interface. Nothing is handed over for a single batch, so that a
// device with memory of its own, or another machine, fits behind it as well.
//
// What a start does depends on its plan and its data alone: not on the other starts, on how updates are cut into calls,
// or on threads. An executor may run starts in any order and at the same time; those of equal shape are what a device
// runs side by side. One that keeps their state itself takes it by Trainer::save() and gives it back by load(), which
// are exact.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "remede/executor/trainer.h"

namespace remede {

enum class Device : std::uint8_t { kCpu, kPlain, kGpu };

// Asked after every update: true ends the call early.
using Pause = std::function<bool()>;

// How long a start took from one validation to the next, and for the validation.
struct StretchTime {
  double update_seconds = 0;
  std::uint64_t updates = 0;
  double validation_seconds = 0;
};

struct Round {
  std::uint64_t updates = 0;  // of every start
  std::size_t in_any_case =
      0;  // so many of the first starts make an update and are validated even where `stop` says so
  Pause stop;
  std::function<void(const StretchTime&)> measured;  // called after every validation, from any thread
};

class Executor {
 public:
  virtual ~Executor() = default;

  // A new start on data set number `data`, of those the executor was made with. From any thread.
  virtual std::unique_ptr<Trainer> start(const StartPlan& plan, std::size_t data) = 0;

  // Every start makes `updates` mini-batch updates; a lost start makes none.
  virtual void advance(std::span<Trainer* const> starts, std::uint64_t updates, const Pause& pause = {}) = 0;

  // The loss of every start on all of its validation data, added to its curves. Lost starts are passed over.
  virtual void validate(std::span<Trainer* const> starts) = 0;

  // Updates with as many validations as the plans say, evenly spread. The same as advance() and validate() in turn, but
  // starts need not wait for one another.
  virtual void round(std::span<Trainer* const> starts, const Round& round) = 0;

  // What the user should know about how starts ran, one line; empty where there is nothing to say.
  virtual std::string note() const { return {}; }
};

// kCpu: the vector kernels. kPlain: the readable form of the formulas, in double; slow, and what all others are held
// to. kGpu: a GPU (executor/cuda); throws Error where none can be used. The data must outlive the executor. threads: 0
// is all of the machine's; they do not change the result.
std::unique_ptr<Executor> make_executor(Device device, std::vector<const TrainingData*> data, int threads);

}  // namespace remede
