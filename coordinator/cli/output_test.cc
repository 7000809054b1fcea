#include "coordinator/cli/output.h"

#include <gtest/gtest.h>

#include <string>

namespace rapideye::cli {
namespace {

TEST(ShownDocument, NothingInItCommandsATerminal) {
  EXPECT_EQ(ShownDocument("title \x1b]0;owned\x07\x1b[2J\nnext\r\n"),
            "title \\x1b]0;owned\\x07\\x1b[2J\nnext\\r\n");
  EXPECT_EQ(ShownDocument("a\u202Eb"), "a\\u202eb");
}

TEST(ShownDocument, ADigestStaysAsItIs) {
  const std::string digest =
      "Megascale hang detected\n  The host that have bad TPUs are: h0\n\n  path: C:\\x, \"q\" …\n";
  EXPECT_EQ(ShownDocument(digest), digest);
  EXPECT_EQ(ShownDocument(""), "");
  EXPECT_EQ(ShownDocument("no end"), "no end");
}

}  // namespace
}  // namespace rapideye::cli
