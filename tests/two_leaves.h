// The smallest model that decides something: classes "no" and "yes", "yes" from x >= threshold on.
#pragma once

#include "remede/model/model.h"

namespace remede::test {

inline Model two_leaves(float threshold = 0.5F) {
  Model model;
  model.schema.inputs = {"x"};
  model.schema.targets = {"y"};
  model.schema.classes = {"no", "yes"};
  model.schema.id = "id";
  model.schema.time = "t";
  model.fill = {0};
  Tree tree;
  tree.n_x = 1;
  tree.n_y = 2;
  tree.feature = {0};
  tree.threshold = {threshold};
  tree.missing_right = {0};
  tree.left = {~0};
  tree.right = {~1};
  tree.output = {1, 0, 0, 1};
  model.trees = {tree};
  return model;
}

}  // namespace remede::test
