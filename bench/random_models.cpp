// Writes random models of all forms as files, for scripts that compare implementations: random_models FOLDER COUNT
#include <cstdio>
#include <cstdlib>
#include <string>

#include "remede/model/file.h"
#include "tests/support/random_model.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: random_models FOLDER COUNT\n");
    return 2;
  }
  const int count = std::atoi(argv[2]);
  for (int i = 0; i < count; ++i) {
    remede::Random random(static_cast<std::uint64_t>(i) + 1);
    remede::Model model = remede::test::random_model(
        random, {.most_cells = 5, .most_trees = i % 2 == 0 ? 1 : 4, .awkward = i % 3 == 2, .objectives = true});
    if (i % 5 == 4) {  // a column of words makes the first input
      const std::string column = "word";
      model.schema.codes = {{model.schema.inputs[0], column, false, {"one", "two", "three"}, {1.0F, 2.0F, 3.0F}, {}}};
    }
    remede::save_model(model, std::string(argv[1]) + "/m" + std::to_string(i) + ".json");
  }
}
