#include "remede/data/texts.h"

#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "remede/base/error.h"

namespace remede {
namespace {

RC_GTEST_PROP(Texts, ReadLikeAVectorOfStrings, (const std::vector<std::string>& words)) {
  Texts texts;
  for (const std::string& word : words) texts.push_back(word);
  RC_ASSERT(texts.size() == words.size());
  for (std::size_t i = 0; i < words.size(); ++i) RC_ASSERT(texts[i] == words[i]);
}

TEST(Texts, GroupsOfTextsShareABase) {
  Texts texts;
  for (int i = 0; i < 1000; ++i)
    texts.push_back(std::string(static_cast<std::size_t>(i % 7), static_cast<char>('a' + i % 26)));
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(texts[static_cast<std::size_t>(i)],
              std::string(static_cast<std::size_t>(i % 7), static_cast<char>('a' + i % 26)));
}

TEST(Texts, RefusesATextThatWouldBreakTheOffsets) {
  Texts texts;
  EXPECT_THROW(texts.push_back(std::string(Texts::kMaxLength + 1, 'x')), Error);
}

RC_GTEST_PROP(Interner, NumbersDistinctTextsInOrderOfAppearance, (const std::vector<std::string>& words)) {
  Interner interner;
  std::unordered_map<std::string, std::uint32_t> model;
  for (const std::string& word : words) {
    const auto [entry, added] = model.emplace(word, static_cast<std::uint32_t>(model.size()));
    RC_ASSERT(interner.intern(word) == entry->second);
  }
  RC_ASSERT(interner.size() == model.size());
  for (const auto& [word, number] : model) RC_ASSERT(interner.find(word) == number);
  RC_ASSERT(!interner.find("a text that is not there").has_value());
}

TEST(Interner, GrowsPastItsFirstTable) {
  Interner interner;
  for (std::uint32_t i = 0; i < 100000; ++i) ASSERT_EQ(interner.intern(std::to_string(i)), i);
  for (std::uint32_t i = 0; i < 100000; ++i) ASSERT_EQ(interner.intern(std::to_string(i)), i);
}

}  // namespace
}  // namespace remede
