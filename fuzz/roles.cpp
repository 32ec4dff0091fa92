// Files of roles: what was read is said again in lines, and the lines mean the same.
#include "remede/schema/roles.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/harness.h"

namespace remede::fuzz {

void roles(std::string_view input) {
  static const int file = ::memfd_create("roles", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  require(::ftruncate(file, 0) == 0, "an empty file");
  require(::pwrite(file, input.data(), input.size(), 0) == static_cast<ssize_t>(input.size()), "a whole file");
  Roles read;
  if (!error_of([&] { read_roles(path, read); }).empty()) return;
  Roles again;
  const RoleLines lines = role_lines(read);
  for (const auto& [name, text] : lines) require(take_role_line(name, text, again), "every line is known");
  require(role_lines(again) == lines, "the lines say the same again");
}

}  // namespace remede::fuzz
