// Compares the explanations of some samples' verdicts with tests/golden/explanation.
// RAPIDEYE_REWRITE_GOLDENS=1 rewrites them and fails, so that a rewrite is always
// looked at.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "classifier/classify.h"
#include "digest/digest.h"
#include "proto/capture/capture_reader.h"
#include "tests/support/scenario.h"

namespace rapideye {
namespace {

class Explanation : public ::testing::TestWithParam<const char*> {};

TEST_P(Explanation, Matches) {
  const char* const tests = std::getenv("RAPIDEYE_TEST_DATA");
  ASSERT_NE(tests, nullptr);
  const std::string name = GetParam();
  const auto capture = wire::ReadCaptureFile(std::string(tests) + "/samples/" + name + ".jsonl");
  ASSERT_TRUE(capture.ok()) << capture.status();
  const digest::Report report = digest::BuildReport(*capture, Classify(*capture), {});
  const std::string actual =
      "input: tests/samples/" + name + ".jsonl\n\n" + digest::RenderExplanation(report);
  const std::string path = std::string(tests) + "/golden/explanation/" + name + ".txt";
  if (std::getenv("RAPIDEYE_REWRITE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    FAIL() << "rewrote " << path << ": look at the difference";
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path << " is missing: run with RAPIDEYE_REWRITE_GOLDENS=1";
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(actual, expected.str()) << "differs from " << path;
}

INSTANTIATE_TEST_SUITE_P(Samples, Explanation,
                         ::testing::Values("bad-tc", "bad-sc", "data-stall", "dcn-link",
                                           "different-module", "process-exit", "unknown"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// An explanation of a large job lists groups, never every worker.
TEST(ExplanationSize, StaysReadable) {
  classifier::testing::Scenario s({.slices = 64, .tasks = 32});
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    constexpr int32_t kSigAbrt = 6;
    s.Exit(worker.id.slice, worker.id.task, 3000, std::nullopt, kSigAbrt);
  }
  const digest::Report report = digest::BuildReport(s.capture, Classify(s.capture), {});
  const std::string text = digest::RenderExplanation(report);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40) << text;
}

}  // namespace
}  // namespace rapideye
