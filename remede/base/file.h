// Whole files in and out. A file is written under a temporary name beside its target, flushed to the disk and renamed,
// so that a reader never sees half a file, and a failed write, a kill or a power cut leaves the old one or the new one.
// "-" is standard input or output.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "remede/base/error.h"

namespace remede {

// Standard output is a pipe that its reader has closed. main() then ends without a message. SIGPIPE must be ignored to
// see it.
class BrokenPipe : public Error {
 public:
  using Error::Error;
};

// Throws Error naming the file when it cannot be opened or read, or holds more than `limit` bytes. `check_head` sees
// the first bytes (at least 64, or all there are) and may throw before the rest is read: an endless file takes no
// memory.
std::string read_file(const std::string& path, std::size_t limit = static_cast<std::size_t>(-1),
                      const std::function<void(std::string_view head)>& check_head = {});

// A file being written: append, then commit(). Without commit() the temporary file is removed. Not thread-safe.
// Symbolic links are followed: the file they lead to is replaced, or created where it is missing. A file that is
// replaced keeps its mode, and its owner where the process may set it; a new one gets the usual mode (umask).
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  std::string path_;       // as given, for messages
  std::string target_;     // behind all links
  std::string temporary_;  // beside the target; empty: written in place (standard output, a device, a pipe)
  int descriptor_ = -1;
  bool committed_ = false;
};

void write_file(const std::string& path, std::string_view bytes);

// A file that a command reads or writes, and what the user calls it: {"--output", "m.json"}.
struct NamedFile {
  std::string name;
  std::string path;
};

// Throws Error when an output is also an input or another output, however they are spelled: files are compared by
// device and inode, files that do not exist yet by folder and name. Terminals and other devices may be several at once.
void expect_separate_files(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

}  // namespace remede
