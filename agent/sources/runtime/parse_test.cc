#include "agent/sources/runtime/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "agent/sources/limits.h"
#include "agent/sources/runtime/limits.h"
#include "v1/runtime_status.pb.h"

namespace rapideye::agent {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;
using tpu::monitoring::runtime::GetTpuRuntimeStatusResponse;
using CoreState = tpu_telemetry::CurrentCoreStateSummary;

// A TensorCore in a launch, as a runtime shows it.
CoreState& AddCore(GetTpuRuntimeStatusResponse& response, int32_t id, int32_t chip_id) {
  CoreState& core = (*response.mutable_core_states())[id];
  core.mutable_core_id()->set_global_core_id(id);
  core.mutable_core_id()->set_chip_id(chip_id);
  core.mutable_core_id()->mutable_core_on_chip()->set_type(
      tpu_telemetry::TPU_CORE_TYPE_TENSOR_CORE);
  core.mutable_core_id()->mutable_core_on_chip()->set_index(0);
  core.set_program_fingerprint("\x01\xab");
  core.set_launch_id(-3);
  auto* sequencer = core.add_sequencer_info();
  sequencer->set_sequencer_type(tpu_telemetry::TPU_SEQUENCER_TYPE_TENSOR_CORE_SEQUENCER);
  sequencer->set_sequencer_index(0);
  sequencer->set_pc(0x10);
  return core;
}

RuntimeReading Read(const GetTpuRuntimeStatusResponse& response) {
  return ParseRuntimeStatus(response.SerializeAsString());
}

TEST(ParseRuntimeStatusTest, ReadsEveryField) {
  GetTpuRuntimeStatusResponse response;
  response.set_host_name("tpu-0");
  CoreState& state = AddCore(response, 5, 2);
  auto* info = state.mutable_sequencer_info(0);
  info->set_tag(7);
  info->set_tracemark(8);
  info->set_run_id(9);
  info->set_hlo_location("HLO: all-reduce.3; HLO module: jit_step");
  auto* queued = state.add_queued_program_info();
  queued->set_program_fingerprint("\xff");
  queued->set_launch_id(-4);
  queued->set_run_id(10);
  state.set_error_message("halted");

  const RuntimeReading reading = Read(response);
  EXPECT_EQ(reading.health.state, RuntimeState::kServing);
  EXPECT_EQ(reading.health.detail, std::nullopt);
  ASSERT_TRUE(reading.sample.has_value());
  EXPECT_EQ(reading.sample->host_name, "tpu-0");
  ASSERT_THAT(reading.sample->cores, SizeIs(1));
  const CoreSample& core = reading.sample->cores[0];
  EXPECT_EQ(core.id, 5);
  EXPECT_EQ(core.chip, 0);
  EXPECT_EQ(core.chip_id, 2);
  EXPECT_EQ(core.type, CoreType::kTensorCore);
  EXPECT_EQ(core.index, 0);
  EXPECT_EQ(core.fingerprint, "01ab");
  EXPECT_EQ(core.launch_id, -3);
  EXPECT_EQ(core.error, "halted");
  ASSERT_THAT(core.sequencers, SizeIs(1));
  const SequencerSample& sequencer = core.sequencers[0];
  EXPECT_EQ(sequencer.type, SequencerType::kTensorCoreSequencer);
  EXPECT_EQ(sequencer.pc, 0x10);
  EXPECT_EQ(sequencer.tag, 7);
  EXPECT_EQ(sequencer.tracemark, 8);
  EXPECT_EQ(sequencer.run_id, 9);
  EXPECT_EQ(sequencer.hlo, "all-reduce.3");
  EXPECT_EQ(sequencer.module, "jit_step");
  EXPECT_EQ(sequencer.hlo_text, "HLO: all-reduce.3; HLO module: jit_step");
  ASSERT_THAT(core.queued, SizeIs(1));
  EXPECT_EQ(core.queued[0].fingerprint, "ff");
  EXPECT_EQ(core.queued[0].launch_id, -4);
  EXPECT_EQ(core.queued[0].run_id, 10);
}

TEST(ParseRuntimeStatusTest, AbsentIsNotZero) {
  GetTpuRuntimeStatusResponse response;
  auto& state = (*response.mutable_core_states())[0];
  state.add_sequencer_info();
  const RuntimeReading reading = Read(response);
  ASSERT_THAT(reading.sample->cores, SizeIs(1));
  const CoreSample& core = reading.sample->cores[0];
  EXPECT_EQ(core.chip, std::nullopt);
  EXPECT_EQ(core.chip_id, std::nullopt);
  EXPECT_EQ(core.fingerprint, std::nullopt);
  EXPECT_EQ(core.launch_id, std::nullopt);
  EXPECT_EQ(core.error, std::nullopt);
  EXPECT_EQ(core.sequencers[0].pc, std::nullopt);
  EXPECT_EQ(core.sequencers[0].tag, std::nullopt);
  EXPECT_EQ(core.sequencers[0].run_id, std::nullopt);

  state.set_launch_id(0);
  state.mutable_sequencer_info(0)->set_pc(0);
  const RuntimeReading zeros = Read(response);
  EXPECT_EQ(zeros.sample->cores[0].launch_id, 0);
  EXPECT_EQ(zeros.sample->cores[0].sequencers[0].pc, 0);
}

TEST(ParseRuntimeStatusTest, ChipsCountInTheOrderOfTheirIds) {
  GetTpuRuntimeStatusResponse response;
  AddCore(response, 0, 17);
  AddCore(response, 1, 4);
  AddCore(response, 2, 17).mutable_core_id()->mutable_core_on_chip()->set_index(1);
  const RuntimeReading reading = Read(response);
  EXPECT_EQ(reading.health.detail, std::nullopt);
  ASSERT_THAT(reading.sample->cores, SizeIs(3));
  EXPECT_EQ(reading.sample->cores[0].chip, 1);
  EXPECT_EQ(reading.sample->cores[1].chip, 0);
  EXPECT_EQ(reading.sample->cores[2].chip, 1);
}

TEST(ParseRuntimeStatusTest, OneCoreWithoutAChipIdMakesEveryOrdinalAGuess) {
  GetTpuRuntimeStatusResponse response;
  AddCore(response, 0, 4);
  AddCore(response, 1, 5).mutable_core_id()->clear_chip_id();
  const RuntimeReading reading = Read(response);
  ASSERT_THAT(reading.sample->cores, SizeIs(2));
  EXPECT_EQ(reading.sample->cores[0].chip, std::nullopt);
  EXPECT_EQ(reading.sample->cores[0].chip_id, 4);
  EXPECT_EQ(reading.sample->cores[1].chip, std::nullopt);
}

TEST(ParseRuntimeStatusTest, WithoutACoreIdTheSequencersTellTheKind) {
  GetTpuRuntimeStatusResponse response;
  AddCore(response, 0, 4).clear_core_id();
  const RuntimeReading reading = Read(response);
  EXPECT_EQ(reading.health.detail, std::nullopt);
  ASSERT_THAT(reading.sample->cores, SizeIs(1));
  EXPECT_EQ(reading.sample->cores[0].type, CoreType::kTensorCore);
}

TEST(ParseRuntimeStatusTest, ABadCoreIsLeftOutAndTheRestIsUsed) {
  struct Case {
    const char* complaint;
    void (*spoil)(GetTpuRuntimeStatusResponse&);
  };
  const Case cases[] = {
      {"core id -1 is out of range", [](GetTpuRuntimeStatusResponse& r) { AddCore(r, -1, 9); }},
      {"core id 2147483647 is out of range",
       [](GetTpuRuntimeStatusResponse& r) { AddCore(r, 2147483647, 9); }},
      {"at the same place", [](GetTpuRuntimeStatusResponse& r) { AddCore(r, 6, 2); }},
      {"has the index -1",
       [](GetTpuRuntimeStatusResponse& r) {
         AddCore(r, 6, 9).mutable_core_id()->mutable_core_on_chip()->set_index(-1);
       }},
  };
  for (const Case& c : cases) {
    GetTpuRuntimeStatusResponse response;
    AddCore(response, 5, 2);
    c.spoil(response);
    const RuntimeReading reading = Read(response);
    EXPECT_EQ(reading.health.state, RuntimeState::kServing);
    EXPECT_THAT(reading.health.detail, Optional(HasSubstr(c.complaint)));
    ASSERT_THAT(reading.sample->cores, SizeIs(1)) << c.complaint;
    EXPECT_EQ(reading.sample->cores[0].id, 5);
  }
}

TEST(ParseRuntimeStatusTest, BadPartsOfACoreAreLeftOut) {
  struct Case {
    const char* complaint;
    void (*spoil)(CoreState&);
    size_t sequencers;
    size_t queued;
  };
  const Case cases[] = {
      {"", [](CoreState&) {}, 1, 0},
      {"one twice", [](CoreState& c) { *c.add_sequencer_info() = c.sequencer_info(0); }, 1, 0},
      {"",
       [](CoreState& c) {
         *c.add_sequencer_info() = c.sequencer_info(0);
         c.mutable_sequencer_info(1)->set_sequencer_index(1);
       },
       2, 0},
      {"negative sequencer", [](CoreState& c) { c.add_sequencer_info()->set_sequencer_index(-1); },
       1, 0},
      {"without a fingerprint", [](CoreState& c) { c.add_queued_program_info(); }, 1, 0},
      {"", [](CoreState& c) { c.add_queued_program_info()->set_program_fingerprint("x"); }, 1, 1},
      {"fingerprint of 65 bytes",
       [](CoreState& c) { c.set_program_fingerprint(std::string(65, 'x')); }, 1, 0},
      {"", [](CoreState& c) { c.set_program_fingerprint(std::string(64, 'x')); }, 1, 0},
      {"calls itself 77", [](CoreState& c) { c.mutable_core_id()->set_global_core_id(77); }, 1, 0},
  };
  for (const Case& c : cases) {
    GetTpuRuntimeStatusResponse response;
    c.spoil(AddCore(response, 5, 2));
    const RuntimeReading reading = Read(response);
    EXPECT_THAT(reading.health.detail.value_or(""), HasSubstr(c.complaint));
    EXPECT_EQ(reading.health.detail.has_value(), *c.complaint != '\0');
    ASSERT_THAT(reading.sample->cores, SizeIs(1));
    EXPECT_THAT(reading.sample->cores[0].sequencers, SizeIs(c.sequencers));
    EXPECT_THAT(reading.sample->cores[0].queued, SizeIs(c.queued));
  }
}

TEST(ParseRuntimeStatusTest, QueuedLaunchIdsAre32BitCounters) {
  const auto read = [](int64_t launch_id) {
    GetTpuRuntimeStatusResponse response;
    auto* queued = AddCore(response, 0, 0).add_queued_program_info();
    queued->set_program_fingerprint("x");
    queued->set_launch_id(launch_id);
    return Read(response).sample->cores[0].queued[0].launch_id;
  };
  EXPECT_EQ(read(-5), -5);
  EXPECT_EQ(read(4'294'967'291), -5);  // the same, without its sign
  EXPECT_EQ(read(std::numeric_limits<int32_t>::max()), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(read(4'294'967'296), std::nullopt);
  EXPECT_EQ(read(std::numeric_limits<int64_t>::min()), std::nullopt);
}

TEST(ParseRuntimeStatusTest, ListsAreBounded) {
  GetTpuRuntimeStatusResponse response;
  for (int i = 0; i < 5'000; ++i) AddCore(response, i, i);
  CoreState& core = (*response.mutable_core_states())[0];
  for (int i = 0; i < 5'000; ++i) {
    core.add_sequencer_info()->set_sequencer_index(i);
    core.add_queued_program_info()->set_program_fingerprint("x");
  }
  const RuntimeReading reading = Read(response);
  EXPECT_THAT(reading.sample->cores, SizeIs(kMaxCores));
  EXPECT_THAT(reading.sample->cores[0].sequencers, SizeIs(kMaxSequencersPerCore));
  EXPECT_THAT(reading.sample->cores[0].queued, SizeIs(kMaxQueuedPerCore));
  EXPECT_THAT(reading.health.detail, Optional(HasSubstr("more than")));
}

TEST(ParseRuntimeStatusTest, ComplaintsAreBounded) {
  GetTpuRuntimeStatusResponse response;
  for (int i = 1; i <= 1'000; ++i) AddCore(response, -i, i);
  const RuntimeReading reading = Read(response);
  EXPECT_THAT(reading.health.detail, Optional(HasSubstr("and 997 more")));
  EXPECT_LT(reading.health.detail->size(), kMaxDetailBytes);
}

TEST(ParseRuntimeStatusTest, HloTextIsBounded) {
  GetTpuRuntimeStatusResponse response;
  for (int i = 0; i < 256; ++i) {
    CoreState& core = AddCore(response, i, i);
    for (int j = 1; j < 64; ++j) core.add_sequencer_info()->set_sequencer_index(j);
    for (auto& info : *core.mutable_sequencer_info()) {
      info.set_hlo_location(std::string(100'000 / 64, 'x'));
    }
  }
  response.mutable_core_states()->at(0).mutable_sequencer_info(0)->set_hlo_location(
      std::string(100'000, 'x'));
  const RuntimeReading reading = Read(response);
  EXPECT_THAT(reading.sample->cores[0].sequencers[0].hlo_text, Optional(SizeIs(kMaxHloTextBytes)));
  size_t bytes = 0;
  for (const CoreSample& core : reading.sample->cores) {
    for (const SequencerSample& s : core.sequencers) bytes += s.hlo_text.value_or("").size();
  }
  EXPECT_LE(bytes, kMaxHloTextBytesPerSample);
  EXPECT_THAT(reading.health.detail, Optional(HasSubstr("HLO text beyond")));
}

// Built by hand, since protobuf refuses to build it.
TEST(ParseRuntimeStatusTest, TextThatIsNotUtf8CostsOnlyItself) {
  GetTpuRuntimeStatusResponse response;
  AddCore(response, 0, 0).set_error_message("PLACEHOLDER");
  std::string bytes = response.SerializeAsString();
  const size_t at = bytes.find("PLACEHOLDER");
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(ParseRuntimeStatus(bytes).sample->cores, SizeIs(1));
  bytes[at] = '\xff';
  const RuntimeReading reading = ParseRuntimeStatus(bytes);
  ASSERT_TRUE(reading.sample.has_value()) << reading.health.detail.value_or("");
  EXPECT_THAT(reading.sample->cores[0].error, Optional(Eq("\xffLACEHOLDER")));
}

TEST(ParseRuntimeStatusTest, UnknownEnumsAreNotReported) {
  GetTpuRuntimeStatusResponse response;
  CoreState& core = AddCore(response, 0, 0);
  core.mutable_core_id()->mutable_core_on_chip()->set_type(
      static_cast<tpu_telemetry::TpuCoreTypeProto>(99));
  core.mutable_sequencer_info(0)->set_sequencer_type(
      static_cast<tpu_telemetry::TpuSequencerTypeProto>(99));
  const RuntimeReading reading = Read(response);
  EXPECT_EQ(reading.sample->cores[0].type, CoreType::kUnspecified);
  EXPECT_EQ(reading.sample->cores[0].sequencers[0].type, SequencerType::kUnspecified);
}

TEST(ParseRuntimeStatusTest, WhatIsNoAnswerAtAllIsSaid) {
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n"), std::string(1000, '\xff'), std::string("\x12\x7f", 2)}) {
    const RuntimeReading reading = ParseRuntimeStatus(bytes);
    EXPECT_EQ(reading.health.state, RuntimeState::kServing);
    EXPECT_THAT(reading.health.detail, Optional(HasSubstr("is not a GetTpuRuntimeStatusResponse")));
    EXPECT_FALSE(reading.sample.has_value());
  }
  // An empty answer is one without cores.
  EXPECT_THAT(ParseRuntimeStatus("").sample->cores, IsEmpty());
}

// Objects of two bytes each take a hundred bytes and more in memory.
TEST(ParseRuntimeStatusTest, AnAnswerOfEmptyObjectsIsNotBuilt) {
  GetTpuRuntimeStatusResponse response;
  CoreState& core = (*response.mutable_core_states())[0];
  for (int i = 0; i < 400'000; ++i) core.add_sequencer_info();
  const RuntimeReading reading = ParseRuntimeStatus(response.SerializeAsString());
  EXPECT_EQ(reading.health.state, RuntimeState::kServing);
  EXPECT_THAT(reading.health.detail, Optional(HasSubstr("would take more than")));
  EXPECT_FALSE(reading.sample.has_value());
  // The largest host, and more.
  core.Clear();
  for (int i = 0; i < 48; ++i) {
    CoreState& one = (*response.mutable_core_states())[i];
    for (int j = 0; j < 33; ++j) one.add_sequencer_info()->set_pc(7);
  }
  EXPECT_TRUE(ParseRuntimeStatus(response.SerializeAsString()).sample.has_value());
}

TEST(HealthFromErrorTest, TellsWhatAFailureSaysAboutTheRuntime) {
  const absl::Duration deadline = absl::Seconds(2);
  EXPECT_EQ(HealthFromError(absl::UnavailableError("refused"), deadline).state,
            RuntimeState::kUnavailable);
  const RuntimeHealth late = HealthFromError(absl::DeadlineExceededError(""), deadline);
  EXPECT_EQ(late.state, RuntimeState::kTimedOut);
  EXPECT_EQ(late.detail, "no answer within 2s");
  EXPECT_EQ(HealthFromError(absl::UnimplementedError(""), deadline).state,
            RuntimeState::kUnimplemented);
  EXPECT_EQ(HealthFromError(absl::ResourceExhaustedError(""), deadline).state,
            RuntimeState::kServing);
  const RuntimeHealth other =
      HealthFromError(absl::InternalError(std::string(10'000, 'x')), deadline);
  EXPECT_EQ(other.state, RuntimeState::kServing);
  EXPECT_LT(other.detail->size(), 2 * kMaxDetailBytes);
}

}  // namespace
}  // namespace rapideye::agent
