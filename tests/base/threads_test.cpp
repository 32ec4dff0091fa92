#include "remede/base/threads.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "remede/base/error.h"

namespace remede {
namespace {

TEST(ParallelFor, RunsEveryTaskOnce) {
  for (const int threads : {0, 1, 2, 5, 64}) {
    std::vector<int> runs(1000);
    parallel_for(runs.size(), threads, [&](std::size_t i, int) { ++runs[i]; });
    EXPECT_EQ(runs, std::vector<int>(1000, 1)) << threads;
  }
  parallel_for(0, 4, [](std::size_t, int) { FAIL(); });
}

TEST(ParallelFor, WorkersHaveTheirOwnScratch) {
  const int threads = 4;
  std::vector<std::atomic<int>> busy(threads);
  std::atomic<bool> shared = false;
  parallel_for(500, threads, [&](std::size_t, int worker) {
    if (worker < 0 || worker >= threads || busy[static_cast<std::size_t>(worker)]++ != 0) shared = true;
    for (int spin = 0; spin < 1000; ++spin) busy[static_cast<std::size_t>(worker)].load();
    --busy[static_cast<std::size_t>(worker)];
  });
  EXPECT_FALSE(shared);
}

TEST(ParallelFor, AnExceptionComesBack) {
  for (const int threads : {1, 3}) {
    std::atomic<int> runs = 0;
    EXPECT_THROW(parallel_for(10000, threads,
                              [&](std::size_t i, int) {
                                ++runs;
                                if (i == 5) fail("expected {}", "this");
                              }),
                 Error);
    // With several threads the others may be through before the exception is thrown.
    if (threads == 1) {
      EXPECT_EQ(runs, 6) << "the rest is not run";
    }
  }
}

TEST(ParallelFor, ATaskMayCallItAgain) {
  std::vector<int> runs(64);
  parallel_for(8, 3, [&](std::size_t i, int) { parallel_for(8, 3, [&](std::size_t k, int) { ++runs[i * 8 + k]; }); });
  EXPECT_EQ(runs, std::vector<int>(64, 1));
}

TEST(ParallelFor, ManyShortJobsAndChangingNumbersOfThreads) {
  for (int job = 0; job < 3000; ++job) {
    std::vector<int> runs(7);
    parallel_for(runs.size(), 1 + job % 4, [&](std::size_t i, int) { ++runs[i]; });
    ASSERT_EQ(runs, std::vector<int>(7, 1)) << job;
  }
}

TEST(HardwareThreads, IsAtLeastOne) { EXPECT_GE(hardware_threads(), 1); }

}  // namespace
}  // namespace remede
