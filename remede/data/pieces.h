// Files cut into pieces, for processes that each read a part of the data. The limits of the pieces depend on the files
// alone, so that what is made piece by piece does not depend on the number of processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "remede/data/columns.h"
#include "remede/data/raw.h"

namespace remede {

// A power of two: sums over pieces are made in a binary tree. More processes than pieces would have nothing to read.
inline constexpr std::size_t kDataPieces = 64;

// All files one after the other, cut into kDataPieces ranges of equal length. A sequence belongs to the piece in which
// its first row begins; the rows of a sequence must stand together in one file. Files that cannot be cut (packed, .ts,
// cells between blanks, one sequence per file) belong as a whole to the piece in which they begin.
class PiecedFiles {
 public:
  // `path`: as for read_dataset(). Looks at the columns of the first file. Throws Error where all rows are one
  // sequence.
  PiecedFiles(const std::string& path, const Roles& roles);

  const ColumnLayout& layout() const { return layout_; }  // of the first file
  const Schema& schema() const { return schema_; }        // without task, classes and inputs
  const std::string& name() const { return files_.front().path; }
  const std::optional<Task>& task() const { return roles_.task; }  // where an option or the first file states it

  // The sequences of a piece; nothing where none begins in it.
  std::optional<RawDataset> read(std::size_t piece) const;

 private:
  struct File {
    std::string path;
    std::uint64_t begin = 0, size = 0;  // among the bytes of all files
  };

  std::vector<TableSource> open(std::size_t piece) const;

  Roles roles_;
  std::vector<File> files_;
  std::uint64_t total_ = 0;  // bytes
  std::vector<std::string> columns_;
  ColumnLayout layout_;
  Schema schema_;
};

}  // namespace remede
