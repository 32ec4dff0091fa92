// The frontier: of every size the model that does best on validation data, from a handful of numbers to the most
// accurate; and the choice of one of them. All forms compete: what the default search found, and small models whose
// cells have laws.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/executor/remote/peers.h"
#include "remede/model/model.h"
#include "remede/model/size.h"
#include "remede/train/choose.h"
#include "remede/train/config.h"
#include "remede/train/prepare.h"
#include "remede/train/score.h"

namespace remede {

struct FrontierPoint {
  Model model;       // of a small one: after it learned from the held-out data as well, where the options say so
  Size size;         // of this model
  Score validation;  // before that
  std::vector<float> quantile_factors;  // from the held-out data, before that (calibrate.h)
  double standard_error = 0;            // of the accuracy, or of the root of the mean squared error
  bool chosen = false;
};

struct Frontier {
  std::vector<FrontierPoint> points;  // by size; each does better on validation data than all that are smaller
  std::string why;                    // one line: why the chosen one was chosen
};

struct FrontierOptions {
  const Dataset* training = nullptr;     // all data to learn from, the held-out part included
  const Prepared* prepared = nullptr;    // the cut into training and validation data
  bool solved = false;                   // the first candidate leaves nothing to learn: it is chosen
  bool small_models = true;              // look for models whose cells have laws; else only the candidates compete
  bool refit = true;                     // small models learn from the held-out data as well, at the end
  Peers* peers = nullptr;                // who do a part of the work
  std::function<bool()> stop;            // end with what is there
  std::function<void(double)> progress;  // after a round of the search for small models: the share that is done
  std::function<void(double)> worked;    // the same more often, from any thread
};

struct FrontierChoice {
  Frontier frontier;
  std::optional<Model> model;  // the chosen one, ready to save; nothing: it is the candidate
  std::size_t candidate = 0;   // with this number
  Score validation;
};

// The saved model takes the place of the chosen one, and every size is counted again: the last training and rounding
// change them. Of models of one size one stays, the chosen one before the others.
void finish_frontier(const Model& saved, Frontier& frontier);

// Judges on the prepared validation data. `candidates`: at least one, best first; of each the first copy competes.
// Throws Error where no model is as small as the configuration asks for.
FrontierChoice choose_on_frontier(const std::vector<Candidate>& candidates, const Config& config,
                                  const FrontierOptions& options);

}  // namespace remede
