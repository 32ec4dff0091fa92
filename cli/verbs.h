// One function per verb, each in its own file: it adds the verb, its flags and what it does to the program.
// A verb does its work in its CLI11 callback; bad data or a bad model is a remede::Error, bad usage a UsageError
// (cli/common.h).
#pragma once

namespace CLI {
class App;
}

namespace remede {

void add_generate(CLI::App& app);
void add_describe(CLI::App& app);
void add_train(CLI::App& app);
void add_predict(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_cross_validate(CLI::App& app);
void add_stream(CLI::App& app);
void add_serve(CLI::App& app);
void add_show(CLI::App& app);
void add_explain(CLI::App& app);
void add_report(CLI::App& app);
void add_export(CLI::App& app);
void add_rename(CLI::App& app);
void add_simplify(CLI::App& app);
void add_verify(CLI::App& app);
void add_recipe(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_benchmark(CLI::App& app);
void add_completion(CLI::App& app);
void add_manual(CLI::App& app);

}  // namespace remede
