// Those who do jobs of a fit elsewhere: other ranks (executor/mpi), the workers of a Dask cluster (python/), threads in
// the tests. A job and its answer are bytes. What a job answers depends on its bytes and on the data and settings that
// both sides have, so a job may be done anywhere, in any order, and more than once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remede {

// One thread at a time may call it.
class Peers {
 public:
  struct Answer {
    std::uint64_t number = 0;  // of the job
    std::string bytes;
  };

  virtual ~Peers() = default;

  // Called when a fit begins, with what both sides must have in common: settings and a fingerprint of the data.
  virtual void begin(const std::string& fit) = 0;
  // How many jobs can run elsewhere at once; 0 before anybody is ready.
  virtual std::size_t hands() = 0;
  // Whether a job can be sent now, to begin at once.
  virtual bool free() = 0;
  // Returns the number of the job. REQUIRES: free().
  virtual std::uint64_t send(std::string job) = 0;
  // An answer, in any order; nothing when `wait` has passed. Throws Error when a peer is lost or a job has failed.
  virtual std::optional<Answer> receive(std::chrono::milliseconds wait) = 0;
  // Jobs sent so far are not wanted any more: they may end early, and may answer or not.
  virtual void cancel() = 0;
  // Whether the process that sends jobs does some itself.
  virtual bool works_here() const { return true; }

  // Where each process holds a part of the data, a job is for one of them. They are numbered from 1; this one is 0.
  virtual std::size_t others() const { return 0; }
  // Like send(), but also to one that is busy. REQUIRES: 1 <= process <= others().
  virtual std::uint64_t send_to(std::size_t process, const std::string& job);
  // Why nobody answers any more, or empty.
  virtual std::string lost() { return {}; }

  // What went over the wire, for those who measure.
  struct Traffic {
    std::uint64_t jobs = 0, sent = 0, received = 0;  // bytes
  };
  const Traffic& traffic() const { return traffic_; }

 protected:
  void note_sent(std::size_t bytes) {
    ++traffic_.jobs;
    traffic_.sent += bytes;
  }
  void note_received(std::size_t bytes) { traffic_.received += bytes; }

 private:
  Traffic traffic_;
};

// Items that can be worked on independently, here or elsewhere.
struct SharedWork {
  std::size_t count = 0;
  std::function<void(std::size_t item, int worker)> here;              // from any thread, as parallel_for() does
  std::function<std::string(std::size_t item)> job;                    // the same work as bytes,
  std::function<void(std::size_t item, std::string_view bytes)> take;  // and its answer; from any thread
  std::function<double(std::size_t item)> cost = {};  // in any unit: the largest go first; empty: all alike
  std::function<bool()> stop = {};  // what is not answered then is done here; `here` asks it, too, and is quick
};

// The answers of all processes to one job, in their order; `here` is the answer of this one, worked out meanwhile.
// Nothing where `stop` says so or a process is lost. `peers` may be null: then this process is the only one.
std::optional<std::vector<std::string>> ask_all(Peers* peers, const std::string& job,
                                                const std::function<std::string()>& here,
                                                const std::function<bool()>& stop = {});

// Every item once. Without peers this is parallel_for(). The result must not depend on who does what.
void share(const SharedWork& work, int threads, Peers* peers);

}  // namespace remede
