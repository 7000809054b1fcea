#include "coordinator/store/pause_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rapideye::coordinator {
namespace {

constexpr char kReason[] = "a debugger; \"quoted\"\n";

class PauseFileTest : public testing::Test {
 protected:
  PauseFileTest() { std::filesystem::remove_all(directory_); }

  const std::string directory_ = testing::TempDir() + "pause_file_test/state";
  const KeptPause pause_ = {
      .until = absl::FromUnixMillis(1'790'999'660'139), .reason = kReason, .by = "ann@host"};
};

TEST_F(PauseFileTest, ThereIsNoneAtFirst) {
  EXPECT_EQ(ReadPause(directory_, RealDisk()), std::nullopt);
}

TEST_F(PauseFileTest, KeepsTheNewestAndForgetsWhatHasEnded) {
  for (const bool ended : {false, true}) {
    PauseFile file(directory_, &RealDisk());
    file.Write(KeptPause{.until = absl::UnixEpoch(), .reason = "older", .by = "bob"});
    file.Write(pause_);
    if (ended) file.Write(std::nullopt);
    // The destructor waits for what was posted.
  }
  EXPECT_EQ(ReadPause(directory_, RealDisk()), std::nullopt);
  {
    PauseFile(directory_, &RealDisk()).Write(pause_);
  }
  const std::optional<KeptPause> kept = ReadPause(directory_, RealDisk());
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->until, pause_.until);
  EXPECT_EQ(kept->reason, kReason);
  EXPECT_EQ(kept->by, "ann@host");
}

TEST_F(PauseFileTest, WhatIsNoPauseIsNone) {
  std::filesystem::create_directories(directory_);
  for (const char* text : {"", "{", "[]", "{}", R"({"until":1,"reason":"r","by":"b"})",
                           R"({"until":"soon","reason":"r","by":"b"})",
                           R"({"until":"2026-11-20T12:44:19Z","reason":"r"})"}) {
    std::ofstream(directory_ + "/pause.json", std::ios::trunc) << text;
    EXPECT_EQ(ReadPause(directory_, RealDisk()), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace rapideye::coordinator
