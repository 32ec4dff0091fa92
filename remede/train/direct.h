// Models that are learned directly, without gradient descent: finite-state machines where the inputs are symbols
// (state_merging.h), greedy trees where no memory is needed (greedy_tree.h), identified systems where recorded inputs
// drive recorded outputs (identify.h), models of patterns (patterns/patterns.h). They compete with the finalists of the
// search, and validation data decide.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/executor/bytes.h"
#include "remede/executor/remote/peers.h"
#include "remede/model/model.h"
#include "remede/train/config.h"
#include "remede/train/prepare.h"

namespace remede {

struct DirectCandidate {
  std::vector<Model> copies;  // one for each fold, in the data's own units
  double loss = 0;            // on validation data, in the units of training, over all folds
  double wrong = 1;           // share of wrong classes there; classification
  // Learns again from all the data what copy `kept` learned from its fold; nothing where it stays as it is. raw: the
  // same data in the units of the file, thinned where they are many.
  std::function<std::optional<Model>(std::size_t kept, const TrainingData& all, const Sequences& raw)> refit;
};

struct DirectModels {
  std::vector<DirectCandidate> candidates;
  bool solved = false;  // the first is a machine that makes no mistake on training and validation data
  // The lowest loss of a static tree or a system: below that of a constant, the data are signals rather than events.
  double signal_loss = std::numeric_limits<double>::infinity();
};

// What the configuration allows and the data suggest. Stops early, with what is finished, when `stop` says so.
// REQUIRES: `folds` and `schema` outlive the candidates.
DirectModels learn_directly(const Schema& schema, const std::vector<Prepared>& folds, const Config& config,
                            const std::function<bool()>& stop, Peers* peers = nullptr);

// Adds models of patterns, where the configuration allows them and there are enough sequences. For what the search has
// not solved.
void add_patterns(const Schema& schema, const std::vector<Prepared>& folds, const Config& config,
                  const std::function<bool()>& stop, DirectModels& found);

// What a peer does with a job of the kind kGreedy.
std::string do_greedy(ByteReader& job, const std::vector<Prepared>& folds);

}  // namespace remede
