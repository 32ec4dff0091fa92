#include "remede/base/cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "remede/base/file.h"

namespace remede {
namespace {

namespace fs = std::filesystem;

// An empty folder for each test.
class Cache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("remede-cache-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string folder() const { return folder_.string(); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }

  fs::path folder_;
};

TEST_F(Cache, keeps_what_it_is_given_by_its_key) {
  EXPECT_FALSE(read_cached(folder(), "a"));
  write_cached(folder(), "a", std::string("x\0y", 3));
  write_cached(folder(), "b", "");
  EXPECT_EQ(read_cached(folder(), "a"), std::string("x\0y", 3));
  EXPECT_EQ(read_cached(folder(), "b"), "");
  EXPECT_FALSE(read_cached(folder(), "c"));
  write_cached(folder(), "a", "new");
  EXPECT_EQ(read_cached(folder(), "a"), "new");
}

TEST_F(Cache, takes_a_broken_file_for_none_and_replaces_it) {
  const std::string content(1000, 'k');
  write_cached(folder(), "key", content);
  const std::string path = files().at(0).string(), good = read_file(path);
  for (std::size_t size : {std::size_t{0}, std::size_t{20}, good.size() / 2, good.size() - 1}) {
    write_file(path, good.substr(0, size));
    EXPECT_FALSE(read_cached(folder(), "key")) << size;
  }
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_file(path, bad);
    EXPECT_FALSE(read_cached(folder(), "key")) << at;
  }
  write_file(path, good + "k");
  EXPECT_FALSE(read_cached(folder(), "key"));
  write_cached(folder(), "key", content);
  EXPECT_EQ(read_cached(folder(), "key"), content);
}

TEST_F(Cache, takes_a_file_of_another_key_for_none) {
  write_cached(folder(), "one", "1");
  write_cached(folder(), "two", "2");
  const std::vector<fs::path> both = files();
  fs::copy_file(both.at(0), both.at(1), fs::copy_options::overwrite_existing);
  EXPECT_NE(read_cached(folder(), "one").has_value(), read_cached(folder(), "two").has_value());
}

TEST_F(Cache, keeps_the_newest_files) {
  for (int i = 0; i < 8; ++i) {
    write_cached(folder(), std::to_string(i), "x", 4);
    for (const fs::path& path : files()) fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));
  }
  EXPECT_EQ(files().size(), 4U);
  EXPECT_FALSE(read_cached(folder(), "0"));
  EXPECT_TRUE(read_cached(folder(), "7"));
}

TEST_F(Cache, is_shared_by_many_at_the_same_time) {
  std::vector<std::thread> all;
  std::vector<int> wrong(8);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string key = std::to_string(i % 5), content(10000, static_cast<char>('a' + i % 5));
        write_cached(folder(), key, content);
        const auto found = read_cached(folder(), key);
        if (found && *found != content) ++wrong[t];
      }
    });
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8));
  EXPECT_EQ(files().size(), 5U);
}

TEST_F(Cache, does_without_a_folder) {
  write_cached("", "key", "content");
  EXPECT_FALSE(read_cached("", "key"));
  std::ofstream(folder_) << "a file";
  write_cached(folder(), "key", "content");
  EXPECT_FALSE(read_cached(folder(), "key"));
}

TEST_F(Cache, is_where_the_environment_says) {
  ::setenv("REMEDE_CACHE", "/somewhere", 1);
  EXPECT_EQ(cache_folder(), "/somewhere");
  ::setenv("REMEDE_CACHE", "", 1);
  EXPECT_EQ(cache_folder(), "");
  ::unsetenv("REMEDE_CACHE");
  ::setenv("XDG_CACHE_HOME", "/cached", 1);
  EXPECT_EQ(cache_folder(), "/cached/remede");
  ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace remede
