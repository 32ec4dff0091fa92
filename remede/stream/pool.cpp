#include "remede/stream/pool.h"

#include <algorithm>

#include "remede/base/error.h"

namespace remede {

StreamPool::StreamPool(const Model& model, std::size_t most)
    : stream_(model), width_(stream_.state().size()), most_(most) {
  if (most < 1 || most >= kNone) fail("expected a pool of 1 to {} sequences, got {}", kNone - 1, most);
}

void StreamPool::unlink(Slot slot) {
  const Entry& entry = slots_[slot];
  (entry.older == kNone ? oldest_ : slots_[entry.older].newer) = entry.newer;
  (entry.newer == kNone ? newest_ : slots_[entry.newer].older) = entry.older;
}

void StreamPool::link_newest(Slot slot) {
  slots_[slot].older = newest_;
  slots_[slot].newer = kNone;
  (newest_ == kNone ? oldest_ : slots_[newest_].newer) = slot;
  newest_ = slot;
}

StreamPool::Slot StreamPool::add(std::string_view id) {
  if (index_.size() == most_) {
    ++evicted_;
    forget(std::string(slots_[oldest_].id));
  }
  Slot slot = static_cast<Slot>(slots_.size());
  if (free_.empty()) {
    slots_.emplace_back();
    state_.resize(state_.size() + width_);
  } else {
    slot = free_.back();
    free_.pop_back();
    slots_[slot] = Entry();
    std::fill_n(state_.begin() + static_cast<std::ptrdiff_t>(slot * width_), width_, 0.0F);
  }
  slots_[slot].id = id;
  index_.emplace(slots_[slot].id, slot);
  link_newest(slot);
  return slot;
}

StreamPool::Slot StreamPool::find(std::string_view id) {
  const auto found = index_.find(id);
  if (found == index_.end()) return add(id);
  const Slot slot = found->second;
  if (slot != newest_) {
    unlink(slot);
    link_newest(slot);
  }
  return slot;
}

bool StreamPool::forget(std::string_view id) {
  const auto found = index_.find(id);
  if (found == index_.end()) return false;
  const Slot slot = found->second;
  index_.erase(found);  // before its text goes
  unlink(slot);
  free_.push_back(slot);
  return true;
}

void StreamPool::clear() {
  index_.clear();
  slots_.clear();
  state_.clear();
  free_.clear();
  oldest_ = newest_ = kNone;
}

std::span<const float> StreamPool::step(Slot slot, std::span<const float> x) {
  stream_.set_state(state(slot));
  const std::span<const float> y = stream_.step(x);
  std::copy_n(stream_.state().begin(), width_, state_.begin() + static_cast<std::ptrdiff_t>(slot * width_));
  return y;
}

void StreamPool::set_state(Slot slot, std::span<const float> state) {
  if (state.size() != width_) fail("expected a state of {} numbers, got {}", width_, state.size());
  std::copy(state.begin(), state.end(), state_.begin() + static_cast<std::ptrdiff_t>(slot * width_));
}

std::vector<std::string> StreamPool::ids() const {
  std::vector<std::string> all;
  for (Slot slot = oldest_; slot != kNone; slot = slots_[slot].newer) all.push_back(slots_[slot].id);
  return all;
}

void StreamPool::save(StateWriter& to) const {
  to.number(width_, 4);
  to.number(evicted_, 8);
  to.number(index_.size(), 8);
  for (Slot slot = oldest_; slot != kNone; slot = slots_[slot].newer) {
    to.text(slots_[slot].id);
    to.real(slots_[slot].time);
    to.floats(state(slot));
  }
}

void StreamPool::save_time_texts(StateWriter& to) const {
  for (Slot slot = oldest_; slot != kNone; slot = slots_[slot].newer) to.text(slots_[slot].time_text);
}

void StreamPool::load_time_texts(StateReader& from) {
  for (Slot slot = oldest_; slot != kNone; slot = slots_[slot].newer) slots_[slot].time_text = from.text();
}

void StreamPool::load(StateReader& from) {
  clear();
  if (from.number(4) != width_) from.damaged();
  evicted_ = from.number(8);
  std::vector<float> state(width_);
  for (std::uint64_t left = from.number(8); left > 0; --left) {
    const Slot slot = find(from.text());
    set_time(slot, from.real());
    from.floats(state);
    set_state(slot, state);
  }
}

}  // namespace remede
