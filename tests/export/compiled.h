// Compiles exported programs into a shared library and calls them.
#pragma once

#include <string>
#include <vector>

namespace remede::test {

bool has_program(const std::string& name);  // on the PATH

// A folder that is removed again.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& bytes) const;
  // Runs a line of sh in the folder; gives what it printed, "" where it printed nothing and succeeded.
  std::string run(const std::string& line) const;

 private:
  std::string path_;
};

class Library {
 public:
  explicit Library(const std::string& path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <typename Function>
  Function* find(const std::string& name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const std::string& name) const;
  void* handle_;
};

}  // namespace remede::test
