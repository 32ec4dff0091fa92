// A state machine as text, DOT, JSON and a picture.
#pragma once

#include <string>
#include <vector>

#include "remede/analysis/machine.h"

namespace remede {

std::string machine_text(const Machine& machine, bool colours = false);
std::string machine_dot(const Machine& machine);
std::string machine_json(const Machine& machine);
std::string machine_svg(const Machine& machine, bool style = true);

// One line: how many states, and how far to trust them.
std::string machine_summary(const Machine& machine);

// What the views show: with data, what was visited; of many states the most visited.
std::vector<int> shown_states(const Machine& machine);
std::vector<const MachineTransition*> shown_transitions(const Machine& machine, int from);

}  // namespace remede
