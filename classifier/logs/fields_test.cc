#include "classifier/logs/fields.h"

#include <gtest/gtest.h>

namespace rapideye::logs {
namespace {

LogEvent Extract(const std::string& line) {
  LogEvent event;
  ExtractCoreName(line, event);
  ExtractHaltLocation(line, event);
  ExtractHlo(line, event);
  ExtractLaunchId(line, event);
  ExtractPeerHost(line, event);
  return event;
}

TEST(FieldsTest, NothingIsGuessed) {
  EXPECT_EQ(Extract("tag:pc A:1:0xff").pc, 255);
  for (const char* line :
       {"tag:pc", "tag:pc A", "tag:pc A:1", "tag:pc A:1:ff", "tag:pc :1:0xff", "tag:pc A:-1:0xff",
        "tag:pc A:1:0x", "tag:pc A:1:0xffffffffffffffffff", "tag:pc A:1:0xffffffffffffffff",
        "tag:pc A b:1:0xff", "tag:pc A:99999999999999999999:0xff"}) {
    EXPECT_EQ(Extract(line).pc, std::nullopt) << line;
    EXPECT_EQ(Extract(line).sequencer, std::nullopt) << line;
  }
}

TEST(FieldsTest, ReadsNamesOfCores) {
  const LogEvent event = Extract("E] 6x2x0_SC1: ***");
  EXPECT_EQ(event.core, "6x2x0_SC1");
  EXPECT_EQ(event.core_type, CoreType::kSparseCore);
  EXPECT_EQ(event.core_index, 1);
  EXPECT_EQ(event.chip, std::nullopt);
  EXPECT_EQ(Extract("my_TC 10x20x30_TC0: x").core, "10x20x30_TC0");
  for (const char* line : {"_TC0", "1x2_TC0", "1x2x3x4_TC0", "1xx3_TC0", "1x2x3_TC", "1x2x3_XC0",
                           "1x2x3_TC9999", "x1x2_TC0"}) {
    EXPECT_EQ(Extract(line).core, std::nullopt) << line;
  }
}

TEST(FieldsTest, ReadsInstructionsLaunchesAndPeers) {
  EXPECT_EQ(Extract("HLO: all-reduce.3; HLO computation: m").hlo, "all-reduce.3");
  EXPECT_EQ(Extract("HLO: ; x").hlo, std::nullopt);
  EXPECT_EQ(Extract("(launch_id=-7)").launch_id, -7);
  EXPECT_EQ(Extract("(launch_id=x)").launch_id, std::nullopt);
  EXPECT_EQ(Extract("The task with address [fe80::1]:8471 missed").peer_host, "fe80::1");
  EXPECT_EQ(Extract("The task with address host missed").peer_host, std::nullopt);
  EXPECT_EQ(Extract("The node with node id: 8f20 and ip: 10.0.0.3 has been marked dead because the "
                    "detector has missed too many heartbeats from it.")
                .peer_host,
            "10.0.0.3");
  EXPECT_EQ(Extract("The node with node id: 8f20 and address: 10.0.0.3 and node name: w has been "
                    "marked dead because")
                .peer_host,
            "10.0.0.3");
  EXPECT_EQ(Extract("and ip: 10.0.0.3 is dead").peer_host, std::nullopt);
}

std::string Hang(const std::string& n, const std::string& in_progress, const std::string& timeout) {
  return "Megascale hang detected: Timed out waiting for " + n +
         " graphs to complete at launch_id -3. Already completed: 5. StepGloballyInProgress: " +
         in_progress + " Timeout: " + timeout;
}

TEST(FieldsTest, ReadsTheHangLine) {
  const std::optional<HangReport> report = ParseHangReport(Hang("4", "true.", "1m30s"));
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->launch_id, -3);
  EXPECT_EQ(report->timeout_ms, 90'000);
  EXPECT_TRUE(ParseHangReport(Hang("4", "false", "5m")).has_value());
  EXPECT_TRUE(ParseHangReport(Hang("4", "false", "5m and more words")).has_value());
  for (const std::string& line :
       {Hang("-4", "true.", "1m"), Hang("x", "true.", "1m"), Hang("4", "maybe.", "1m"),
        Hang("4", "true.", "-1m"), Hang("4", "true.", "inf"), Hang("4", "true.", ""),
        Hang("4", "true.", "99999999999h"), Hang("99999999999999999999", "true.", "1m"),
        std::string("Megascale hang detected: Timed out waiting for 4 graphs")}) {
    EXPECT_FALSE(ParseHangReport(line).has_value()) << line;
  }
}

}  // namespace
}  // namespace rapideye::logs
