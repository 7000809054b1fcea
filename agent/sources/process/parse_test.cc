#include "agent/sources/process/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Stat(const std::string& command, const std::string& state = "S",
                 const std::string& utime = "250", const std::string& start_code = "4096",
                 const std::string& exit_code = "0") {
  return "4211 (" + command + ") " + state + " 1 4211 4211 0 -1 4194560 100 0 0 0 " + utime +
         " 50 0 0 20 0 1 0 987654 10000 200 18446744073709551615 " + start_code +
         " 8192 140000000 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 1 2 3 4 5 6 7 " + exit_code + "\n";
}

TEST(ProcessStatTest, ReadsALine) {
  const absl::StatusOr<ProcessStat> stat = ParseProcessStat(Stat("python3"));
  ASSERT_TRUE(stat.ok()) << stat.status();
  EXPECT_EQ(stat->id, (ProcessId{4211, 987654}));
  EXPECT_EQ(stat->command, "python3");
  EXPECT_EQ(stat->state, ProcessState::kSleeping);
  EXPECT_EQ(stat->cpu_ticks, 300);
  EXPECT_TRUE(stat->permitted);
}

TEST(ProcessStatTest, TheCommandMayHoldAnything) {
  for (const std::string command : {"", "a b", "a) R 1 (b", "((", "))", "new\nline", "\xff"}) {
    const absl::StatusOr<ProcessStat> stat = ParseProcessStat(Stat(command));
    ASSERT_TRUE(stat.ok()) << command;
    EXPECT_EQ(stat->command, command);
    EXPECT_EQ(stat->state, ProcessState::kSleeping);
  }
  EXPECT_EQ(ParseProcessStat(Stat(std::string(10'000, 'x')))->command.size(), 64u);
}

TEST(ProcessStatTest, AParentWithoutANumberIsNone) {
  std::string line = Stat("c");
  line.replace(line.find(" 1 4211"), 2, " -1");
  EXPECT_EQ(ParseProcessStat(line)->parent, 0);
}

TEST(ProcessStatTest, KnowsTheStates) {
  const std::pair<const char*, ProcessState> cases[] = {
      {"R", ProcessState::kRunning},         {"S", ProcessState::kSleeping},
      {"D", ProcessState::kUninterruptible}, {"T", ProcessState::kStopped},
      {"t", ProcessState::kStopped},         {"Z", ProcessState::kZombie},
      {"X", ProcessState::kExited},          {"?", ProcessState::kUnspecified},
      {"RR", ProcessState::kUnspecified}};
  for (const auto& [letter, state] : cases) {
    EXPECT_EQ(ParseProcessStat(Stat("c", letter))->state, state) << letter;
  }
}

TEST(ProcessStatTest, ReadsHowAZombieEnded) {
  EXPECT_EQ(ParseProcessStat(Stat("c", "Z", "1", "0", "256"))->exit_status, 256);
  EXPECT_FALSE(ParseProcessStat(Stat("c", "S", "1", "1"))->permitted);
  ProcessSample sample;
  SetExit(3 << 8, sample);
  EXPECT_EQ(sample.exit_code, 3);
  EXPECT_EQ(sample.signal, std::nullopt);
  ProcessSample killed;
  SetExit(9, killed);
  EXPECT_EQ(killed.signal, 9);
  EXPECT_EQ(killed.exit_code, std::nullopt);
  ProcessSample dumped;
  SetExit(6 | 0x80, dumped);
  EXPECT_EQ(dumped.signal, 6);
}

TEST(ProcessStatTest, RefusesWhatIsNone) {
  for (const std::string& line :
       {std::string(), std::string("4211"), std::string("4211 python3 S"), std::string("x (c) S 1"),
        std::string("-1 (c) S 1"), std::string(")("), std::string("4211 (c) S 1 2 3"),
        Stat("c", "S", "-5"), Stat("c", "S", "many")}) {
    EXPECT_FALSE(ParseProcessStat(line).ok()) << line;
  }
  EXPECT_THAT(ParseProcessStat(Stat("c", "S", "-5")).status().message(), HasSubstr("field 14"));
}

TEST(ProcessStatTest, HugeCountsDoNotOverflow) {
  EXPECT_GT(ParseProcessStat(Stat("c", "S", "18446744073709551615"))->cpu_ticks, 0);
}

constexpr char kHeader[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n";

std::string Row(const std::string& local, const std::string& state, const std::string& inode) {
  return "   0: " + local + " 00000000:0000 " + state +
         " 00000000:00000000 00:00000000 00000000     0        0 " + inode +
         " 1 0000000000000000 100 0 0 10 0\n";
}

TEST(ListeningInodesTest, FindsTheListenersOfOneAddress) {
  const std::string table = kHeader + Row("0100007F:20EF", "0A", "11") +
                            Row("01004D7F:20EF", "0A", "12") + Row("00000000:20EF", "0A", "13") +
                            Row("0100007F:20F0", "0A", "14") + Row("0100007F:20EF", "01", "15");
  EXPECT_THAT(ListeningInodes(table, *ParseEndpoint("127.0.0.1:8431")), ElementsAre(11, 13));
  EXPECT_THAT(ListeningInodes(table, *ParseEndpoint("127.77.0.1:8431")), ElementsAre(12, 13));
  EXPECT_THAT(ListeningInodes(table, *ParseEndpoint("tpu-host:8431")), ElementsAre(11, 12, 13));
  EXPECT_THAT(ListeningInodes(table, *ParseEndpoint("127.0.0.1:1")), IsEmpty());
}

TEST(ListeningInodesTest, ReadsIpv6) {
  const std::string table = kHeader + Row("0000000000000000FFFF000001004D7F:20EF", "0A", "21") +
                            Row("00000000000000000000000001000000:20EF", "0A", "22") +
                            Row("00000000000000000000000000000000:20EF", "0A", "23");
  EXPECT_THAT(ListeningInodes(table, *ParseEndpoint("127.77.0.1:8431")), ElementsAre(21, 23));
  EXPECT_THAT(ListeningInodes(table, *ParseEndpoint("localhost:8431")), ElementsAre(22, 23));
}

TEST(ListeningInodesTest, SkipsNonsense) {
  const Endpoint runtime = *ParseEndpoint("127.0.0.1:8431");
  for (const std::string& row :
       {Row("0100007F", "0A", "1"), Row("0100007F:20EF:1", "0A", "1"),
        Row("0100007:20EF", "0A", "1"), Row("zzzzzzzz:20EF", "0A", "1"),
        Row("0100007F:120EF", "0A", "1"), Row("0100007F:20EF", "0A", "-1"),
        Row("0100007F:20EF", "0A", "0"), std::string("0 0 0 0A\n"), std::string("\0\xff\n", 3)}) {
    EXPECT_THAT(ListeningInodes(row, runtime), IsEmpty()) << row;
    EXPECT_THAT(ListeningInodes(row + Row("0100007F:20EF", "0A", "5"), runtime), ElementsAre(5));
  }
}

TEST(SocketInodeTest, ReadsLinksOfSocketsOnly) {
  EXPECT_EQ(SocketInode("socket:[123]"), 123u);
  for (const char* link : {"", "socket:[]", "socket:[x]", "socket:[1", "pipe:[123]", "/socket:[1]",
                           "socket:[99999999999999999999999]"}) {
    EXPECT_EQ(SocketInode(link), std::nullopt) << link;
  }
}

TEST(ChipDeviceTest, KnowsDeviceFilesOfChips) {
  EXPECT_EQ(ChipDevice("/dev/accel0", "/dev"), "accel0");
  EXPECT_EQ(ChipDevice("/dev/vfio/13", "/dev"), "vfio/13");
  EXPECT_EQ(ChipDevice("/host/dev/accel3", "/host/dev"), "accel3");
  for (const char* link :
       {"", "/dev", "/dev/", "/dev/accel", "/dev/accelx", "/dev/accel-1", "/dev/vfio/vfio",
        "/dev/null", "/device/accel0", "accel0", "/tmp/dev/accel0"}) {
    EXPECT_EQ(ChipDevice(link, "/dev"), std::nullopt) << link;
  }
}

}  // namespace
}  // namespace rapideye::agent
