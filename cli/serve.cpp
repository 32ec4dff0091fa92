// remede serve MODEL: rows and predictions over HTTP, on this machine only. What is answered is decided in
// remede/stream/service.h; the server is in cli/serve/.
#include "cli/serve/serve.h"

#include <memory>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include <CLI/CLI.hpp>

namespace remede {

void add_serve(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("serve", "Predict rows that arrive over HTTP from this machine");
  const auto flags = std::make_shared<ServeFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->required()->type_name("MODEL"));
  verb->add_option("--port", flags->port, "Port on 127.0.0.1; 0: any free port (default: 8080)")
      ->type_name("N")
      ->check(CLI::Range(0, 65535).description(""));
  verb->add_option("--id", flags->id,
                   "Key of the sequence id; row: every row is a sequence; none: one sequence (default: as the model)")
      ->type_name("KEY");
  verb->add_option("--time", flags->time, "Key of the time; none: there is none (default: as the model)")
      ->type_name("KEY");
  verb->add_option("--ids", flags->ids,
                   "Sequences to remember; beyond that, the least recently used is forgotten (default: 1000000)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 31));
  writes_file(verb->add_option("--state", flags->state, "File for the state; if it exists, the run continues from it"))
      ->type_name("FILE");
  verb->add_option("--save-every", flags->save_every, "Seconds between two saves of the state (default: 1)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--connections", flags->connections, "Connections served at the same time (default: 64)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
  add_quiet_flag(*verb, flags->quiet);
  verb->footer(
      "POST /predict takes a row as a JSON object, or several as an array or as lines (application/x-ndjson), and "
      "answers\n"
      "like `remede stream`. GET / is a page with live traces, /openapi.json the API description, /status the counts.\n"
      "Example:\n"
      "  remede serve model.json --port 8080 &\n"
      "  curl -H 'Content-Type: application/json' -d '{\"id\": 1, \"time\": 1, \"x1\": 0.4}' localhost:8080/predict\n"
      "Only this machine can connect. See docs/deploy.md.");
  on_run(*verb, [flags] { serve(*flags); });
}

}  // namespace remede
