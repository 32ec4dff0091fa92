// Cells with laws, in words: what fills them, how fast they empty, what they hold and who reads them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "remede/analysis/wording.h"

namespace remede {

struct CellStory {
  int cell = 0;
  std::string name;
  std::string kind;       // "store", "running average"
  std::string words;      // "fills with rain, more when temp is low; loses 0.3% to 8% per step, more when temp is high"
  std::string source;     // the first half of these words,
  std::string speed;      // and the second
  std::string facts;      // "half-life 8 to 230 steps; holds 0 to 312; read by m2 and the answer"
  std::string gain;       // "max(0, 3.45 + 0.675 rain - 0.338 temp)": what comes in, or what is followed
  std::string share;      // "sigmoid(-4.5 + 0.1 temp - 0.0009 m1)", or a percentage where it is fixed
  std::string half_life;  // "half-life 8 to 230 steps"; empty where it is not known
  bool starts_at_first = false;  // an average that starts at its first value
  bool follows_last = false;     // an average of the cell before alone, which moves as fast: they are a chain
  // Counts the steps at which the argument of the cell before is not above 0, or averages that count; nothing else
  // reads the cell before.
  bool counts_last = false;
};

// Of the cells in use of a tree whose cells have laws, in order; else none. Half-lives and ranges are those of the
// data the model was trained on (Tree::level_range), or of the data given to note_ranges().
std::vector<CellStory> cell_stories(const Wording& words);

// "m1 (store) fills with ...; ...": one line for a cell.
std::string story_line(const CellStory& story);

// The inputs that a sum reads, the strongest first: by weight times the range that was seen. weights: (n_x)
std::vector<std::size_t> strongest_inputs(const Wording& words, std::span<const float> weights);

// Steps until half of what a cell holds is gone when `share` of it goes every step; infinite for 0, 0 for 1.
double half_life(double share);

}  // namespace remede
