// Rounds of starts, shared with peers. A start travels as its number and its state (Trainer::save()), and comes back as
// its state: the result does not depend on which process advances it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "remede/executor/executor.h"
#include "remede/executor/remote/peers.h"

namespace remede {

// The plan of the start with this number. Throws Error where there is none.
using PlanOf = std::function<const StartPlan&(std::uint64_t stream)>;

// Like make_executor(), with a part of every round done by the peers.
std::unique_ptr<Executor> make_sharing_executor(Device device, std::vector<const TrainingData*> data, int threads,
                                                Peers& peers);

// What a peer does with a job of the kind kRound, `job` being read up to there.
std::string do_round(ByteReader& job, Executor& executor, const std::vector<const TrainingData*>& data,
                     const PlanOf& plan_of, const Pause& stop);

}  // namespace remede
