// The little of protobuf's wire format that an ONNX file needs: messages are strings of fields, built from the inside
// out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace remede {

class ProtoMessage {
 public:
  ProtoMessage& number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  ProtoMessage& bytes(int field, std::string_view value) {
    varint((static_cast<std::uint64_t>(field) << 3) | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtoMessage& message(int field, const ProtoMessage& value) { return bytes(field, value.bytes_); }
  ProtoMessage& append(const ProtoMessage& fields) {  // the fields of another one behind its own
    bytes_ += fields.bytes_;
    return *this;
  }
  const std::string& text() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

}  // namespace remede
