#include "agent/sources/kernel_log/fetch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<TpuDevice> kTpus = {{"0000:05:00.0", 1, std::nullopt, 1},
                                      {"0000:06:00.0", 0, std::nullopt, 0}};
constexpr char kFatal[] = "vfio-pci 0000:05:00.0: AER: device recovery failed";

// A file in place of the device: what is appended comes in later.
class KernelLogTest : public testing::Test {
 protected:
  KernelLogTest() : path_(testing::TempDir() + "kmsg") { unlink(path_.c_str()); }
  ~KernelLogTest() override { unlink(path_.c_str()); }

  void Append(const std::string& bytes) { std::ofstream(path_, std::ios::app) << bytes; }
  void Line(int sequence, const std::string& text) {
    Append("3," + std::to_string(sequence) + "," + std::to_string(sequence * 1'000'000) + ",-;" +
           text + "\n SUBSYSTEM=pci\n DEVICE=+pci:0000:05:00.0\n");
  }

  const std::string path_;
};

TEST_F(KernelLogTest, TellsWhatWasThereFromWhatComesIn) {
  Line(1, "Linux version 6.1");
  Line(2, kFatal);
  KernelLog log(path_);
  const KernelLogReading before = log.Read(kTpus);
  ASSERT_THAT(before.lines, SizeIs(1));
  EXPECT_TRUE(before.lines[0].backlog);
  EXPECT_EQ(before.lines[0].since_boot, absl::Seconds(2));
  EXPECT_EQ(before.lines[0].line.event.chip, 1);
  EXPECT_EQ(before.unavailable, "");
  EXPECT_THAT(log.Read(kTpus).lines, IsEmpty());
  Line(3, "vfio-pci 0000:06:00.0: AER: device recovery failed");
  const KernelLogReading after = log.Read(kTpus);
  ASSERT_THAT(after.lines, SizeIs(1));
  EXPECT_FALSE(after.lines[0].backlog);
  EXPECT_EQ(after.lines[0].line.event.chip, 0);
}

TEST_F(KernelLogTest, AFloodIsOneLineAndACount) {
  for (int i = 1; i <= 1000; ++i) Line(i, kFatal);
  KernelLog log(path_);
  const KernelLogReading reading = log.Read(kTpus);
  ASSERT_THAT(reading.lines, SizeIs(1));
  EXPECT_EQ(reading.lines[0].line.repeats, 999);
  EXPECT_EQ(reading.lines[0].since_boot, absl::Seconds(1000));
}

TEST_F(KernelLogTest, LinesMayComeInPieces) {
  Append("3,1,1000000,-;vfio-pci 0000:05");
  KernelLog log(path_);
  EXPECT_THAT(log.Read(kTpus).lines, IsEmpty());
  Append(":00.0: AER: device recovery failed\n");
  EXPECT_THAT(log.Read(kTpus).lines, SizeIs(1));
}

TEST_F(KernelLogTest, ALineWithoutEndIsDropped) {
  KernelLog log(path_);
  Append("3,1,1000000,-;" + std::string(100'000, 'x'));
  EXPECT_THAT(log.Read(kTpus).lines, IsEmpty());
  Append("\n");
  Line(2, kFatal);
  EXPECT_THAT(log.Read(kTpus).lines, SizeIs(1));
}

TEST_F(KernelLogTest, SaysOnceThatLinesWereLost) {
  Line(1, "one");
  Line(5, "five");
  Line(9, "nine");
  KernelLog log(path_);
  EXPECT_THAT(log.Read(kTpus).notes, ElementsAre(HasSubstr("3 lines")));
  Line(20, "twenty");
  EXPECT_THAT(log.Read(kTpus).notes, IsEmpty());
}

TEST_F(KernelLogTest, SaysWhatWouldHelpAndTriesAgain) {
  KernelLog log(path_);
  EXPECT_THAT(log.Read(kTpus).unavailable, HasSubstr("mount the host's /dev/kmsg"));
  Line(1, kFatal);
  EXPECT_THAT(log.Read(kTpus).lines, SizeIs(1));
}

// Whoever may read the machine's own log sees that it parses; nobody else can.
TEST(KernelLogOfThisMachine, IsReadOrRefusedWithTheReason) {
  const int file = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
  const int error = errno;
  if (file >= 0) close(file);
  KernelLog log("/dev/kmsg");
  const KernelLogReading reading = log.Read(kTpus);
  if (file < 0) {
    EXPECT_THAT(reading.unavailable, HasSubstr(std::strerror(error)));
  } else {
    EXPECT_THAT(reading.lines, IsEmpty());
  }
}

}  // namespace
}  // namespace rapideye::agent
