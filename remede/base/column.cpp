#include "remede/base/column.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "remede/base/error.h"

namespace remede {
namespace {

// Smaller columns stay on the heap: data are large, what is worked with is not.
constexpr std::size_t kLeastFile = std::size_t{16} << 20;
constexpr std::size_t kLeastFileShare = 32;  // of the limit
constexpr auto kKeeperPause = std::chrono::milliseconds(10);

// Bytes of mapped files that are in memory now, those of the program among them; 0 where that is not known.
std::size_t resident_file_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0;
  unsigned long long resident = 0;
  unsigned long long of_files = 0;
  const bool read = std::fscanf(file, "%llu %llu %llu", &total, &resident, &of_files) == 3;
  std::fclose(file);
  return read ? of_files * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

std::string temporary_folder() {
  for (const char* const folder : {static_cast<const char*>(std::getenv("TMPDIR")), "/var/tmp"})
    if (folder != nullptr && ::access(folder, W_OK | X_OK) == 0) return folder;
  return "/tmp";
}

void resize_on_heap(ColumnBlock& block, std::size_t bytes) {
  void* const at = std::realloc(block.at, bytes);
  if (at == nullptr) throw std::bad_alloc();
  block.at = static_cast<std::byte*>(at);
  block.bytes = bytes;
}

}  // namespace

ColumnStore::ColumnStore(std::size_t limit, std::string folder)
    : limit_(limit), folder_(folder.empty() ? temporary_folder() : std::move(folder)) {
  if (limit < kLeastLimit)
    fail("expected a memory limit of at least {} bytes (64M), got {}", std::size_t{kLeastLimit}, limit);
}

ColumnStore::~ColumnStore() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ended_.notify_all();
  if (keeper_.joinable()) keeper_.join();
}

void ColumnStore::resize(ColumnStore* store, ColumnBlock& block, std::size_t bytes) {
  if (bytes == 0) {
    if (block.file >= 0) {
      {
        const std::lock_guard lock(store->mutex_);
        std::erase_if(store->mapped_, [&](const auto& one) { return one.first == block.at; });
      }
      ::munmap(block.at, block.bytes);
      ::close(block.file);
      store->in_files_ -= block.bytes;
    } else {
      std::free(block.at);
      if (store != nullptr) store->heap_ -= block.bytes;
    }
    block = {};
    return;
  }
  if (store == nullptr) return resize_on_heap(block, bytes);
  if (block.file >= 0) return store->grow_file(block, bytes);
  const std::size_t before = block.bytes;
  const bool large = bytes >= std::max(kLeastFile, store->limit_ / kLeastFileShare);
  if (large && store->heap_ - before + bytes > store->limit_ / 3) return store->move_to_file(block, bytes);
  resize_on_heap(block, bytes);
  store->heap_ += bytes - before;
}

// An unlinked file.
int ColumnStore::open_file() const {
  int file = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string name = folder_ + "/remede.XXXXXX";  // where the file system cannot make files without a name
  file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
    fail("{}: cannot make a temporary file for data beyond the memory limit: {}", folder_, std::strerror(errno));
  ::unlink(name.c_str());
  return file;
}

// The space is taken before it is mapped: what is mapped can be written.
void ColumnStore::grow_file(ColumnBlock& block, std::size_t bytes) {
  int error = EINTR;
  while (error == EINTR)
    error = ::posix_fallocate(block.file, static_cast<off_t>(block.bytes), static_cast<off_t>(bytes - block.bytes));
  if (error != 0)
    fail(
        "{}: cannot keep {} MB of data beyond the memory limit in temporary files: {} (set TMPDIR to a folder with "
        "more room, or raise the limit)",
        folder_, (in_files_ - block.bytes + bytes) >> 20, std::strerror(error));
  const std::lock_guard lock(mutex_);
  void* const at = block.at == nullptr ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, block.file, 0)
                                       : ::mremap(block.at, block.bytes, bytes, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) fail("{}: cannot map a temporary file: {}", folder_, std::strerror(errno));
  std::erase_if(mapped_, [&](const auto& one) { return one.first == block.at; });
  block.at = static_cast<std::byte*>(at);
  in_files_ += bytes - block.bytes;
  block.bytes = bytes;
  mapped_.emplace_back(block.at, block.bytes);
  if (!keeper_.joinable()) keeper_ = std::thread([this] { keep_resident_small(); });
}

void ColumnStore::move_to_file(ColumnBlock& block, std::size_t bytes) {
  ColumnBlock moved;
  moved.file = open_file();
  try {
    grow_file(moved, bytes);
  } catch (...) {
    ::close(moved.file);
    throw;
  }
  if (block.bytes > 0) std::memcpy(moved.at, block.at, block.bytes);
  std::free(block.at);
  heap_ -= block.bytes;
  block = moved;
}

void ColumnStore::keep_resident_small() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kKeeperPause, [this] { return ending_; }))
    if (!mapped_.empty() && resident_file_bytes() > limit_ / 3) give_pages_back();
}

// What was written to a shared mapping is in the system's cache of the file: it only leaves this process's table of
// pages. REQUIRES: the mutex is held, so that nothing is unmapped meanwhile.
void ColumnStore::give_pages_back() {
  for (const auto& [at, bytes] : mapped_) ::madvise(at, bytes, MADV_DONTNEED);
}

std::size_t default_memory_limit() {
  const auto pages = static_cast<std::size_t>(std::max<long>(0, ::sysconf(_SC_PHYS_PAGES)));
  std::size_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (std::FILE* const file = std::fopen("/sys/fs/cgroup/memory.max", "re")) {
    unsigned long long given = 0;
    if (std::fscanf(file, "%llu", &given) == 1) bytes = std::min<std::size_t>(bytes, given);
    std::fclose(file);
  }
  return std::max(ColumnStore::kLeastLimit, bytes / 2);
}

std::size_t parse_memory_limit(const std::string& text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const double scale = unit.empty()                 ? 1.0
                       : unit == "K" || unit == "k" ? 1024.0
                       : unit == "M" || unit == "m" ? 1024.0 * 1024.0
                       : unit == "G" || unit == "g" ? 1024.0 * 1024.0 * 1024.0
                                                    : 0.0;
  const double bytes = number * scale;
  if (error != std::errc{} || !(bytes >= static_cast<double>(ColumnStore::kLeastLimit)) || bytes > 1e15)
    fail("expected at least 64M, such as 800M or 2G, got '{}'", text);
  return static_cast<std::size_t>(bytes);
}

}  // namespace remede
