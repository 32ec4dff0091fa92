// Whole files in and out. Writing goes to a temporary name beside the target and is renamed at the end, so that a
// reader never sees half a file and a failed write leaves the old one. "-" is standard input or output.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "remede/base/error.h"

namespace remede {

// Standard output is a pipe whose reader has gone: not worth a message (main ends quietly). SIGPIPE must be ignored to
// see it.
class BrokenPipe : public Error {
 public:
  using Error::Error;
};

// Throws Error naming the file when it cannot be opened or read, or holds more than `limit` bytes.
std::string read_file(const std::string& path, std::size_t limit = static_cast<std::size_t>(-1));

// A file being written: append, then commit(). Without commit() the temporary file is removed. Not thread-safe.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
};

void write_file(const std::string& path, std::string_view bytes);

}  // namespace remede
