#include "remede/train/contexts.h"

#include <algorithm>
#include <map>

#include "remede/base/arithmetic.h"
#include "remede/train/symbols.h"

namespace remede {
namespace {

constexpr std::int32_t kBeginning = -1;  // in place of a symbol: the sequence begins here
constexpr std::int32_t kNoContext = -1;

// A tree of contexts. A child lengthens its parent's context by an older symbol. The states are closed in both
// directions: without its oldest symbol a state is a state, so that there is always a longest one; and without its
// newest, so that the machine can tell from one step to the next which one it is in.
class Contexts {
 public:
  Contexts(const Sequences& data, const Symbols& symbols, const ContextLimits& limits)
      : data_(data), symbols_(symbols), limits_(limits), classes_(static_cast<std::size_t>(data.n_y)) {
    for (std::size_t s = 0; s < data.count(); ++s)
      for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t)
        first_.push_back(static_cast<std::size_t>(data.offset[s]));
    Node root;
    for (std::size_t t = 0; t < data.steps(); ++t) root.steps.push_back(t);
    nodes_.push_back(std::move(root));
    lengthen(0);
    for (const auto& [symbol, node] : std::map(nodes_[0].child)) add_state(node);
  }

  bool fits() const { return states_.size() < limits_.states; }

  // The best lengthening again and again, while it is worth its numbers.
  void grow() {
    while (fits()) {
      std::int32_t best = kNoContext;
      double most = 0;
      for (const std::int32_t candidate : candidates_)
        if (const double worth = worth_of(candidate); worth > most) {
          most = worth;
          best = candidate;
        }
      if (best == kNoContext) return;
      std::erase(candidates_, best);
      add_with_prefixes(best);
    }
  }

  SymbolMachine machine() const {
    SymbolMachine m;
    m.n_x = data_.n_x;
    m.n_y = data_.n_y;
    m.symbol = symbols_.inputs;
    add_row({kBeginning}, m);
    for (const std::int32_t node : states_) add_row(context_of(node), m);
    count_classes(m);
    return m;
  }

 private:
  struct Node {
    std::int32_t parent = kNoContext;
    std::int32_t symbol = kBeginning;  // the oldest of the context
    std::size_t order = 0;
    std::int32_t state = kNoContext;  // its number, from 1 on: 0 is the beginning of a sequence
    bool lengthened = false;
    std::vector<std::size_t> steps;              // where the context ends
    std::vector<double> weight;                  // (classes) of these steps
    std::map<std::int32_t, std::int32_t> child;  // by symbol
  };
  static std::size_t index(std::int32_t node) { return static_cast<std::size_t>(node); }

  // The symbol `back` steps before step t; kBeginning just before the first.
  std::int32_t symbol_before(std::size_t t, std::size_t back) const {
    return t < first_[t] + back ? kBeginning : symbols_.of_step[t - back];
  }

  void lengthen(std::int32_t of) {
    if (nodes_[index(of)].lengthened) return;
    nodes_[index(of)].lengthened = true;
    if (of != 0 && nodes_[index(of)].symbol == kBeginning) return;  // nothing is older
    const std::size_t order = nodes_[index(of)].order;
    for (const std::size_t t : std::vector(nodes_[index(of)].steps)) {
      const std::int32_t symbol = symbol_before(t, order);
      const auto [at, is_new] = nodes_[index(of)].child.try_emplace(symbol, static_cast<std::int32_t>(nodes_.size()));
      const std::int32_t child = at->second;
      if (is_new) {
        Node& node = nodes_.emplace_back();
        node.parent = of;
        node.symbol = symbol;
        node.order = order + 1;
        node.weight.resize(classes_);
      }
      nodes_[index(child)].steps.push_back(t);
      if (data_.weight[t] > 0.0F) nodes_[index(child)].weight[static_cast<std::size_t>(data_.label[t])] += 1;
    }
  }

  void add_state(std::int32_t node) {
    states_.push_back(node);
    nodes_[index(node)].state = static_cast<std::int32_t>(states_.size());
    if (nodes_[index(node)].order == limits_.order) return;
    lengthen(node);
    for (const auto& [symbol, child] : nodes_[index(node)].child) candidates_.push_back(child);
  }

  // The likelihood that is gained, less the cost of the numbers. The parent is a state.
  double worth_of(std::int32_t candidate) const {
    const Node& node = nodes_[index(candidate)];
    const std::vector<double>& shorter = nodes_[index(node.parent)].weight;
    double of_node = 0, of_shorter = 0, gain = 0;
    std::size_t seen = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      of_node += node.weight[k];
      of_shorter += shorter[k];
      if (shorter[k] > 0) ++seen;
    }
    for (std::size_t k = 0; k < classes_; ++k)
      if (node.weight[k] > 0) gain += node.weight[k] * log(node.weight[k] / of_node * of_shorter / shorter[k]);
    return gain - limits_.nats_per_number * static_cast<double>(seen > 1 ? seen - 1 : 1);
  }

  // Oldest symbol first.
  std::vector<std::int32_t> context_of(std::int32_t node) const {
    std::vector<std::int32_t> context;
    for (; node != 0; node = nodes_[index(node)].parent) context.push_back(nodes_[index(node)].symbol);
    return context;
  }

  // Makes the node of a context where there is none yet; kNoContext where the data do not hold it.
  std::int32_t node_of(const std::vector<std::int32_t>& context) {
    std::int32_t node = 0;
    for (auto symbol = context.rbegin(); symbol != context.rend(); ++symbol) {
      lengthen(node);
      const auto child = nodes_[index(node)].child.find(*symbol);
      if (child == nodes_[index(node)].child.end()) return kNoContext;
      node = child->second;
    }
    return node;
  }

  void add_with_prefixes(std::int32_t candidate) {
    std::vector<std::int32_t> added;
    std::vector<std::int32_t> context = context_of(candidate);
    for (; context.size() > 1 || (context.size() == 1 && context[0] != kBeginning); context.pop_back()) {
      const std::int32_t node = node_of(context);
      if (node == kNoContext || nodes_[index(node)].state != kNoContext) break;
      added.push_back(node);
    }
    if (states_.size() + added.size() >= limits_.states) return;
    for (auto node = added.rbegin(); node != added.rend(); ++node) {
      std::erase(candidates_, *node);
      add_state(*node);
    }
  }

  // The longest state that the context, with one more symbol behind it, ends in.
  std::int32_t after(const std::vector<std::int32_t>& context, std::int32_t symbol) const {
    std::int32_t node = nodes_[0].child.at(symbol);
    for (auto older = context.rbegin(); older != context.rend(); ++older) {
      const auto child = nodes_[index(node)].child.find(*older);
      if (child == nodes_[index(node)].child.end() || nodes_[index(child->second)].state == kNoContext) break;
      node = child->second;
    }
    return nodes_[index(node)].state;
  }

  void add_row(const std::vector<std::int32_t>& context, SymbolMachine& m) const {
    for (std::size_t a = 0; a < symbols_.count; ++a) m.next.push_back(after(context, static_cast<std::int32_t>(a)));
    m.class_weight.insert(m.class_weight.end(), classes_, 0.0);
  }

  // By running the machine; a state that is always left for a longer one answers as all the steps that end in it.
  void count_classes(SymbolMachine& m) const {
    std::size_t state = 0;
    std::vector<double> seen(states_.size() + 1);
    for (std::size_t t = 0; t < data_.steps(); ++t) {
      if (first_[t] == t) state = 0;
      state = index(m.next[state * symbols_.count + index(symbols_.of_step[t])]);
      if (!(data_.weight[t] > 0.0F)) continue;
      m.class_weight[state * classes_ + static_cast<std::size_t>(data_.label[t])] += 1;
      seen[state] += 1;
    }
    for (std::size_t q = 1; q < seen.size(); ++q)
      if (seen[q] == 0)
        std::copy_n(nodes_[index(states_[q - 1])].weight.begin(), classes_,
                    m.class_weight.begin() + static_cast<std::ptrdiff_t>(q * classes_));
  }

  const Sequences& data_;
  const Symbols& symbols_;
  const ContextLimits& limits_;
  std::size_t classes_;
  std::vector<std::size_t> first_;  // (steps) of its sequence
  std::vector<Node> nodes_;         // 0 is the empty context
  std::vector<std::int32_t> states_;
  std::vector<std::int32_t> candidates_;  // children of states that are no states
};

}  // namespace

std::optional<SymbolMachine> learn_contexts(const Sequences& data, const ContextLimits& limits) {
  if (data.label.empty() || !data.has_targets() || data.n_x == 0) return std::nullopt;
  const Symbols symbols(data, std::min(limits.symbols, limits.states - 1));
  if (symbols.too_many) return std::nullopt;
  Contexts contexts(data, symbols, limits);
  contexts.grow();
  return contexts.machine();
}

}  // namespace remede
