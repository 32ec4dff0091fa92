#include "remede/schema/roles.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "remede/base/file.h"
#include "support/error_of.h"

namespace remede {
namespace {

using testing::error_of;

TEST(RoleFile, SaysWhatFlagsSayAndFlagsWin) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("roles_" + std::to_string(getpid()) + ".json")).string();
  write_file(
      path,
      R"({"id": "who", "target": ["a", "b"], "horizon": 3, "names": ["x1..x3"], "separator": "tab", "time-gap": true})");
  Roles roles;
  roles.id = "other";
  read_roles(path, roles);
  EXPECT_EQ(roles.id, "other");
  EXPECT_EQ(roles.target, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(roles.horizon, 3);
  EXPECT_EQ(roles.format.separator, '\t');
  EXPECT_TRUE(roles.time_gap);
  Roles back;
  for (const auto& [name, text] : role_lines(roles)) EXPECT_TRUE(take_role_line(name, text, back));
  EXPECT_EQ(role_lines(back), role_lines(roles));
  write_file(path, R"({"idd": "who"})");
  EXPECT_EQ(error_of([&] { read_roles(path, roles); }),
            path + ": expected the name of a flag for columns (id, time, target, ...), got 'idd'");
  write_file(path, "[1]");
  EXPECT_EQ(error_of([&] { read_roles(path, roles); }), path + ": expected a JSON object of roles, got something else");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace remede
