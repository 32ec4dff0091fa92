// Starts in the device's memory: taken from their trainers, advanced there, and brought back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
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
  Buffer fill, continues, quantiles, scale;
  Batches judged;  // all validation data
  Buffer judged_entries, judged_chunks;
};

// A shape with what the kernels read of it.
struct LoadedShape {
  DeviceShape shape;
  Buffer slot, units;
};

// Shapes that were asked for before are not made again.
class Shapes {
 public:
  const LoadedShape& get(const StartPlan& plan, int targets);

 private:
  struct Known {
    Shape shape;
    GradientForm form;
    int targets = 0;
    std::unique_ptr<LoadedShape> loaded;
  };
  std::vector<Known> known_;
};

struct Member {
  Trainer* trainer = nullptr;
  const FitData* data = nullptr;
  const LoadedShape* shape = nullptr;
};

// A description with everything that does not change from launch to launch.
Start describe(const Member& member);
std::size_t scratch_floats(const Member& member);  // that a start needs beside its state
std::size_t state_floats(const Member& member);

class Crew {
 public:
  // Copies the state of the starts to the device.
  Crew(std::vector<Member> members, int threads);

  // Plans the next updates of every start, as many as `updates` says for it, and begins to copy the plan to the device.
  // May run while an earlier launch does: there is room for two plans.
  void plan(std::span<const std::uint64_t> updates);
  void launch();  // what was planned first
  void finish();  // waits for it, and tells the trainers
  // ASSIGNS the trainers' state from the device's.
  void bring_back();

 private:
  struct Planned {
    Batches batches;
    std::vector<Update> updates;
  };
  // A launch: all batches, and where those of each start begin.
  struct Plan {
    std::vector<std::uint64_t> count;  // (starts) updates
    std::vector<std::size_t> first;    // (starts) update
    Pinned host_entries, host_chunks, host_updates;
    Buffer entries, chunks, updates;
  };
  Planned planned(const Member& member, std::uint64_t updates) const;
  std::vector<Start> described(const Plan& plan) const;

  std::vector<Member> members_;
  int threads_;
  std::vector<float> image_;           // of the state
  std::vector<std::size_t> state_at_;  // (starts) where each begins in it
  std::vector<std::size_t> scratch_at_;
  Buffer state_, scratch_, starts_, totals_, noise_;
  Plan plans_[2];
  int next_ = 0;     // to be planned
  int running_ = 0;  // or the next to be launched
  Streams streams_;
};

// The losses of the starts' averaged parameters on their validation data.
std::vector<BatchLoss> validation_losses(std::span<const Member> members);

}  // namespace remede::cuda
