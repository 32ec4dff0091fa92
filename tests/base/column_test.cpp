#include "remede/base/column.h"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "remede/base/error.h"

namespace remede {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::shared_ptr<ColumnStore> small_store(const std::string& folder = "") {
  return std::make_shared<ColumnStore>(64 * kMiB, folder);
}

// Appends whole numbers from `from` on, `bytes` of them.
void append(Column<std::int64_t>& column, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / sizeof(std::int64_t); ++i)
    column.push_back(static_cast<std::int64_t>(column.size()));
}

void expect_counted(const Column<std::int64_t>& column, std::size_t bytes) {
  ASSERT_EQ(column.size(), bytes / sizeof(std::int64_t));
  for (std::size_t i = 0; i < column.size(); ++i) ASSERT_EQ(column[i], static_cast<std::int64_t>(i));
}

TEST(Column, IsLikeAVector) {
  Column<int> a = {1, 2, 3};
  const Column<int> b = a;
  a.push_back(4);
  EXPECT_EQ(a, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(b, (std::vector<int>{1, 2, 3}));
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), {8, 9});
  EXPECT_EQ(a, (std::vector<int>{1, 2, 3, 4, 1, 2, 3, 8, 9}));
  a.resize(2);
  a.resize(4, 7);
  EXPECT_EQ(a, (std::vector<int>{1, 2, 7, 7}));
  a = std::vector<int>{5};
  EXPECT_EQ(a.front(), 5);
  a = Column<int>();
  EXPECT_TRUE(a.empty());
  const Column<int> moved = std::move(a);
  EXPECT_TRUE(moved.empty());
  EXPECT_THROW(a.reserve(std::numeric_limits<std::size_t>::max() / 4), std::bad_alloc);
}

TEST(Column, BeyondTheLimitItIsAFileAndReadsTheSame) {
  const auto store = small_store();
  Column<std::int64_t> first(store);
  append(first, 20 * kMiB);
  EXPECT_EQ(store->file_bytes(), 0U);
  append(first, 60 * kMiB);  // it moves while it grows
  EXPECT_GE(store->file_bytes(), 80 * kMiB);
  EXPECT_EQ(store->heap_bytes(), 0U);
  expect_counted(first, 80 * kMiB);
  Column<std::int64_t> copy = first;
  EXPECT_GE(store->file_bytes(), 160 * kMiB);
  expect_counted(copy, 80 * kMiB);
  copy = Column<std::int64_t>(store);
  EXPECT_LT(store->file_bytes(), 160 * kMiB);
  Column<char> little(store);  // what is worked with stays in memory
  little.resize(kMiB);
  EXPECT_EQ(store->heap_bytes(), kMiB);
}

TEST(Column, LittleOfAFileIsResident) {
  const auto store = small_store();
  Column<std::int64_t> column(store);
  append(column, 256 * kMiB);
  const auto resident = [] {
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    unsigned long total = 0, all = 0, of_files = 0;
    if (file == nullptr || std::fscanf(file, "%lu %lu %lu", &total, &all, &of_files) != 3) ADD_FAILURE();
    std::fclose(file);
    return of_files * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  };
  for (int round = 0; round < 200 && resident() > 40 * kMiB; ++round) ::usleep(10000);
  EXPECT_LT(resident(), 40 * kMiB);
  expect_counted(column, 256 * kMiB);
}

TEST(Column, NoFileIsLeftBehind) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("remede_column_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  {
    Column<std::int64_t> column(small_store(folder.string()));
    append(column, 64 * kMiB);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

// A disk that is full is an Error; what was there is still there.
void expect_full(const std::string& folder, const char* reason) {
  const auto store = small_store(folder);
  Column<std::int64_t> column(store);
  std::string message;
  std::size_t bytes = 0;
  try {
    for (;; bytes += kMiB) append(column, kMiB);
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr(folder + ": cannot keep "));
  EXPECT_THAT(message, HasSubstr(reason));
  EXPECT_GT(bytes, 20 * kMiB);
  for (std::size_t i = 0; i < column.size(); ++i) ASSERT_EQ(column[i], static_cast<std::int64_t>(i));
  column.back() = 5;
  Column<char> other(store);
  EXPECT_NO_THROW(other.resize(kMiB));
}

TEST(Column, FilesMayNotGrowFurther) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit little = old;
  little.rlim_cur = 48 * kMiB;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  expect_full(std::filesystem::temp_directory_path().string(), "File too large");
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
}

TEST(Column, TheDiskIsFull) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("remede_full_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  if (::mount("none", folder.c_str(), "tmpfs", 0, "size=48m") != 0) {
    std::filesystem::remove(folder);
    GTEST_SKIP() << "a small file system can be mounted by root only";
  }
  expect_full(folder.string(), "No space left on device");
  ::umount(folder.c_str());
  std::filesystem::remove(folder);
}

TEST(Column, AFolderThatIsNotThereIsNamed) {
  Column<std::int64_t> column(small_store("/no/such/folder"));
  try {
    append(column, 64 * kMiB);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/folder: cannot make a temporary file"));
  }
  EXPECT_GE(column.size() * sizeof(std::int64_t), 16 * kMiB);
}

TEST(MemoryLimit, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(parse_memory_limit("64M"), 64 * kMiB);
  EXPECT_EQ(parse_memory_limit("1.5g"), 1536 * kMiB);
  EXPECT_EQ(parse_memory_limit("100000000"), 100000000U);
  for (const char* bad : {"", "lots", "63M", "-2G", "nan", "inf", "2T", "1e99"})
    EXPECT_THROW(parse_memory_limit(bad), Error) << bad;
  EXPECT_GE(default_memory_limit(), ColumnStore::kLeastLimit);
  EXPECT_THROW(ColumnStore(1000), Error);
}

}  // namespace
}  // namespace remede
