// Data larger than memory: beyond a limit, large blocks come from unlinked temporary files instead of the heap, and
// only so many of their chunks are in memory at a time. Everything above stays as it is: a std::vector does not know
// where its numbers are.
#pragma once

#include <cstddef>
#include <string>

namespace remede {

// Sets the limit, in bytes of memory for the whole process; 0 is none. Once, before data are read.
void limit_memory(std::size_t bytes);

// "800M", "2G", "1.5g", or bytes. Throws UsageError for other texts.
std::size_t parse_memory(const std::string& text);

// A half of the machine's memory, or of what the process was given.
std::size_t default_memory_limit();

std::size_t spilled_bytes();  // in temporary files now

// What operator new and delete do.
void* allocate(std::size_t bytes);
void release(void* at) noexcept;

}  // namespace remede
