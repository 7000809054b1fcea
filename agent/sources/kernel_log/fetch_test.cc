#include "agent/sources/kernel_log/fetch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/kernel_log/limits.h"
#include "agent/sources/kernel_log/parse.h"

namespace rapideye::agent {
namespace {

using ::testing::AllOf;
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
  void Line(int sequence, const std::string& text, const std::string& address = "0000:05:00.0") {
    Append("3," + std::to_string(sequence) + "," + std::to_string(sequence * 1'000'000) + ",-;" +
           text + "\n SUBSYSTEM=pci\n DEVICE=+pci:" + address + "\n");
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
  Line(3, "vfio-pci 0000:06:00.0: AER: device recovery failed", "0000:06:00.0");
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
  Append(":00.0: AER: device recovery failed\n SUBSYS");
  EXPECT_THAT(log.Read(kTpus).lines, IsEmpty());
  Append("TEM=pci\n DEVICE=+pci:0000:05:00.0\n");
  EXPECT_THAT(log.Read(kTpus).lines, SizeIs(1));
}

// An x86 kernel prints this of a process that calls itself "accel1: x", or by a TPU's address, and
// dies in a file that it named "Uncorrected (Fatal)": without a dictionary, at severity 6.
TEST_F(KernelLogTest, ALineWithoutADictionaryIsNotOfADevice) {
  for (const char* priority : {"6", "3", "0"}) {
    for (const char* name : {"accel1: x", "0000:05:00.0: x"}) {
      Append(std::string(priority) + ",7,1000000,-;" + name +
             "[20320]: segfault at 0 ip 0 sp 0 error 6 in Uncorrected (Fatal)[116f,1000+1000]\n");
    }
    Append(std::string(priority) + ",7,1000000,-;" + kFatal + "\n");
  }
  // A dictionary belongs to the record before it, and to no other.
  Append("6,8,1000000,-;usb 1-1: new device\n SUBSYSTEM=usb\n DEVICE=c189:1\n");
  Append(std::string("3,9,1000000,-;") + kFatal + "\n");
  Append("30,10,1000000,-;x\n SUBSYSTEM=pci\n DEVICE=+pci:0000:05:00.0\n");
  KernelLog log(path_);
  EXPECT_THAT(log.Read(kTpus).lines, IsEmpty());
  Line(11, kFatal);
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

// The log of whatever machine this is: nothing is expected of what it holds, since
// anything may have been written to it before, but that it is read.
class KernelLogOfThisMachine : public testing::Test {
 protected:
  static constexpr char kPath[] = "/dev/kmsg";
  // An address in a PCI domain that no machine has.
  static constexpr char kNowhere[] = "fffe:fe:1f.0";

  KernelLogOfThisMachine() : file_(open(kPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (file_ < 0) error_ = errno;
  }
  ~KernelLogOfThisMachine() override {
    if (file_ >= 0) close(file_);
  }

  // The next line with its details; empty at the end. Passes over what was overwritten in
  // the meantime, or is too long.
  std::string Next() const {
    std::array<char, kMaxKernelRecordBytes> buffer;
    ssize_t n = -1;
    do {
      n = read(file_, buffer.data(), buffer.size());
    } while (n < 0 && (errno == EPIPE || errno == EINTR || errno == EINVAL));
    return n > 0 ? std::string(buffer.data(), n) : std::string();
  }

  static std::optional<KernelRecord> Parsed(absl::string_view line) {
    return ParseKernelRecord(line.substr(0, line.find('\n')));
  }

  const int file_;
  int error_ = 0;
};

// The lines but those of processes killed for memory, which any machine may have at any time.
std::vector<KernelLine> OfDevices(KernelLogReading reading) {
  std::erase_if(reading.lines, [](const KernelLine& line) { return line.killed.has_value(); });
  return reading.lines;
}

TEST_F(KernelLogOfThisMachine, IsReadOrRefusedWithTheReason) {
  KernelLog log(kPath);
  // Faults of devices of these names may be in it: then they are from before.
  const KernelLogReading reading = log.Read(kTpus);
  if (file_ < 0) {
    EXPECT_THAT(reading.unavailable, AllOf(HasSubstr(kPath), HasSubstr(std::strerror(error_))));
    EXPECT_THAT(reading.lines, IsEmpty());
    return;
  }
  EXPECT_EQ(reading.unavailable, "");
  for (const KernelLine& line : reading.lines) {
    EXPECT_TRUE(line.backlog);
    EXPECT_EQ(line.line.event.source, LogSource::kKernelLog);
    EXPECT_GE(line.since_boot, absl::ZeroDuration());
    if (line.killed.has_value()) continue;  // for memory, on any machine, at any time
    EXPECT_EQ(line.line.event.kind, LogKind::kKernelHardware);
    EXPECT_THAT(line.line.event.chip, testing::AnyOf(0, 1));
  }
}

TEST_F(KernelLogOfThisMachine, EveryLineParses) {
  if (file_ < 0) GTEST_SKIP() << kPath << ": " << std::strerror(error_);
  int64_t last = -1;
  for (std::string line = Next(); !line.empty(); line = Next()) {
    const std::optional<KernelRecord> record = Parsed(line);
    ASSERT_TRUE(record.has_value()) << line;
    EXPECT_GT(record->sequence, last) << line;
    last = record->sequence;
  }
}

// Lines of processes come in like the kernel's own; only their facility differs.
TEST_F(KernelLogOfThisMachine, WhatAProcessWroteIsNotBelieved) {
  const int own = open(kPath, O_WRONLY | O_CLOEXEC);
  if (file_ < 0 || own < 0) {
    const int error = file_ < 0 ? error_ : errno;
    if (own >= 0) close(own);
    GTEST_SKIP() << kPath << ": " << std::strerror(error);
  }
  ASSERT_GE(lseek(file_, 0, SEEK_END), 0);
  const std::vector<TpuDevice> tpus = {{kNowhere, std::nullopt, std::nullopt, 1}};
  KernelLog log(kPath);
  for (int look = 0; look < 2; ++look) EXPECT_THAT(OfDevices(log.Read(tpus)), IsEmpty());
  const std::string text =
      absl::StrCat("vfio-pci ", kNowhere, ": AER: device recovery failed (written by process ",
                   getpid(), ", a test of rapideye)");
  // Facility 0 is the kernel itself; this severity keeps it from the console.
  const std::string forged = absl::StrCat("<7>", text, "\n");
  const ssize_t written = write(own, forged.data(), forged.size());
  close(own);
  ASSERT_EQ(written, static_cast<ssize_t>(forged.size())) << std::strerror(errno);
  std::string line;
  do {
    line = Next();
    if (line.empty()) GTEST_SKIP() << kPath << " takes no lines of processes (printk.devkmsg=off)";
  } while (!absl::StrContains(line, text));

  std::optional<KernelRecord> record = Parsed(line);
  ASSERT_TRUE(record.has_value()) << line;
  EXPECT_EQ(record->text, text);
  EXPECT_FALSE(record->of_kernel);
  EXPECT_THAT(OfDevices(log.Read(tpus)), IsEmpty());
  // The line would not count as the kernel's own either: it has no dictionary.
  record->of_kernel = true;
  record->severity = 3;
  EXPECT_FALSE(RecogniseKernelLine(*record, tpus).has_value());
  const std::string device = absl::StrCat("+pci:", kNowhere);
  record->subsystem = "pci";
  record->device = device;
  EXPECT_TRUE(RecogniseKernelLine(*record, tpus).has_value());
}

}  // namespace
}  // namespace rapideye::agent
