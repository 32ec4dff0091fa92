// The language of properties (docs/verify.md), by recursive descent. From loose to tight:
//   always / never ... , unless, implies, or, and, since, not / once / previously, for / within / in the last N steps
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/verify/formula.h"
#include "remede/verify/inputs.h"
#include "remede/verify/quantities.h"
#include "remede/verify/tokens.h"

namespace remede {
namespace {

constexpr int kMostFormulaNesting = 200;
constexpr std::size_t kMostFormulaNodes = 2000;

std::optional<Compare> compare_of(const Token& token) {
  constexpr std::pair<std::string_view, Compare> kSigns[] = {
      {">=", Compare::kAtLeast}, {">", Compare::kAbove}, {"<=", Compare::kAtMost}, {"<", Compare::kBelow},
      {"=", Compare::kIs},       {"==", Compare::kIs},   {"!=", Compare::kIsNot}};
  for (const auto& [sign, compare] : kSigns)
    if (token.kind == Token::Kind::kSign && token.text == sign) return compare;
  return std::nullopt;
}

Compare turned_around(Compare compare) {
  switch (compare) {
    case Compare::kAtLeast:
      return Compare::kAtMost;
    case Compare::kAbove:
      return Compare::kBelow;
    case Compare::kAtMost:
      return Compare::kAtLeast;
    case Compare::kBelow:
      return Compare::kAbove;
    default:
      return compare;
  }
}

class FormulaParser {
 public:
  FormulaParser(const Model& model, std::string_view text, std::string what, bool inputs_only)
      : model_(model),
        columns_(all_inputs(model.schema)),
        what_(std::move(what)),
        inputs_only_(inputs_only),
        tokens_(cut_tokens(text, what_)) {}

  Formula parse() {
    formula_.root = statement();
    if (!next().is("") && next().kind != Token::Kind::kEnd)
      wrong("and, or, implies, unless, since, for, within or the end");
    check_deadlines(formula_.root);
    return std::move(formula_);
  }

 private:
  const Token& next() const { return tokens_[at_]; }
  const Token& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool take(std::string_view word) {
    if (!next().is(word)) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void wrong(const std::string& expected) const { wrong_at(expected, next()); }
  [[noreturn]] void wrong_at(const std::string& expected, const Token& token) const {
    fail("{}: expected {}, got {} at character {}", what_, expected,
         token.kind == Token::Kind::kEnd ? "the end" : shown(token.text), token.at + 1);
  }
  void need(std::string_view word) {
    if (!take(word)) wrong(fmt::format("'{}'", word));
  }
  int add(Op op, std::vector<int> child, int count = 0) {
    if (formula_.nodes.size() > kMostFormulaNodes)
      fail("{}: expected at most {} parts, got more", what_, kMostFormulaNodes);
    return formula_.add(op, std::move(child), count);
  }

  // always X, never X, X unless Y. `never X unless Y` is `always (not X unless Y)`.
  int statement() {
    if (++nesting_ > kMostFormulaNesting)
      fail("{}: expected at most {} levels of brackets", what_, kMostFormulaNesting);
    const bool always = take("always"), never = !always && take("never");
    int result = always || never ? -1 : implication();
    if (always || never) {
      const bool nested = next().is("always") || next().is("never");
      result = nested ? statement() : implication();
      if (never) result = add(Op::kNot, {result});
    }
    if (take("unless")) result = add(Op::kOr, {result, implication()});
    if (always || never) result = add(Op::kAlways, {result});
    --nesting_;
    return result;
  }

  int implication() {
    const int premise = disjunction();
    if (!take("implies")) return premise;
    const std::size_t begin = formula_.nodes.size();
    const int conclusion = next().is("always") || next().is("never") ? statement() : implication();
    // A implies B within N steps: a deadline. B was parsed as the past form; its node becomes the deadline's.
    FormulaNode& node = formula_.nodes[static_cast<std::size_t>(conclusion)];
    if (node.op == Op::kWithin && !forward_.empty() && forward_.back() == conclusion &&
        static_cast<std::size_t>(conclusion) >= begin) {
      forward_.pop_back();
      node = {Op::kDeadline, {premise, node.child[0]}, -1, node.count, 0};
      return conclusion;
    }
    return add(Op::kOr, {add(Op::kNot, {premise}), conclusion});
  }

  int disjunction() {
    int result = conjunction();
    while (take("or")) result = add(Op::kOr, {result, conjunction()});
    return result;
  }
  int conjunction() {
    int result = past();
    while (take("and")) result = add(Op::kAnd, {result, past()});
    return result;
  }
  int past() {
    int result = prefixed();
    while (take("since")) result = add(Op::kSince, {result, prefixed()});
    return result;
  }

  int prefixed() {
    if (++nesting_ > kMostFormulaNesting)
      fail("{}: expected at most {} levels of brackets", what_, kMostFormulaNesting);
    int result = -1;
    if (take("not")) {
      result = add(Op::kNot, {prefixed()});
    } else if (take("previously")) {
      result = add(Op::kPreviously, {prefixed()});
    } else if (take("once")) {
      const int operand = prefixed();
      FormulaNode& node = formula_.nodes[static_cast<std::size_t>(operand)];
      if (node.op == Op::kWithin && !forward_.empty() && forward_.back() == operand) {
        forward_.pop_back();  // once X within N steps: in the past
        result = operand;
      } else {
        result = add(Op::kOnce, {operand});
      }
    } else {
      result = postfixed(primary());
    }
    --nesting_;
    return result;
  }

  int steps() {
    const Token token = next();
    if (token.kind != Token::Kind::kNumber || token.number != std::floor(token.number) || token.number < 0 ||
        token.number > kMostSteps)
      wrong(fmt::format("a number of steps from 0 to {}", kMostSteps));
    ++at_;
    if (!take("steps") && !take("step")) wrong("'steps'");
    return static_cast<int>(token.number);
  }

  int postfixed(int operand) {
    while (true) {
      if (take("for")) {
        const Token at = next();
        const int count = steps();
        if (count == 0) wrong_at("a number of steps from 1", at);
        operand = add(Op::kFor, {operand}, count);
      } else if (next().is("within") || (next().is("in") && after().is("the"))) {
        ++at_;
        const bool last = take("the");
        if (last) need("last");
        operand = add(Op::kWithin, {operand}, steps());
        if (!last) forward_.push_back(operand);
      } else {
        return operand;
      }
    }
  }

  int primary() {
    if (take("(")) {
      const int inner = statement();
      need(")");
      // What stands in brackets is complete: (B within N steps) speaks of the past.
      if (!forward_.empty() && forward_.back() == inner) forward_.pop_back();
      return inner;
    }
    if (take("true")) return add(Op::kTrue, {});
    if (take("false")) return add(Op::kNot, {add(Op::kTrue, {})});
    if (next().is("says") && (after().kind != Token::Kind::kSign)) {
      ++at_;
      return atom({AtomKind::kSays, class_number(), Compare::kIs, 0, ""});
    }
    if (next().kind == Token::Kind::kNumber && compare_of(after())) return chain();
    return comparison(quantity());
  }

  // 0 <= y, 0 <= y <= 130.
  int chain() {
    const Token low = tokens_[at_++];
    const Compare compare = *compare_of(tokens_[at_++]);
    Atom what = quantity();
    if (what.kind == AtomKind::kWord) wrong_at("a quantity that is a number", low);
    const int first = numeric(what, turned_around(compare), low);
    if (!compare_of(next())) return first;
    return add(Op::kAnd, {first, comparison(what)});
  }

  int class_number() {
    const Token token = next();
    if (!model_.classifies())
      fail("{}: expected a model that predicts classes for 'says' and 'p', got a regression", what_);
    const auto& classes = model_.schema.classes;
    const auto found = std::find(classes.begin(), classes.end(), token.text);
    if (found == classes.end() || token.kind == Token::Kind::kEnd || token.kind == Token::Kind::kSign)
      wrong(fmt::format("one of the classes {}", listed_names(classes)));
    ++at_;
    return static_cast<int>(found - classes.begin());
  }

  // The quantity before a comparison; `value` and `compare` are left open.
  Atom quantity() {
    const Token token = next();
    if (token.kind == Token::Kind::kEnd || token.kind == Token::Kind::kSign) wrong("a comparison such as x1 >= 0.5");
    if (token.is("p") && after().is("(") && model_.classifies()) {
      at_ += 2;
      const int label = class_number();
      need(")");
      return {AtomKind::kProbability, label, Compare::kAtLeast, 0, ""};
    }
    ++at_;
    if (token.is("step")) return {AtomKind::kStep, 0, Compare::kAtLeast, 0, ""};
    const std::optional<Atom> found = find_quantity(model_, columns_, token.text, inputs_only_);
    if (!found) wrong_at(fmt::format("the name of {}", known_quantities(model_, columns_, inputs_only_)), token);
    if (inputs_only_ && found->kind != AtomKind::kInput && found->kind != AtomKind::kWord)
      wrong_at("the name of an input: an assumption speaks of inputs only", token);
    return *found;
  }

  int atom(const Atom& a) {
    if (inputs_only_ && (a.kind == AtomKind::kSays || a.kind == AtomKind::kProbability))
      fail("{}: expected inputs only, got an answer of the model", what_);
    return formula_.add_atom(a);
  }

  int numeric(Atom what, Compare compare, const Token& number) {
    if (number.kind != Token::Kind::kNumber) wrong_at("a number", number);
    if (what.kind == AtomKind::kStep && (number.number < 0 || number.number > kMostSteps))
      wrong_at(fmt::format("a step from 0 to {}", kMostSteps), number);
    what.compare = compare;
    what.value = static_cast<float>(number.number);
    return atom(what);
  }

  int missing(const Atom& what) {
    const AtomKind kind = what.kind == AtomKind::kWord ? AtomKind::kWord : AtomKind::kMissing;
    return atom({kind, what.index, Compare::kIs, 0, ""});
  }
  // x = missing: unless the column has a word "missing".
  bool may_be_missing(const Atom& what) const {
    if (what.kind != AtomKind::kWord) return what.kind == AtomKind::kInput;
    const auto& options = columns_[static_cast<std::size_t>(what.index)].options;
    return std::none_of(options.begin(), options.end(), [](const InputOption& o) { return o.word == "missing"; });
  }

  int comparison(const Atom& what) {
    take("is");
    if (next().is("missing") || next().is("present")) {
      if (what.kind != AtomKind::kInput && what.kind != AtomKind::kWord)
        wrong("a comparison: only inputs can be missing");
      const bool is_missing = tokens_[at_++].is("missing");
      const int node = missing(what);
      return is_missing ? node : add(Op::kNot, {node});
    }
    if (take("changes")) return change(what);
    if (next().is("in") && !after().is("the")) {
      ++at_;
      return membership(what);
    }
    const auto compare = compare_of(next());
    if (!compare) wrong("a comparison (>=, >, <=, <, =, !=), 'in', 'missing', 'present' or 'changes by at most'");
    ++at_;
    const Token value = next();
    if (value.kind == Token::Kind::kEnd || value.kind == Token::Kind::kSign) wrong("a value");
    ++at_;
    const bool equals = *compare == Compare::kIs || *compare == Compare::kIsNot;
    if (equals && value.is("missing") && may_be_missing(what)) {
      const int node = missing(what);
      return *compare == Compare::kIs ? node : add(Op::kNot, {node});
    }
    return what.kind == AtomKind::kWord ? word(what, *compare, value) : numeric(what, *compare, value);
  }

  int word(Atom what, Compare compare, const Token& token) {
    if (compare != Compare::kIs && compare != Compare::kIsNot) wrong_at("= or != for a column of words", token);
    const auto& options = columns_[static_cast<std::size_t>(what.index)].options;
    std::vector<std::string> words;
    for (const InputOption& option : options)
      if (!option.missing) words.push_back(option.word);
    if (std::find(words.begin(), words.end(), token.text) == words.end())
      wrong_at(fmt::format("a word that the model knows ({}; the last stands for all others)", listed_names(words)),
               token);
    what.compare = Compare::kIs;
    what.word = token.text;
    const int is = atom(what);
    if (compare == Compare::kIs) return is;
    return add(Op::kNot, {add(Op::kOr, {is, missing(what)})});
  }

  int change(const Atom& what) {
    need("by");
    need("at");
    need("most");
    const Token limit = next();
    if (what.kind != AtomKind::kInput) wrong_at("an input that is a number before 'changes'", limit);
    if (limit.kind != Token::Kind::kNumber || limit.number < 0) wrong("a number of at least 0");
    ++at_;
    return atom({AtomKind::kChange, what.index, Compare::kAtMost, static_cast<float>(limit.number), ""});
  }

  // in 0..5 (both ends belong to it), in {a, b}; `or missing` after it allows that as well.
  int membership(const Atom& what) {
    if (take("{")) {
      int any = -1;
      do {
        const Token value = next();
        if (value.kind == Token::Kind::kEnd || value.kind == Token::Kind::kSign) wrong("a value");
        ++at_;
        const int one =
            what.kind == AtomKind::kWord ? word(what, Compare::kIs, value) : numeric(what, Compare::kIs, value);
        any = any < 0 ? one : add(Op::kOr, {any, one});
      } while (take(","));
      need("}");
      return any;
    }
    if (what.kind == AtomKind::kWord) wrong("{ and words in a list, such as {open, closed}");
    const Token low = next();
    if (low.kind != Token::Kind::kNumber) wrong("a range such as 0..5, or a list such as {0, 1}");
    ++at_;
    need("..");
    const Token high = next();
    if (high.kind != Token::Kind::kNumber || high.number < low.number)
      wrong(fmt::format("a number of at least {}", low.text));
    ++at_;
    const int above = numeric(what, Compare::kAtLeast, low);
    return add(Op::kAnd, {above, numeric(what, Compare::kAtMost, high)});
  }

  // A deadline turns false late, so it may only stand where the whole property turns false with it.
  void check_deadlines(int node) const {
    const FormulaNode& n = formula_.nodes[static_cast<std::size_t>(node)];
    const bool passes = n.op == Op::kAnd || n.op == Op::kAlways || n.op == Op::kDeadline;
    for (const int child : n.child) {
      const bool deadline_below = contains_deadline(child);
      if (deadline_below && (!passes || n.op == Op::kDeadline))
        fail(
            "{}: expected 'A implies B within N steps' only under 'always' and 'and'; write 'in the last N steps' for "
            "the past",
            what_);
      check_deadlines(child);
    }
  }
  bool contains_deadline(int node) const {
    const FormulaNode& n = formula_.nodes[static_cast<std::size_t>(node)];
    return n.op == Op::kDeadline ||
           std::any_of(n.child.begin(), n.child.end(), [&](int c) { return contains_deadline(c); });
  }

  const Model& model_;
  std::vector<InputColumn> columns_;
  std::string what_;
  bool inputs_only_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  std::vector<int> forward_;  // nodes written as `within N steps`: a deadline, where `implies` stands before them
  Formula formula_;
};

}  // namespace

Formula parse_formula(const Model& model, std::string_view text, const std::string& what) {
  return FormulaParser(model, text, what, false).parse();
}

Formula parse_assumption(const Model& model, std::string_view text) {
  return FormulaParser(model, text, "assumption", true).parse();
}

}  // namespace remede
