// The program's operator new. Small blocks, and all while there is no limit or it is not reached, come from malloc. A large
// block beyond the limit is a shared mapping of an unlinked file: its pages can leave memory and come back. A thread looks
// at the resident size and lets go of them (MADV_DONTNEED: written ones stay in the file's cache, where the system can write
// them out). Here and not in the library: it is the program's business how it uses the machine.
#include "cli/spill.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"

namespace remede {
namespace {

constexpr std::size_t kLarge = std::size_t{8} << 20;  // smaller blocks are never spilled
constexpr std::size_t kMostBlocks = 4096;
constexpr auto kLook = std::chrono::milliseconds(10);

struct Block {
  void* at = nullptr;
  std::size_t bytes = 0;
};

// Constant-initialised, since operator new runs before main and after it; no destructor may run.
constinit std::atomic<std::size_t> limit = 0;
constinit std::atomic<std::size_t> large_in_use = 0;  // bytes of large blocks from malloc
constinit std::atomic<std::size_t> spilled = 0;       // bytes in files
constinit std::atomic<std::size_t> blocks_in_use = 0;
constinit std::mutex blocks_lock;
constinit std::array<Block, kMostBlocks> blocks{};

std::size_t resident_bytes() {
  char text[128];
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (got <= 0) return 0;
  text[got] = 0;
  char* rest = nullptr;
  std::strtoull(text, &rest, 10);
  return std::strtoull(rest, nullptr, 10) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Lets go of the pages of all blocks when the process holds more than three fifths of its limit: what is faulted in until the
// next look must fit, too.
void watch_resident_size() {
  for (;;) {
    std::this_thread::sleep_for(kLook);
    if (blocks_in_use == 0 || resident_bytes() < limit / 5 * 3) continue;
    const std::lock_guard guard(blocks_lock);
    for (const Block& block : blocks)
      if (block.at != nullptr) ::madvise(block.at, block.bytes, MADV_DONTNEED);
  }
}

// An unlinked file in TMPDIR, or where large temporary files belong.
int open_temporary() {
  const char* const given = std::getenv("TMPDIR");
  for (const char* const folder : {given, "/var/tmp", "/tmp"}) {
    if (folder == nullptr) continue;
    const int file = ::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    char name[512];
    if (std::snprintf(name, sizeof name, "%s/remede.XXXXXX", folder) >= static_cast<int>(sizeof name)) continue;
    const int made = ::mkostemp(name, O_CLOEXEC);
    if (made < 0) continue;
    ::unlink(name);
    return made;
  }
  return -1;
}

// Null where it cannot be; the caller then has malloc.
void* spill(std::size_t bytes) {
  const int file = open_temporary();
  if (file < 0) return nullptr;
  void* at = MAP_FAILED;
  if (::ftruncate(file, static_cast<off_t>(bytes)) == 0)
    at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (at == MAP_FAILED) return nullptr;
  const std::lock_guard guard(blocks_lock);
  const auto free = std::find_if(blocks.begin(), blocks.end(), [](const Block& b) { return b.at == nullptr; });
  if (free == blocks.end()) {
    ::munmap(at, bytes);
    return nullptr;
  }
  *free = {at, bytes};
  ++blocks_in_use;
  spilled += bytes;
  return at;
}

bool unspill(void* at) {
  if (blocks_in_use == 0) return false;
  Block block;
  {
    const std::lock_guard guard(blocks_lock);
    const auto found = std::find_if(blocks.begin(), blocks.end(), [at](const Block& b) { return b.at == at; });
    if (found == blocks.end()) return false;
    block = *found;
    *found = {};
    --blocks_in_use;
    spilled -= block.bytes;
  }
  ::munmap(block.at, block.bytes);
  return true;
}

// Bytes of a large block from malloc, 0 for a small one.
std::size_t large_bytes(void* at) {
  const std::size_t bytes = at == nullptr ? 0 : ::malloc_usable_size(at);
  return bytes >= kLarge ? bytes : 0;
}

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes >= kLarge && limit != 0 && large_in_use + bytes > limit / 3)
    if (void* const at = spill(bytes)) return at;
  void* const at = std::malloc(bytes == 0 ? 1 : bytes);
  if (at == nullptr) throw std::bad_alloc();
  large_in_use += large_bytes(at);
  return at;
}

void release(void* at) noexcept {
  if (at == nullptr || unspill(at)) return;
  large_in_use -= large_bytes(at);
  std::free(at);
}

void limit_memory(std::size_t bytes) {
  const bool first = limit.exchange(bytes) == 0;
  if (bytes != 0 && first) std::thread(watch_resident_size).detach();
}

std::size_t spilled_bytes() { return spilled; }

std::size_t default_memory_limit() {
  const auto pages = static_cast<std::size_t>(std::max<long>(0, ::sysconf(_SC_PHYS_PAGES)));
  std::size_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (std::FILE* const file = std::fopen("/sys/fs/cgroup/memory.max", "re")) {
    unsigned long long given = 0;
    if (std::fscanf(file, "%llu", &given) == 1) bytes = std::min<std::size_t>(bytes, given);
    std::fclose(file);
  }
  return bytes / 2;
}

std::size_t parse_memory(const std::string& text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const double scale = unit.empty()                                    ? 1.0
                       : unit == "K" || unit == "k"                    ? 1024.0
                       : unit == "M" || unit == "m"                    ? 1024.0 * 1024.0
                       : unit == "G" || unit == "g"                    ? 1024.0 * 1024.0 * 1024.0
                                                                       : 0.0;
  const double bytes = number * scale;
  constexpr double kLeast = 64.0 * 1024.0 * 1024.0;
  if (error != std::errc{} || !(bytes >= kLeast) || bytes > 1e15)
    throw UsageError(fmt::format("--memory-limit: expected at least 64M, such as 800M or 2G, got '{}'", text));
  return static_cast<std::size_t>(bytes);
}

}  // namespace remede

// The sanitizer's own operator new finds more.
#if defined(__SANITIZE_ADDRESS__)
#define REMEDE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REMEDE_SANITIZED
#endif
#endif
#if !defined(REMEDE_SANITIZED)
void* operator new(std::size_t bytes) { return remede::allocate(bytes); }
void operator delete(void* at) noexcept { remede::release(at); }
void operator delete(void* at, std::size_t) noexcept { remede::release(at); }
#endif
