// How many sequences, or numbers, the vector kernels treat side by side, whatever the width of the machine's registers.
// The results depend on it (sums are made lane by lane), so it is one number for all machines.
#pragma once

namespace remede {

inline constexpr int kLanes = 16;

}  // namespace remede
