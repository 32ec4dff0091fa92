// Learns a task that needs memory, saves the tree, loads it again and feeds it one live sequence.
#include <cstdio>

#include "remede/data/tasks.h"
#include "remede/draw/text.h"
#include "remede/model/file.h"
#include "remede/model/predict.h"
#include "remede/stream/stream.h"
#include "remede/train/fit.h"

int main() {
  const remede::Dataset data = remede::generate("fixed-delay", {.sequences = 2000});  // or read_dataset("data.csv", {})
  const remede::Fit fit = remede::fit(data, nullptr, {.seed = 1});
  std::printf("accuracy %.4f on held-out sequences\n%s", fit.validation.accuracy, remede::to_text(fit.model).c_str());
  remede::save_model(fit.model, "model.json");

  const remede::Model model = remede::load_model("model.json");
  remede::Stream stream(model);
  for (const float x : {0.4F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1.0F}) {
    const auto probability = stream.step({&x, 1});  // of each class, in the order of model.schema.classes
    const int best = remede::arg_max(probability);
    std::printf("x %.1f -> %s\n", x, model.schema.classes[best].c_str());
  }
}
