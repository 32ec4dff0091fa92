#include "cli/common.h"
#include "cli/verbs.h"

namespace remede {

void add_evaluate(CLI::App& app) { app.add_subcommand("evaluate", "..."); }

}  // namespace remede
