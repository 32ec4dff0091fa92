// Work that is counted instead of timed, so that a search that must end in time ends at the same place on every
// machine.
#pragma once

namespace remede {

// A unit is about half a nanosecond on a core of a common machine. Not thread-safe.
class WorkLimit {
 public:
  explicit WorkLimit(double most) : left_(most) {}
  void spend(double units) { left_ -= units; }
  bool reached() const { return left_ <= 0; }

 private:
  double left_;
};

}  // namespace remede
