#include "remede/base/file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remede/base/error.h"

namespace remede {
namespace {

[[noreturn]] void fail_writing(const std::string& path) { fail("{}: cannot write: {}", path, std::strerror(errno)); }

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// The file that symbolic links lead to, whether it exists or not.
std::string behind_links(std::string path) {
  constexpr int kMostLinks = 40;  // as Linux has it
  for (int links = 0; links < kMostLinks; ++links) {
    std::string to(PATH_MAX, '\0');
    const ssize_t size = ::readlink(path.c_str(), to.data(), to.size());
    if (size <= 0) break;
    to.resize(static_cast<std::size_t>(size));
    path = to.front() == '/' ? to : folder_of(path) + "/" + to;
  }
  return path;
}

bool is_file(const std::string& path, const struct stat& file) {
  struct stat there {};
  return ::stat(path.c_str(), &there) == 0 && there.st_dev == file.st_dev && there.st_ino == file.st_ino;
}

// A new file "TARGET.xxxxxx", open for writing; -1 where there can be none. open() applies the umask to `mode`.
int create_beside(const std::string& target, mode_t mode, std::string& path) {
  constexpr std::size_t kLongestName = 255, kSuffix = 7;
  constexpr int kMostTries = 1000;
  const std::size_t name = target.rfind('/') + 1;  // 0 where there is no slash
  const std::string stem = target.substr(0, std::min(target.size(), name + kLongestName - kSuffix));
  std::random_device random;
  int descriptor = -1;
  for (int tries = 0; tries < kMostTries && descriptor < 0; ++tries) {
    path = fmt::format("{}.{:06x}", stem, random() & 0xFFFFFFU);
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor < 0) path.clear();
  return descriptor;
}

// The owner first, since that clears some bits of the mode. A process that may not give files away keeps its own.
void take_owner_and_mode(int descriptor, const struct stat& old) {
  [[maybe_unused]] const bool given = ::fchown(descriptor, old.st_uid, old.st_gid) == 0 ||
                                      ::fchown(descriptor, static_cast<uid_t>(-1), old.st_gid) == 0;
  ::fchmod(descriptor, old.st_mode & 07777);
}

// Makes a rename in the folder last. Some file systems cannot, and some folders may not be opened: nothing is lost then
// but the protection against a power cut.
bool flush_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return true;
  const bool flushed = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return flushed;
}

// What makes a path that file and no other: its own device and inode, or those of its folder and its name in it.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  std::string missing;

  bool operator==(const Identity&) const = default;
};

// Nothing for what several may share: a terminal, a device, a socket, a pipe on standard input or output.
std::optional<Identity> identity_of(const std::string& path, int standard) {
  struct stat there {};
  if (path == "-") {
    if (::fstat(standard, &there) != 0 || !S_ISREG(there.st_mode)) return std::nullopt;
    return Identity{there.st_dev, there.st_ino, ""};
  }
  if (::stat(path.c_str(), &there) == 0) {
    if (S_ISCHR(there.st_mode) || S_ISSOCK(there.st_mode)) return std::nullopt;
    return Identity{there.st_dev, there.st_ino, ""};
  }
  const std::string target = behind_links(path);
  if (path.empty() || ::stat(folder_of(target).c_str(), &there) != 0) return std::nullopt;
  return Identity{there.st_dev, there.st_ino, target.substr(target.rfind('/') + 1)};
}

std::string both(const std::string& a, const std::string& b) {
  return a == b ? fmt::format("'{}' for both", a) : fmt::format("'{}' and '{}', which are the same file", a, b);
}

}  // namespace

// Reads up to `room` bytes, fewer at the end of the file only.
static std::size_t read_fully(int descriptor, char* to, std::size_t room, const std::string& name) {
  std::size_t have = 0;
  while (have < room) {
    const ssize_t got = ::read(descriptor, to + have, room - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot read: {}", name, std::strerror(errno));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

std::string read_file(const std::string& path, std::size_t limit,
                      const std::function<void(std::string_view head)>& check_head) {
  constexpr std::size_t kHead = 64;
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  const bool standard = path == "-";
  const std::string name = standard ? "standard input" : path;
  const int descriptor = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("{}: cannot open: {}", name, std::strerror(errno));
  const std::shared_ptr<void> closer(nullptr, [descriptor, standard](void*) {
    if (!standard) ::close(descriptor);
  });
  std::string bytes(kHead, '\0');
  std::size_t used = read_fully(descriptor, bytes.data(), kHead, name);
  if (check_head) check_head({bytes.data(), used});
  // The size of a regular file is known; what it is not known of is read into blocks that grow.
  struct stat there {};
  std::size_t next = kBlock;
  if (::fstat(descriptor, &there) == 0 && S_ISREG(there.st_mode))
    next = std::min(limit, static_cast<std::size_t>(there.st_size)) + 1;
  while (used == bytes.size()) {
    if (used > limit) fail("{}: expected at most {} bytes, got more", name, limit);
    bytes.resize(used + std::min(next, limit - used + 1));
    used += read_fully(descriptor, bytes.data() + used, bytes.size() - used, name);
    next = std::max(kBlock, used / 2);
  }
  if (used > limit) fail("{}: expected at most {} bytes, got more", name, limit);
  bytes.resize(used);
  return bytes;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  if (path_.empty()) fail("expected the name of a file to write, got ''");
  struct stat old {};
  const bool exists = ::stat(path_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) fail_writing(path_);
  if (exists && S_ISDIR(old.st_mode)) fail("{}: cannot write: is a folder", path_);
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail_writing(path_);
  target_ = behind_links(path_);
  if (exists && !(S_ISREG(old.st_mode) && is_file(target_, old))) {  // a device, a pipe, a file without a name
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_writing(path_);
    return;
  }
  descriptor_ = create_beside(target_, exists ? S_IRUSR | S_IWUSR : 0666, temporary_);
  if (descriptor_ < 0) fail_writing(path_);
  if (exists) take_owner_and_mode(descriptor_, old);
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
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail_writing(path_);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_writing(path_);
  if (!temporary_.empty()) {
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(path_);
    committed_ = true;
    if (!flush_folder(folder_of(target_))) fail_writing(path_);
  }
  committed_ = true;
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void expect_separate_files(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const std::optional<Identity> output = identity_of(outputs[o].path, STDOUT_FILENO);
    if (!output) continue;
    for (const NamedFile& input : inputs)
      if (identity_of(input.path, STDIN_FILENO) == output)
        fail("expected {} to be another file than {}, which would be overwritten, got {}", outputs[o].name, input.name,
             both(outputs[o].path, input.path));
    for (std::size_t other = 0; other < o; ++other)
      if (identity_of(outputs[other].path, STDOUT_FILENO) == output)
        fail("expected {} and {} to be two files, got {}", outputs[other].name, outputs[o].name,
             both(outputs[other].path, outputs[o].path));
  }
}

}  // namespace remede
