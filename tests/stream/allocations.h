// How often this test program has allocated memory: its operator new counts.
#pragma once

#include <cstddef>

namespace remede::test {

std::size_t allocations();

}  // namespace remede::test
