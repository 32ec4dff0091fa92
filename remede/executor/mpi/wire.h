// Messages between ranks: bytes with a tag. Nothing here waits for the other side. From any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <thread>

#include <mpi.h>

namespace remede {

enum Tag : int {
  kReady,   // to rank 0: how many jobs at once, and of what fit
  kJob,     // from rank 0: number, bytes
  kAnswer,  // to rank 0: number, bytes
  kCancel,  // from rank 0: jobs up to this number
  kQuit,    // from rank 0
  kLeft,    // to rank 0, after kQuit: the last message
  kAlive,   // to rank 0, again and again
  kFailed,  // to rank 0: why
};

struct Message {
  int rank = 0;
  int tag = 0;
  std::string bytes;
};

class Wire {
 public:
  void send(int rank, Tag tag, std::string bytes);
  std::optional<Message> receive();  // nothing where none has come
  void progress();                   // of what is being sent
  bool idle();
  // Sends what is left, for at most so long.
  void flush(std::chrono::milliseconds most);

 private:
  struct Sending {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void progress_locked();

  std::mutex mutex_;  // of MPI and of what follows
  std::list<Sending> sending_;
};

// Calls `work` again and again from a thread of its own, so often, until it is destroyed.
class Repeat {
 public:
  Repeat(std::chrono::milliseconds pause, std::function<void()> work);
  ~Repeat();
  Repeat(const Repeat&) = delete;
  Repeat& operator=(const Repeat&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread thread_;
};

// Sleeps longer and longer while nothing happens: an idle rank takes no processor from others.
class Nap {
 public:
  void reset() { length_ = kShortest; }
  std::chrono::microseconds next();

 private:
  static constexpr std::chrono::microseconds kShortest{20}, kLongest{1000};
  std::chrono::microseconds length_ = kShortest;
};

}  // namespace remede
