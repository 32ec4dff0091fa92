// The forms of a leaf, as data (docs/mathematics.md). All default to the paper's.
#pragma once

#include <cstdint>

namespace remede {

enum class WriteRule : std::uint8_t { kAdd, kBlend };                // m += g u, or m += g a (u - m)
enum class WriteReads : std::uint8_t { kInputs, kInputsAndMemory };  // what the write is computed from
enum class LeafOutput : std::uint8_t { kConstant, kLinear };         // y = output, or output + linear v
enum class OutputOrder : std::uint8_t { kZero, kFirst };             // y_t = ..., or y_t = y_{t-1} + ...

enum class Memory : std::uint8_t { kWrites, kLaws };  // leaves write cells, or cells have laws of their own (cells.h)

// With Memory::kLaws only output_order may differ from its default: what leaves write and how answers are linear is
// then in Cells.
struct LeafForm {
  WriteRule write_rule = WriteRule::kAdd;
  WriteReads write_reads = WriteReads::kInputs;
  bool write_bias = false;
  LeafOutput leaf_output = LeafOutput::kConstant;
  OutputOrder output_order = OutputOrder::kZero;
  Memory memory = Memory::kWrites;

  bool operator==(const LeafForm&) const = default;
};

}  // namespace remede
