// Which column has which role, and the same as text: a file of roles, and the lines that a checkpoint keeps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remede/schema/schema.h"

namespace remede {

class ColumnStore;

// How a table is written, where that cannot be seen from the table itself.
struct TableFormat {
  std::vector<std::string> names;  // of the columns, for a file without a header line; s1..s21 stands for 21 of them
  std::optional<char> separator;   // ' ': any number of blanks; else guessed
  std::optional<char> comment;     // lines that begin with it are skipped
  int skip = 0;                    // lines skipped at the top

  bool operator==(const TableFormat&) const = default;
};

// Which column has which role. What is not given is guessed if the guess is unambiguous (docs/data.md).
struct Roles {
  // Column of the sequence id; "row": every row is its own sequence; "file": every file is; "none": one sequence.
  std::optional<std::string> id;
  std::optional<std::string> time;       // column that orders the steps of a sequence; "none": the order of the rows
  std::vector<std::string> target;       // one column, or several in regression; "folder": the folder the file is in
  std::vector<std::string> ignore;       // columns to ignore
  std::optional<Task> task;              // else: regression when the target is numeric and not a few whole numbers
  std::vector<std::string> categorical;  // columns of words, even where they look like numbers
  std::optional<std::string> weight;     // column of the weight of each step in loss and scores
  std::optional<std::string> group;      // column that says what must stay together in a split
  std::optional<TargetPer> target_per;   // kSequence: the last target of a sequence, at its last step
  std::optional<int> horizon;            // predict the target this many steps ahead; its current value becomes an input
  bool time_gap = false;                 // the time since the step before becomes an input
  bool strict_time = false;              // a time that occurs twice in a sequence is an error
  bool need_target = true;               // false: a file without a target is fine
  bool guess = true;                     // false: names suggest nothing
  TableFormat format;
  std::shared_ptr<ColumnStore> store;  // keeps what is beyond its limit in files (base/column.h); null: all in memory
};

// Reads a JSON object whose keys are the flags of the program without their dashes ("id", "target", "target-per", ...),
// its values texts, numbers, true, or lists of texts. What `roles` already says is kept. Throws Error naming the file.
void read_roles(const std::string& path, Roles& roles);

// The same as pairs of name and text, and back; roles that are not given are omitted.
using RoleLines = std::vector<std::pair<std::string, std::string>>;
RoleLines role_lines(const Roles& roles);
// Whether `name` is one of the names that role_lines gives; the role is set.
bool take_role_line(const std::string& name, const std::string& text, Roles& roles);

char parse_separator(std::string_view text);  // comma, semicolon, tab, space, or the character itself
char parse_comment(std::string_view text);

}  // namespace remede
