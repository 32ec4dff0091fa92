// The words of the model file for the forms of a leaf, in one place for writing and reading.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "remede/model/cells.h"
#include "remede/model/form.h"
#include "remede/schema/schema.h"

namespace remede {

template <typename E>
using Words = std::array<std::pair<E, std::string_view>, 2>;

inline constexpr std::string_view kFormatName = "remede model";
inline constexpr Words<Task> kTaskWords = {
    {{Task::kClassification, "classification"}, {Task::kRegression, "regression"}}};
inline constexpr Words<WriteRule> kWriteRuleWords = {{{WriteRule::kAdd, "add"}, {WriteRule::kBlend, "blend"}}};
inline constexpr Words<WriteReads> kWriteReadsWords = {
    {{WriteReads::kInputs, "inputs"}, {WriteReads::kInputsAndMemory, "inputs and memory"}}};
inline constexpr Words<LeafOutput> kLeafOutputWords = {
    {{LeafOutput::kConstant, "constant"}, {LeafOutput::kLinear, "linear"}}};
inline constexpr Words<OutputOrder> kOutputOrderWords = {
    {{OutputOrder::kZero, "zero"}, {OutputOrder::kFirst, "first"}}};
inline constexpr Words<TargetPer> kTargetPerWords = {{{TargetPer::kStep, "step"}, {TargetPer::kSequence, "sequence"}}};
inline constexpr Words<bool> kMissingWords = {{{false, "left"}, {true, "right"}}};

inline constexpr std::array<std::string_view, 3> kLawWords = {"store", "average", "positive average"};  // by Law
inline constexpr std::string_view kClosedWord = "closed";
inline constexpr std::string_view kOpenWord = "open";

template <typename E>
std::string_view word(const Words<E>& words, E value) {
  return words[0].first == value ? words[0].second : words[1].second;
}

}  // namespace remede
