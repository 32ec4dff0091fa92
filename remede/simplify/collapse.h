// Steps judged on data: a model gives up the splits and writes that the data are predicted as well without.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/simplify/draft.h"
#include "remede/simplify/replay.h"

namespace remede {

// Both data sets together: an edit is acceptable if it is on each.
class Judge {
 public:
  // Null, and data without steps, count for nothing. `model` is what is edited. The limits of what is acceptable are
  // set by what it is worth now: they stay, so that small losses do not add up.
  Judge(const Model& model, const Sequences* training, const Sequences* validation, const Tolerance& tolerance);

  // To be called when leaves or cells have been renumbered.
  void restart();

  bool has_data() const { return !replays_.empty(); }
  bool has_targets() const { return has_targets_; }
  bool exhausted() const;  // the effort is spent, or it was stopped: judge() refuses everything
  bool visited(int t, int leaf) const;
  Verdict judge(int t, const Tree& edited, std::span<const std::uint8_t> touched);
  // Makes the edit the one that others are judged against. Cheaper with its verdict, if no other was judged since.
  void commit(int t, const Tree& edited, std::span<const std::uint8_t> touched, const Verdict* verdict = nullptr);
  // (n_v) how large the features of tree t are: the root of the mean square.
  std::vector<double> feature_sizes(int t, int n_v) const;

 private:
  std::vector<Replay> replays_;
  bool has_targets_ = false;
  double most_steps_ = 0;
  std::function<bool()> stop_;
  std::uint64_t serial_ = 0;
};

// Removes branches that no sequence visits, then replaces subtrees by one of their own branches where the judge accepts
// it, the largest first, until nothing changes. With `close_writes` it also closes writes. Trees are sound before and
// after; the judge is restarted. Whether anything changed.
bool collapse(Draft& draft, Judge& judge, bool close_writes);

}  // namespace remede
