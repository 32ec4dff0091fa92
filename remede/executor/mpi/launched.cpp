// What the programs that start MPI's processes say in the environment: Open MPI, then MPICH and its kin, then MVAPICH.
#include <cstdlib>

#include "remede/executor/mpi/mpi.h"

namespace remede {
namespace {

int first_of(const char* const (&names)[3], int otherwise) {
  for (const char* name : names)
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return otherwise;
}

}  // namespace

int launched_rank() { return first_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"}, 0); }
int launched_count() { return first_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}, 1); }

}  // namespace remede
