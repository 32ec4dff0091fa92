#include "remede/export/onnx.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/export/names.h"
#include "remede/export/onnx_graph.h"
#include "remede/model/checksum.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

constexpr std::int64_t kOpset = 16;
constexpr std::int64_t kIrVersion = 8;

// Builds one step: reads `x` (inputs) and `m` (state), names `y` and `m_next`.
class OnnxStep {
 public:
  OnnxStep(const Model& model, OnnxGraph& graph) : model_(model), g_(graph) {}

  void build() {
    if (model_.n_x() > 0) known_ = g_.choose(g_.add("IsNaN", {"x"}), g_.floats(model_.fill, {model_.n_x()}), "x");
    OnnxValue sum;
    std::int64_t state = 0;
    for (const Tree& tree : model_.trees) {
      const OnnxValue y = link(tree_step(tree, state));
      sum = sum.empty() ? y : g_.plus(sum, y);
    }
    const auto count = static_cast<float>(model_.trees.size());
    g_.name(model_.trees.size() == 1 ? sum : g_.over(sum, g_.scalar(count)), "y");
    g_.name(next_.empty() ? OnnxValue("m") : g_.join(next_), "m_next");
  }

 private:
  // The raw outputs (n_y); `state` is where the memory of the tree begins, and is moved on.
  OnnxValue tree_step(const Tree& tree, std::int64_t& state) {
    memory_at_ = state;
    memory_ = tree.n_m > 0 ? g_.slice("m", state, state + tree.n_m) : "";
    values_.clear();
    for (int i = 0; i < tree.n_x; ++i) values_.push_back("");
    for (int k = 0; k < tree.n_m; ++k) values_.push_back(g_.at("m", state + k));
    const OnnxValue leaf = find(tree);
    OnnxValue y = tree.has_laws() ? laws(tree, leaf) : leaf_of_writes(tree, leaf);
    state += tree.memory_size();
    if (tree.form.output_order == OutputOrder::kFirst) {
      y = g_.plus(g_.slice("m", state, state + tree.n_y), y);
      next_.push_back(y);
      state += tree.n_y;
    }
    return y;
  }

  OnnxValue value(int v) {  // of (x with missing values replaced, m)
    OnnxValue& known = values_[static_cast<std::size_t>(v)];
    if (known.empty()) known = g_.at(known_, v);
    return known;
  }

  // Leaves are nodes that lead to themselves, so that every path is as long as the longest.
  OnnxValue find(const Tree& tree) {
    const int inner = tree.inner_count();
    if (inner == 0) return g_.whole(0);
    std::vector<std::int64_t> feature, left, right;
    std::vector<float> threshold;
    std::vector<bool> missing;
    std::vector<int> depth(static_cast<std::size_t>(inner));
    int most = 0;
    const auto child = [&](std::int32_t c) { return std::int64_t{c >= 0 ? c : inner + ~c}; };
    for (std::size_t i = 0; i < static_cast<std::size_t>(inner); ++i) {
      feature.push_back(tree.feature[i]);
      threshold.push_back(tree.threshold[i]);
      missing.push_back(tree.missing_right[i] != 0);
      left.push_back(child(tree.left[i]));
      right.push_back(child(tree.right[i]));
      most = std::max(most, depth[i] + 1);
      for (const std::int32_t c : {tree.left[i], tree.right[i]})
        if (c >= 0) depth[static_cast<std::size_t>(c)] = depth[i] + 1;
    }
    for (std::int64_t leaf = inner; leaf <= std::int64_t{2} * inner; ++leaf) {
      feature.push_back(0);
      threshold.push_back(0.0F);
      missing.push_back(false);
      left.push_back(leaf);
      right.push_back(leaf);
    }
    const OnnxValue features = g_.wholes(feature), lefts = g_.wholes(left), rights = g_.wholes(right);
    const OnnxValue thresholds = g_.floats(threshold, {static_cast<std::int64_t>(threshold.size())});
    const OnnxValue missings = g_.bools(missing);
    const OnnxValue all = tree.n_m == 0 ? "x" : tree.n_x == 0 ? memory_ : g_.join({"x", memory_});
    OnnxValue node = g_.whole(0);
    for (int level = 0; level < most; ++level) {
      const OnnxValue v = g_.at(all, g_.at(features, node));
      const OnnxValue above = g_.add("GreaterOrEqual", {v, g_.at(thresholds, node)});
      const OnnxValue absent = g_.add("And", {g_.add("IsNaN", {v}), g_.at(missings, node)});
      node = g_.choose(g_.add("Or", {above, absent}), g_.at(rights, node), g_.at(lefts, node));
    }
    return g_.add("Sub", {node, g_.whole(inner)});
  }

  // Row `leaf` of a table (leaves, columns); of a tree of one leaf it is a constant.
  OnnxValue leaf_row(const std::vector<float>& table, std::int64_t columns, const OnnxValue& leaf) {
    const auto leaves = static_cast<std::int64_t>(table.size()) / columns;
    return leaves == 1 ? g_.floats(table, {columns}) : g_.at(g_.floats(table, {leaves, columns}), leaf);
  }

  // sum + weights . v for all rows at once. weights: (leaves, rows, width); every term counts, also of weight zero.
  OnnxValue add_dense(OnnxValue sum, const std::vector<float>& weights, std::size_t leaves, std::size_t rows,
                      std::size_t width, const OnnxValue& leaf) {
    for (std::size_t i = 0; i < width; ++i) {
      std::vector<float> column;
      for (std::size_t r = 0; r < leaves * rows; ++r) column.push_back(weights[r * width + i]);
      const OnnxValue w = leaf_row(column, static_cast<std::int64_t>(rows), leaf);
      sum = g_.plus(sum, g_.times(w, value(static_cast<int>(i))));
    }
    return sum;
  }

  OnnxValue leaf_of_writes(const Tree& tree, const OnnxValue& leaf) {
    const auto leaves = static_cast<std::size_t>(tree.leaf_count()), n_y = static_cast<std::size_t>(tree.n_y);
    OnnxValue y = leaf_row(tree.output, tree.n_y, leaf);
    if (!tree.linear.empty()) y = add_dense(y, tree.linear, leaves, n_y, static_cast<std::size_t>(tree.n_v()), leaf);
    if (tree.n_m > 0) next_.push_back(written(tree, leaf));
    return y;
  }

  OnnxValue written(const Tree& tree, const OnnxValue& leaf) {
    const auto leaves = static_cast<std::size_t>(tree.leaf_count()), n_m = static_cast<std::size_t>(tree.n_m);
    if (std::none_of(tree.gate.begin(), tree.gate.end(), [](std::uint8_t gate) { return gate != 0; })) return memory_;
    const std::vector<float> zeros(leaves * n_m);
    OnnxValue sum = leaf_row(tree.form.write_bias ? tree.bias : zeros, tree.n_m, leaf);
    sum = add_dense(sum, tree.write, leaves, n_m, static_cast<std::size_t>(tree.n_w()), leaf);
    const OnnxValue u = g_.tanh(sum);
    OnnxValue m = g_.plus(memory_, u);
    if (tree.form.write_rule == WriteRule::kBlend)
      m = g_.plus(memory_, g_.times(leaf_row(tree.blend, tree.n_m, leaf), g_.minus(u, memory_)));
    const std::vector<float> gate(tree.gate.begin(), tree.gate.end());
    return g_.choose(g_.greater(leaf_row(gate, tree.n_m, leaf), 0.0F), m, memory_);
  }

  // sum + the terms of a row whose weight is not zero.
  template <typename Value>
  OnnxValue add_sparse(OnnxValue sum, const float* row, int size, const Value& of) {
    for (int i = 0; i < size; ++i)
      if (row[i] != 0.0F) sum = g_.plus(sum, g_.times(g_.scalar(row[i]), of(i)));
    return sum;
  }

  OnnxValue laws(const Tree& tree, const OnnxValue& leaf) {
    const Cells& cells = tree.cells;
    std::vector<OnnxValue> outputs, levels;
    OnnxValue first;
    if (cells.any_first()) first = g_.add("Equal", {g_.at("m", memory_at_ + tree.n_m), g_.scalar(0.0F)});
    const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
    for (std::size_t k = 0; k < n_m; ++k) {
      const OnnxValue share = tap(tree, k, leaf), level = value(tree.n_x + static_cast<int>(k));
      OnnxValue in =
          add_sparse(g_.scalar(cells.bias[k]), cells.input.data() + k * n_x, tree.n_x, [&](int i) { return value(i); });
      in = g_.bounded(add_sparse(in, cells.earlier.data() + k * n_m, static_cast<int>(k),
                                 [&](int j) { return outputs[static_cast<std::size_t>(j)]; }));
      if (cells.law[k] != Law::kAverage) in = g_.positive(in);
      if (cells.law[k] == Law::kStore) {
        const OnnxValue sum = g_.plus(level, in);
        outputs.push_back(g_.times(share, sum));
        levels.push_back(g_.minus(sum, outputs.back()));
      } else {
        OnnxValue moved = g_.plus(level, g_.times(share, g_.minus(in, level)));
        if (cells.first[k] != 0) moved = g_.choose(first, in, moved);
        levels.push_back(moved);
        outputs.push_back(moved);
      }
    }
    std::vector<OnnxValue> y;
    for (std::size_t o = 0; o < static_cast<std::size_t>(tree.n_y); ++o)
      y.push_back(g_.as_vector(answer(tree, o, leaf, outputs, levels)));
    for (const OnnxValue& level : levels) next_.push_back(g_.as_vector(level));
    if (cells.any_first()) next_.push_back(g_.floats({1.0F}, {1}));
    return g_.join(y);
  }

  // The share of cell k's tap.
  OnnxValue tap(const Tree& tree, std::size_t k, const OnnxValue& leaf) {
    const Cells& cells = tree.cells;
    const auto n_m = static_cast<std::size_t>(tree.n_m);
    std::vector<float> offset, kind;  // kind: -1 closed, 1 open
    for (std::size_t at = k; at < cells.tap_leaf.size(); at += n_m) {
      const float given = cells.tap_leaf[at];
      offset.push_back(std::isfinite(given) ? given : 0.0F);
      kind.push_back(std::isfinite(given) ? 0.0F : given < 0.0F ? -1.0F : 1.0F);
    }
    const auto any = [](const std::vector<float>& all) {
      return std::any_of(all.begin(), all.end(), [](float v) { return v != 0.0F; });
    };
    OnnxValue sum = add_sparse(g_.scalar(cells.tap[k]), cells.tap_input.data() + k * static_cast<std::size_t>(tree.n_x),
                               tree.n_x, [&](int i) { return value(i); });
    sum = add_sparse(sum, cells.tap_level.data() + k, 1, [&](int) { return value(tree.n_x + static_cast<int>(k)); });
    const auto leaves = static_cast<std::int64_t>(offset.size());
    if (any(offset)) {
      const OnnxValue given = g_.at(g_.floats(offset, {leaves}), leaf);
      sum = g_.choose(g_.add("Equal", {given, g_.scalar(0.0F)}), sum, g_.plus(sum, given));
    }
    OnnxValue share = g_.sigmoid(g_.bounded(sum));
    if (any(kind)) {
      const OnnxValue given = g_.at(g_.floats(kind, {leaves}), leaf);
      share =
          g_.choose(g_.less(given, 0.0F), g_.scalar(0.0F), g_.choose(g_.greater(given, 0.0F), g_.scalar(1.0F), share));
    }
    return share;
  }

  OnnxValue answer(const Tree& tree, std::size_t o, const OnnxValue& leaf, const std::vector<OnnxValue>& outputs,
                   const std::vector<OnnxValue>& levels) {
    const Cells& cells = tree.cells;
    const auto leaves = static_cast<std::size_t>(tree.leaf_count()), n_y = static_cast<std::size_t>(tree.n_y);
    const int width = tree.n_x + 2 * tree.n_m;
    const auto of = [&](int i) {
      if (i < tree.n_x) return value(i);
      const auto k = static_cast<std::size_t>(i - tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
      return k < n_m ? outputs[k] : levels[k - n_m];
    };
    std::vector<float> constant;
    for (std::size_t l = 0; l < leaves; ++l) constant.push_back(tree.output[l * n_y + o]);
    OnnxValue sum = g_.at(g_.floats(constant, {static_cast<std::int64_t>(leaves)}), leaf);
    sum = add_sparse(sum, cells.linear.data() + o * static_cast<std::size_t>(width), width, of);
    if (cells.leaf_linear.empty()) return sum;
    for (int i = 0; i < width; ++i) {
      std::vector<float> column;
      for (std::size_t l = 0; l < leaves; ++l)
        column.push_back(
            cells.leaf_linear[(l * n_y + o) * static_cast<std::size_t>(width) + static_cast<std::size_t>(i)]);
      if (std::all_of(column.begin(), column.end(), [](float w) { return w == 0.0F; })) continue;
      const OnnxValue w = g_.at(g_.floats(column, {static_cast<std::int64_t>(leaves)}), leaf);
      sum = g_.choose(g_.add("Equal", {w, g_.scalar(0.0F)}), sum, g_.plus(sum, g_.times(w, of(i))));
    }
    return sum;
  }

  // exp, kept positive and finite.
  OnnxValue exp_link(const OnnxValue& y) { return g_.exp(g_.at_most(g_.at_least(y, -80.0F), 80.0F)); }

  OnnxValue link(const OnnxValue& raw) {
    const Objective& objective = model_.objective();
    const int n_y = model_.n_y();
    if (has_identity_link(objective)) return raw;
    switch (objective.loss) {
      case Loss::kCrossEntropy:
        return softmax(raw, n_y);
      case Loss::kPoisson:
        return exp_link(raw);
      case Loss::kQuantile: {
        const OnnxValue steps = exp_link(raw);
        const int middle = point_output(objective, 0);
        std::vector<OnnxValue> y(static_cast<std::size_t>(n_y));
        y[static_cast<std::size_t>(middle)] = g_.at(raw, middle);
        for (int k = middle + 1; k < n_y; ++k)
          y[static_cast<std::size_t>(k)] = g_.plus(y[static_cast<std::size_t>(k) - 1], g_.at(steps, k));
        for (int k = middle - 1; k >= 0; --k)
          y[static_cast<std::size_t>(k)] = g_.minus(y[static_cast<std::size_t>(k) + 1], g_.at(steps, k));
        for (OnnxValue& v : y) v = g_.as_vector(v);
        return g_.join(y);
      }
      default:
        break;
    }
    fail("expected an objective that can be exported, got {}", word_of(objective));
  }

  OnnxValue softmax(const OnnxValue& raw, int n_y) {
    OnnxValue most = g_.at(raw, 0);
    for (int k = 1; k < n_y; ++k) {
      const OnnxValue y = g_.at(raw, k);
      most = g_.choose(g_.add("Greater", {y, most}), y, most);
    }
    const OnnxValue e = g_.exp(g_.minus(raw, most));
    OnnxValue sum = g_.scalar(0.0F);
    for (int k = 0; k < n_y; ++k) sum = g_.plus(sum, g_.at(e, k));
    return g_.over(e, sum);
  }

  const Model& model_;
  OnnxGraph& g_;
  OnnxValue known_;                // x with missing values replaced
  OnnxValue memory_;               // (n_m) of the tree at hand
  std::int64_t memory_at_ = 0;     // where it begins in m
  std::vector<OnnxValue> values_;  // (n_x + n_m) scalars, as far as they were needed
  std::vector<OnnxValue> next_;    // pieces of m_next
};

// ValueInfoProto of a tensor of floats; a dimension below 0 is called T.
ProtoMessage tensor_info(const std::string& name, const OnnxDims& dims) {
  constexpr int kFloatType = 1;
  ProtoMessage shape;
  for (const std::int64_t dim : dims) {
    ProtoMessage one;
    if (dim < 0) {
      one.bytes(2, "T");
    } else {
      one.number(1, dim);
    }
    shape.message(1, one);
  }
  ProtoMessage tensor, type, info;
  tensor.number(1, kFloatType).message(2, shape);
  type.message(1, tensor);
  info.bytes(1, name).message(2, type);
  return info;
}

constexpr int kGraphName = 2, kGraphInput = 11, kGraphOutput = 12;

ProtoMessage metadata(const char* key, const std::string& value) {
  ProtoMessage pair;
  pair.bytes(1, key).bytes(2, value);
  return pair;
}

std::string model_proto(const Model& model, const ProtoMessage& graph) {
  ProtoMessage opset, proto;
  opset.bytes(1, "").number(2, kOpset);
  proto.number(1, kIrVersion).bytes(2, "remede").message(7, graph).message(8, opset);
  const auto list = [](const std::vector<std::string>& names) {
    return nlohmann::ordered_json(names).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  };
  proto.message(14, metadata("checksum", fmt::format("{:016x}", checksum(model))));
  proto.message(14, metadata("inputs", list(model.schema.inputs)));
  proto.message(14, metadata("outputs", list(model.classifies() ? model.schema.classes : model.output_names())));
  return proto.text();
}

}  // namespace

OnnxModels to_onnx(const Model& model, const std::string& name) {
  check_export_name(name);
  const std::int64_t n_x = model.n_x(), n_y = model.n_y();
  const std::int64_t state = std::max<std::int64_t>(1, static_cast<std::int64_t>(state_size(model)));
  OnnxGraph step;
  OnnxStep(model, step).build();

  ProtoMessage graph = step.fields();
  graph.bytes(kGraphName, name);
  graph.message(kGraphInput, tensor_info("x", {n_x})).message(kGraphInput, tensor_info("m", {state}));
  graph.message(kGraphOutput, tensor_info("y", {n_y})).message(kGraphOutput, tensor_info("m_next", {state}));

  ProtoMessage body = step.fields();  // Scan wants what is carried before what is scanned
  body.bytes(kGraphName, name + "_step");
  body.message(kGraphInput, tensor_info("m", {state})).message(kGraphInput, tensor_info("x", {n_x}));
  body.message(kGraphOutput, tensor_info("m_next", {state})).message(kGraphOutput, tensor_info("y", {n_y}));
  ProtoMessage scan, sequence;
  scan.bytes(1, "m").bytes(1, "x").bytes(2, "m_next").bytes(2, "y").bytes(4, "Scan");
  scan.append(onnx_graph_attribute("body", body)).append(onnx_whole_attribute("num_scan_inputs", 1));
  sequence.message(1, scan).bytes(kGraphName, name + "_sequence");
  sequence.message(kGraphInput, tensor_info("x", {-1, n_x})).message(kGraphInput, tensor_info("m", {state}));
  sequence.message(kGraphOutput, tensor_info("y", {-1, n_y})).message(kGraphOutput, tensor_info("m_next", {state}));
  return {model_proto(model, graph), model_proto(model, sequence)};
}

}  // namespace remede
