#include "cli/common.h"
#include "cli/verbs.h"

namespace remede {

void add_predict(CLI::App& app) { app.add_subcommand("predict", "..."); }

}  // namespace remede
