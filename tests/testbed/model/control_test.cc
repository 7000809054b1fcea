#include "tests/testbed/model/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::testbed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ControlLine, HasVerbSubjectAndArguments) {
  absl::StatusOr<ControlLine> line =
      ParseControlLine("  fault chip-stop chip=2  where=before=after\r");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->verb, "fault");
  EXPECT_EQ(line->subject, "chip-stop");
  EXPECT_THAT(line->arguments, ElementsAre(Pair("chip", "2"), Pair("where", "before=after")));
}

TEST(ControlLine, NeedsNeitherSubjectNorArguments) {
  EXPECT_EQ(ParseControlLine("start")->subject, "");
  EXPECT_EQ(ParseControlLine("ready pid=3")->subject, "");
}

TEST(ControlLine, ComesBackAsItWent) {
  for (const char* text :
       {"start", "step 12", "fault chip-stop chip=2 where=before", "p a=b c=d"}) {
    EXPECT_EQ(FormatControlLine(*ParseControlLine(text)), text);
  }
}

TEST(ControlLine, RefusesWhatBreaksTheForm) {
  for (const char* text : {"", "  ", "fault chip-stop twice", "fault =2", "fault a=1 a=2"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseControlLine(text).status())) << text;
  }
}

TEST(ControlLine, ArgumentsAreChecked) {
  const ControlLine line = *ParseControlLine("fault f chip=2 where=x");
  EXPECT_EQ(*IntegerArgument(line, "chip"), 2);
  EXPECT_EQ(*IntegerArgument(line, "program", 7), 7);
  EXPECT_THAT(IntegerArgument(line, "where").status().ToString(), HasSubstr("where='x'"));
  EXPECT_THAT(IntegerArgument(line, "program").status().ToString(), HasSubstr("no program="));
}

TEST(ControlLine, PeersComeBackAsTheyWent) {
  const MeshAddresses addresses = {{{0, 0}, "127.77.0.0:1"}, {{1, 12}, "127.77.1.12:2"}};
  absl::StatusOr<ControlLine> line = ParseControlLine(FormatControlLine(MakePeers(addresses)));
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(*ParsePeers(*line), addresses);
}

TEST(ControlLine, RefusesPeersThatAreNoWorkers) {
  for (const char* text :
       {"peers 0=a", "peers 0.1.2=a", "peers 0.-1=a", "peers x.y=a", "peers 0.1=a 0.01=b"}) {
    EXPECT_FALSE(ParsePeers(*ParseControlLine(text)).ok()) << text;
  }
}

}  // namespace
}  // namespace rapideye::testbed
