#include "agent/sources/runtime/hlo_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(HloTextTest, ReadsTheGrammarOfLogLines) {
  const HloNames names = NamesFromHlo(
      "HLO: all-reduce.3; HLO computation: main.12_spmd; HLO module: jit_train_step", "");
  EXPECT_THAT(names.instruction, Optional(Eq("all-reduce.3")));
  EXPECT_THAT(names.module, Optional(Eq("jit_train_step")));
}

TEST(HloTextTest, ReadsAnInstructionInFull) {
  for (const char* text :
       {"%fusion.212 = f32[8,128]{1,0} fusion(%param.1), kind=kLoop",
        "ROOT %fusion.212 = f32[8] fusion(%a)", "fusion.212 = f32[8] fusion(%a)", "fusion.212",
        "  %fusion.212\n", "HLO: %fusion.212 = f32[8] fusion(%a); HLO computation: main"}) {
    EXPECT_THAT(NamesFromHlo(text, "").instruction, Optional(Eq("fusion.212"))) << text;
  }
}

TEST(HloTextTest, AnInstructionInFullSaysWhatACoreWaitsFor) {
  EXPECT_EQ(NamesFromHlo("%psum.7 = f32[8] all-reduce(%a), replica_groups={}", "").waits,
            HloWaits::kInSlice);
  EXPECT_EQ(NamesFromHlo("HLO: %in.2 = f32[8] infeed(%t); HLO module: m", "").waits,
            HloWaits::kOwnHost);
  EXPECT_EQ(NamesFromHlo("all-reduce.3", "").waits, std::nullopt);
}

TEST(HloTextTest, WhatIsNoNameYieldsNothing) {
  for (const char* text : {"", " ", "%", "=", " = ", ";;;;;;;;;;;;;",
                           "HLO: ", "HLO: ; HLO module: ", "12345", "somewhere in the loop",
                           "a\x01"
                           "b",
                           "\xff\xfe", "HLO: a b\x7f=; HLO module: two words"}) {
    const HloNames names = NamesFromHlo(text, "");
    if (names.instruction.has_value()) {
      EXPECT_EQ(*names.instruction, "a") << text;
    }
    EXPECT_EQ(names.module, std::nullopt) << text;
  }
}

TEST(HloTextTest, ReadsTheDetailedInfoWhereTheLocationSaysNothing) {
  const HloNames text = NamesFromHlo("", R"json(["%send-done.4 = token[] send-done(%s)"])json");
  EXPECT_THAT(text.instruction, Optional(Eq("send-done.4")));
  const HloNames names =
      NamesFromHlo("", R"([1, null, {"name": "recv-done.7", "module": "jit_step", "x": []}])");
  EXPECT_THAT(names.instruction, Optional(Eq("recv-done.7")));
  EXPECT_THAT(names.module, Optional(Eq("jit_step")));
  // The location says it better.
  const HloNames both = NamesFromHlo("fusion.1", R"(["fusion.2"])");
  EXPECT_THAT(both.instruction, Optional(Eq("fusion.1")));
}

TEST(HloTextTest, DetailedInfoMayBeAnything) {
  const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
  const std::string huge(1 << 20, '[');
  for (const std::string& text :
       {deep, huge, std::string("{"), std::string("{\"name\": \"x\"}"),
        std::string("[\"\\ud800\"]"), std::string("[{\"name\": {\"name\": 1}}]"),
        std::string("\xff"), std::string("[1e999]")}) {
    EXPECT_EQ(NamesFromHlo("", text).instruction, std::nullopt);
  }
}

TEST(HloTextTest, NamesAreBounded) {
  EXPECT_NE(NamesFromHlo(std::string(256, 'a'), "").instruction, std::nullopt);
  EXPECT_EQ(NamesFromHlo(std::string(257, 'a'), "").instruction, std::nullopt);
}

}  // namespace
}  // namespace rapideye::agent
