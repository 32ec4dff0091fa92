// Tables in memory are read as the file that would be written from them.
#include "remede/data/frame.h"

#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "data/same_dataset.h"
#include "data/source.h"
#include "remede/data/arrow.h"
#include "remede/data/raw.h"

namespace remede {
namespace {

using testing::bytes_of;
using testing::error_of;

template <typename T>
CellBlock numbers(const std::vector<T>& values, CellType type) {
  CellBlock block;
  block.rows = values.size();
  block.type = type;
  block.values = reinterpret_cast<const std::uint8_t*>(values.data());
  block.stride = sizeof(T);
  return block;
}

CellBlock texts(const std::vector<std::int64_t>& offsets, const std::string& bytes) {
  CellBlock block;
  block.rows = offsets.size() - 1;
  block.type = CellType::kText64;
  block.values = reinterpret_cast<const std::uint8_t*>(bytes.data());
  block.offsets = reinterpret_cast<const std::uint8_t*>(offsets.data());
  return block;
}

Dataset read_frame(Frame frame, const Roles& roles) {
  std::vector<TableSource> tables;
  tables.emplace_back(std::move(frame));
  RawDataset raw = read_raw(std::move(tables), roles);
  const Code code = learn_code(raw);
  return encode(std::move(raw), code);
}

Frame frame_of(std::size_t rows, std::vector<FrameColumn> columns) {
  Frame frame;
  frame.rows = rows;
  frame.columns = std::move(columns);
  return frame;
}

Roles with_words() {
  Roles roles;
  roles.categorical = {"word"};
  return roles;
}

TEST(Frame, MeansWhatItsFileWouldMean) {
  const std::vector<std::int64_t> id = {7, 7, 8, 8, 7};
  const std::vector<std::uint8_t> step = {1, 0, 0, 1, 2};
  const std::vector<double> x = {0.1, 1e30, std::numeric_limits<double>::quiet_NaN(), -2.0, 3.5};
  const std::vector<float> f = {0.1F, 2.0F, 3.0F, 4.0F, 5.5F};
  const std::string words = "red blue 3,14";
  const std::vector<std::int64_t> at = {0, 4, 8, 8, 9, 12};  // "red ", "blue", "", " ", "3,1"
  const std::vector<std::uint8_t> yes = {1, 0, 1, 1, 0};
  const std::vector<std::uint8_t> gone = {0, 0, 1, 0, 0};
  CellBlock on = numbers(yes, CellType::kBool);
  on.missing = gone.data();
  on.missing_stride = 1;
  const Dataset got = read_frame(frame_of(5, {{"id", {numbers(id, CellType::kInt64)}},
                                              {"step", {numbers(step, CellType::kUint8)}},
                                              {"x", {numbers(x, CellType::kDouble)}},
                                              {"f", {numbers(f, CellType::kFloat)}},
                                              {"word", {texts(at, words)}},
                                              {"on", {on}},
                                              {"y", {numbers(yes, CellType::kUint8)}}}),
                                 with_words());
  const Dataset expected = read_dataset(
      bytes_of("id,step,x,f,word,on,y\n7,1,0.1,0.1,red ,true,1\n7,0,1e30,2.0,blue,false,0\n8,0,,3.0,,,1\n8,1,-2.0,4.0, "
               ",true,1\n7,2,3.5,5.5,\"3,1\",false,0\n"),
      with_words());
  testing::expect_same(got, expected);
  EXPECT_EQ(got.schema.codes, expected.schema.codes);
}

// What a frame library writes into a file: ids and times are kept as texts, so their spelling shows.
TEST(Frame, SpellsNumbersAsPythonDoes) {
  const std::vector<double> id = {100000.0, 1e15, 1e16, 1e-4, 1e-5, -0.5};
  const std::vector<float> time = {1e6F, 0.1F, 16777216.0F, 1e20F, 3.0F, 1e-7F};
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const Dataset got = read_frame(frame_of(6, {{"id", {numbers(id, CellType::kDouble)}},
                                              {"time", {numbers(time, CellType::kFloat)}},
                                              {"x", {numbers(x, CellType::kDouble)}},
                                              {"y", {numbers(x, CellType::kDouble)}}}),
                                 {});
  const char* const ids[] = {"100000.0", "1000000000000000.0", "1e+16", "0.0001", "1e-05", "-0.5"};
  const char* const times[] = {"1000000.0", "0.1", "16777216.0", "1e+20", "3.0", "1e-07"};
  ASSERT_EQ(got.ids.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(got.ids[i], ids[i]);
    EXPECT_EQ(got.times[i], times[i]);
  }
}

TEST(Frame, RefusesANulByteAsAFileDoes) {
  const std::string words("a\0b", 3);
  const std::vector<std::int64_t> at = {0, 1, 3};
  const std::vector<double> y = {0, 1};
  const auto columns = [&](CellBlock block) {
    return frame_of(2, {{"word", {std::move(block)}}, {"y", {numbers(y, CellType::kDouble)}}});
  };
  EXPECT_EQ(error_of([&] { read_frame(columns(texts(at, words)), {}); }),
            "data: row 1, column 'word': expected text, got a NUL byte");
  auto known = std::make_shared<Texts>();
  known->push_back("a");
  known->push_back(std::string_view(words).substr(1));
  const std::vector<std::int8_t> number = {0, 1};
  CellBlock block = numbers(number, CellType::kInt8);
  block.words = known;
  EXPECT_EQ(error_of([&] { read_frame(columns(block), {}); }),
            "data: row 1, column 'word': expected text, got a NUL byte");
}

TEST(Frame, RefusesInTheWordsOfFilesWithTheRow) {
  const std::vector<double> x = {1, std::numeric_limits<double>::infinity()};
  const std::vector<std::int32_t> y = {0, 1};
  const Frame infinite = frame_of(2, {{"x", {numbers(x, CellType::kDouble)}}, {"y", {numbers(y, CellType::kInt32)}}});
  EXPECT_EQ(error_of([&] { read_frame(infinite, Roles{}); }),
            "data: row 1, column 'x': expected a finite number that fits a float, got inf");
  const std::string bytes = "1red";
  const std::vector<std::int64_t> at = {0, 1, 4};
  const Frame mixed = frame_of(2, {{"x", {texts(at, bytes)}}, {"y", {numbers(y, CellType::kInt32)}}});
  EXPECT_EQ(error_of([&] { read_frame(mixed, Roles{}); }),
            "data: row 1, column 'x': expected a number, got 'red'; if the column holds categories, use --categorical "
            "'x', otherwise leave it out with --ignore 'x'");
  const Frame twice = frame_of(2, {{"y", {numbers(y, CellType::kInt32)}}, {" y", {numbers(y, CellType::kInt32)}}});
  EXPECT_EQ(error_of([&] { read_frame(twice, Roles{}); }), "data: expected unique column names, got 'y' twice");
}

TEST(Frame, ForeignCellsMatterOnlyWhereTheyAreRead) {
  Roles without_lists;
  without_lists.ignore = {"l"};
  const std::vector<double> x = {1, 2};
  const std::vector<std::int32_t> y = {0, 1};
  CellBlock lists;
  lists.rows = 2;
  lists.type = CellType::kForeign;
  const Frame frame = frame_of(
      2, {{"x", {numbers(x, CellType::kDouble)}}, {"l", {lists}, "+l"}, {"y", {numbers(y, CellType::kInt32)}}});
  EXPECT_EQ(error_of([&] { read_frame(frame, Roles{}); }),
            "data: row 0, column 'l': expected numbers, words or times, got values of type +l");
  EXPECT_EQ(read_frame(frame, without_lists).sequences.x, (std::vector<float>{1, 2}));
}

// A table as Arrow hands it over, in two batches, with offsets, bitmaps, views and a dictionary.
struct ArrowTable {
  std::vector<std::int32_t> numbers = {99, 1, 2, 3, 4};
  std::uint8_t valid = 0b11011;  // the third cell (the second behind the offset) is missing
  std::uint8_t views[4][16] = {};
  std::string long_text = "longer than twelve bytes";
  std::vector<std::int8_t> codes = {1, 0, 1, 0};
  std::vector<std::int32_t> word_offsets = {0, 2, 5};
  std::string word_bytes = "upoff";
  const void* number_buffers[2] = {&valid, numbers.data()};
  const void* view_buffers[4] = {nullptr, views, long_text.data(), nullptr};
  const void* code_buffers[2] = {nullptr, codes.data()};
  const void* word_buffers[3] = {nullptr, word_offsets.data(), word_bytes.data()};
  ArrowArray words = {2, 0, 0, 3, 0, word_buffers, nullptr, nullptr, nullptr, nullptr};
  int batch = 0;
  int released = 0;
  ArrowSchema parts[4];
  ArrowSchema* part_pointers[4] = {&parts[0], &parts[1], &parts[2], &parts[3]};
  ArrowSchema dictionary = {"u", "", nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr};
  ArrowArray arrays[2][4];
  ArrowArray* array_pointers[2][4];

  ArrowTable() {
    const char* const names[] = {"x", "text", "word", "y"};
    const char* const formats[] = {"i", "vu", "c", "i"};
    for (int c = 0; c < 4; ++c)
      parts[c] = {formats[c], names[c], nullptr, 2, 0, nullptr, c == 2 ? &dictionary : nullptr, nullptr, nullptr};
    const char* const short_texts[] = {"a", "", "b", "a"};
    for (int r = 0; r < 4; ++r) {
      const auto length = static_cast<std::int32_t>(r == 1 ? long_text.size() : std::strlen(short_texts[r]));
      std::memcpy(views[r], &length, 4);
      if (r != 1) std::memcpy(views[r] + 4, short_texts[r], static_cast<std::size_t>(length));
    }
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 4; ++c) {
        ArrowArray& a = arrays[b][c];
        a = {2, c == 0 ? -1 : 0, (c == 0 || c == 3 ? 1 : 0) + 2 * b, 2, 0, nullptr, nullptr, nullptr, nullptr, nullptr};
        a.buffers = c == 1 ? view_buffers : c == 2 ? code_buffers : number_buffers;
        a.n_buffers = c == 1 ? 4 : 2;
        a.dictionary = c == 2 ? &words : nullptr;
        array_pointers[b][c] = &a;
      }
  }
  static ArrowTable& of(ArrowArrayStream* s) { return *static_cast<ArrowTable*>(s->private_data); }
  static int schema(ArrowArrayStream* s, ArrowSchema* out) {
    *out = {"+s", "", nullptr, 0, 4, of(s).part_pointers, nullptr, nullptr, nullptr};
    return 0;
  }
  static void release_batch(ArrowArray* a) {
    ++static_cast<ArrowTable*>(a->private_data)->released;
    a->release = nullptr;
  }
  static int next(ArrowArrayStream* s, ArrowArray* out) {
    *out = {};
    ArrowTable& t = of(s);
    if (t.batch == 2) return 0;
    *out = {2, 0, 0, 1, 4, nullptr, t.array_pointers[t.batch++], nullptr, release_batch, &t};
    return 0;
  }
  static void release(ArrowArrayStream* s) {
    ++of(s).released;
    s->release = nullptr;
  }
  ArrowArrayStream stream() { return {schema, next, nullptr, release, this}; }
};

TEST(Frame, ArrowStreamsAreReadInPlaceAndReleased) {
  Roles by_row;
  by_row.id = "row";
  ArrowTable table;
  ArrowArrayStream stream = table.stream();
  {
    const Dataset got = read_frame(frame_from_arrow(stream), by_row);
    const Dataset expected = read_dataset(
        bytes_of("x,text,word,y\n1,a,off,1\n,longer than twelve bytes,up,2\n3,b,off,3\n4,a,up,4\n"), by_row);
    testing::expect_same(got, expected);
    EXPECT_EQ(got.schema.codes, expected.schema.codes);
  }
  EXPECT_EQ(table.released, 3);
  EXPECT_EQ(stream.release, nullptr) << "it was taken over";
}

}  // namespace
}  // namespace remede
