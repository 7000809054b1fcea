#include "classifier/logs/line_time.h"

#include <gtest/gtest.h>

#include <string>

namespace rapideye::logs {
namespace {

constexpr int64_t kNoon = 1795348800000;  // 2026-11-22T12:00:00Z

TEST(LineTimeTest, ReadsTheFormsOfLoggers) {
  for (const char* line : {"2026-11-22T12:00:00.250Z text", "2026-11-22T12:00:00.250123456Z text",
                           "2026-11-22T13:00:00.250+01:00 text", "2026-11-22 12:00:00,250 text",
                           "[2026-11-22 12:00:00.250] text", "2026/11/22 12:00:00.250 text"}) {
    const auto time = TakeLineTime(line, 1999);
    ASSERT_TRUE(time.has_value()) << line;
    EXPECT_EQ(time->unix_ms, kNoon + 250) << line;
    EXPECT_EQ(std::string(line).substr(time->text), "text") << line;
  }
}

TEST(LineTimeTest, TakesTheYearFromElsewhereWhereNoneIsTold) {
  const auto glog = TakeLineTime("E1122 12:00:00.250000   19702 service.cc:1520] text", 2026);
  ASSERT_TRUE(glog.has_value());
  EXPECT_EQ(glog->unix_ms, kNoon + 250);
  EXPECT_EQ(glog->text, 0U);  // the severity stays
  const auto dated = TakeLineTime("W20261122 12:00:00 text", 1999);
  ASSERT_TRUE(dated.has_value());
  EXPECT_EQ(dated->unix_ms, kNoon);
  const auto syslog = TakeLineTime("Nov 22 12:00:00 host text", 2026);
  ASSERT_TRUE(syslog.has_value());
  EXPECT_EQ(syslog->unix_ms, kNoon);
  EXPECT_EQ(YearOf(kNoon), 2026);
  EXPECT_EQ(YearOf(0), 1970);
}

TEST(LineTimeTest, ALevelMayStandBeforeTheTime) {
  for (const char* line : {"ERROR 11-22 12:00:00 [core.py:1099] text",
                           "INFO:2026-11-22 12:00:00,000:jax._src.xla_bridge:925: text"}) {
    const auto time = TakeLineTime(line, 2026);
    ASSERT_TRUE(time.has_value()) << line;
    EXPECT_EQ(time->unix_ms, kNoon);
    EXPECT_EQ(time->text, 0U);  // the level stays
  }
  EXPECT_FALSE(TakeLineTime("ERROR 13-22 12:00:00 text", 2026).has_value());
}

TEST(LineTimeTest, KeepsTheIndentationOfTheText) {
  const std::string line = "2026-11-22T12:00:00.250Z   File \"train.py\", line 1";
  EXPECT_EQ(line.substr(TakeLineTime(line, 1999)->text), "  File \"train.py\", line 1");
}

TEST(LineTimeTest, OtherLinesHaveNone) {
  for (const char* line :
       {"", "completed step: 5, seconds: 0.2", "[Gloo] Rank 0 is connected to 3 peer ranks",
        "2026-13-22T12:00:00Z text", "E9922 12:00:00.250000 x", "2026-11-22", "Nov 22 text text",
        "F1122 12:00", "[2026-11-22 99:00:00] text"}) {
    EXPECT_FALSE(TakeLineTime(line, 2026).has_value()) << line;
  }
}

}  // namespace
}  // namespace rapideye::logs
