// Peers that Python reaches.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "remede/executor/remote/peers.h"
#include "remede/train/config.h"

namespace remede::python {

using Settings = std::vector<std::pair<std::string, std::string>>;
Config config_of(const Settings& settings);  // in python/fit.cpp

class PythonPeers final : public Peers {
 public:
  PythonPeers(nanobind::object submit, std::size_t hands);

  void begin(const std::string& fit) override;
  std::size_t hands() override;
  bool free() override;
  std::uint64_t send(std::string job) override;
  std::optional<Answer> receive(std::chrono::milliseconds wait) override;
  void cancel() override {}
  bool works_here() const override { return false; }

  // From any thread.
  void answer(std::uint64_t number, std::string bytes);
  void fail(const std::string& why);
  void close() { submit_.reset(); }  // no more jobs; REQUIRES: the interpreter's lock
  void set_hands(std::size_t hands) { hands_ = hands; }

 private:
  static constexpr std::size_t kAhead = 2;  // jobs per hand on their way, so that nobody waits for the next

  nanobind::object submit_;
  std::atomic<std::size_t> hands_;
  std::uint64_t sent_ = 0, answered_ = 0;
  std::mutex mutex_;  // of what follows
  std::condition_variable arrived_;
  std::deque<Answer> answers_;
  std::string failure_;
};

}  // namespace remede::python
