#include "agent/daemon/instruction_reader.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace rapideye::agent {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);

RuntimeSample SampleAt(const std::string& module, const std::string& instruction) {
  SequencerSample sequencer;
  sequencer.pc = 0x77;
  sequencer.module = module;
  sequencer.hlo = instruction;
  RuntimeSample sample;
  sample.cores.emplace_back().sequencers = {sequencer, SequencerSample()};
  return sample;
}

TEST(InstructionReaderTest, AddsWhatTheDumpOfTheModuleSays) {
  std::string folder = testing::TempDir() + "instructions-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/module_0001.jit_step.cl_7.after_optimizations.txt")
      << "HloModule jit_step\n\nENTRY %main (p: f32[8]) -> f32[8] {\n"
         "  ROOT %psum.7 = f32[8] all-reduce(%p), replica_groups={}\n}\n";
  InstructionReader reader(folder);
  RuntimeSample known = SampleAt("jit_step", "psum.7");
  reader.AddWaits(known, kPatience);
  EXPECT_EQ(known.cores[0].sequencers[0].hlo_waits, HloWaits::kInSlice);
  EXPECT_FALSE(known.cores[0].sequencers[1].hlo_waits.has_value());
  EXPECT_EQ(known.cores[0].sequencers[0].meeting, nullptr);  // no assignment is beside it
  RuntimeSample other = SampleAt("jit_other", "psum.7");
  reader.AddWaits(other, kPatience);
  EXPECT_FALSE(other.cores[0].sequencers[0].hlo_waits.has_value());
  std::filesystem::remove_all(folder);
}

TEST(InstructionReaderTest, AddsWhoMeetsThere) {
  std::string folder = testing::TempDir() + "instructions-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/module_0001.jit_step.cl_7.after_optimizations.txt")
      << "HloModule jit_step, num_partitions=2\n\nENTRY %main (p: f32[8]) -> f32[8] {\n"
         "  ROOT %psum.7 = f32[8] all-reduce(%p), replica_groups={{0,1}}\n}\n";
  std::ofstream(folder + "/module_0001.jit_step.cl_7.execution_options.txt")
      << "device_assignment {\n  replica_count: 1\n  computation_count: 2\n"
         "  computation_devices {\n    replica_device_ids: 5\n  }\n"
         "  computation_devices {\n    replica_device_ids: 4\n  }\n}\n";
  InstructionReader reader(folder);
  RuntimeSample sample = SampleAt("jit_step", "psum.7");
  reader.AddWaits(sample, kPatience);
  ASSERT_NE(sample.cores[0].sequencers[0].meeting, nullptr);
  EXPECT_EQ(sample.cores[0].sequencers[0].meeting->assignment, (std::vector<int64_t>{5, 4}));
  std::filesystem::remove_all(folder);
}

TEST(InstructionReaderTest, WithoutDumpsItAddsNothing) {
  for (const char* folder : {"", "/nonexistent"}) {
    InstructionReader reader(folder);
    RuntimeSample sample = SampleAt("jit_step", "psum.7");
    reader.AddWaits(sample, kPatience);
    EXPECT_FALSE(sample.cores[0].sequencers[0].hlo_waits.has_value());
  }
}

}  // namespace
}  // namespace rapideye::agent
