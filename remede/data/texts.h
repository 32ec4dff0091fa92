// Many short texts in one block (about 4 bytes each beside their own), and a table that numbers distinct
// ones. Files have millions of rows: a std::string per row would cost more than all their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "remede/base/column.h"

namespace remede {

// Reads like a vector of std::string_view; only grows. A view is valid until the next push_back.
class Texts {
 public:
  static constexpr std::size_t kMaxLength = std::size_t{64} << 20;  // of one text

  Texts() = default;
  explicit Texts(const std::shared_ptr<ColumnStore>& store) : bytes_(store), end_(store), base_(store) {}

  std::size_t size() const { return end_.size(); }
  bool empty() const { return end_.empty(); }

  std::string_view operator[](std::size_t i) const {
    const std::uint64_t base = base_[i / kGroup];
    const std::uint64_t begin = i % kGroup == 0 ? base : base + end_[i - 1];
    return {bytes_.data() + begin, static_cast<std::size_t>(base + end_[i] - begin)};
  }
  std::string_view back() const { return (*this)[size() - 1]; }

  void push_back(std::string_view text);  // throws Error when it is longer than kMaxLength
  void reserve(std::size_t count, std::size_t bytes);

  bool operator==(const Texts&) const = default;

 private:
  static constexpr std::size_t kGroup = 32;  // texts that share a base, so that an end fits into 32 bits

  Column<char> bytes_;
  Column<std::uint32_t> end_;   // (texts) from the base of its group
  Column<std::uint64_t> base_;  // (groups) where the group's first text begins
};

// Numbers distinct texts from 0 in the order of their first appearance.
class Interner {
 public:
  Interner() = default;
  explicit Interner(const std::shared_ptr<ColumnStore>& store) : texts_(store), slots_(store) {}

  std::uint32_t intern(std::string_view text);
  std::optional<std::uint32_t> find(std::string_view text) const;

  std::size_t size() const { return texts_.size(); }
  const Texts& texts() const { return texts_; }
  Texts take() { return std::move(texts_); }  // the table is of no use afterwards

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // from 1; 0: free
  };
  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;  // its own, or the free one where it belongs
  void grow();

  Texts texts_;
  Column<Slot> slots_;  // a power of two, at most half of them taken
};

}  // namespace remede
