#include "remede/verify/runner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "remede/model/predict.h"

namespace remede {

ConcreteRunner::ConcreteRunner(const CheckedSystem& system) : system_(system), answer_(system.parts.size()) {}

Configuration ConcreteRunner::start() const {
  Configuration at{std::vector<float>(system_.slots.size(), 0.0F), system_.monitor->start()};
  for (std::size_t i = 0; i < at.slot.size(); ++i)
    if (system_.slots[i].kind == SlotKind::kPrevious) at.slot[i] = std::numeric_limits<float>::quiet_NaN();
  return at;
}

Monitor::Outcome ConcreteRunner::step(const StepInput& input, Configuration& at) {
  const Configuration before = at;
  leaf_.clear();
  for (std::size_t p = 0; p < system_.parts.size(); ++p) {
    const ModelPart& part = system_.parts[p];
    const auto n_y = static_cast<std::size_t>(part.model->n_y());
    x_.clear();
    for (const int i : part.input) x_.push_back(input.x[static_cast<std::size_t>(i)]);
    scratch_.resize(n_y);
    answer_[p].resize(n_y);
    std::vector<std::int32_t> leaf(part.model->trees.size());
    remede::step(*part.model, x_.data(), at.slot.data() + part.first_slot, scratch_.data(), answer_[p].data(),
                 leaf.data());
    leaf_.insert(leaf_.end(), leaf.begin(), leaf.end());
  }
  for (std::size_t i = 0; i < system_.n_x(); ++i)
    if (system_.previous[i] >= 0) at.slot[static_cast<std::size_t>(system_.previous[i])] = input.x[i];
  std::vector<std::uint8_t> truth;
  for (const Atom& atom : system_.monitor->atoms()) truth.push_back(atom_true(atom, input, before, at) ? 1 : 0);
  return system_.monitor->step(truth, at.monitor);
}

bool ConcreteRunner::atom_true(const Atom& atom, const StepInput& input, const Configuration& before,
                               const Configuration& after) const {
  const auto i = static_cast<std::size_t>(atom.index);
  switch (atom.kind) {
    case AtomKind::kInput:
      return compare_numbers(input.x[i], atom.compare, atom.value);
    case AtomKind::kMissing:
      return std::isnan(input.x[i]);
    case AtomKind::kWord: {
      const InputOption& option = system_.columns[i].options[static_cast<std::size_t>(input.option[i])];
      return atom.word.empty() ? option.missing : !option.missing && option.word == atom.word;
    }
    case AtomKind::kChange: {
      const float previous = before.slot[static_cast<std::size_t>(system_.previous[i])], now = input.x[i];
      return std::isnan(previous) || std::isnan(now) || (now <= previous + atom.value && now >= previous - atom.value);
    }
    case AtomKind::kSays:
      return arg_max(answer_[0]) == atom.index;
    case AtomKind::kProbability:
    case AtomKind::kAnswer:
      return compare_numbers(answer_[0][i], atom.compare, atom.value);
    case AtomKind::kCell:
      return compare_numbers(after.slot[i], atom.compare, atom.value);
    case AtomKind::kStep:
      return false;  // the monitor counts
    case AtomKind::kEqual:
      for (std::size_t o = 0; o < answer_[0].size(); ++o)
        if (!(answer_[0][o] == answer_[1][o]) && !(std::isnan(answer_[0][o]) && std::isnan(answer_[1][o])))
          return false;
      return true;
  }
  return false;
}

std::size_t ConcreteRunner::violation(const std::vector<StepInput>& sequence) {
  Configuration at = start();
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    const Monitor::Outcome outcome = step(sequence[t], at);
    if (!outcome.allowed) return 0;
    if (!outcome.holds) return t + 1;
  }
  return 0;
}

}  // namespace remede
