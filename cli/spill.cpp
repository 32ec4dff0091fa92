// The program's operator new. Small blocks, and all while there is no limit or it is not reached, come from malloc. A
// large block beyond that is a shared mapping of an unlinked file that may not be touched at first: touching it is a
// fault, whose handler opens the chunk around it and closes the one that was opened longest ago (MADV_DONTNEED: what
// was written stays in the file's cache, where the system can write it out). So no more than a fixed number of chunks
// is ever in memory. Here and not in the library: how the program uses its machine is its own business. One thing does
// not work on such blocks: a system call that reads or writes them directly (it fails with EFAULT); none of ours does
// with blocks this large.
#include "cli/spill.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"

namespace remede {
namespace {

constexpr std::size_t kLeastLarge = std::size_t{16} << 20;
constexpr std::size_t kLargeShare =
    32;  // of the limit: smaller blocks are never spilled. Data are large; what is worked with is not
constexpr std::size_t kMostBlocks = 4096;
constexpr std::size_t kMostOpen = 8192;  // chunks; each may split a mapping, of which a process has some 65,000

struct Block {
  char* at = nullptr;
  std::size_t bytes = 0;
  unsigned char* open = nullptr;  // (chunks) 1: may be touched
};

// Constant-initialised, since operator new runs before main and after it; no destructor may run.
constinit std::atomic<std::size_t> limit = 0;
constinit std::atomic<std::size_t> large = kLeastLarge;
constinit std::atomic<std::size_t> large_in_use = 0;  // bytes of large blocks from malloc
constinit std::atomic<std::size_t> spilled = 0;       // bytes in files
constinit std::atomic<std::size_t> blocks_in_use = 0;
// What follows is guarded by the lock: a flag that is spun on, since the handler of a fault takes it, too.
constinit std::atomic_flag lock;
constinit std::array<Block, kMostBlocks> blocks{};
constinit std::size_t chunk_bytes = std::size_t{1} << 20;
constinit std::array<char*, kMostOpen> opened{};  // a ring: the open chunks in the order of their opening
constinit std::size_t oldest = 0;
constinit std::size_t open_count = 0;
constinit std::size_t most_open = 0;

class Guard {
 public:
  Guard() {
    while (lock.test_and_set(std::memory_order_acquire)) ::sched_yield();
  }
  ~Guard() { lock.clear(std::memory_order_release); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

Block* block_around(const char* at) {
  for (Block& block : blocks)
    if (block.at != nullptr && at >= block.at && at < block.at + block.bytes) return &block;
  return nullptr;
}

std::size_t chunk_length(const Block& block, std::size_t chunk) {
  return std::min(chunk_bytes, block.bytes - chunk * chunk_bytes);
}

void close_oldest() {
  char* const at = opened[oldest];
  oldest = (oldest + 1) % kMostOpen;
  --open_count;
  Block* const block = block_around(at);
  if (block == nullptr) return;  // it has been released
  const std::size_t chunk = static_cast<std::size_t>(at - block->at) / chunk_bytes;
  if (block->open[chunk] == 0) return;
  block->open[chunk] = 0;
  char* const begin = block->at + chunk * chunk_bytes;
  ::mprotect(begin, chunk_length(*block, chunk), PROT_NONE);
  ::madvise(begin, chunk_length(*block, chunk), MADV_DONTNEED);
}

// Opens the chunk around `at`. False: no block of ours is there.
bool open_chunk(const char* at) {
  const Guard guard;
  Block* const block = block_around(at);
  if (block == nullptr) return false;
  const std::size_t chunk = static_cast<std::size_t>(at - block->at) / chunk_bytes;
  if (block->open[chunk] != 0) return true;  // by another thread, meanwhile
  while (open_count >= most_open) close_oldest();
  char* const begin = block->at + chunk * chunk_bytes;
  if (::mprotect(begin, chunk_length(*block, chunk), PROT_READ | PROT_WRITE) != 0) return false;
  block->open[chunk] = 1;
  opened[(oldest + open_count++) % kMostOpen] = begin;
  return true;
}

void handle_fault(int signal, siginfo_t* info, void*) {
  const int kept = errno;
  const bool ours = open_chunk(static_cast<const char*>(info->si_addr));
  errno = kept;
  if (!ours) std::signal(signal, SIG_DFL);  // the fault comes again, and ends the program as it should
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
  if (::ftruncate(file, static_cast<off_t>(bytes)) == 0) at = ::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
  ::close(file);
  if (at == MAP_FAILED) return nullptr;
  auto* const open = static_cast<unsigned char*>(std::calloc(bytes / chunk_bytes + 1, 1));
  {
    const Guard guard;
    const auto free = std::find_if(blocks.begin(), blocks.end(), [](const Block& b) { return b.at == nullptr; });
    if (free != blocks.end() && open != nullptr) {
      *free = {static_cast<char*>(at), bytes, open};
      ++blocks_in_use;
      spilled += bytes;
      return at;
    }
  }
  ::munmap(at, bytes);
  std::free(open);
  return nullptr;
}

bool unspill(void* at) {
  if (blocks_in_use == 0) return false;
  Block block;
  {
    const Guard guard;
    const auto found = std::find_if(blocks.begin(), blocks.end(), [at](const Block& b) { return b.at == at; });
    if (found == blocks.end()) return false;
    block = *found;
    *found = {};
    --blocks_in_use;
    spilled -= block.bytes;
  }
  ::munmap(block.at, block.bytes);
  std::free(block.open);
  return true;
}

// Bytes of a large block from malloc, 0 for a small one.
std::size_t large_bytes(void* at) {
  const std::size_t bytes = at == nullptr ? 0 : ::malloc_usable_size(at);
  return bytes >= large ? bytes : 0;
}

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes >= large && limit != 0 && large_in_use + bytes > limit / 3)
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
  if (bytes == 0 || limit != 0) return;
  while (bytes / 3 / chunk_bytes > kMostOpen) chunk_bytes *= 2;
  most_open = std::max<std::size_t>(16, bytes / 3 / chunk_bytes);
  large = std::max(kLeastLarge, bytes / kLargeShare);
  struct sigaction action {};
  action.sa_sigaction = handle_fault;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (::sigaction(SIGSEGV, &action, nullptr) == 0) limit = bytes;
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
  const double scale = unit.empty()                 ? 1.0
                       : unit == "K" || unit == "k" ? 1024.0
                       : unit == "M" || unit == "m" ? 1024.0 * 1024.0
                       : unit == "G" || unit == "g" ? 1024.0 * 1024.0 * 1024.0
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
