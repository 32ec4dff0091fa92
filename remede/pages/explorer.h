// The explorer: one HTML file with a model and some sequences, to be opened in a browser. It
// evaluates the model itself, in the model's one arithmetic, and gives the same bits as predict() (docs/explorer.md).
#pragma once

#include <string>

#include "remede/data/dataset.h"
#include "remede/model/model.h"
#include "remede/pages/sample.h"

namespace remede {

struct ExplorerOptions {
  SampleOptions sample;
  std::string data_name;  // where the data came from, shown in the page; may be empty
  int threads = 1;        // for the predictions; changes no byte
};

// The page, complete: it loads nothing. The same model, data and options give the same bytes.
// Throws Error when there is nothing to show or the model is too large for a page.
std::string explorer_page(const Model& model, const Dataset& data, const ExplorerOptions& options = {});

// Writes it ("-": standard output).
void write_explorer(const std::string& path, const Model& model, const Dataset& data,
                    const ExplorerOptions& options = {});

}  // namespace remede
