// The LSTM of `remede reproduce`: bench/paper_network.py, which the program carries and python3 runs.
#pragma once

#include <cstdint>
#include <string>

#include "cli/reproduce_trials.h"

namespace remede {

// The text of bench/paper_network.py.
const char* lstm_script();

// Empty where python3 can import PyTorch and NumPy, else one line that says what was expected.
std::string why_no_lstm();

// Two layers of 32 and 16 units with dropout, as in the paper, with fixed settings. REQUIRES: why_no_lstm() is empty,
// and the sequences are equally long. Throws Error where the script fails.
Trial run_lstm(const TaskParts& parts, std::uint64_t seed, int threads);

}  // namespace remede
