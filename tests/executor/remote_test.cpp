#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/executor/remote/job.h"
#include "remede/executor/remote/peers.h"
#include "remede/executor/remote/rounds.h"
#include "support/error_of.h"
#include "support/thread_peers.h"
#include "train/small_data.h"

namespace remede {
namespace {

using testing::ThreadPeers;

std::string squared(std::string_view job, const std::function<bool()>&) {
  const int number = std::stoi(std::string(job));
  return std::to_string(number * number);
}

// Squares of 0 .. count-1, made by whoever is free.
std::vector<int> squares(std::size_t count, int threads, Peers* peers, std::atomic<int>* here = nullptr) {
  std::vector<int> result(count, -1);
  SharedWork work;
  work.count = count;
  work.here = [&](std::size_t i, int) {
    result[i] = static_cast<int>(i * i);
    if (here != nullptr) ++*here;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  };
  work.job = [](std::size_t i) { return std::to_string(i); };
  work.take = [&](std::size_t i, std::string_view answer) { result[i] = std::stoi(std::string(answer)); };
  share(work, threads, peers);
  return result;
}

TEST(Share, EveryItemIsDoneOnceWhoeverDoesIt) {
  const std::vector<int> expected = squares(50, 2, nullptr);
  EXPECT_EQ(expected[7], 49);
  for (const bool works_here : {true, false})
    for (const std::size_t hands : {1, 3}) {
      ThreadPeers peers(hands, squared, works_here);
      std::atomic<int> here = 0;
      EXPECT_EQ(squares(50, 2, &peers, &here), expected);
      EXPECT_GT(peers.traffic().jobs, 0U);
      EXPECT_EQ(static_cast<int>(peers.traffic().jobs) + here, 50);
      EXPECT_TRUE(works_here || here == 0);
    }
}

TEST(Share, AnswersThatGetLostAreGivenAgain) {
  ThreadPeers peers(2, squared, false);
  peers.lose = 5;
  EXPECT_EQ(squares(20, 1, &peers), squares(20, 1, nullptr));
}

TEST(Share, LargestFirst) {
  ThreadPeers peers(1, squared, false);
  std::vector<std::size_t> order;
  SharedWork work;
  work.count = 4;
  work.here = [](std::size_t, int) {};
  work.job = [&](std::size_t i) {
    order.push_back(i);
    return std::to_string(i);
  };
  work.take = [](std::size_t, std::string_view) {};
  work.cost = [](std::size_t i) { return i == 2 ? 5.0 : static_cast<double>(i); };
  share(work, 1, &peers);
  EXPECT_EQ(order, (std::vector<std::size_t>{2, 3, 1, 0}));
}

TEST(Share, AnErrorElsewhereOrHereEndsIt) {
  ThreadPeers peers(2, [](std::string_view, const auto&) -> std::string { throw Error("no such job"); });
  EXPECT_EQ(testing::error_of([&] { squares(20, 1, &peers); }), "no such job");
  ThreadPeers good(2, squared);
  SharedWork work;
  work.count = 20;
  work.here = [](std::size_t, int) { throw Error("failed here"); };
  work.job = [](std::size_t i) { return std::to_string(i); };
  work.take = [](std::size_t, std::string_view) {};
  EXPECT_EQ(testing::error_of([&] { share(work, 1, &good); }), "failed here");
}

TEST(Share, AfterAStopNobodyIsWaitedFor) {
  std::atomic<bool> stop = false;
  ThreadPeers peers(1, [&](std::string_view, const std::function<bool()>& cancelled) -> std::string {
    stop = true;
    while (!cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return "too late";
  });
  std::set<std::size_t> here, taken;
  SharedWork work;
  work.count = 3;
  std::mutex mutex;
  work.here = [&](std::size_t i, int) {
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    here.insert(i);
  };
  work.job = [](std::size_t i) { return std::to_string(i); };
  work.take = [&](std::size_t i, std::string_view) { taken.insert(i); };
  work.stop = [&] { return stop.load(); };
  share(work, 1, &peers);
  EXPECT_EQ(here.size(), 3U) << "what was not answered is done here";
  EXPECT_TRUE(taken.empty());
}

TrainingData remote_data(int sequences, std::uint64_t seed) {
  TrainingData data;
  data.training = testing::fixed_delay(sequences, seed, 1).sequences;
  data.validation = testing::fixed_delay(60, 9, 1).sequences;
  data.fill = {0.0F};
  data.quantiles = input_quantiles(data.training);
  return data;
}

TEST(SharingExecutor, ARoundIsTheSameWhoeverMakesIt) {
  const TrainingData one = remote_data(120, 1), other = remote_data(80, 2);
  const std::vector<const TrainingData*> data = {&one, &other};
  std::vector<StartPlan> plans(4);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].shape = {3, 1, 2, 3, {}};
    plans[i].validations = 3;
    plans[i].stream = i;
  }
  ThreadPeers peers(
      2,
      [&](std::string_view job, const std::function<bool()>& stop) {
        ByteReader from(job, "job");
        EXPECT_EQ(from.get<std::uint8_t>(), static_cast<std::uint8_t>(Job::kRound));
        return do_round(
            from, *make_executor(Device::kCpu, data, 1), data,
            [&](std::uint64_t stream) -> const StartPlan& { return plans[stream]; }, stop);
      },
      false);
  const auto alone = make_executor(Device::kCpu, data, 1);
  const auto shared = make_sharing_executor(Device::kCpu, data, 1, peers);
  std::vector<std::unique_ptr<Trainer>> a, b;
  std::vector<Trainer*> all_a, all_b;
  for (std::size_t i = 0; i < 8; ++i) {
    a.push_back(alone->start(plans[i / 2], i % 2));
    b.push_back(shared->start(plans[i / 2], i % 2));
    all_a.push_back(a.back().get());
    all_b.push_back(b.back().get());
  }
  std::atomic<int> measured = 0;
  for (int round = 0; round < 2; ++round) {
    alone->round(all_a, {31, 0, {}, {}});
    shared->round(all_b, {31, 0, {}, [&](const StretchTime&) { ++measured; }});
  }
  EXPECT_EQ(measured, 2 * 8 * 3);
  EXPECT_EQ(peers.traffic().jobs, 16U);
  for (std::size_t i = 0; i < 8; ++i) {
    ByteWriter as, bs;
    a[i]->save(as);
    b[i]->save(bs);
    EXPECT_EQ(as.bytes(), bs.bytes()) << i;
  }
}

}  // namespace
}  // namespace remede
