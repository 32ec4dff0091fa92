#include "remede/data/texts.h"

#include <functional>

#include "remede/base/error.h"

namespace remede {

void Texts::push_back(std::string_view text) {
  if (text.size() > kMaxLength) fail("expected a text of at most {} bytes, got {}", kMaxLength, text.size());
  if (end_.size() % kGroup == 0) base_.push_back(bytes_.size());
  bytes_.insert(bytes_.end(), text.begin(), text.end());
  end_.push_back(static_cast<std::uint32_t>(bytes_.size() - base_.back()));
}

void Texts::reserve(std::size_t count, std::size_t bytes) {
  bytes_.reserve(bytes);
  end_.reserve(count);
  base_.reserve(count / kGroup + 1);
}

static std::uint32_t hash_of(std::string_view text) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
}

std::size_t Interner::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.number == 0 || (slot.hash == hash && texts_[slot.number - 1] == text)) return i;
  }
}

void Interner::grow() {
  const Column<Slot> old = std::move(slots_);
  slots_ = Column<Slot>(old.store());
  slots_.assign(old.empty() ? 64 : 2 * old.size(), Slot{});
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number == 0) continue;
    std::size_t i = slot.hash & mask;
    while (slots_[i].number != 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

std::uint32_t Interner::intern(std::string_view text) {
  if (2 * (texts_.size() + 1) > slots_.size()) grow();
  const std::uint32_t hash = hash_of(text);
  Slot& slot = slots_[slot_of(text, hash)];
  if (slot.number == 0) {
    texts_.push_back(text);
    slot = {hash, static_cast<std::uint32_t>(texts_.size())};
  }
  return slot.number - 1;
}

std::optional<std::uint32_t> Interner::find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[slot_of(text, hash_of(text))];
  if (slot.number == 0) return std::nullopt;
  return slot.number - 1;
}

}  // namespace remede
