// For builds without MPI.
#include "remede/base/error.h"
#include "remede/executor/mpi/mpi.h"

namespace remede {

std::unique_ptr<Ranks> join_ranks() {
  if (launched_count() > 1)
    fail("expected a build with MPI (cmake --preset mpi) under mpirun, got one without: {} processes were started",
         launched_count());
  return nullptr;
}

}  // namespace remede
