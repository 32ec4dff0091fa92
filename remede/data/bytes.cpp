// Files as bytes: opening, unpacking gzip and zstd as they are read.
#include "remede/data/bytes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "remede/base/error.h"

namespace remede {
namespace {

constexpr std::size_t kPacked = std::size_t{1} << 16;  // bytes read at once

// What both kinds share: packed bytes, refilled from the source, and how much came of them. A few bytes can unpack to
// any number of them, and memory must stay in proportion to the file: beyond kMostUnpacked the data may be at most
// kMostExpansion times as long as what was read of the file.
struct Packed {
  ByteSource source;
  std::array<char, kPacked> bytes;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t packed = 0;    // bytes read so far
  std::uint64_t unpacked = 0;  // bytes handed out so far

  explicit Packed(ByteSource from) : source(std::move(from)) {}

  bool fill() {
    if (begin < end) return true;
    begin = 0;
    end = source.read(bytes.data(), bytes.size());
    packed += end;
    return end > 0;
  }

  // How many of `room` bytes may be unpacked at once. REQUIRES: room > 0.
  std::size_t allowed(std::size_t room) const {
    const std::uint64_t most = std::max(kMostUnpacked, kMostExpansion * packed);
    return static_cast<std::size_t>(std::min<std::uint64_t>(room, most + 1 - std::min(most, unpacked)));
  }
  void count(std::size_t more) {
    unpacked += more;
    if (unpacked > std::max(kMostUnpacked, kMostExpansion * packed))
      fail(
          "{}: expected compressed data of at most {} times their length after decompression, got more: decompress the "
          "file first, or pipe it in",
          source.name, kMostExpansion);
  }
};

class Gunzip {
 public:
  explicit Gunzip(ByteSource source) : packed_(std::move(source)) {
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK)
      fail("{}: not enough memory to decompress gzip", packed_.source.name);
  }
  ~Gunzip() { inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  std::size_t read(char* to, std::size_t room) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(packed_.allowed(room), std::size_t{1} << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (!packed_.fill()) {
        if (inside_) fail("{}: expected more gzip data, got the end of the file", packed_.source.name);
        return 0;
      }
      if (!inside_) inflateReset(&stream_);  // members may follow each other
      inside_ = true;
      stream_.next_in = reinterpret_cast<Bytef*>(packed_.bytes.data() + packed_.begin);
      stream_.avail_in = static_cast<uInt>(packed_.end - packed_.begin);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      packed_.begin = packed_.end - stream_.avail_in;
      if (result == Z_STREAM_END) inside_ = false;
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        fail("{}: expected gzip data, got damaged bytes ({})", packed_.source.name,
             stream_.msg != nullptr ? stream_.msg : "no details");
    }
    packed_.count(wanted - stream_.avail_out);
    return wanted - stream_.avail_out;
  }

 private:
  Packed packed_;
  z_stream stream_{};
  bool inside_ = true;  // a member has begun and not ended
};

class Unzstd {
 public:
  explicit Unzstd(ByteSource source) : packed_(std::move(source)), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (stream_ == nullptr) fail("{}: not enough memory to decompress zstd", packed_.source.name);
  }

  std::size_t read(char* to, std::size_t room) {
    ZSTD_outBuffer out{to, packed_.allowed(room), 0};
    while (out.pos == 0) {
      if (!packed_.fill()) {
        if (inside_) fail("{}: expected more zstd data, got the end of the file", packed_.source.name);
        return 0;
      }
      ZSTD_inBuffer in{packed_.bytes.data(), packed_.end, packed_.begin};
      const std::size_t result = ZSTD_decompressStream(stream_.get(), &out, &in);
      packed_.begin = in.pos;
      if (ZSTD_isError(result) != 0)
        fail("{}: expected zstd data, got damaged bytes ({})", packed_.source.name, ZSTD_getErrorName(result));
      inside_ = result != 0;
    }
    packed_.count(out.pos);
    return out.pos;
  }

 private:
  Packed packed_;
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
  bool inside_ = true;
};

template <typename Unpacker>
ByteSource through(ByteSource source) {
  ByteSource unpacked;
  unpacked.name = source.name;
  const auto unpacker = std::make_shared<Unpacker>(std::move(source));
  unpacked.read = [unpacker](char* to, std::size_t room) { return unpacker->read(to, room); };
  return unpacked;
}

}  // namespace

ByteSource peeked(ByteSource source, std::size_t bytes, std::string& head) {
  head.resize(bytes);
  std::size_t have = 0;
  while (have < bytes) {
    const std::size_t got = source.read(head.data() + have, bytes - have);
    if (got == 0) break;
    have += got;
  }
  head.resize(have);
  ByteSource whole;
  whole.name = source.name;
  whole.size = source.size;
  whole.read = [kept = head, at = std::size_t{0}, read = std::move(source.read)](char* to, std::size_t room) mutable {
    if (at == kept.size()) return read(to, room);
    const std::size_t n = std::min(room, kept.size() - at);
    std::memcpy(to, kept.data() + at, n);
    at += n;
    return n;
  };
  return whole;
}

ByteSource unpacked(ByteSource source) {
  std::string head;
  ByteSource whole = peeked(std::move(source), 4, head);
  if (head.starts_with("\x1f\x8b")) return through<Gunzip>(std::move(whole));
  if (head.starts_with("\x28\xb5\x2f\xfd")) return through<Unzstd>(std::move(whole));
  return whole;
}

ByteSource open_bytes(const std::string& path) {
  const bool standard = path == "-";
  ByteSource source;
  source.name = standard ? "standard input" : path;
  const int descriptor = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("{}: cannot open: {}", source.name, std::strerror(errno));
  const std::shared_ptr<void> closer(nullptr, [descriptor, standard](void*) {
    if (!standard) ::close(descriptor);
  });
  struct stat there {};
  if (::fstat(descriptor, &there) == 0 && S_ISREG(there.st_mode))
    source.size = static_cast<std::uint64_t>(there.st_size);
  source.read = [descriptor, closer, name = source.name](char* to, std::size_t room) {
    for (;;) {
      const ssize_t got = ::read(descriptor, to, room);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail("{}: cannot read: {}", name, std::strerror(errno));
    }
  };
  return source;
}

}  // namespace remede
