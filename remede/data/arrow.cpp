#include "remede/data/arrow.h"

#include <string_view>

#include "remede/base/error.h"
#include "remede/data/frame.h"

namespace remede {
namespace {

// Frees what a producer handed over.
template <typename T>
std::shared_ptr<T> owned() {
  return std::shared_ptr<T>(new T{}, [](T* held) {
    if (held->release != nullptr) held->release(held);
    delete held;
  });
}

CellType type_of(std::string_view format) {
  constexpr std::pair<std::string_view, CellType> kTypes[] = {
      {"n", CellType::kNone},      {"b", CellType::kBit},      {"c", CellType::kInt8},   {"C", CellType::kUint8},
      {"s", CellType::kInt16},     {"S", CellType::kUint16},   {"i", CellType::kInt32},  {"I", CellType::kUint32},
      {"l", CellType::kInt64},     {"L", CellType::kUint64},   {"f", CellType::kFloat},  {"g", CellType::kDouble},
      {"u", CellType::kText32},    {"z", CellType::kText32},   {"U", CellType::kText64}, {"Z", CellType::kText64},
      {"vu", CellType::kTextView}, {"vz", CellType::kTextView}};
  for (const auto& [name, type] : kTypes)
    if (name == format) return type;
  return CellType::kForeign;
}

std::ptrdiff_t size_of(CellType type) {
  switch (type) {
    case CellType::kInt8:
    case CellType::kUint8:
      return 1;
    case CellType::kInt16:
    case CellType::kUint16:
      return 2;
    case CellType::kInt32:
    case CellType::kUint32:
    case CellType::kFloat:
      return 4;
    default:
      return 8;
  }
}

std::shared_ptr<const Texts> words_of(const ArrowSchema& schema, const ArrowArray& array);

// `first`: cells of the array that come before.
CellBlock block_of(const ArrowSchema& schema, const ArrowArray& array, std::size_t first, std::size_t rows) {
  CellBlock block;
  block.rows = rows;
  block.type = type_of(schema.format);
  if (rows == 0 || block.type == CellType::kNone) return block;
  first += static_cast<std::size_t>(array.offset);
  if (array.n_buffers > 0 && array.null_count != 0) block.valid = static_cast<const std::uint8_t*>(array.buffers[0]);
  block.first_valid_bit = first;
  if (block.type == CellType::kForeign) return block;
  const auto* const second = static_cast<const std::uint8_t*>(array.buffers[1]);
  if (block.type == CellType::kBit) {
    block.values = second;
    block.first_bit = first;
  } else if (block.type == CellType::kText32 || block.type == CellType::kText64) {
    block.offsets = second + first * (block.type == CellType::kText32 ? 4 : 8);
    block.values = static_cast<const std::uint8_t*>(array.buffers[2]);
  } else if (block.type == CellType::kTextView) {
    block.values = second + first * 16;
    block.buffers = array.buffers + 2;
  } else {
    block.stride = size_of(block.type);
    block.values = second + static_cast<std::ptrdiff_t>(first) * block.stride;
  }
  if (schema.dictionary != nullptr) block.words = words_of(*schema.dictionary, *array.dictionary);
  return block;
}

std::shared_ptr<const Texts> words_of(const ArrowSchema& schema, const ArrowArray& array) {
  Frame frame;
  frame.rows = static_cast<std::size_t>(array.length);
  frame.columns.push_back({"dictionary", {block_of(schema, array, 0, frame.rows)}, schema.format});
  FrameReader reader(std::move(frame));
  auto words = std::make_shared<Texts>();
  while (reader.next_row()) words->push_back(reader.text());
  return words;
}

void expect_success(int result, ArrowArrayStream& stream) {
  if (result == 0) return;
  const char* const why = stream.get_last_error(&stream);
  fail("expected a table from the Arrow stream, got an error: {}", why == nullptr ? "no reason given" : why);
}

}  // namespace

Frame frame_from_arrow(ArrowArrayStream& stream) {
  const auto held = owned<ArrowArrayStream>();
  *held = stream;  // from here on it is ours
  stream.release = nullptr;
  const auto schema = owned<ArrowSchema>();
  expect_success(held->get_schema(held.get(), schema.get()), *held);
  if (std::string_view(schema->format) != "+s") fail("expected a table from the Arrow stream, got one column");
  Frame frame;
  for (std::int64_t c = 0; c < schema->n_children; ++c) {
    const ArrowSchema& child = *schema->children[c];
    frame.columns.push_back({child.name == nullptr ? "" : child.name, {}, child.format});
  }
  frame.owners.push_back(schema);
  for (;;) {
    const auto batch = owned<ArrowArray>();
    expect_success(held->get_next(held.get(), batch.get()), *held);
    if (batch->release == nullptr) break;
    const auto rows = static_cast<std::size_t>(batch->length);
    for (std::size_t c = 0; c < frame.columns.size(); ++c)
      frame.columns[c].blocks.push_back(
          block_of(*schema->children[c], *batch->children[c], static_cast<std::size_t>(batch->offset), rows));
    frame.rows += rows;
    frame.owners.push_back(batch);
  }
  return frame;
}

}  // namespace remede
