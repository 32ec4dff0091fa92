#include "export/compiled.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <dlfcn.h>

#include "remede/base/file.h"

namespace remede::test {

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "remede-export-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
  path_ = name;
}
Folder::~Folder() { std::filesystem::remove_all(path_); }

void Folder::write(const std::string& name, const std::string& bytes) const { write_file(path(name), bytes); }

std::string Folder::run(const std::string& line) const {
  FILE* const pipe = popen(("cd '" + path_ + "' && { " + line + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen");
  std::string out;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  const int code = pclose(pipe);
  return code == 0 || !out.empty() ? out : "exit status " + std::to_string(code);
}

Library::Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw std::runtime_error(dlerror());
}
Library::~Library() { dlclose(handle_); }

void* Library::symbol(const std::string& name) const {
  void* const found = dlsym(handle_, name.c_str());
  if (found == nullptr) throw std::runtime_error("no symbol " + name);
  return found;
}

}  // namespace remede::test
