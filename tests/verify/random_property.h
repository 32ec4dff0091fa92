// Properties of a model, drawn at random from the whole language, and the plainest meaning of a formula to compare
// with.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "remede/base/random.h"
#include "remede/model/names.h"
#include "remede/verify/verify.h"

namespace remede::test {

inline std::string random_atom(Random& random, const Model& model) {
  const char* const signs[] = {">=", ">", "<=", "<"};
  const char* const sign = signs[random.below(4)];
  const float value = static_cast<float>(static_cast<int>(random.below(41)) - 20) / 10.0F;
  const std::string input = fmt::format("[{}]", model.schema.inputs[random.below(model.schema.inputs.size())]);
  switch (random.below(7)) {
    case 0:
      return fmt::format("{} missing", input);
    case 1:
      return fmt::format("step {} {}", sign, random.below(6));
    case 2:
      if (!model.trees[0].n_m) break;
      return fmt::format(
          "{}{} {} {}", model.trees.size() > 1 ? "1." : "",
          cell_names(model, model.trees[0])[random.below(static_cast<std::uint64_t>(model.trees[0].n_m))], sign, value);
    case 3:
    case 4:
      if (model.classifies()) {
        const std::string word = model.schema.classes[random.below(model.schema.classes.size())];
        return random.below(2) == 0 ? "says " + word : fmt::format("p({}) {} 0.{}", word, sign, 1 + random.below(9));
      }
      return fmt::format("[{}] {} {}", model.output_names()[random.below(model.output_names().size())], sign,
                         value * 10);
    default:
      break;
  }
  return fmt::format("{} {} {}", input, sign, value);
}

inline std::string random_property(Random& random, const Model& model, int depth) {
  if (depth == 0 || random.below(5) == 0) return random_atom(random, model);
  const auto part = [&] { return random_property(random, model, depth - 1); };
  const std::uint64_t count = 1 + random.below(4);
  switch (random.below(10)) {
    case 0:
      return fmt::format("({}) and ({})", part(), part());
    case 1:
    case 2:
      return fmt::format("({}) or ({})", part(), part());
    case 3:
      return fmt::format("not ({})", part());
    case 4:
      return fmt::format("once ({})", part());
    case 5:
      return fmt::format("previously ({})", part());
    case 6:
      return fmt::format("({}) since ({})", part(), part());
    case 7:
      return fmt::format("({}) in the last {} steps", part(), count);
    case 8:
      return fmt::format("({}) for {} steps", part(), count);
    default:
      return fmt::format("({}) implies ({})", part(), part());
  }
}

// One that tends to be true: random properties are mostly broken at the first step.
inline std::string likely_property(Random& random, const Model& model) {
  switch (random.below(5)) {
    case 0:
      return fmt::format("never ({}) unless {}", random_property(random, model, 2), random_property(random, model, 2));
    case 1:
      return fmt::format("{} implies {} within {} steps", random_atom(random, model), random_atom(random, model),
                         random.below(4));
    case 2:
      return fmt::format("always ({} or {} or once {})", random_atom(random, model), random_atom(random, model),
                         random_atom(random, model));
    case 3:
      return fmt::format("({}) implies once ({})", random_property(random, model, 1),
                         random_property(random, model, 1));
    default:
      return "always " + random_property(random, model, 3);
  }
}

// truth: (steps, atoms). The formula at step t (from 0), by definition.
inline bool plain_truth(const Formula& f, int node, std::size_t t,
                        const std::vector<std::vector<std::uint8_t>>& truth) {
  const FormulaNode& n = f.nodes[static_cast<std::size_t>(node)];
  const auto child = [&](std::size_t c, std::size_t at) { return plain_truth(f, n.child[c], at, truth); };
  const auto count = static_cast<std::size_t>(n.count);
  switch (n.op) {
    case Op::kTrue:
      return true;
    case Op::kAtom: {
      const Atom& atom = f.atoms[static_cast<std::size_t>(n.atom)];
      if (atom.kind == AtomKind::kStep) return compare_numbers(static_cast<float>(t + 1), atom.compare, atom.value);
      return truth[t][static_cast<std::size_t>(n.atom)] != 0;
    }
    case Op::kNot:
      return !child(0, t);
    case Op::kAnd:
      return child(0, t) && child(1, t);
    case Op::kOr:
      return child(0, t) || child(1, t);
    case Op::kPreviously:
      return t > 0 && child(0, t - 1);
    case Op::kOnce:
      for (std::size_t s = 0; s <= t; ++s)
        if (child(0, s)) return true;
      return false;
    case Op::kAlways:
      for (std::size_t s = 0; s <= t; ++s)
        if (!child(0, s)) return false;
      return true;
    case Op::kSince:
      for (std::size_t s = t + 1; s-- > 0;) {
        if (child(1, s)) return true;
        if (!child(0, s)) return false;
      }
      return false;
    case Op::kWithin:
      for (std::size_t s = t + 1; s-- > 0 && t - s <= count;)
        if (child(0, s)) return true;
      return false;
    case Op::kFor:
      if (t + 1 < count) return false;
      for (std::size_t s = t + 1 - count; s <= t; ++s)
        if (!child(0, s)) return false;
      return true;
    case Op::kDeadline:  // false at t: some premise up to t - count is still unanswered
      for (std::size_t s = 0; s + count <= t; ++s) {
        if (!child(0, s)) continue;
        bool answered = false;
        for (std::size_t a = s; a <= t; ++a) answered = answered || child(1, a);
        if (!answered) return false;
      }
      return true;
    default:
      return true;
  }
}

// Inputs that tests are likely to tell apart.
inline StepInput random_input(Random& random, const Model& model) {
  StepInput input{{}, std::vector<int>(static_cast<std::size_t>(model.n_x()), 0)};
  for (int i = 0; i < model.n_x(); ++i) {
    std::vector<float> cuts;
    for (const Tree& tree : model.trees)
      for (std::size_t n = 0; n < tree.feature.size(); ++n)
        if (tree.feature[n] == i) cuts.push_back(tree.threshold[n]);
    float x = static_cast<float>(random.normal());
    switch (random.below(8)) {
      case 0:
        x = std::numeric_limits<float>::quiet_NaN();
        break;
      case 1:
        x *= 10.0F;
        break;
      case 2:
        x *= 1e10F;
        break;
      case 3:
        x = random.below(2) == 0 ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
        break;
      case 4:
        x = static_cast<float>(static_cast<int>(random.below(41)) - 20) / 10.0F;
        break;
      case 5:
      case 6:
        if (!cuts.empty()) x = cuts[random.below(cuts.size())];
        if (random.below(2) == 0) x = std::nextafter(x, -1e30F);
        break;
      default:
        break;
    }
    input.x.push_back(x);
  }
  return input;
}

}  // namespace remede::test
