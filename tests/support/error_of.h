// What an action complains of.
#pragma once

#include <string>

#include "remede/base/error.h"

namespace remede::testing {

// The message of the Error that `action` throws, or a text that no message is.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace remede::testing
