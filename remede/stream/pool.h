// Many live sequences of one model, each with an id. The pool holds at most so many; one more takes the place of the
// one that was used least recently, which is forgotten. Holds a reference to the model. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "remede/stream/state.h"
#include "remede/stream/stream.h"

namespace remede {

class StreamPool {
 public:
  using Slot = std::uint32_t;

  StreamPool(const Model& model, std::size_t most);  // most: at least 1
  StreamPool(const StreamPool&) = delete;            // the index looks at texts of its own
  StreamPool(StreamPool&&) = default;
  StreamPool& operator=(const StreamPool&) = delete;
  StreamPool& operator=(StreamPool&&) = default;
  ~StreamPool() = default;

  // The place of this sequence, which becomes the one used last. It is a new one where the id is not there. A slot is
  // valid until the next call.
  Slot find(std::string_view id);
  bool contains(std::string_view id) const { return index_.contains(id); }
  bool forget(std::string_view id);  // false: it was not there
  void clear();

  // One step of the sequence; no allocation. Valid until the next call.
  std::span<const float> step(Slot slot, std::span<const float> x);
  std::span<const int> leaves() const { return stream_.leaves(); }  // of the last step

  // The time of the last step, where the caller keeps it; NaN before the first. Its text, too.
  double time(Slot slot) const { return slots_[slot].time; }
  void set_time(Slot slot, double time) { slots_[slot].time = time; }
  std::string_view time_text(Slot slot) const { return slots_[slot].time_text; }
  void set_time_text(Slot slot, std::string_view text) { slots_[slot].time_text = text; }

  std::span<const float> state(Slot slot) const { return {state_.data() + slot * width_, width_}; }
  void set_state(Slot slot, std::span<const float> state);  // throws Error when the size differs

  std::size_t size() const { return index_.size(); }
  std::size_t most() const { return most_; }
  std::uint64_t evicted() const { return evicted_; }
  std::vector<std::string> ids() const;  // the least recently used first

  // All sequences, the least recently used first. load() replaces what is there.
  void save(StateWriter& to) const;
  void load(StateReader& from);
  // The texts of their times, in the same order. REQUIRES: load() was before load_time_texts().
  void save_time_texts(StateWriter& to) const;
  void load_time_texts(StateReader& from);

 private:
  static constexpr Slot kNone = std::numeric_limits<Slot>::max();
  struct Entry {
    std::string id;
    double time = std::numeric_limits<double>::quiet_NaN();
    std::string time_text;
    Slot older = kNone, newer = kNone;  // neighbours in the order of use
  };

  Slot add(std::string_view id);
  void unlink(Slot slot);
  void link_newest(Slot slot);

  Stream stream_;
  std::size_t width_;  // floats of a state
  std::size_t most_;
  std::vector<float> state_;  // (slots, width)
  std::deque<Entry> slots_;   // stays in place: the index looks at its ids
  std::vector<Slot> free_;
  std::unordered_map<std::string_view, Slot> index_;
  Slot oldest_ = kNone, newest_ = kNone;
  std::uint64_t evicted_ = 0;
};

}  // namespace remede
