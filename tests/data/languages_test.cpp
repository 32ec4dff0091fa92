#include "remede/data/languages.h"

#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "remede/data/tasks.h"

namespace remede {
namespace {

// How often `pair` stands in `s`.
int changes(const std::string& s, const char* pair) {
  int count = 0;
  for (std::size_t i = s.find(pair); i != std::string::npos; i = s.find(pair, i + 1)) ++count;
  return count;
}

// The seven languages as they are defined, by other means than automata.
bool is_in(int language, const std::string& s) {
  const auto count = [&](char c) { return std::count(s.begin(), s.end(), c); };
  switch (language) {
    case 1:
      return count('0') == 0;
    case 2:
      return s.size() % 2 == 0 && !s.starts_with('0') && s.find("00") == std::string::npos &&
             s.find("11") == std::string::npos;
    case 3: {  // blocks, one after the other
      for (std::size_t i = 0; i < s.size();) {
        std::size_t j = i;
        while (j < s.size() && s[j] == s[i]) ++j;
        std::size_t k = j;
        while (k < s.size() && s[k] == '0') ++k;
        if (s[i] == '1' && (j - i) % 2 == 1 && (k - j) % 2 == 1) return false;
        i = j;
      }
      return true;
    }
    case 4:
      return s.find("000") == std::string::npos;
    case 5:
      return count('0') % 2 == 0 && count('1') % 2 == 0;
    case 6:
      return (count('1') - count('0')) % 3 == 0;
    default:
      return changes(s, "10") <= 1;  // 0*1*0*1*
  }
}

TEST(Tomita, AutomataAgreeWithTheDefinitionsUpToLengthTwelve) {
  for (int language = 1; language <= 7; ++language) {
    const Automaton& automaton = tomita(language);
    for (std::size_t length = 1; length <= 12; ++length)
      for (unsigned bits = 0; bits < (1U << length); ++bits) {
        std::string s;
        std::size_t state = 0;
        for (std::size_t t = 0; t < length; ++t) {
          const unsigned symbol = bits >> t & 1U;
          s += symbol == 1U ? '1' : '0';
          state = automaton.next[state][symbol];
        }
        ASSERT_EQ(automaton.accepts[state], is_in(language, s)) << "tomita-" << language << " " << s;
      }
  }
}

bool can_become_a_word(const std::string& s) {
  const auto a = static_cast<std::size_t>(std::find(s.begin(), s.end(), 'b') - s.begin());
  return s.find('a', a) == std::string::npos && s.size() - a <= a;
}

// The generated labels, checked by the definitions at every step.
TEST(Languages, EveryStepCarriesTheLabelOfItsPrefix) {
  for (int language = 0; language <= 7; ++language) {
    const std::string task = language == 0 ? "counting" : "tomita-" + std::to_string(language);
    const Dataset data = generate(task, {.sequences = 40, .seed = 5});
    for (std::size_t s = 0; s < data.sequences.count(); ++s) {
      std::string prefix;
      for (auto t = static_cast<std::size_t>(data.sequences.offset[s]);
           t < static_cast<std::size_t>(data.sequences.offset[s + 1]); ++t) {
        const float x = data.sequences.x[t];
        ASSERT_TRUE(x == 1.0F || x == (language == 0 ? -1.0F : 0.0F));
        prefix += language == 0 ? (x == 1.0F ? 'a' : 'b') : (x == 1.0F ? '1' : '0');
        const bool expected = language == 0 ? can_become_a_word(prefix) : is_in(language, prefix);
        ASSERT_EQ(data.schema.classes[static_cast<std::size_t>(data.sequences.label[t])], expected ? "1" : "0")
            << task << " " << prefix;
      }
    }
  }
}

TEST(Languages, TheRarerLabelHasItsShareAtEveryLength) {
  const std::array<std::int64_t, 2> ranges[] = {{1, 30}, {200, 200}, {1, 10}, {6, 6}, {30, 60}, {1000, 1000}};
  for (int language = 0; language <= 7; ++language)
    for (const auto& [low, high] : ranges)
      for (const std::uint64_t seed : {1U, 2U}) {
        const std::string task = language == 0 ? "counting" : "tomita-" + std::to_string(language);
        const std::int64_t sequences = high >= 200 ? 60 : 300;
        const Dataset data =
            generate(task, {.sequences = sequences, .seed = seed, .length_min = low, .length_max = high});
        const auto& label = data.sequences.label;
        const double ones =
            static_cast<double>(std::count(label.begin(), label.end(), 1)) / static_cast<double>(label.size());
        EXPECT_GE(std::min(ones, 1.0 - ones), 0.3) << task << " " << low << " to " << high;
      }
}

// Neither the time of a mistake nor the lack of one is the same in all strings.
TEST(Languages, MistakesComeEarlyAndLateAndNotAtAll) {
  for (const char* task : {"counting", "tomita-1", "tomita-4", "tomita-7"}) {
    const Dataset data = generate(task, {.sequences = 400, .length_min = 20, .length_max = 20});
    int never = 0;
    int early = 0;
    int late = 0;
    for (std::size_t s = 0; s < data.sequences.count(); ++s) {
      std::size_t good = 0;
      while (good < 20 && data.sequences.label[static_cast<std::size_t>(data.sequences.offset[s]) + good] == 1) ++good;
      never += good == 20 ? 1 : 0;
      early += good < 10 ? 1 : 0;
      late += good >= 10 && good < 20 ? 1 : 0;
    }
    EXPECT_GT(never, 5) << task;
    EXPECT_GT(early, 100) << task;
    EXPECT_GT(late, 100) << task;
  }
}

}  // namespace
}  // namespace remede
