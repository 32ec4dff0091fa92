// The report: one HTML page about a model and a data set, to be read and kept. It loads nothing and runs no script.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/model/model.h"

namespace remede {

struct ReportOptions {
  std::string data_name;   // where the data came from; may be empty
  std::string model_name;  // the same of the model
  std::string command;     // how to train the model again; empty where that is not known
  int threads = 1;         // for the predictions; changes no byte
};

// Data, scores, learning curves, tree, state machine, importance, settings. The same model, data and options give the
// same bytes. Throws Error when the data are empty.
std::string report_page(const Model& model, const Dataset& data, const ReportOptions& options = {});

// Writes it ("-": standard output).
void write_report(const std::string& path, const Model& model, const Dataset& data, const ReportOptions& options = {});

}  // namespace remede
