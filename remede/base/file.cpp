#include "remede/base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remede/base/error.h"

namespace remede {

std::string read_file(const std::string& path, std::size_t limit) {
  const bool standard = path == "-";
  const std::string name = standard ? "standard input" : path;
  const int descriptor = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("{}: cannot open: {}", name, std::strerror(errno));
  std::string bytes;
  std::size_t used = 0;
  for (;;) {
    bytes.resize(used + (used < (1U << 20) ? (1U << 16) : used));
    const ssize_t got = ::read(descriptor, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    const int error = errno;
    if (got > 0) used += static_cast<std::size_t>(got);
    if (got <= 0 || used > limit) {
      if (!standard) ::close(descriptor);
      if (got < 0) fail("{}: cannot read: {}", name, std::strerror(error));
      if (used > limit) fail("{}: expected at most {} bytes, got more", name, limit);
      break;
    }
  }
  bytes.resize(used);
  return bytes;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  struct stat there {};
  const bool exists = ::stat(path_.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) fail("{}: cannot write: is a folder", path_);
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail("{}: cannot write: {}", path_, std::strerror(errno));
  if (exists && !S_ISREG(there.st_mode)) {  // a device or a pipe is written in place
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("{}: cannot write: {}", path_, std::strerror(errno));
    return;
  }
  temporary_ = path_ + ".XXXXXX";
  descriptor_ = ::mkstemp(temporary_.data());
  if (descriptor_ < 0) fail("{}: cannot write: {}", path_, std::strerror(errno));
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
}

AtomicFile::~AtomicFile() {
  if (path_ == "-") return;
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EPIPE && path_ == "-") throw BrokenPipe("standard output: the reader has gone");
    if (put < 0) fail("{}: cannot write: {}", path_ == "-" ? "standard output" : path_, std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void AtomicFile::commit() {
  if (path_ == "-") return;
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0 || (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0))
    fail("{}: cannot write: {}", path_, std::strerror(errno));
  committed_ = true;
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace remede
