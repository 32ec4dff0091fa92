#include "remede/draw/text.h"

#include <gtest/gtest.h>

#include "support/hand_built.h"

namespace remede {
namespace {

using test::leaf;
using test::split;
using test::sure;

TEST(Text, ThePapersTree) {
  EXPECT_EQ(to_text(test::paper_tree()),
            "y from x1: one tree, 9 nodes, 1 memory cell\n"
            "\n"
            "m1 >= -0.23 ?\n"
            "├─ yes: x1 >= 0.5 ?\n"
            "│  ├─ yes: say \"1\" (>99.9%)\n"
            "│  └─ no:  m1 >= 0.13 ?\n"
            "│     ├─ yes: say \"0\" (>99.9%)\n"
            "│     └─ no:  say \"0\" (>99.9%); m1 += tanh(37.6 x1)\n"
            "└─ no:  x1 >= 0.5 ?\n"
            "   ├─ yes: say \"-1\" (>99.9%)\n"
            "   └─ no:  say \"0\" (>99.9%)\n");
}

}  // namespace
}  // namespace remede
