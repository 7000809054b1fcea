#include "coordinator/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace rapideye::cli {
namespace {

using ::testing::HasSubstr;

// A pipe takes what a terminal would get.
class ProgressTest : public ::testing::Test {
 protected:
  ProgressTest() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~ProgressTest() override {
    close(ends_[0]);
    close(ends_[1]);
  }

  ProgressTarget At(absl::Duration after) const { return {ends_[1], after}; }
  ProgressTarget AtOnce() const { return At(absl::ZeroDuration()); }
  // Waits until the written text ends with or holds `text`.
  void WaitFor(const std::string& text) {
    while (written_.find(text) == std::string::npos) {
      std::array<char, 512> bytes;
      const ssize_t count = read(ends_[0], bytes.data(), bytes.size());
      ASSERT_GT(count, 0);
      written_.append(bytes.data(), static_cast<size_t>(count));
    }
    written_.erase(0, written_.find(text) + text.size());
  }
  // All other output.
  std::string Rest() {
    EXPECT_EQ(write(ends_[1], "END", 3), 3);
    const std::string before = written_;
    std::string rest;
    while (!rest.ends_with("END")) {
      char byte = 0;
      if (read(ends_[0], &byte, 1) != 1) break;
      rest += byte;
    }
    return before + rest.substr(0, rest.size() - 3);
  }

 private:
  std::array<int, 2> ends_ = {};
  std::string written_;
};

TEST_F(ProgressTest, ALineIsShownChangesAndIsTakenBack) {
  {
    Progress progress("reading a.log", AtOnce());
    WaitFor("\rrapideye: reading a.log (");
    progress.Tell("1 of 2 MB");
    WaitFor("\rrapideye: reading a.log: 1 of 2 MB (");
  }
  EXPECT_THAT(Rest(), ::testing::EndsWith("\r\x1b[K"));
}

TEST_F(ProgressTest, WhatTakesNoTimeShowsNothing) {
  {
    Progress progress("reading", At(absl::Hours(1)));
    progress.Tell("all");
  }
  EXPECT_EQ(Rest(), "");
}

TEST_F(ProgressTest, SomethingElseIsWrittenOnALineOfItsOwn) {
  Progress progress("asking", AtOnce());
  WaitFor("asking (");
  WipeProgress();
  WaitFor("\r\x1b[K");
}

TEST_F(ProgressTest, TheYoungestIsShown) {
  Progress outer("outer", AtOnce());
  WaitFor("outer");
  {
    Progress inner("inner", AtOnce());
    WaitFor("inner");
  }
  WaitFor("outer");
}

TEST(NoTerminalTest, NothingIsShown) {
  Progress progress("asking", {-1, absl::ZeroDuration()});
  progress.Tell("x");
  WipeProgress();
}

}  // namespace
}  // namespace rapideye::cli
