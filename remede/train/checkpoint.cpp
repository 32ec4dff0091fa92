#include "remede/train/checkpoint.h"

#include <cstring>

#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/executor/bytes.h"

namespace remede {
namespace {

constexpr std::string_view kMagic = "remede checkpoint\n";
constexpr std::uint32_t kVersion = 4;
constexpr std::size_t kMostBytes = std::size_t{1} << 33;  // of a file

[[noreturn]] void not_a_checkpoint(const std::string& where) {
  fail("{}: expected a checkpoint of remede, got another file", where);
}

// 64 bits at a time: enough to notice damage and other data, and faster than reading them.
std::uint64_t hash_bytes(std::uint64_t hash, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  };
  mix(size);
  for (; size >= 8; size -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    mix(word);
  }
  std::uint64_t rest = 0;
  if (size > 0) std::memcpy(&rest, at, size);
  mix(rest);
  return hash;
}

std::uint64_t hash_text(std::uint64_t hash, std::string_view text) {
  return hash_bytes(hash, text.data(), text.size());
}

template <typename T>
std::uint64_t hash_numbers(std::uint64_t hash, const Column<T>& values) {
  return hash_bytes(hash, values.data(), values.size() * sizeof(T));
}

// For a message: what is long or odd is quoted and cut.
std::string brief_setting(const std::string& setting) {
  constexpr std::size_t kMost = 40;  // bytes
  return setting.size() <= kMost && printable(setting) == setting ? setting : shown(setting);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void put_pairs(ByteWriter& to, const Pairs& pairs) {
  to.put(static_cast<std::uint64_t>(pairs.size()));
  for (const auto& [name, text] : pairs) {
    to.put(std::string_view(name));
    to.put(std::string_view(text));
  }
}

Pairs get_pairs(ByteReader& from) {
  Pairs pairs;
  for (auto left = from.get<std::uint64_t>(); left > 0; --left) {
    auto& [name, text] = pairs.emplace_back();
    from.get(name);
    from.get(text);
  }
  return pairs;
}

}  // namespace

std::uint64_t fingerprint(const Dataset& data, std::uint64_t seed) {
  std::uint64_t hash = hash_bytes(seed, &data.schema.task, sizeof(data.schema.task));
  for (const auto* names : {&data.schema.inputs, &data.schema.targets, &data.schema.classes}) {
    hash = hash_text(hash, fmt::format("{}", names->size()));
    for (const std::string& name : *names) hash = hash_text(hash, name);
  }
  const Sequences& s = data.sequences;
  hash = hash_numbers(hash, s.offset);
  hash = hash_numbers(hash, s.x);
  hash = hash_numbers(hash, s.label);
  hash = hash_numbers(hash, s.value);
  return hash_numbers(hash, s.weight);
}

std::string to_bytes(const Checkpoint& checkpoint) {
  ByteWriter body;
  put_pairs(body, checkpoint.settings);
  put_pairs(body, checkpoint.notes);
  body.put(checkpoint.data);
  body.put(std::string_view(checkpoint.state));
  ByteWriter whole;
  whole.put(kVersion);
  whole.put(hash_text(0, body.bytes()));
  return std::string(kMagic) + whole.bytes() + body.bytes();
}

Checkpoint checkpoint_from_bytes(std::string_view bytes, const std::string& where) {
  if (!bytes.starts_with(kMagic)) not_a_checkpoint(where);
  ByteReader head(bytes.substr(kMagic.size()), where);
  const auto version = head.get<std::uint32_t>();
  if (version != kVersion) fail("{}: expected a checkpoint of version {}, got version {}", where, kVersion, version);
  const auto sum = head.get<std::uint64_t>();
  const std::string_view rest = bytes.substr(kMagic.size() + sizeof(version) + sizeof(sum));
  if (hash_text(0, rest) != sum)
    fail("{}: expected a whole checkpoint, got a damaged one (the checksum differs)", where);
  ByteReader body(rest, where);
  Checkpoint checkpoint;
  checkpoint.settings = get_pairs(body);
  checkpoint.notes = get_pairs(body);
  body.get(checkpoint.data);
  body.get(checkpoint.state);
  body.expect_end();
  return checkpoint;
}

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path) { write_file(path, to_bytes(checkpoint)); }

Checkpoint load_checkpoint(const std::string& path) {
  const auto expect_magic = [&path](std::string_view head) {
    if (!head.starts_with(kMagic)) not_a_checkpoint(path);
  };
  return checkpoint_from_bytes(read_file(path, kMostBytes, expect_magic), path);
}

void expect_same(const Checkpoint& checkpoint, const Config& config, std::uint64_t data) {
  const Config then = config_from_settings(checkpoint.settings, "checkpoint");
  for (const HyperParameter& p : hyper_parameters())
    if (p.saved() && !p.of_device() && p.get(then) != p.get(config))
      fail("resume: expected {} {} as in the checkpoint, got {}", p.flag(), brief_setting(p.get(then)),
           brief_setting(p.get(config)));
  if (checkpoint.data != data) fail("resume: expected the data the checkpoint was made with, got other data");
}

}  // namespace remede
