// An ONNX graph while it is built: operators by name, constants as initializers. A value is known by the name of the
// tensor that holds it; scalars have no dimensions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "remede/export/protobuf.h"

namespace remede {

using OnnxValue = std::string;
using OnnxDims = std::vector<std::int64_t>;

class OnnxGraph {
 public:
  // Constants. Equal scalars are one.
  OnnxValue scalar(float value);
  OnnxValue whole(std::int64_t value);
  OnnxValue floats(const std::vector<float>& values, const OnnxDims& dims);
  OnnxValue wholes(const std::vector<std::int64_t>& values);
  OnnxValue bools(const std::vector<bool>& values);

  OnnxValue add(const char* op, const std::vector<OnnxValue>& inputs, const ProtoMessage& attributes = {});
  void name(const OnnxValue& value, const std::string& as);  // an output of the graph

  OnnxValue at(const OnnxValue& table, const OnnxValue& row) { return add("Gather", {table, row}); }
  OnnxValue at(const OnnxValue& table, std::int64_t row) { return at(table, whole(row)); }
  OnnxValue slice(const OnnxValue& vector, std::int64_t begin, std::int64_t end);
  OnnxValue join(const std::vector<OnnxValue>& vectors);  // one behind the other
  OnnxValue as_vector(const OnnxValue& scalar);           // of one element

  // Arithmetic of model/predict.h.
  OnnxValue plus(const OnnxValue& a, const OnnxValue& b) { return add("Add", {a, b}); }
  OnnxValue minus(const OnnxValue& a, const OnnxValue& b) { return add("Sub", {a, b}); }
  OnnxValue times(const OnnxValue& a, const OnnxValue& b) { return add("Mul", {a, b}); }
  OnnxValue over(const OnnxValue& a, const OnnxValue& b) { return add("Div", {a, b}); }
  OnnxValue choose(const OnnxValue& test, const OnnxValue& yes, const OnnxValue& no) {
    return add("Where", {test, yes, no});
  }
  OnnxValue less(const OnnxValue& a, float b) { return add("Less", {a, scalar(b)}); }
  OnnxValue greater(const OnnxValue& a, float b) { return add("Greater", {a, scalar(b)}); }
  OnnxValue at_most(const OnnxValue& x, float limit) { return choose(greater(x, limit), scalar(limit), x); }
  OnnxValue at_least(const OnnxValue& x, float limit) { return choose(less(x, limit), scalar(limit), x); }
  OnnxValue positive(const OnnxValue& x) { return choose(greater(x, 0.0F), x, scalar(0.0F)); }
  OnnxValue tanh(const OnnxValue& x);
  OnnxValue exp(const OnnxValue& x);
  OnnxValue sigmoid(const OnnxValue& x);
  OnnxValue bounded(const OnnxValue& x);

  // Fields of a GraphProto: nodes and initializers.
  const ProtoMessage& fields() const { return fields_; }

 private:
  std::string fresh() { return "t" + std::to_string(next_++); }
  OnnxValue tensor(int type, const OnnxDims& dims, const std::string& raw);
  OnnxValue horner(const OnnxValue& x, const float* coefficients, int count);

  ProtoMessage fields_;
  int next_ = 0;
  std::map<std::uint32_t, OnnxValue> scalars_;
  std::map<std::int64_t, OnnxValue> wholes_;
  OnnxValue powers_;  // of two
};

// attribute fields of a NodeProto
ProtoMessage onnx_whole_attribute(const char* name, std::int64_t value);
ProtoMessage onnx_graph_attribute(const char* name, const ProtoMessage& graph);

}  // namespace remede
