// The other side of a fit that is shared: does its jobs, in a process that has the same data and settings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "remede/data/dataset.h"
#include "remede/model/model.h"
#include "remede/train/config.h"
#include "remede/train/prepare.h"

namespace remede {

class Helper {
 public:
  // Prepares the data as fit() does. They must outlive it.
  Helper(const Dataset& training, const Dataset* validation, const Config& config, const Scaling* scaling = nullptr);
  ~Helper();

  // What Peers::begin() is given by a fit of the same data and settings.
  const std::string& fit() const;
  // The answer of a job; `stop` is asked often, and true ends it early. From any number of threads at the same time.
  // Throws Error for bytes that are no job of this fit.
  std::string run(std::string_view job, const std::function<bool()>& stop);

  const Prepared& prepared() const;                   // of the first fold
  const StartPlan& plan(std::uint64_t stream) const;  // of the start with this number; throws Error where there is none
  const Model& like() const;                          // a model of this fit without its trees

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace remede
