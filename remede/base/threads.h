// Runs independent tasks on several threads. Which thread runs which task is not fixed, so a task writes only what is
// its own; sums over tasks are made afterwards, in the order of the tasks. Then the result does not depend on the
// number of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace remede {

// Number of hardware threads, at least 1.
int hardware_threads();

// Calls task(index, worker) for every index in 0 .. count-1, on at most `threads` threads (0: all of them), and returns
// when all are done. `worker` is below the number of threads: use it to pick scratch space. The first exception thrown
// is rethrown.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t index, int worker)>& task);

}  // namespace remede
