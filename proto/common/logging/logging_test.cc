#include "proto/common/logging/logging.h"

#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "proto/common/logging/log_line.h"

namespace rapideye::program {
namespace {

using testing::AllOf;

using testing::HasSubstr;
using testing::MatchesRegex;

// Returns the text that the process writes to standard error while `speak` runs.
template <typename Speak>
std::string Logged(LogFormat format, Speak speak) {
  testing::internal::CaptureStderr();
  SetUpLogging("rapideye-test", format);
  speak();
  spdlog::default_logger()->flush();
  return testing::internal::GetCapturedStderr();
}

TEST(LoggingTest, TextIsOneLineWhateverItHolds) {
  const std::string out =
      Logged(LogFormat::kText, [] { spdlog::warn("a\nb\r\t\x1b[31m \xC2\x9B \xC3\xA9 {}", 7); });
  EXPECT_THAT(out, MatchesRegex("....-..-..T..:..:..[.]......Z warning rapideye-test: "
                                "a\\\\nb\\\\r\\\\t\\\\x1b\\[31m \\\\u009b \xC3\xA9 7\n"));
}

TEST(LoggingTest, JsonIsOneObjectALineWhateverItHolds) {
  const std::string message = "a\n\"b\" \\ \x01 \xFF \xC3\xA9";
  const std::string out = Logged(LogFormat::kJson, [&] { spdlog::error("{}", message); });
  ASSERT_EQ(out.find('\n'), out.size() - 1);
  const nlohmann::json line = nlohmann::json::parse(out);
  EXPECT_EQ(line["message"], "a\n\"b\" \\ \x01 \xEF\xBF\xBD \xC3\xA9");
  EXPECT_EQ(line["level"], "error");
  EXPECT_EQ(line["severity"], "ERROR");
  EXPECT_EQ(line["program"], "rapideye-test");
  EXPECT_THAT(line["time"].get<std::string>(), MatchesRegex("....-..-..T..:..:..[.]......Z"));
}

TEST(LoggingTest, AnErrorMayHaveFieldsOfItsOwn) {
  const std::string out = Logged(LogFormat::kJson, [] {
    LogJsonError("rapideye-test", "a\n\xFF", {{"cause", "UNKNOWN"}, {"culprits", {"h1", "h2"}}});
  });
  ASSERT_EQ(out.find('\n'), out.size() - 1);
  const nlohmann::json line = nlohmann::json::parse(out);
  EXPECT_EQ(line["message"], "a\n\xEF\xBF\xBD");
  EXPECT_EQ(line["severity"], "ERROR");
  EXPECT_EQ(line["cause"], "UNKNOWN");
  EXPECT_EQ(line["culprits"].size(), 2u);
  EXPECT_THAT(line["time"].get<std::string>(), MatchesRegex("....-..-..T..:..:..[.]......Z"));
}

TEST(LoggingTest, LibrariesSpeakThroughTheSameLog) {
  const std::string out = Logged(LogFormat::kText, [] {
    gpr_log_message("file.cc", 1, GPR_LOG_SEVERITY_ERROR, "handshake\nfailed");
    GOOGLE_LOG(ERROR) << "invalid UTF-8";
  });
  EXPECT_THAT(out, AllOf(HasSubstr("warning rapideye-test: grpc: handshake\\nfailed\n"),
                         HasSubstr("warning rapideye-test: protobuf: invalid UTF-8\n")));
}

TEST(LoggingTest, LibrariesCannotFloodTheLog) {
  const std::string out = Logged(LogFormat::kText, [] {
    for (int i = 0; i < 1000; ++i) {
      gpr_log_message("file.cc", 1, GPR_LOG_SEVERITY_ERROR, "handshake failed");
    }
  });
  // The thousand lines take two seconds at most.
  EXPECT_LE(std::count(out.begin(), out.end(), '\n'), 20);
  EXPECT_GE(std::count(out.begin(), out.end(), '\n'), 5);
}

TEST(LineBudgetTest, CountsWhatItHoldsBack) {
  LineBudget budget(2);
  int64_t suppressed = -1;
  EXPECT_TRUE(budget.Admit(10, suppressed));
  EXPECT_EQ(suppressed, 0);
  EXPECT_TRUE(budget.Admit(10, suppressed));
  EXPECT_FALSE(budget.Admit(10, suppressed));
  EXPECT_FALSE(budget.Admit(10, suppressed));
  EXPECT_TRUE(budget.Admit(11, suppressed));
  EXPECT_EQ(suppressed, 2);
  EXPECT_TRUE(budget.Admit(11, suppressed));
  EXPECT_EQ(suppressed, 0);
  EXPECT_FALSE(budget.Admit(11, suppressed));
}

// A name that a tenant chose neither reorders the line nor ends it for a reader.
TEST(EscapeControlsTest, WhatReordersOrHidesTextIsShown) {
  EXPECT_EQ(EscapeControls("a\u202Eb\u2028c\u200Bd\u00ADe\uFEFF"),
            "a\\u202eb\\u2028c\\u200bd\\u00ade\\ufeff");
  EXPECT_EQ(EscapeControls("\U000E0041"), "\\udb40\\udc41");
}

TEST(EscapeControlsTest, LeavesTextAlone) {
  EXPECT_EQ(EscapeControls("plain \xC3\xA9 \xE2\x82\xAC"), "plain \xC3\xA9 \xE2\x82\xAC");
  EXPECT_EQ(EscapeControls(std::string("\0\x7F\xC2", 3)), "\\x00\\x7f\xC2");
}

}  // namespace
}  // namespace rapideye::program
