// A library to preload into the program under test (LD_PRELOAD): it stops the program, or lets a call fail, at a chosen
// moment of a save. The moments are numbered from 1 in the order they come: before and after each call that creates,
// writes, flushes, renames or removes a file, and in the middle of each write.
//   REMEDE_FAULT_AT=N       at moment N the program is killed (SIGKILL)
//   REMEDE_FAULT_ERROR=E    instead the call at moment N fails with this errno
//   REMEDE_FAULT_LOG=FILE   each moment is noted: "rename before m.json.1a2b3c"
// What the program prints (descriptors 0 to 2) does not count.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace {

std::atomic<long> moments = 0;

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

long number(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

void note(const char* call, const char* when, const char* path) {
  const char* const log = std::getenv("REMEDE_FAULT_LOG");
  if (log == nullptr) return;
  const std::string line = std::string(call) + " " + when + " " + path + "\n";
  const auto real_open = next<int (*)(const char*, int, ...)>("open");
  const auto real_write = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  const int file = real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t put = real_write(file, line.data(), line.size());
  close(file);
}

// Whether the call is to fail here. A chosen moment without an error ends the program.
bool fault(const char* call, const char* when, const char* path) {
  note(call, when, path);
  if (moments.fetch_add(1) + 1 != number("REMEDE_FAULT_AT")) return false;
  const long error = number("REMEDE_FAULT_ERROR");
  if (error == 0) kill(getpid(), SIGKILL);
  errno = static_cast<int>(error);
  return std::strcmp(when, "after") != 0;  // what has happened cannot fail any more
}

std::string path_of(int descriptor) {
  std::string path(4096, '\0');
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path.data(), path.size());
  path.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return path;
}

template <typename Call>
int around(const char* name, const char* path, Call call) {
  if (fault(name, "before", path)) return -1;
  const int result = call();
  const int error = errno;
  fault(name, "after", path);
  errno = error;
  return result;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  const auto real = next<int (*)(const char*, int, ...)>("open");
  if ((flags & O_CREAT) == 0) return real(path, flags);
  return around("create", path, [&] { return real(path, flags, mode); });
}

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  if (descriptor <= STDERR_FILENO) return real(descriptor, bytes, size);
  const std::string path = path_of(descriptor);
  if (fault("write", "before", path.c_str())) return -1;
  const ssize_t half = real(descriptor, bytes, size / 2);
  if (half < 0) return half;
  if (fault("write", "middle", path.c_str())) return -1;
  const auto done = static_cast<std::size_t>(half);
  const ssize_t rest = real(descriptor, static_cast<const char*>(bytes) + done, size - done);
  fault("write", "after", path.c_str());
  return rest < 0 ? half : half + rest;
}

int fsync(int descriptor) {
  const auto real = next<int (*)(int)>("fsync");
  return around("fsync", path_of(descriptor).c_str(), [&] { return real(descriptor); });
}

int rename(const char* from, const char* to) {
  const auto real = next<int (*)(const char*, const char*)>("rename");
  return around("rename", to, [&] { return real(from, to); });
}

int unlink(const char* path) {
  const auto real = next<int (*)(const char*)>("unlink");
  return around("unlink", path, [&] { return real(path); });
}

int remove(const char* path) {
  const auto real = next<int (*)(const char*)>("remove");
  return around("remove", path, [&] { return real(path); });
}
}
