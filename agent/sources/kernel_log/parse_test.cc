#include "agent/sources/kernel_log/parse.h"

#include <gtest/gtest.h>

#include <string>

#include "classifier/logs/limits.h"

namespace rapideye::agent {
namespace {

const std::vector<TpuDevice>& Tpus() {
  static const std::vector<TpuDevice> tpus = {
      {"0000:05:00.0", 1, 40, 1},
      {"0000:06:00.0", 12, 41, 12},
      {"0000:07:00.0", std::nullopt, 42, std::nullopt},
  };
  return tpus;
}

std::optional<KernelLine> Recognised(absl::string_view text) {
  return RecogniseKernelLine({true, 1, absl::Seconds(5), text}, Tpus());
}

TEST(KernelRecordTest, IsReadAsTheKernelWritesIt) {
  const auto record =
      ParseKernelRecord("3,1234,5678901,-,caller=T1;vfio-pci 0000:05:00.0: text; x");
  ASSERT_TRUE(record.has_value());
  EXPECT_TRUE(record->of_kernel);
  EXPECT_EQ(record->sequence, 1234);
  EXPECT_EQ(record->since_boot, absl::Microseconds(5678901));
  EXPECT_EQ(record->text, "vfio-pci 0000:05:00.0: text; x");
}

TEST(KernelRecordTest, TellsWhoWroteIt) {
  EXPECT_TRUE(ParseKernelRecord("7,1,2,-;x")->of_kernel);
  EXPECT_FALSE(ParseKernelRecord("8,1,2,-;x")->of_kernel);
  EXPECT_FALSE(ParseKernelRecord("30,1,2,-;x")->of_kernel);
}

TEST(KernelRecordTest, NothingElseIsOne) {
  for (const char* line : {"", ";", "3;x", "3,1;x", "3,1,2", " SUBSYSTEM=pci", "3,-1,2,-;x",
                           "a,1,2,-;x", "3,,2,-;x", "3,1,9999999999999999999,-;x", "+3,1,2,-;x"}) {
    EXPECT_FALSE(ParseKernelRecord(line).has_value()) << line;
  }
  EXPECT_TRUE(ParseKernelRecord("3,1,2;x").has_value());
}

TEST(KernelLineTest, WhoIsStuckInTheKernelIsTold) {
  for (const char* text : {"INFO: task python3:4211 blocked for more than 120 seconds.",
                           "nfs: server fs.example not responding, still trying"}) {
    const auto line = Recognised(text);
    ASSERT_TRUE(line.has_value()) << text;
    EXPECT_EQ(line->line.event.kind, LogKind::kHungTask) << text;
    EXPECT_EQ(line->line.event.source, LogSource::kKernelLog) << text;
    EXPECT_FALSE(line->killed.has_value());
  }
  EXPECT_FALSE(Recognised("nfs: server fs.example OK"));
  EXPECT_FALSE(Recognised("x: INFO: task python3:4211 blocked for more than 120 seconds."));
}

TEST(KernelLineTest, FaultsOfTpusNameTheirChip) {
  for (const char* text :
       {"pcieport 0000:05:00.0: AER: Multiple Uncorrected (Fatal) error received",
        "pcieport 0000:00:1c.0: AER: Uncorrected (Fatal) error received: 0000:05:00.0",
        "vfio-pci 0000:05:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Data Link Layer",
        "vfio-pci 0000:05:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=x",
        "vfio-pci 0000:05:00.0: AER: device recovery failed",
        "accel accel1: device recovery failed", "accel1: device recovery failed"}) {
    const auto line = Recognised(text);
    ASSERT_TRUE(line.has_value()) << text;
    EXPECT_EQ(line->line.event.kind, LogKind::kKernelHardware) << text;
    EXPECT_EQ(line->line.event.source, LogSource::kKernelLog) << text;
    EXPECT_EQ(line->line.event.chip, 1) << text;
    EXPECT_EQ(line->since_boot, absl::Seconds(5));
    EXPECT_FALSE(line->plain_reset) << text;
  }
  EXPECT_EQ(Recognised("accel accel12: device recovery failed")->line.event.chip, 12);
}

TEST(KernelLineTest, AChipThatNobodyNumberedStaysWithoutANumber) {
  const auto line = Recognised("vfio-pci 0000:07:00.0: AER: device recovery failed");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->line.event.chip, std::nullopt);
}

TEST(KernelLineTest, ResetsAreTold) {
  EXPECT_TRUE(Recognised("vfio-pci 0000:05:00.0: resetting")->plain_reset);
  EXPECT_TRUE(Recognised("accel accel1: reset")->plain_reset);
  EXPECT_FALSE(
      Recognised("vfio-pci 0000:05:00.0: AER: device recovery failed after reset")->plain_reset);
}

TEST(KernelLineTest, WhatIsCorrectedOrOfAnotherDeviceIsNoise) {
  for (const char* text :
       {"pcieport 0000:05:00.0: AER: Corrected error received: 0000:05:00.0",
        "vfio-pci 0000:05:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer",
        "vfio-pci 0000:05:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=x",
        "pcieport 0000:00:1c.0: AER: Uncorrected (Fatal) error received: 0000:09:00.0",
        "nvme 0000:09:00.0: AER: device recovery failed", "accel accel2: device recovery failed",
        "accel accel11: device recovery failed",
        "vfio-pci 10000:05:00.0: AER: device recovery failed",
        "vfio-pci 0000:05:00.0: enabling device (0000 -> 0002)"}) {
    EXPECT_FALSE(Recognised(text).has_value()) << text;
  }
}

TEST(KernelLineTest, TellsWhichProcessWasKilledForMemory) {
  const auto line = Recognised(
      "Memory cgroup out of memory: Killed process 4211 (python3) total-vm:2078564kB, "
      "anon-rss:404108kB, file-rss:177532kB, shmem-rss:0kB, UID:0 pgtables:1652kB");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->killed, 4211);
  EXPECT_EQ(line->line.event.kind, LogKind::kOutOfMemory);
  EXPECT_EQ(Recognised("Out of memory: Killed process 7 (a)")->killed, 7);
  EXPECT_FALSE(Recognised("process x says Out of memory: Killed process 7 (a)").has_value());
  EXPECT_FALSE(Recognised("Out of memory: Killed process x (a)").has_value());
  EXPECT_FALSE(Recognised("Out of memory: Killed process -7 (a)").has_value());
  const std::string longest(logs::kMaxLogTextBytes, 'a');
  EXPECT_EQ(Recognised("Out of memory: Killed process 7 (" + longest + ")")->line.event.text.size(),
            logs::kMaxLogTextBytes);
}

TEST(KernelLineTest, WordsOfAProcessAreNotBelieved) {
  for (const char* text :
       {"audit: type=1400 msg='0000:05:00.0 Uncorrected (Fatal)'",
        "audit: type=1112 vfio-pci 0000:05:00.0: AER: device recovery failed",
        "python3[4211]: 0000:05:00.0: device recovery failed",
        "x y vfio-pci 0000:05:00.0: device recovery failed", "0000:05:00.0 device recovery failed",
        "accel1 device recovery failed"}) {
    EXPECT_FALSE(Recognised(text).has_value()) << text;
  }
  const KernelRecord forged = {false, 1, absl::Seconds(5),
                               "vfio-pci 0000:05:00.0: AER: device recovery failed"};
  EXPECT_FALSE(RecogniseKernelLine(forged, Tpus()).has_value());
}

}  // namespace
}  // namespace rapideye::agent
