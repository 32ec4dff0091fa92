// Eigen multiplies matrices in blocks whose size it derives from the caches of the processor, and sums are rounded
// block by block. With fixed sizes a system gets the same bits on every machine that
// runs the same build.
#pragma once

namespace remede {

// Called before a thread uses Eigen. Changes nothing after the first call.
void use_same_blocks();

}  // namespace remede
