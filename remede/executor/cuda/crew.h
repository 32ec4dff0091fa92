// Starts in the device's memory: taken from their trainers, advanced there, and brought back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "remede/base/error.h"
#include "remede/executor/cuda/data_set.h"
#include "remede/executor/cuda/shape.h"
#include "remede/executor/trainer.h"

namespace remede::cuda {

void expect_gpu();  // throws Error where there is none

// The GPU has too little free memory. What threw it has changed no start.
class TooLittleMemory : public Error {
 public:
  using Error::Error;
};

// The data of a fit, or of a fold, on the device, or in parts of it (DataSet).
struct FitData {
  FitData(const TrainingData& data, bool resident);

  const TrainingData* host;
  DataSet training, validation;
  DataForm form() const {
    return {host->training.n_y, training.missing() || validation.missing(), length_class(training.longest()),
            host->objective.loss};
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

// Sequences of one update at most.
std::size_t batch_of(const Member& member);
// Bytes of the data of one update at most, where they are loaded in parts; else 0.
std::size_t part_bytes(const Member& member);

// Where the batches of a start are in a launch.
struct PlannedStart {
  std::size_t entry = 0, entries = 0, chunk = 0, update = 0;  // the first of each; how many entries
  std::uint64_t updates = 0;
};

// A launch: all batches, each start's in a place that has room for the largest.
struct LaunchPlan {
  std::vector<PlannedStart> starts;
  Pinned host_entries, host_chunks, host_updates;
  Buffer entries, chunks, updates;
  std::map<const FitData*, DataPart> parts;
};

// Memory and queues that crews use one after the other: to get them takes longer than a few updates.
struct CrewMemory {
  Pinned image;  // of the state
  Buffer state, scratch, starts, totals, noise;
  Buffer judged_state, judged_starts, jobs, losses, judged_scratch;
  LaunchPlan plans[2];
  DataPart judged_part;
  Streams streams;
};

class Crew {
 public:
  // Copies the state of the starts to the device. `memory` is used by no other crew at the same time. May throw
  // TooLittleMemory.
  Crew(std::vector<Member> members, int threads, CrewMemory& memory);

  // Plans the next updates of every start, as many as `updates` says for it, and begins to copy the plan to the device.
  // May run while an earlier launch does: there is room for two plans.
  void plan(std::span<const std::uint64_t> updates);
  void launch();  // what was planned first
  void finish();  // waits for it, and tells the trainers
  // ASSIGNS the trainers' state from the device's.
  void bring_back();

 private:
  struct Piece {
    std::size_t begin, end;  // members
    std::size_t at, bytes;   // of the image
  };
  std::vector<Piece> pieces() const;
  void put_member(std::size_t i);  // into the image
  void get_member(std::size_t i);
  static void plan_start(const Member& member, LaunchPlan& plan, PlannedStart& place);
  void load_parts(LaunchPlan& plan);
  std::vector<Start> described(const LaunchPlan& plan) const;

  std::vector<Member> members_;
  int threads_;
  CrewMemory& memory_;
  std::vector<std::size_t> state_at_;  // (starts + 1) where each begins in the image
  std::vector<std::size_t> scratch_at_;
  int next_ = 0;     // plan to be made
  int running_ = 0;  // or the next to be launched
};

// The losses of the starts' averaged parameters on their validation data. part: bytes of data that are loaded at a
// time, where they are loaded in parts. May throw TooLittleMemory.
std::vector<BatchLoss> validation_losses(std::span<const Member> members, std::size_t part, CrewMemory& memory);

}  // namespace remede::cuda
