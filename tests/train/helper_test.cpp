#include "remede/train/helper.h"

#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/data/tasks.h"
#include "remede/model/file.h"
#include "remede/train/fit.h"
#include "support/error_of.h"
#include "support/thread_peers.h"
#include "train/small_data.h"

namespace remede {
namespace {

using testing::ThreadPeers;

struct Shared {
  Fit fit;
  Peers::Traffic traffic;
};

Shared fit_with(std::size_t hands, bool works_here, const Dataset& data, const Config& config, Callbacks callbacks = {},
                const Checkpoint* resume = nullptr, int lose = 0) {
  Helper helper(data, nullptr, config);
  ThreadPeers peers(
      hands, [&](std::string_view job, const std::function<bool()>& stop) { return helper.run(job, stop); },
      works_here);
  peers.lose = lose;
  callbacks.peers = &peers;
  Shared result{fit(data, nullptr, config, callbacks, resume), {}};
  EXPECT_EQ(peers.said, helper.fit()) << "both sides must fit the same";
  result.traffic = peers.traffic();
  return result;
}

Config few_starts() {
  Config config;
  config.starts = 4;
  config.updates = 40;
  config.threads = 1;
  return config;
}

TEST(HelperSlow, TheModelIsTheSameWithAnyHelp) {
  Config forest = few_starts();
  forest.trees = 2;
  for (const auto& [data, config] :
       {std::pair(testing::fixed_delay(200, 1), few_starts()), std::pair(testing::fixed_delay(40, 2), forest),
        std::pair(testing::regimes(30, 1), few_starts()),
        std::pair(generate("runoff", {.sequences = 2}), few_starts())}) {
    const std::string alone = to_json(fit(data, nullptr, config).model);
    const Shared all_elsewhere = fit_with(2, false, data, config);
    EXPECT_EQ(to_json(all_elsewhere.fit.model), alone);
    EXPECT_GT(all_elsewhere.traffic.jobs, 7U);
    EXPECT_EQ(to_json(fit_with(1, true, data, config, {}, nullptr, 3).fit.model), alone) << "answers were lost";
  }
}

TEST(HelperSlow, AStoppedFitGoesOnWithOtherHelp) {
  const Dataset data = testing::fixed_delay(200, 1);
  const Config config = few_starts();
  const std::string alone = to_json(fit(data, nullptr, config).model);
  std::optional<Checkpoint> last;
  std::atomic<int> asked = 0;
  Callbacks stopped;
  stopped.stop = [&] { return ++asked > 60; };
  stopped.checkpoint = [&](const Checkpoint& c) { last = c; };
  EXPECT_TRUE(fit_with(2, true, data, config, stopped).fit.stopped);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(to_json(fit_with(3, false, data, config, {}, &*last).fit.model), alone);
}

TEST(Helper, WhatIsNoJobOfThisFitIsAnError) {
  const Dataset data = testing::fixed_delay(60, 1);
  Helper helper(data, nullptr, few_starts());
  const auto run = [&](const std::string& job) {
    return testing::error_of([&] { helper.run(job, [] { return false; }); });
  };
  EXPECT_NE(run(""), "(no error)");
  EXPECT_NE(run("\xff"), "(no error)");
  for (char kind = 0; kind < 12; ++kind)
    EXPECT_NE(run(std::string(1, kind) + std::string(24, '\x7f')), "(no error)") << int{kind};
}

}  // namespace
}  // namespace remede
