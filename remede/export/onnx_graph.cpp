#include "remede/export/onnx_graph.h"

#include <bit>

#include "remede/base/arithmetic.h"
#include "remede/model/cells.h"

namespace remede {
namespace {

// Numbers of fields and types in onnx.proto.
constexpr int kGraphNode = 1, kGraphInitializer = 5;
constexpr int kNodeInput = 1, kNodeOutput = 2, kNodeOp = 4, kNodeAttribute = 5;
constexpr int kTensorDims = 1, kTensorType = 2, kTensorName = 8, kTensorRaw = 9;
constexpr int kAttributeName = 1, kAttributeInt = 3, kAttributeGraph = 6, kAttributeType = 20;
constexpr int kTypeOfInt = 2, kTypeOfGraph = 5;
constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

template <typename Bits>
void append_little_endian(Bits bits, std::string& to) {
  for (std::size_t i = 0; i < sizeof bits; ++i) to.push_back(static_cast<char>((bits >> (8 * i)) & 0xff));
}

}  // namespace

OnnxValue OnnxGraph::tensor(int type, const OnnxDims& dims, const std::string& raw) {
  OnnxValue name = fresh();
  ProtoMessage tensor;
  for (const std::int64_t dim : dims) tensor.number(kTensorDims, dim);
  tensor.number(kTensorType, type).bytes(kTensorName, name).bytes(kTensorRaw, raw);
  fields_.message(kGraphInitializer, tensor);
  return name;
}

OnnxValue OnnxGraph::floats(const std::vector<float>& values, const OnnxDims& dims) {
  std::string raw;
  for (const float v : values) append_little_endian(std::bit_cast<std::uint32_t>(v), raw);
  return tensor(kFloat, dims, raw);
}

OnnxValue OnnxGraph::scalar(float value) {
  OnnxValue& known = scalars_[std::bit_cast<std::uint32_t>(value)];
  if (known.empty()) known = floats({value}, {});
  return known;
}

OnnxValue OnnxGraph::whole(std::int64_t value) {
  OnnxValue& known = wholes_[value];
  if (known.empty()) {
    std::string raw;
    append_little_endian(static_cast<std::uint64_t>(value), raw);
    known = tensor(kInt64, {}, raw);
  }
  return known;
}

OnnxValue OnnxGraph::wholes(const std::vector<std::int64_t>& values) {
  std::string raw;
  for (const std::int64_t v : values) append_little_endian(static_cast<std::uint64_t>(v), raw);
  return tensor(kInt64, {static_cast<std::int64_t>(values.size())}, raw);
}

OnnxValue OnnxGraph::bools(const std::vector<bool>& values) {
  std::string raw;
  for (const bool v : values) raw.push_back(v ? 1 : 0);
  return tensor(kBool, {static_cast<std::int64_t>(values.size())}, raw);
}

OnnxValue OnnxGraph::add(const char* op, const std::vector<OnnxValue>& inputs, const ProtoMessage& attributes) {
  OnnxValue out = fresh();
  ProtoMessage node;
  for (const OnnxValue& input : inputs) node.bytes(kNodeInput, input);
  node.bytes(kNodeOutput, out).bytes(kNodeOp, op).append(attributes);
  fields_.message(kGraphNode, node);
  return out;
}

void OnnxGraph::name(const OnnxValue& value, const std::string& as) {
  ProtoMessage node;
  node.bytes(kNodeInput, value).bytes(kNodeOutput, as).bytes(kNodeOp, "Identity");
  fields_.message(kGraphNode, node);
}

OnnxValue OnnxGraph::slice(const OnnxValue& vector, std::int64_t begin, std::int64_t end) {
  return add("Slice", {vector, wholes({begin}), wholes({end})});
}
OnnxValue OnnxGraph::join(const std::vector<OnnxValue>& vectors) {
  return vectors.size() == 1 ? vectors[0] : add("Concat", vectors, onnx_whole_attribute("axis", 0));
}
OnnxValue OnnxGraph::as_vector(const OnnxValue& scalar) { return add("Reshape", {scalar, wholes({1})}); }

OnnxValue OnnxGraph::horner(const OnnxValue& x, const float* coefficients, int count) {
  OnnxValue sum = scalar(coefficients[count - 1]);
  for (int i = count - 2; i >= 0; --i) sum = plus(times(sum, x), scalar(coefficients[i]));
  return sum;
}

OnnxValue OnnxGraph::tanh(const OnnxValue& argument) {
  using C = TanhConstants;
  const OnnxValue x = at_least(at_most(argument, C::kLimit), -C::kLimit);
  const OnnxValue s = times(x, x);
  const OnnxValue r = over(times(x, horner(s, C::kP, 6)), horner(s, C::kQ, 4));
  return at_least(at_most(r, 1.0F), -1.0F);
}

// The range of x is cut before 2^n is looked up, and what is not a number is put back afterwards.
OnnxValue OnnxGraph::exp(const OnnxValue& argument) {
  using C = ExpConstants;
  constexpr int kLeastPower = -126, kMostPower = 127;
  if (powers_.empty()) {
    std::vector<float> powers;
    for (int n = kLeastPower; n <= kMostPower; ++n) powers.push_back(std::bit_cast<float>((n + 127) << 23));
    powers_ = floats(powers, {static_cast<std::int64_t>(powers.size())});
  }
  const OnnxValue is_nan = add("IsNaN", {argument});
  const OnnxValue x = choose(is_nan, scalar(0.0F), at_most(at_least(argument, C::kLowest), C::kHighest));
  const OnnxValue n = minus(plus(times(x, scalar(C::kLog2e)), scalar(C::kRound)), scalar(C::kRound));
  OnnxValue r = minus(x, times(n, scalar(C::kLn2High)));
  r = minus(r, times(n, scalar(C::kLn2Low)));
  OnnxValue p = horner(r, C::kP, 6);
  p = times(times(p, r), r);
  p = plus(plus(p, r), scalar(1.0F));
  const OnnxValue index = add("Sub", {add("Cast", {n}, onnx_whole_attribute("to", kInt64)), whole(kLeastPower)});
  const OnnxValue e = choose(less(argument, C::kLowest), scalar(0.0F), times(p, at(powers_, index)));
  return choose(is_nan, argument, e);
}

OnnxValue OnnxGraph::sigmoid(const OnnxValue& x) {
  const OnnxValue negative = less(x, 0.0F);
  const OnnxValue e = exp(choose(negative, x, add("Neg", {x})));
  const OnnxValue sum = plus(scalar(1.0F), e);
  return choose(negative, over(e, sum), over(scalar(1.0F), sum));
}

OnnxValue OnnxGraph::bounded(const OnnxValue& x) {
  return choose(add("IsNaN", {x}), scalar(0.0F), at_least(at_most(x, kCellBound), -kCellBound));
}

ProtoMessage onnx_whole_attribute(const char* name, std::int64_t value) {
  ProtoMessage attribute;
  attribute.bytes(kAttributeName, name).number(kAttributeInt, value).number(kAttributeType, kTypeOfInt);
  ProtoMessage field;
  field.message(kNodeAttribute, attribute);
  return field;
}

ProtoMessage onnx_graph_attribute(const char* name, const ProtoMessage& graph) {
  ProtoMessage attribute;
  attribute.bytes(kAttributeName, name).message(kAttributeGraph, graph).number(kAttributeType, kTypeOfGraph);
  ProtoMessage field;
  field.message(kNodeAttribute, attribute);
  return field;
}

}  // namespace remede
