// A fit that is shared with threads behind a wire of a given latency and bandwidth: what bench/cluster.py fits its cost
// model to, and checks it against.
//   shared_fit DATA.csv STARTS jobs [UPDATES]
// prints every job (map, kind, CPU seconds, bytes there, bytes back), then the CPU seconds that are not shared;
//   shared_fit DATA.csv STARTS run LATENCY_MS MB_PER_S [UPDATES]
// prints the seconds with one thread behind the wire, which does all jobs, and the traffic. UPDATES: at most, of a
// start.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/model/file.h"
#include "remede/train/fit.h"
#include "remede/train/helper.h"
#include "tests/support/thread_peers.h"

namespace remede {
namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct DoneJob {
  int kind = 0;
  double seconds = 0;
  std::size_t there = 0, back = 0;
};

void list_jobs(const Dataset& data, const Config& config) {
  Helper helper(data, nullptr, config);
  std::mutex mutex;
  std::vector<DoneJob> done;
  double in_jobs = 0;
  testing::ThreadPeers peers(
      1,
      [&](std::string_view job, const std::function<bool()>& stop) {
        const double began = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        std::string answer = helper.run(job, stop);
        const std::lock_guard lock(mutex);
        done.push_back({job[0], cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - began, job.size(), answer.size()});
        in_jobs += done.back().seconds;
        return answer;
      },
      false);
  peers.ahead = 1000000;  // all jobs of a map are sent before the first is answered
  Callbacks callbacks;
  callbacks.peers = &peers;
  const double began = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  fit(data, nullptr, config, callbacks);
  const double all = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - began;
  const std::vector<std::size_t>& maps = peers.maps();
  std::size_t at = 0;
  for (std::size_t m = 0; m < maps.size(); ++m)
    for (std::size_t i = 0; i < maps[m]; ++i, ++at)
      std::printf("%zu %d %.6f %zu %zu\n", m, done[at].kind, done[at].seconds, done[at].there, done[at].back);
  std::printf("serial %.6f\n", all - in_jobs);
}

void run_behind_wire(const Dataset& data, const Config& config, double latency_ms, double mb_per_s) {
  Helper helper(data, nullptr, config);
  testing::ThreadPeers peers(
      1, [&](std::string_view job, const std::function<bool()>& stop) { return helper.run(job, stop); }, false);
  peers.latency = std::chrono::microseconds(static_cast<long>(1000 * latency_ms));
  peers.bytes_per_second = 1e6 * mb_per_s;
  Callbacks callbacks;
  callbacks.peers = &peers;
  const Clock::time_point began = Clock::now();
  fit(data, nullptr, config, callbacks);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::printf("%.3f %llu %llu %llu\n", seconds, static_cast<unsigned long long>(peers.traffic().jobs),
              static_cast<unsigned long long>(peers.traffic().sent),
              static_cast<unsigned long long>(peers.traffic().received));
}

}  // namespace
}  // namespace remede

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const remede::Dataset data = remede::read_dataset(argv[1], {});
  remede::Config config;
  config.starts = std::atoi(argv[2]);
  config.threads = 1;
  const int needed = std::string(argv[3]) == "jobs" ? 4 : 6;
  if (argc > needed) config.updates = std::atoi(argv[needed]);
  if (needed == 4)
    remede::list_jobs(data, config);
  else if (argc >= needed)
    remede::run_behind_wire(data, config, std::atof(argv[4]), std::atof(argv[5]));
  return 0;
}
