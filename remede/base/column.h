// A column of numbers: in memory, or, where there is too much of it, in a temporary file that is mapped into memory.
// Readers do not see the difference. Its ColumnStore decides which of the two it is when the column grows.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace remede {

class ColumnStore;

// A block of bytes on the heap or in a temporary file. Only ColumnStore's functions change it.
struct ColumnBlock {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  int file = -1;  // -1: on the heap
};

// Limits the memory that the columns of a data set take. Columns of up to a third of `limit` in total are on the heap.
// Further ones are in unlinked files in `folder`, whose disk space is allocated before they are mapped: a full disk is
// an Error when a column grows, and never a signal when it is used. At most about a third of the limit of the mapped
// files is resident: a thread of the store returns pages to the system when there are more. They stay in its cache as
// long as there is room for them, and nothing waits for the thread. The last third is for everything else.
// Thread-safe. Columns keep their store alive.
class ColumnStore {
 public:
  static constexpr std::size_t kLeastLimit = std::size_t{64} << 20;

  // `folder`: empty for TMPDIR, else /var/tmp or /tmp. Throws Error when the limit is below kLeastLimit.
  explicit ColumnStore(std::size_t limit, std::string folder = "");
  ~ColumnStore();
  ColumnStore(const ColumnStore&) = delete;
  ColumnStore& operator=(const ColumnStore&) = delete;

  std::size_t limit() const { return limit_; }
  std::size_t heap_bytes() const { return heap_; }
  std::size_t file_bytes() const { return in_files_; }

  // Changes the size of a block, whose first bytes stay; what is new in it is not defined. `store` may be null: then
  // all is on the heap. Throws Error when a file cannot grow, std::bad_alloc when memory is short: the block is then as
  // it was.
  static void resize(ColumnStore* store, ColumnBlock& block, std::size_t bytes);

 private:
  void grow_file(ColumnBlock& block, std::size_t bytes);
  void move_to_file(ColumnBlock& block, std::size_t bytes);
  int open_file() const;
  void keep_resident_small();
  void give_pages_back();

  const std::size_t limit_;
  const std::string folder_;
  std::atomic<std::size_t> heap_ = 0;
  std::atomic<std::size_t> in_files_ = 0;
  std::mutex mutex_;  // guards what follows
  std::condition_variable ended_;
  bool ending_ = false;
  std::vector<std::pair<std::byte*, std::size_t>> mapped_;
  std::thread keeper_;  // runs once something is mapped
};

// Bytes of memory as people write them: "800M", "2G", "1.5g", or a number of bytes. Throws Error for other texts and
// for less than ColumnStore::kLeastLimit.
std::size_t parse_memory_limit(const std::string& text);

// Half of the memory of the machine, or of the memory limit of the process.
std::size_t default_memory_limit();

// Reads and grows like a std::vector. A copy has the store of its original. Growing throws as ColumnStore::resize says.
template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  Column() = default;
  explicit Column(std::shared_ptr<ColumnStore> store) : store_(std::move(store)) {}
  explicit Column(std::size_t count, const T& value = T()) { resize(count, value); }
  Column(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  Column(const std::vector<T>& values) { assign(values.begin(), values.end()); }  // NOLINT: a vector is a column
  template <std::input_iterator It>
  Column(It first, It last) {
    assign(first, last);
  }
  Column(const Column& other) : store_(other.store_) { assign(other.begin(), other.end()); }
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(const Column& other) {
    if (this != &other) Column(other).swap(*this);
    return *this;
  }
  Column& operator=(Column&& other) noexcept {
    Column(std::move(other)).swap(*this);
    return *this;
  }
  // Assigned values are kept in the store of this column.
  Column& operator=(const std::vector<T>& values) {
    assign(values.begin(), values.end());
    return *this;
  }
  Column& operator=(std::initializer_list<T> values) {
    assign(values.begin(), values.end());
    return *this;
  }
  ~Column() { ColumnStore::resize(store_.get(), block_, 0); }

  const std::shared_ptr<ColumnStore>& store() const { return store_; }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return block_.bytes / sizeof(T); }
  bool empty() const { return size_ == 0; }
  T* data() { return reinterpret_cast<T*>(block_.at); }
  const T* data() const { return reinterpret_cast<const T*>(block_.at); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_alloc();
    if (count > capacity()) ColumnStore::resize(store_.get(), block_, count * sizeof(T));
  }
  void push_back(T value) {
    if (size_ == capacity()) grow(1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void resize(std::size_t count, T value = T()) {
    if (count > capacity()) grow(count - size_);
    if (count > size_) std::fill(end(), data() + count, value);
    size_ = count;
  }
  void clear() { size_ = 0; }
  template <std::input_iterator It>
  void assign(It first, It last) {
    clear();
    insert(end(), first, last);
  }
  void assign(std::size_t count, T value) {
    clear();
    resize(count, value);
  }
  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  // At the end only. REQUIRES: where == end(), and what is inserted is not of this column.
  template <std::input_iterator It>
  void insert(const T* /*where*/, It first, It last) {
    if constexpr (std::forward_iterator<It>) {
      const auto count = static_cast<std::size_t>(std::distance(first, last));
      if (size_ + count > capacity()) grow(count);
      std::copy(first, last, end());
      size_ += count;
    } else {
      for (; first != last; ++first) push_back(*first);
    }
  }
  void insert(const T* where, std::initializer_list<T> values) { insert(where, values.begin(), values.end()); }
  void insert(const T* /*where*/, std::size_t count, T value) { resize(size_ + count, value); }
  void swap(Column& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
  }

  friend bool operator==(const Column& a, const Column& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  // By a half at least, so that appending takes time in proportion. A file grows where it is, without being copied.
  void grow(std::size_t more) {
    constexpr std::size_t kFileGrowth = (std::size_t{64} << 20) / sizeof(T);
    const std::size_t half = size_ / 2 + 16;
    reserve(size_ + std::max(more, block_.file >= 0 ? std::min(half, kFileGrowth) : half));
  }

  std::shared_ptr<ColumnStore> store_;
  ColumnBlock block_;
  std::size_t size_ = 0;
};

}  // namespace remede
