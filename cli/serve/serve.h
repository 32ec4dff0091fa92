// What `remede serve` was asked for. There are two programs of the same verbs: remede, which starts remede-serve for it
// (start.cpp), and remede-serve, which has the server (server.cpp) and alone needs cpp-httplib and what comes with it.
#pragma once

#include <string>

#include "remede/stream/lines.h"

namespace remede {

struct ServeFlags {
  std::string model;
  int port = 8080;
  std::string id, time;
  std::size_t ids = LineOptions().most_ids;
  std::string state;
  double save_every = 1.0;  // seconds
  int connections = 64;
  bool quiet = false;
};

void serve(const ServeFlags& flags);

}  // namespace remede
