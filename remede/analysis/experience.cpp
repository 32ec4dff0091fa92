#include "remede/analysis/experience.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include "remede/analysis/rows.h"
#include "remede/analysis/wording.h"
#include "remede/base/text.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

// Steps a model from any memory. Slots that do not matter stay zero.
class Stepper {
 public:
  explicit Stepper(const Model& model)
      : model_(&model),
        answers_(model),
        state_(state_size(model)),
        scratch_(static_cast<std::size_t>(model.n_y())),
        y_(static_cast<std::size_t>(model.n_y())),
        leaves_(model.trees.size()) {}

  // from: (slots) or null, to go on from where the last step ended. Returns the number of the answer.
  int step(const std::vector<Slot>& slots, const float* from, const float* x) {
    for (std::size_t i = 0; from && i < slots.size(); ++i) state_[slots[i].at] = from[i];
    remede::step(*model_, x, state_.data(), scratch_.data(), y_.data(), leaves_.data());
    return answers_.number(y_.data(), leaves_.data());
  }
  void reset() { std::fill(state_.begin(), state_.end(), 0.0F); }
  std::vector<float> memory(const std::vector<Slot>& slots) const {
    std::vector<float> m;
    for (const Slot& s : slots) {
      const float v = state_[s.at];
      m.push_back(v == 0          ? 0.0F
                  : std::isnan(v) ? std::numeric_limits<float>::lowest()
                                  : v);  // -0 becomes 0, NaN the lowest number
    }
    return m;
  }
  const std::vector<std::string>& names() const { return answers_.names(); }

 private:
  const Model* model_;
  AnswerNumbers answers_;
  std::vector<float> state_, scratch_, y_;
  std::vector<std::int32_t> leaves_;
};

// Numbers distinct memories.
class Points {
 public:
  explicit Points(Experience& experience) : experience_(&experience) {}

  int number(const std::vector<float>& memory) {
    const std::string key(reinterpret_cast<const char*>(memory.data()), memory.size() * sizeof(float));
    const auto [at, is_new] = numbers_.try_emplace(key, static_cast<int>(numbers_.size()));
    if (is_new) experience_->memory.insert(experience_->memory.end(), memory.begin(), memory.end());
    return at->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  Experience* experience_;
  std::unordered_map<std::string, int> numbers_;
};

void add_inputs_of_leaf(const Wording& words, int leaf, std::set<int>& inputs) {
  const Tree& tree = *words.tree;
  for (int f = 0; f < tree.n_x; ++f) {
    for (int k = 0; k < tree.n_m; ++k)
      if (tree.has_laws() ? words.view.cell_in_use(k) && law_uses(tree, k, f)
                          : writes(words, leaf, k) && write_weight(tree, leaf, k, f) != 0)
        inputs.insert(f);
    for (int o = 0; o < tree.n_y; ++o)
      if (answer_uses(tree, leaf, o, f)) inputs.insert(f);
  }
}

void add_slots(Experience& experience, const Model& model, const Wording& words, std::size_t tree, std::size_t begin) {
  const bool several = model.trees.size() > 1;
  const Tree& t = *words.tree;
  for (int k = 0; k < t.n_m; ++k) {
    if (!words.view.cell_in_use(k)) continue;
    const std::string& name = words.feature[static_cast<std::size_t>(t.n_x + k)];
    experience.slots.push_back({begin + static_cast<std::size_t>(k), static_cast<int>(tree), k,
                                several ? fmt::format("tree {} {}", tree + 1, name) : name});
  }
  const auto levels = static_cast<std::size_t>(t.memory_size());
  if (levels > static_cast<std::size_t>(t.n_m))
    experience.slots.push_back({begin + levels - 1, static_cast<int>(tree), kBegun,
                                several ? fmt::format("tree {} begun", tree + 1) : "begun"});
  if (t.form.output_order != OutputOrder::kFirst || model.schema.task != Task::kClassification) return;
  for (int o = 0; o < t.n_y; ++o)
    experience.slots.push_back({begin + levels + static_cast<std::size_t>(o), static_cast<int>(tree), -1,
                                fmt::format("score of {}", words.classes[static_cast<std::size_t>(o)])});
}

}  // namespace

Experience what_matters(const Model& model) {
  Experience experience;
  experience.n_x = model.n_x();
  experience.input_cuts.resize(static_cast<std::size_t>(model.n_x()));
  std::set<int> inputs;
  std::size_t begin = 0;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Wording words = make_wording(model, t);
    const Tree& tree = *words.tree;
    const std::size_t first = experience.slots.size();
    add_slots(experience, model, words, t, begin);
    experience.cuts.resize(experience.slots.size());
    for (const View::Node& n : words.view.nodes) {
      if (n.is_leaf()) {
        add_inputs_of_leaf(words, n.leaf(), inputs);
        continue;
      }
      const int f = tree.feature[static_cast<std::size_t>(n.id)];
      const float threshold = tree.threshold[static_cast<std::size_t>(n.id)];
      if (f < tree.n_x) {
        inputs.insert(f);
        experience.input_cuts[static_cast<std::size_t>(f)].push_back(threshold);
      }
      for (std::size_t s = first; s < experience.slots.size(); ++s)
        if (f >= tree.n_x && experience.slots[s].cell == f - tree.n_x) experience.cuts[s].push_back(threshold);
    }
    begin +=
        static_cast<std::size_t>(tree.memory_size() + (tree.form.output_order == OutputOrder::kFirst ? tree.n_y : 0));
  }
  const auto tidy = [](std::vector<float>& v) {
    std::sort(v.begin(), v.end());
    v.erase(std::unique(v.begin(), v.end()), v.end());
  };
  for (std::vector<float>& c : experience.cuts) tidy(c);
  for (std::vector<float>& c : experience.input_cuts) tidy(c);
  experience.inputs.assign(inputs.begin(), inputs.end());
  return experience;
}

AnswerNumbers::AnswerNumbers(const Model& model) : model_(&model) {
  if (model.schema.task == Task::kClassification) {
    for (const std::string& c : model.schema.classes) names_.push_back(printable(c));
    return;
  }
  const Tree& tree = model.trees.front();
  formulas_ = model.trees.size() > 1 || tree.form.leaf_output == LeafOutput::kLinear || tree.has_laws() ||
              tree.form.output_order == OutputOrder::kFirst;
  if (!formulas_ || model.trees.size() > 1) return;
  WordOptions options;
  options.terms = 2;
  const Wording words = make_wording(model, 0, std::move(options));
  for (int leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    std::vector<std::string> parts;
    for (const std::string& say : say_texts(words, leaf))
      parts.push_back(say.starts_with("say ") ? say.substr(4) : say);
    std::string text = fmt::format("{}", fmt::join(parts, "; "));
    if (std::find(formula_.begin(), formula_.end(), text) != formula_.end()) text += fmt::format(" (leaf {})", leaf);
    formula_.push_back(std::move(text));
  }
}

std::string AnswerNumbers::name(const float* y, const std::int32_t* leaves) const {
  if (!formula_.empty()) return formula_[static_cast<std::size_t>(leaves[0])];
  std::vector<std::string> parts;
  if (formulas_)
    for (std::size_t t = 0; t < model_->trees.size(); ++t) parts.push_back(fmt::format("leaf {}", leaves[t]));
  else
    for (int o = 0; o < model_->n_y(); ++o) parts.push_back(short_number(y[o]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

int AnswerNumbers::number(const float* y, const std::int32_t* leaves) {
  if (model_->schema.task == Task::kClassification) return arg_max({y, static_cast<std::size_t>(model_->n_y())});
  const std::string said = name(y, leaves);
  const auto at = std::find(names_.begin(), names_.end(), said);
  if (at != names_.end()) return static_cast<int>(at - names_.begin());
  names_.push_back(said);
  return static_cast<int>(names_.size()) - 1;
}

Experience experience_on(const Model& model, const Sequences& data, std::size_t most_steps) {
  Experience experience = what_matters(model);
  Stepper stepper(model);
  Points points(experience);
  const auto n_x = static_cast<std::size_t>(model.n_x());
  points.number(stepper.memory(experience.slots));
  const double stride = std::max(1.0, static_cast<double>(data.steps()) / static_cast<double>(most_steps));
  double at = 0;
  for (std::size_t s = 0; s < data.count() && experience.steps.size() < most_steps; ++s) {
    if (static_cast<double>(s) < at) continue;
    at += stride;
    stepper.reset();
    int before = 0;
    const auto last = static_cast<std::size_t>(data.offset[s + 1]);
    for (auto t = static_cast<std::size_t>(data.offset[s]); t < last; ++t) {
      const float* const x = data.x.data() + t * n_x;
      const int output = stepper.step(experience.slots, nullptr, x);
      const int after = t + 1 < last ? points.number(stepper.memory(experience.slots)) : -1;
      experience.steps.push_back({before, after, static_cast<int>(experience.steps.size()), output});
      experience.x.insert(experience.x.end(), x, x + n_x);
      before = after;
    }
  }
  experience.outputs = stepper.names();
  return experience;
}

std::vector<std::vector<float>> alphabet_of(const Model& model, const Sequences& data, std::size_t most) {
  const std::vector<int> inputs = what_matters(model).inputs;
  const auto n_x = static_cast<std::size_t>(model.n_x());
  std::vector<std::vector<float>> symbols;
  const auto same = [&](const std::vector<float>& symbol, const float* x) {
    return std::all_of(inputs.begin(), inputs.end(), [&](int f) {
      const float a = symbol[static_cast<std::size_t>(f)], b = x[f];
      return a == b || (std::isnan(a) && std::isnan(b));
    });
  };
  for (std::size_t t = 0; t < data.steps(); ++t) {
    const float* const x = data.x.data() + t * n_x;
    if (std::any_of(symbols.begin(), symbols.end(), [&](const auto& s) { return same(s, x); })) continue;
    if (symbols.size() == most) return {};
    symbols.emplace_back(x, x + n_x);
  }
  return symbols;
}

Experience experience_of_symbols(const Model& model, const std::vector<std::vector<float>>& symbols,
                                 std::size_t most_steps) {
  Experience experience = what_matters(model);
  experience.symbols = true;
  experience.closed = true;
  for (const std::vector<float>& s : symbols) experience.x.insert(experience.x.end(), s.begin(), s.end());
  Stepper stepper(model);
  Points points(experience);
  points.number(stepper.memory(experience.slots));
  for (int p = 0; p < static_cast<int>(points.size()); ++p) {
    const std::vector<float> from(experience.point(p), experience.point(p) + experience.slots.size());
    if (experience.steps.size() >= most_steps) {
      experience.closed = false;  // the points reached last were not tried
      break;
    }
    for (int s = 0; s < static_cast<int>(symbols.size()); ++s) {
      const int output = stepper.step(experience.slots, from.data(), experience.row(s));
      experience.steps.push_back({p, points.number(stepper.memory(experience.slots)), s, output});
    }
  }
  experience.outputs = stepper.names();
  return experience;
}

}  // namespace remede
