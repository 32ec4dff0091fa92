// The processes that mpirun started. Rank 0 fits, and sends jobs to the others; they do nothing of their own accord.
// Builds without MPI have a stub (stub.cpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "remede/executor/remote/peers.h"

namespace remede {

// What a job answers; `stop` is asked often, and true ends it early.
using DoJob = std::function<std::string(std::string_view job, const std::function<bool()>& stop)>;

// From join_ranks() on, Ctrl-C and SIGTERM do not end ranks other than 0: they end when rank 0 does, or within seconds.
// The destructor is the end of the run for all ranks.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;

  // Rank 0. It lives as long as this.
  virtual Peers& peers() = 0;
  // Rank 0: the end comes early, by a signal. The others are not waited for.
  virtual void leave() = 0;
  // Rank 0, from any thread: why the run must end, where a rank was lost; else empty. The fit must be stopped then:
  // nobody answers any more.
  virtual std::string lost() = 0;
  // Rank 0: ends the other ranks and waits until each has answered. Throws Error where one is silent for too long.
  virtual void end() = 0;

  // Other ranks: does jobs until rank 0 has no more, `threads` of them at once (0: all of the machine's). `fit`: what
  // rank 0 must have said to Peers::begin().
  virtual void serve(const std::string& fit, int threads, const DoJob& work) = 0;
  // Other ranks: this one cannot take part. Rank 0 says so, and all end. Returns whether rank 0 heard it.
  virtual bool fail_all(const std::string& why) = 0;
};

// Nothing where the process is alone. Throws Error where mpirun started several and this build has no MPI.
std::unique_ptr<Ranks> join_ranks();

// The rank that the environment names, before MPI is asked; 0 without mpirun.
int launched_rank();
// How many processes mpirun started, as far as the environment tells; 1 without mpirun.
int launched_count();

}  // namespace remede
