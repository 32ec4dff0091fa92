#include "remede/train/contexts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "remede/base/random.h"

namespace remede {
namespace {

// Random symbols; the class of a step is told from the symbols of its sequence up to it, newest last.
using Label = std::function<int(const std::vector<int>& past)>;
Sequences random_symbols(int symbols, int classes, std::size_t count, std::uint64_t seed, const Label& label) {
  Random random(seed);
  Sequences data;
  data.n_x = 1;
  data.n_y = classes;
  for (std::size_t s = 0; s < count; ++s) {
    std::vector<int> past;
    for (std::size_t t = 0, length = 5 + random.below(20); t < length; ++t) {
      past.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(symbols))));
      data.x.push_back(static_cast<float>(past.back()));
      data.label.push_back(label(past));
      data.weight.push_back(1.0F);
    }
    data.offset.push_back(static_cast<std::int64_t>(data.x.size()));
  }
  return data;
}

// The share of steps whose class the machine gives most weight.
double accuracy(const SymbolMachine& m, const Sequences& data) {
  std::size_t right = 0;
  for (std::size_t s = 0; s < data.count(); ++s) {
    std::size_t state = 0;
    for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t) {
      std::size_t a = 0;
      while (m.symbol[a] != data.x[t]) ++a;
      state = static_cast<std::size_t>(m.next[state * m.symbols() + a]);
      const double* weight = m.class_weight.data() + state * static_cast<std::size_t>(m.n_y);
      if (std::max_element(weight, weight + m.n_y) - weight == data.label[t]) ++right;
    }
  }
  return static_cast<double>(right) / static_cast<double>(data.steps());
}

TEST(Contexts, HoldAsManySymbolsAsTheClassNeeds) {
  for (std::size_t back = 0; back <= 3; ++back) {
    const auto label = [back](const std::vector<int>& past) {
      return past.size() > back ? past[past.size() - 1 - back] : 2;  // 2: too early
    };
    const auto machine = learn_contexts(random_symbols(2, 3, 400, 1, label));
    ASSERT_TRUE(machine.has_value());
    EXPECT_EQ(accuracy(*machine, random_symbols(2, 3, 100, 2, label)), 1.0) << back << " steps back";
  }
}

TEST(Contexts, AreNotLengthenedWhereTheClassIsChance) {
  Random random(3);
  const auto machine =
      learn_contexts(random_symbols(4, 2, 400, 1, [&](const auto&) { return static_cast<int>(random.below(2)); }),
                     {.nats_per_number = 8});
  ASSERT_TRUE(machine.has_value());
  EXPECT_EQ(machine->states(), 5U);  // the symbols, and the beginning
}

TEST(Contexts, KeepToTheirLimit) {
  const auto machine = learn_contexts(
      random_symbols(4, 4, 400, 1, [](const auto& p) { return p.size() > 2 ? p[p.size() - 3] : 0; }), {.states = 20});
  ASSERT_TRUE(machine.has_value());
  EXPECT_LE(machine->states(), 20U);
  EXPECT_FALSE(learn_contexts(random_symbols(4, 2, 10, 1, [](const auto&) { return 0; }), {.states = 4}).has_value());
}

TEST(Contexts, EverySymbolLeadsToAStateThatHoldsIt) {
  Random random(3);
  const Sequences data = random_symbols(3, 2, 200, 7, [&](const auto& p) {
    return random.below(10) == 0 ? 0 : static_cast<int>(p.size() > 1 && p[p.size() - 2] == p.back());
  });
  const auto machine = learn_contexts(data);
  ASSERT_TRUE(machine.has_value());
  EXPECT_GT(machine->states(), 4U);
  // Shorter contexts that are always left for longer ones count the steps of those once more.
  EXPECT_GE(std::accumulate(machine->class_weight.begin(), machine->class_weight.end(), 0.0),
            static_cast<double>(data.steps()));
  for (const std::int32_t next : machine->next) {
    EXPECT_GE(next, 1);
    EXPECT_LT(static_cast<std::size_t>(next), machine->states());
  }
}

}  // namespace
}  // namespace remede
