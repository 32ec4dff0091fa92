#include "remede/data/pieces.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remede/base/error.h"
#include "remede/data/csv.h"
#include "remede/data/ts.h"

namespace remede {
namespace {

// A file that is read from any place.
class PlacedFile {
 public:
  explicit PlacedFile(std::string path) : path_(std::move(path)) {
    file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail("{}: cannot open: {}", path_, std::strerror(errno));
    struct stat there {};
    if (::fstat(file_, &there) != 0 || !S_ISREG(there.st_mode))
      fail("{}: --shard rows: expected a file, got something that cannot be read in parts", path_);
    size_ = static_cast<std::uint64_t>(there.st_size);
  }
  ~PlacedFile() { ::close(file_); }
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  // Fewer bytes than asked for only at the end of the file.
  std::size_t read(std::uint64_t from, char* to, std::size_t room) const {
    std::size_t got = 0;
    while (got < room) {
      const ssize_t more = ::pread(file_, to + got, room - got, static_cast<off_t>(from + got));
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) fail("{}: cannot read: {}", path_, std::strerror(errno));
      if (more == 0) break;
      got += static_cast<std::size_t>(more);
    }
    return got;
  }
  std::string read(std::uint64_t from, std::uint64_t to) const {
    std::string bytes(static_cast<std::size_t>(to - from), '\0');
    bytes.resize(read(from, bytes.data(), bytes.size()));
    return bytes;
  }

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

constexpr std::uint64_t kLook = std::uint64_t{1} << 16;  // bytes read at once where lines are looked for

// Cell number n of a line, without quotes around it.
std::string_view cell_of(std::string_view line, std::size_t n, char separator) {
  std::size_t begin = 0;
  bool in_quotes = false;
  std::size_t at = 0;
  for (; at < line.size(); ++at) {
    if (line[at] == '"') in_quotes = !in_quotes;
    if (line[at] != separator || in_quotes) continue;
    if (n == 0) break;
    --n;
    begin = at + 1;
  }
  std::string_view cell = line.substr(begin, at - begin);
  if (cell.ends_with('\r')) cell.remove_suffix(1);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
  return cell;
}

// A file of plain text whose rows can be read from any row on.
class CutFile {
 public:
  // `id`: number of the id column; none where every row is a sequence.
  CutFile(std::shared_ptr<PlacedFile> file, const CsvReader& header, std::optional<char> comment,
          std::optional<std::size_t> id)
      : file_(std::move(file)),
        rows_(header.bytes_used()),
        separator_(header.separator()),
        comment_(comment),
        id_(id) {}

  char separator() const { return separator_; }

  // The first row at or behind `from` that begins a sequence; the size of the file where there is none.
  std::uint64_t sequence_at(std::uint64_t from) const {
    if (from <= rows_) return rows_;
    std::uint64_t line = from >= file_->size() ? file_->size() : end_of_line(from - 1);
    const std::optional<std::string> before = id_ ? id_before(line) : std::nullopt;
    while (line < file_->size()) {
      const std::uint64_t next = end_of_line(line);
      const std::string text = line_text(line, next);
      if (is_row(text) && !(before && cell_of(text, *id_, separator_) == *before)) return line;
      line = next;
    }
    return file_->size();
  }

  // The header and these rows. REQUIRES: both are of sequence_at().
  ByteSource source(std::uint64_t begin, std::uint64_t end) const {
    ByteSource source;
    source.name = begin == rows_ ? file_->path() : fmt::format("{} from byte {}", file_->path(), begin);
    source.size = rows_ + (end - begin);
    source.read = [file = file_, rows = rows_, begin, end, at = std::uint64_t{0}, in_quotes = false](
                      char* to, std::size_t room) mutable -> std::size_t {
      const bool header = at < rows;
      const std::uint64_t from = header ? at : begin + (at - rows);
      const std::uint64_t left = header ? rows - at : end - from;
      const std::size_t got = file->read(from, to, static_cast<std::size_t>(std::min<std::uint64_t>(room, left)));
      at += got;
      if (!header) expect_whole_lines(*file, to, got, in_quotes);
      return got;
    };
    return source;
  }

 private:
  // Where the lines are cut nobody knows whether a line end stands inside quotes.
  static void expect_whole_lines(const PlacedFile& file, const char* bytes, std::size_t count, bool& in_quotes) {
    if (!in_quotes && std::memchr(bytes, '"', count) == nullptr) return;
    for (std::size_t i = 0; i < count; ++i) {
      if (bytes[i] == '"') in_quotes = !in_quotes;
      if (bytes[i] == '\n' && in_quotes)
        fail("{}: --shard rows: expected texts in quotes that end on their line, got a line end inside quotes",
             file.path());
    }
  }

  // One behind the next line end at or behind `from`.
  std::uint64_t end_of_line(std::uint64_t from) const {
    char block[kLook];
    for (;; from += kLook) {
      const std::size_t got = file_->read(from, block, kLook);
      if (const void* const end = std::memchr(block, '\n', got))
        return from + static_cast<std::uint64_t>(static_cast<const char*>(end) - block) + 1;
      if (got < kLook) return file_->size();
    }
  }

  std::string line_text(std::uint64_t begin, std::uint64_t end) const {
    if (end - begin > CsvReader::kMaxRow)
      fail("{}: expected lines of at most {} MiB, got a longer one", file_->path(), CsvReader::kMaxRow >> 20);
    std::string text = file_->read(begin, end);
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

  bool is_row(std::string_view text) const {
    return !text.empty() && text != "\r" && !(comment_ && text.front() == *comment_);
  }

  // The id of the last row before this line; nothing where it is the first one.
  std::optional<std::string> id_before(std::uint64_t line) const {
    while (line > rows_) {
      std::uint64_t begin = line - 1;  // of the line before; its line end stands there
      for (std::uint64_t look = kLook;; look *= 2) {
        const std::uint64_t from = begin - std::min(begin - rows_, look);
        const std::string text = file_->read(from, line - 1);
        const std::size_t end = text.rfind('\n');
        if (end == std::string::npos && from > rows_) continue;
        begin = end == std::string::npos ? rows_ : from + end + 1;
        break;
      }
      const std::string text = line_text(begin, line);
      if (is_row(text)) return std::string(cell_of(text, *id_, separator_));
      line = begin;
    }
    return std::nullopt;
  }

  std::shared_ptr<PlacedFile> file_;
  std::uint64_t rows_;  // where the first row begins
  char separator_;
  std::optional<char> comment_;
  std::optional<std::size_t> id_;
};

bool is_plain_table(const PlacedFile& file) {
  const std::string head = file.read(0, std::min(file.size(), kLook));
  return !head.starts_with("\x1f\x8b") && !head.starts_with("\x28\xb5\x2f\xfd") && !looks_like_ts(head);
}

std::optional<std::size_t> number_of(const std::string& name, const std::vector<std::string>& columns) {
  const auto at = std::find(columns.begin(), columns.end(), name);
  if (at == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(at - columns.begin());
}

}  // namespace

PiecedFiles::PiecedFiles(const std::string& path, const Roles& roles) : roles_(roles) {
  if (path == "-") fail("--shard rows: expected files that can be read in parts, got standard input");
  for (const std::string& one : expand_path(path)) {
    const std::uint64_t size = PlacedFile(one).size();
    files_.push_back({one, total_, size});
    total_ += size;
  }
  ByteSource table = as_table(open_bytes(name()));
  roles_.task = stated_task(table, roles);
  const CsvReader first(std::move(table), roles.format);
  columns_ = first.columns();
  layout_ = lay_out(name(), columns_, roles, files_.size() > 1);
  if (layout_.id.empty())
    fail(
        "{}: --shard rows: expected sequences that can be given to processes, got a single one: name the column that "
        "identifies the sequence with --id, or use --id row if every row is one",
        name());
  schema_ = schema_of(roles, layout_);
}

std::vector<TableSource> PiecedFiles::open(std::size_t piece) const {
  const std::uint64_t low = total_ / kDataPieces * piece + total_ % kDataPieces * piece / kDataPieces;
  const std::uint64_t high = total_ / kDataPieces * (piece + 1) + total_ % kDataPieces * (piece + 1) / kDataPieces;
  std::vector<TableSource> sources;
  for (const File& file : files_) {
    const std::uint64_t begin = std::max(low, file.begin), end = std::min(high, file.begin + file.size);
    if (begin >= end) continue;
    const auto placed = std::make_shared<PlacedFile>(file.path);
    std::optional<CutFile> cut;
    if (!layout_.file && is_plain_table(*placed)) {
      const CsvReader header(open_bytes(file.path), roles_.format);
      const std::optional<std::size_t> id = number_of(layout_.id, header.columns());
      const bool by_row = layout_.id == "row" && !id;
      if (header.separator() != ' ' && (id || by_row)) cut.emplace(placed, header, roles_.format.comment, id);
    }
    if (!cut) {
      if (begin == file.begin) sources.emplace_back(open_bytes(file.path));
      continue;
    }
    const std::uint64_t from = cut->sequence_at(begin - file.begin);
    const std::uint64_t to = end == file.begin + file.size ? file.size : cut->sequence_at(end - file.begin);
    if (from < to) sources.emplace_back(cut->source(from, to));
  }
  return sources;
}

std::optional<RawDataset> PiecedFiles::read(std::size_t piece) const {
  std::vector<TableSource> sources = open(piece);
  if (sources.empty()) return std::nullopt;
  return read_raw_part(std::move(sources), roles_, {name(), columns_, files_.size() > 1});
}

}  // namespace remede
