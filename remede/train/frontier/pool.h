// The models that compete on the frontier.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "remede/executor/remote/job.h"
#include "remede/model/size.h"
#include "remede/train/frontier/frontier.h"
#include "remede/train/frontier/search.h"
#include "remede/train/frontier/units.h"

namespace remede::frontier {

struct Entry {
  Model model;
  Size size;
  Units units;
  double merit = 0;                  // on validation data; less is better
  std::optional<Snapshot> snapshot;  // of a small model
  std::size_t candidate = 0;         // else the candidate's number
  bool as_found = false;             // the candidate as it is, and not a smaller version of it
};

// Whether a model of the default search reads no input with a trend: otherwise its answers might go against it.
bool keeps_trends(const Model& model, const std::vector<Trend>& trend);

// The candidates of the default search and smaller versions of them, if they keep the trends.
std::vector<Entry> candidate_entries(const std::vector<Candidate>& candidates, const std::vector<Trend>& trend,
                                     const Config& config, const FrontierOptions& options);

// Seconds that the search for them will take, for the forecast of a fit.
double seconds_of_small_models(const Prepared& data, const std::vector<Trend>& trend, const Config& config,
                               const std::function<bool()>& stop);

// The models whose cells have laws: searched for, finished and rounded.
class SmallModels {
 public:
  // `like`: what schema and settings they have.
  SmallModels(const Model& like, const std::vector<Trend>& trend, const Config& config, const FrontierOptions& options);
  std::vector<Entry> search() const;
  // Learn from all data, their structures as they are. Nothing where an entry is no small model, or time is up.
  std::vector<std::optional<Model>> refitted(const std::vector<const Entry*>& entries) const;

  // What a peer does with a job of the kinds kSmallRound, kPrune, kFinish and kRefit.
  std::string do_job(Job kind, ByteReader& job, const std::function<bool()>& stop) const;

 private:
  using Stop = std::function<bool()>;
  Model model_of(const laws::Parameters& parameters) const;
  void finish(Entry& entry, const Stop& stop) const;
  Model refit(const Entry& entry, const Stop& stop) const;

  const Config& config_;
  const FrontierOptions& options_;
  Model like_;  // schema and settings
  Sequences judging_;
  std::unique_ptr<Problem> problem_;
};

// What a peer does with a job of the kind kSmaller. `like`: as above.
std::string do_smaller(ByteReader& job, const Model& like, const Prepared& data, const Config& config,
                       const std::function<bool()>& stop);

}  // namespace remede::frontier
