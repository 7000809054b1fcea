#include "agent/sources/kernel_log/parse.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
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

// Recognises a line that the kernel logs without naming a device.
std::optional<KernelLine> Recognised(absl::string_view text, int severity = 3) {
  return RecogniseKernelLine({true, severity, 1, absl::Seconds(5), text}, Tpus());
}

// Recognises a line that dev_printk() writes for that device.
std::optional<KernelLine> OfDevice(absl::string_view text, absl::string_view device,
                                   int severity = 3) {
  const absl::string_view subsystem = absl::StrContains(device, "pci") ? "pci" : "accel";
  return RecogniseKernelLine({true, severity, 1, absl::Seconds(5), text, subsystem, device},
                             Tpus());
}

std::optional<KernelLine> OfPci(absl::string_view text, int severity = 3) {
  return OfDevice(text, "+pci:0000:05:00.0", severity);
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
  EXPECT_EQ(ParseKernelRecord("3,1,2,-;x")->severity, 3);
  EXPECT_EQ(ParseKernelRecord("30,1,2,-;x")->severity, 6);
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
  struct {
    const char* text;
    const char* device;
  } const lines[] = {
      {"vfio-pci 0000:05:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Data Link Layer",
       "+pci:0000:05:00.0"},
      {"vfio-pci 0000:05:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=x",
       "+pci:0000:05:00.0"},
      {"vfio-pci 0000:05:00.0: AER: device recovery failed", "+pci:0000:05:00.0"},
      {"accel accel1: device recovery failed", "c261:1"},
      {"accel accel1: device recovery failed", "+accel:accel1"},
  };
  for (const auto& [text, device] : lines) {
    const auto line = OfDevice(text, device);
    ASSERT_TRUE(line.has_value()) << text;
    EXPECT_EQ(line->line.event.kind, LogKind::kKernelHardware) << text;
    EXPECT_EQ(line->line.event.source, LogSource::kKernelLog) << text;
    EXPECT_EQ(line->line.event.chip, 1) << text;
    EXPECT_EQ(line->since_boot, absl::Seconds(5));
    EXPECT_FALSE(line->plain_reset) << text;
    // The same text from another source, or at a lower severity than an error.
    EXPECT_FALSE(Recognised(text)) << text;
    EXPECT_FALSE(OfDevice(text, "+pci:0000:06:00.0")) << text;
    EXPECT_FALSE(OfDevice(text, "c261:")) << text;
    EXPECT_FALSE(OfDevice(text, device, 4)) << text;
    EXPECT_TRUE(OfDevice(text, device, 0)) << text;
  }
  EXPECT_EQ(OfDevice("accel accel12: device recovery failed", "c261:12")->line.event.chip, 12);
}

TEST(KernelLineTest, AChipThatNobodyNumberedStaysWithoutANumber) {
  const auto line =
      OfDevice("vfio-pci 0000:07:00.0: AER: device recovery failed", "+pci:0000:07:00.0");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->line.event.chip, std::nullopt);
}

TEST(KernelLineTest, ResetsAreTold) {
  EXPECT_TRUE(OfPci("vfio-pci 0000:05:00.0: resetting")->plain_reset);
  EXPECT_TRUE(OfDevice("accel accel1: reset", "c261:1")->plain_reset);
  EXPECT_FALSE(
      OfPci("vfio-pci 0000:05:00.0: AER: device recovery failed after reset")->plain_reset);
  // A process that opens the chip causes such a reset.
  EXPECT_FALSE(OfPci("vfio-pci 0000:05:00.0: resetting", 6));
}

TEST(KernelLineTest, WhatIsCorrectedOrOfAnotherDeviceIsNoise) {
  for (const char* text :
       {"pcieport 0000:05:00.0: AER: Corrected error received: 0000:05:00.0",
        "vfio-pci 0000:05:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer",
        "vfio-pci 0000:05:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=x",
        "vfio-pci 0000:05:00.0: enabling device (0000 -> 0002)",
        "vfio-pci 10000:05:00.0: AER: device recovery failed",
        "x y vfio-pci 0000:05:00.0: device recovery failed", "0000:05:00.0 device recovery failed",
        "vfio-pci 0000:05:00.0: x[1]: device recovery failed"}) {
    EXPECT_FALSE(OfPci(text).has_value()) << text;
  }
  // A port names devices behind it, which report the same error themselves.
  EXPECT_FALSE(
      OfDevice("pcieport 0000:00:1c.0: AER: Uncorrected (Fatal) error received: 0000:05:00.0",
               "+pci:0000:00:1c.0"));
  EXPECT_FALSE(OfDevice("nvme 0000:09:00.0: AER: device recovery failed", "+pci:0000:09:00.0"));
  EXPECT_FALSE(OfDevice("accel accel2: device recovery failed", "c261:2"));
  EXPECT_FALSE(OfDevice("accel accel11: device recovery failed", "c261:11"));
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
  for (const char* text : {"audit: type=1400 msg='0000:05:00.0 Uncorrected (Fatal)'",
                           "audit: type=1112 vfio-pci 0000:05:00.0: AER: device recovery failed",
                           "python3[4211]: 0000:05:00.0: device recovery failed",
                           "vfio-pci 0000:05:00.0: AER: device recovery failed"}) {
    EXPECT_FALSE(Recognised(text).has_value()) << text;
  }
  const KernelRecord forged = {false,
                               3,
                               1,
                               absl::Seconds(5),
                               "vfio-pci 0000:05:00.0: AER: device recovery failed",
                               "pci",
                               "+pci:0000:05:00.0"};
  EXPECT_FALSE(RecogniseKernelLine(forged, Tpus()).has_value());
}

// A format of the kernel's that holds the name of a process ($c) or another text that a process
// chooses ($f: the name of a file), as the kernel's sources write it.
struct ProcessFormat {
  const char* text;
  int severity;
  const char* device = "";  // its dictionary, where it is a device's
};

constexpr ProcessFormat kProcessFormats[] = {
    {"$c[20320]: segfault at 0 ip 0000 sp 0000 error 6 in $f[116f,1000+1000] likely on CPU 1", 6},
    {"$c[20320]: segfault at 0 ip 0000 sp 0000 error 6 in $f[116f,1000+1000]", 1},
    {"$c[20320] bad frame in rt_sigreturn frame:0000 ip:0 sp:0 orax:0 in $f[1000+1000]", 6},
    {"traps: $c[20320] general protection fault ip:0 sp:0 error:0 in $f[1000+1000]", 6},
    {"$c[20320]: unhandled exception: DABT (lower EL), ESR 0x0, level 1 fault in $f[0+1000]", 6},
    {"$c: unhandled page fault (11) at 0x00000000, code 0x017", 3},
    {"$c[20320]: vsyscall attempted with vsyscall=none ip:0 cs:33 sp:0 ax:0 si:0 di:0", 4},
    {"potentially unexpected fatal signal 11.", 6},
    {"$c: potentially unexpected fatal signal 11.", 6},
    {"$c/20320: potentially unexpected fatal signal 11.", 6},
    {"process '$f' started with executable stack", 4},
    {"CPU: 1 PID: 20320 Comm: $c Tainted: G W 6.1.0-18-amd64 #1", 3},
    {"note: $c[20320] exited with irqs disabled", 6},
    {"note: $c[20320] exited with preempt_count 1", 6},
    {"$c invoked oom-killer: gfp_mask=0x140dca, order=0, oom_score_adj=0", 4},
    {"$c: page allocation failure: order:0, mode:0x140dca, nodemask=(null)", 4},
    {"$c: vmalloc error: size 4096, failed to allocate pages", 4},
    {"$c (20320): drop_caches: 3", 6},
    {"mmap: $c (20320): VmData 4096 exceed data ulimit 0. Update limits.", 4},
    {"$c (20320) used obsolete MD ioctl, upgrade your software", 4},
    {"warning: process `$c' used the deprecated sysctl system call with 1.2.3.", 4},
    {"capability: warning: `$c' uses deprecated v2 capabilities in a way that may be insecure", 6},
    {"TCP: $c(20320): Application bug, race in MSG_PEEK", 4},
    {"x86/PAT: $c:20320 map pfn expected mapping type uncached-minus for [mem 0x0-0xf], got", 6},
    {"$c:20320 freeing invalid memtype [mem 0x00000000-0x00000fff]", 6},
    {"audit: type=1701 audit(1.0:1): auid=0 uid=0 pid=20320 comm=\"$c\" exe=\"$f\" sig=11", 5},
    {"BUG: Bad page map in process $c  pte:0 pmd:0", 1},
    {"file:$f fault:filemap_fault mmap:0x0 readpage:0x0", 1},
    {"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [$c:20320]", 0},
    {"vfio-pci 0000:05:00.0: vfio-noiommu device opened by user ($c:20320)", 4,
     "+pci:0000:05:00.0"},
    {"vfio-pci 0000:05:00.0: $c: Unexpected write to kernel-exclusive config offset 4", 4,
     "+pci:0000:05:00.0"},
};

TEST(KernelLineTest, NoFormatThatPrintsAProcessIsADevicesFault) {
  // The name of a process has 15 bytes, that of a file 255.
  for (const char* name : {"accel1: x", "accel1: (Fatal)", "accel accel1: x", "0000:05:00.0: x",
                           "0000:05:00.0:", "vfio 0000:05:00", "device recovery", "nfs: server x",
                           "INFO: task x:1", "x[1]: accel1: "}) {
    for (const char* file :
         {"Uncorrected (Fatal)", "AER: device recovery failed", "accel1: device recovery failed",
          "vfio-pci 0000:05:00.0: PCIe Bus Error: severity=Uncorrected (Fatal)",
          "not responding, still trying", "blocked for more than 120 seconds."}) {
      for (const ProcessFormat& format : kProcessFormats) {
        const std::string text = absl::StrReplaceAll(format.text, {{"$c", name}, {"$f", file}});
        // With a dictionary only where the kernel writes one for this format; else any severity.
        if (*format.device != '\0') {
          EXPECT_FALSE(OfDevice(text, format.device, format.severity)) << text;
          continue;
        }
        for (int severity = 0; severity <= 7; ++severity) {
          EXPECT_FALSE(Recognised(text, severity)) << severity << ' ' << text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rapideye::agent
