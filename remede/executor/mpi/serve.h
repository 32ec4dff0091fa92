// A rank other than 0: jobs come, answers go.
#pragma once

#include "remede/executor/mpi/mpi.h"
#include "remede/executor/mpi/wire.h"

namespace remede {

// From now on Ctrl-C and SIGTERM are remembered instead of ending the process.
void remember_signals();

// Does jobs until rank 0 has no more. False when it ends because of a signal.
bool serve_jobs(Wire& wire, const std::string& fit, int threads, const DoJob& work);

// The same without any job.
bool wait_for_end(Wire& wire);

}  // namespace remede
