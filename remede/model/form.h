// The forms of a leaf, as data (docs/mathematics.md). All default to the paper's.
#pragma once

#include <cstdint>

namespace remede {

enum class WriteRule : std::uint8_t { kAdd, kBlend };                // m += g u, or m += g a (u - m)
enum class WriteReads : std::uint8_t { kInputs, kInputsAndMemory };  // what the write is computed from
enum class LeafOutput : std::uint8_t { kConstant, kLinear };         // y = output, or output + linear v
enum class OutputOrder : std::uint8_t { kZero, kFirst };             // y_t = ..., or y_t = y_{t-1} + ...

struct LeafForm {
  WriteRule write_rule = WriteRule::kAdd;
  WriteReads write_reads = WriteReads::kInputs;
  bool write_bias = false;
  LeafOutput leaf_output = LeafOutput::kConstant;
  OutputOrder output_order = OutputOrder::kZero;

  bool operator==(const LeafForm&) const = default;
};

}  // namespace remede
