#include "coordinator/store/learnt_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace rapideye::coordinator {
namespace {

class LearntFileTest : public testing::Test {
 protected:
  LearntFileTest() { std::filesystem::remove_all(directory_); }

  std::optional<KeptPauses> Read(const std::string& text) {
    std::filesystem::create_directories(directory_);
    std::ofstream(directory_ + "/learnt.json", std::ios::trunc) << text;
    return ReadLearnt(directory_, RealDisk());
  }

  const std::string directory_ = testing::TempDir() + "learnt_file_test/state";
  const KeptPauses pauses_ = {.job_incarnation = "run \"7\"\n",
                              .learnt = {.step = absl::Milliseconds(1),
                                         .step_lines = absl::Milliseconds(2),
                                         .pause = absl::Milliseconds(3),
                                         .unannounced_pause = absl::Milliseconds(4),
                                         .compile = absl::Milliseconds(5),
                                         .checkpoint = absl::Minutes(8),
                                         .eval = absl::Hours(1)}};
};

TEST_F(LearntFileTest, ThereAreNoneAtFirst) {
  EXPECT_EQ(ReadLearnt(directory_, RealDisk()), std::nullopt);
}

TEST_F(LearntFileTest, KeepsTheNewest) {
  {
    LearntFile file(directory_, &RealDisk());
    file.Write({.job_incarnation = "older", .learnt = {}});
    file.Write(pauses_);
    // The destructor waits for what was posted.
  }
  EXPECT_EQ(ReadLearnt(directory_, RealDisk()), pauses_);
}

TEST_F(LearntFileTest, FieldsOfOtherVersionsAreLeftOut) {
  KeptPauses expected{.job_incarnation = "a", .learnt = {}};
  expected.learnt.checkpoint = absl::Milliseconds(5);
  EXPECT_EQ(Read(R"({"jobIncarnation":"a","checkpointMs":5,"naps":[]})"), expected);
}

TEST_F(LearntFileTest, WhatHoldsNoPausesIsNone) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"jobIncarnation":7})", R"({"checkpointMs":5})",
        R"({"jobIncarnation":"a","checkpointMs":"5"})", R"({"jobIncarnation":"a","evalMs":-1})",
        R"({"jobIncarnation":"a","evalMs":1.5})", R"({"jobIncarnation":"a","evalMs":3600001})",
        R"({"jobIncarnation":"a","evalMs":18446744073709551615})"}) {
    EXPECT_EQ(Read(text), std::nullopt) << text;
  }
  EXPECT_EQ(Read(std::string(std::size_t{1} << 20, '[')), std::nullopt);
}

TEST_F(LearntFileTest, WhatIsNoFileHoldsNobodyUp) {
  std::filesystem::create_directories(directory_);
  ASSERT_EQ(mkfifo((directory_ + "/learnt.json").c_str(), 0600), 0);
  EXPECT_EQ(ReadLearnt(directory_, RealDisk()), std::nullopt);
}

}  // namespace
}  // namespace rapideye::coordinator
