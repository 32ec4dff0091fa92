#include "remede/engine/engine.h"

namespace remede {

std::unique_ptr<Engine> make_engine(int threads) { return make_plain_engine(threads); }

}  // namespace remede
