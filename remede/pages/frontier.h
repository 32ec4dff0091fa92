// A page with models of all sizes: the curve of score over size, a table, and every model in words.
#pragma once

#include <string>
#include <vector>

#include "remede/model/size.h"

namespace remede {

struct FrontierRow {
  Size size;
  double score = 0;
  double standard_error = 0;
  bool saved = false;  // the one that training saved
  std::string file;    // the model's file, beside the page
  std::string words;   // the model as text
};

struct FrontierPageOptions {
  std::string title;
  std::string score_name;  // "accuracy", "RMSE"
  bool share = false;      // scores are shares, written as percentages
  std::string why;         // why the saved one was chosen
};

// Rows by size. REQUIRES: at least one.
std::string frontier_page(const std::vector<FrontierRow>& rows, const FrontierPageOptions& options);

}  // namespace remede
