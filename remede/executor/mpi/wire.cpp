#include "remede/executor/mpi/wire.h"

#include <algorithm>
#include <limits>
#include <thread>

#include "remede/base/error.h"

namespace remede {

void Wire::send(int rank, Tag tag, std::string bytes) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail("expected at most 2 GiB in a message to rank {}, got {} bytes", rank, bytes.size());
  const std::lock_guard lock(mutex_);
  Sending& sending = sending_.emplace_back();
  sending.bytes = std::move(bytes);
  MPI_Isend(sending.bytes.data(), static_cast<int>(sending.bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD,
            &sending.request);
}

void Wire::progress() {
  const std::lock_guard lock(mutex_);
  progress_locked();
}

bool Wire::idle() {
  const std::lock_guard lock(mutex_);
  return sending_.empty();
}

void Wire::progress_locked() {
  for (auto at = sending_.begin(); at != sending_.end();) {
    int done = 0;
    MPI_Test(&at->request, &done, MPI_STATUS_IGNORE);
    at = done != 0 ? sending_.erase(at) : std::next(at);
  }
}

std::optional<Message> Wire::receive() {
  const std::lock_guard lock(mutex_);
  progress_locked();
  int there = 0;
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &handle, &status);
  if (there == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  Message message{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Mrecv(message.bytes.data(), size, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
  return message;
}

void Wire::flush(std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  for (progress(); !idle() && std::chrono::steady_clock::now() < end; progress())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Repeat::Repeat(std::chrono::milliseconds pause, std::function<void()> work)
    : thread_([this, pause, work = std::move(work)] {
        for (std::unique_lock lock(mutex_); !wake_.wait_for(lock, pause, [this] { return ending_; });) work();
      }) {}

Repeat::~Repeat() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::chrono::microseconds Nap::next() {
  const std::chrono::microseconds now = length_;
  length_ = std::min(2 * length_, kLongest);
  return now;
}

}  // namespace remede
