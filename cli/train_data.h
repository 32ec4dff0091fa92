// What `remede train` was asked for, and the data that it learns from.
#pragma once

#include <optional>
#include <string>

#include "cli/parameters.h"
#include "remede/data/dataset.h"
#include "remede/model/model.h"
#include "remede/schema/roles.h"
#include "remede/train/config.h"

namespace remede {

struct TrainFlags {
  std::string data;
  std::string output;
  std::string validation;
  std::string test;  // a file, or a share of the data
  std::string checkpoint;
  std::string resume;
  Roles roles;
  std::string split;
  std::string shard;       // "rows" or empty
  std::string frontier;    // folder
  std::string start_from;  // a model file
  GivenParameters given;
  bool quiet = false;
  bool verbose = false;
  bool json = false;
  bool parameters_page = false;
};

// The share that --test asks for; nothing where it names a file.
std::optional<double> test_share(const TrainFlags& flags);

// What is learned from, and the validation and test data where there are some.
Dataset read_training(const TrainFlags& flags, const Config& config, std::optional<Dataset>& validation,
                      std::optional<Dataset>& test);
// The sample of rows that are distributed; test data are a file of their own.
Dataset read_test_beside(const TrainFlags& flags, const Dataset& sample, std::optional<Dataset>& test);
// Data for a model that exists, read as it reads them.
Dataset read_for_start(const TrainFlags& flags, const Model& start, std::optional<Dataset>& validation,
                       std::optional<Dataset>& test);

}  // namespace remede
