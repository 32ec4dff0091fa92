// Starts in the device's memory: taken from their trainers, advanced there, and brought back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "remede/executor/cuda/data_set.h"
#include "remede/executor/cuda/shape.h"
#include "remede/executor/trainer.h"

namespace remede::cuda {

// The data of a fit, or of a fold, on the device.
struct FitData {
  explicit FitData(const TrainingData& data);

  const TrainingData* host;
  DataSet training, validation;
  DataForm form() const {
    return {host->training.n_y, training.missing() || validation.missing(), host->objective.loss};
  }
  Buffer fill, continues, quantiles, scale;
  Batches judged;  // all validation data
  Buffer judged_entries, judged_chunks;
};

// A shape with what the kernels read of it.
struct LoadedShape {
  DeviceShape shape;
  Buffer slot, units;
  const void* kernel = nullptr;  // compiled for it, or null
  bool stepwise() const { return kernel != nullptr && shape.step.threads > 0; }
};

// Shapes that were asked for before are not made again.
class Shapes {
 public:
  // Whether kernels are compiled for the shape of this start: where it shows so many steps that the second this takes
  // is little beside it. A matter of the plan and the data alone: other kernels may give other bits.
  static bool compiles(const StartPlan& plan, const FitData& data);

  LoadedShape& get(const StartPlan& plan, const FitData& data);
  // Compiles what get() gave and what has no kernel yet.
  void compile(int threads);
  const std::string& why_not() const { return why_not_; }  // no kernels could be compiled

 private:
  struct Known {
    Shape shape;
    GradientForm form;
    DataForm data;
    int batch = 0;  // class
    bool compiles = false;
    std::unique_ptr<LoadedShape> loaded;
  };
  std::vector<Known> known_;
  std::size_t compiled_ = 0;  // of them, the first so many
  std::string why_not_;
};

struct Member {
  Trainer* trainer = nullptr;
  const FitData* data = nullptr;
  const LoadedShape* shape = nullptr;
};

// How the batches of a start are cut.
DataSet::Cut cut_of(const DataSet& data, const LoadedShape& shape);
// Starts, by the kernel compiled for their shape or by one that takes any.
void advance(const LoadedShape& shape, const Start* starts, std::size_t count, void* stream);
// Floats beside the inputs with noise that a start needs for chunks of so many steps.
std::size_t scratch_floats(const LoadedShape& shape, std::size_t steps, std::size_t longest);
// Where that memory is.
void give_scratch(const LoadedShape& shape, std::size_t steps, float* scratch, Start& to);

// A description with everything that does not change from launch to launch.
Start describe(const Member& member);
std::size_t scratch_floats(const Member& member);  // that a start needs beside its state
std::size_t state_floats(const Member& member);

// The updates of one start in a launch.
struct PlannedStart {
  Batches batches;
  std::vector<Update> updates;
};

// A launch: all batches, and where those of each start begin.
struct LaunchPlan {
  std::vector<std::uint64_t> count;  // (starts) updates
  std::vector<std::size_t> first;    // (starts) update
  Pinned host_entries, host_chunks, host_updates;
  Buffer entries, chunks, updates;
};

// Memory and queues that crews use one after the other: to get them takes longer than a few updates.
struct CrewMemory {
  Pinned image;  // of the state
  Buffer state, scratch, starts, totals, noise;
  Buffer judged_state, judged_starts, jobs, losses, judged_scratch;
  std::vector<PlannedStart> planned;
  LaunchPlan plans[2];
  Streams streams;
};

class Crew {
 public:
  // Copies the state of the starts to the device. `memory` is used by no other crew at the same time.
  Crew(std::vector<Member> members, int threads, CrewMemory& memory);

  // Plans the next updates of every start, as many as `updates` says for it, and begins to copy the plan to the device.
  // May run while an earlier launch does: there is room for two plans.
  void plan(std::span<const std::uint64_t> updates);
  void launch();  // what was planned first
  void finish();  // waits for it, and tells the trainers
  // ASSIGNS the trainers' state from the device's.
  void bring_back();

 private:
  static void plan_start(const Member& member, std::uint64_t updates, PlannedStart& to);
  std::vector<Start> described(const LaunchPlan& plan) const;

  std::vector<Member> members_;
  int threads_;
  CrewMemory& memory_;
  std::vector<std::size_t> state_at_;  // (starts + 1) where each begins in the image
  std::vector<std::size_t> scratch_at_;
  int next_ = 0;     // plan to be made
  int running_ = 0;  // or the next to be launched
};

// The losses of the starts' averaged parameters on their validation data.
std::vector<BatchLoss> validation_losses(std::span<const Member> members, CrewMemory& memory);

}  // namespace remede::cuda
