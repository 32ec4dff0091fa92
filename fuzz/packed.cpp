// gzip and zstd: any bytes unpack to what is allowed or are refused, and what was packed unpacks to itself.
#include <zlib.h>
#include <zstd.h>

#include "fuzz/harness.h"

namespace remede::fuzz {
namespace {

std::string gzipped(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstandard(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

// Counts what comes, without keeping it.
std::uint64_t length_of(std::string_view bytes, std::size_t piece) {
  ByteSource source = unpacked(source_of(bytes, piece));
  char block[4096];
  std::uint64_t length = 0;
  while (const std::size_t got = source.read(block, sizeof block)) length += got;
  return length;
}

}  // namespace

void packed(std::string_view input) {
  const unsigned bits = take_byte(input);
  const std::size_t piece = 1 + take_byte(input) % 64;
  if ((bits & 1U) != 0) {  // two members, cut anywhere
    const std::size_t cut = std::min<std::size_t>(take_byte(input), input.size());
    const auto pack = (bits & 2U) != 0 ? gzipped : zstandard;
    require(all_of(unpacked(source_of(pack(input.substr(0, cut)) + pack(input.substr(cut)), piece))) == input,
            "what was packed unpacks to itself");
    return;
  }
  std::uint64_t length = 0;
  std::uint64_t pieces = 0;
  const std::string error = error_of([&] { length = length_of(input, input.size() + 1); });
  const std::string in_pieces = error_of([&] { pieces = length_of(input, piece); });
  require(error.empty() == in_pieces.empty() && length == pieces, "the same in pieces");
  require(length <= std::max<std::uint64_t>(kMostUnpacked, kMostExpansion * input.size()) || length == input.size(),
          "no more than is allowed");
}

}  // namespace remede::fuzz
