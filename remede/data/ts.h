// The text format of the time series archives (.ts; sktime, aeon): one case per line, its channels separated by colons,
// its class or value behind the last one. It becomes the long table that everything else reads: columns id, x1, x2, ...
// and class (or target), one row per step, the class in the last row of its case.
#pragma once

#include <optional>
#include <string_view>

#include "remede/data/bytes.h"
#include "remede/schema/roles.h"

namespace remede {

// Whether these first bytes are a .ts file's: comments (# or %) and a line that begins with @.
bool looks_like_ts(std::string_view head);

// The table, made as it is read. Throws Error naming file and line for what is not such a file.
ByteSource ts_as_table(ByteSource source);

// The task that `roles` gives, else the one that the file states: @classLabel or @targetLabel of a .ts file, unless
// another column is the target. `table`: from as_table().
std::optional<Task> stated_task(const ByteSource& table, const Roles& roles);

// The bytes of a file as those of a table: unpacked, and a .ts file as the table it stands for.
ByteSource as_table(ByteSource source);

}  // namespace remede
