#include "proto/wire/evidence_wire.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <functional>

#include "proto/wire/filled_message.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;
using testing::StartsWith;

v1::Snapshot FilledSnapshot() {
  v1::Snapshot snapshot;
  FillEveryField(snapshot);
  return snapshot;
}

v1::CaptureHeader SmallHeader() {
  v1::CaptureHeader header;
  header.set_version(1);
  for (int task = 0; task < 3; ++task) header.add_expected_workers()->set_task(task);
  return header;
}

std::string ErrorOf(const v1::Snapshot& snapshot) {
  absl::StatusOr<Snapshot> out = SnapshotFromWire(snapshot);
  if (out.ok()) return "accepted";
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(out.status().message());
}

std::string ErrorOf(const v1::CaptureHeader& header) {
  absl::StatusOr<CaptureHeader> out = HeaderFromWire(header);
  if (out.ok()) return "accepted";
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(out.status().message());
}

TEST(EvidenceWireTest, SnapshotWithEveryFieldSurvivesBothWays) {
  const v1::Snapshot message = FilledSnapshot();
  absl::StatusOr<Snapshot> evidence = SnapshotFromWire(message);
  ASSERT_TRUE(evidence.ok()) << evidence.status();
  std::string difference;
  MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(message, SnapshotToWire(*evidence))) << difference;
}

TEST(EvidenceWireTest, ReportedZerosStayReported) {
  v1::Snapshot message;
  FillWithZeros(message);
  message.mutable_settings(0)->set_name("TPU_TOPOLOGY");            // a setting has one
  message.mutable_collectives(0)->set_instruction("all-reduce.3");  // and a collective
  absl::StatusOr<Snapshot> evidence = SnapshotFromWire(message);
  ASSERT_TRUE(evidence.ok()) << evidence.status();
  EXPECT_EQ(evidence->cores[0].sequencers[0].pc, 0);
  EXPECT_TRUE(MessageDifferencer::Equals(message, SnapshotToWire(*evidence)));
}

TEST(EvidenceWireTest, WhatIsAbsentStaysAbsent) {
  v1::Snapshot message;
  message.mutable_worker();
  message.mutable_runtime();
  message.add_cores()->add_sequencers();
  absl::StatusOr<Snapshot> evidence = SnapshotFromWire(message);
  ASSERT_TRUE(evidence.ok()) << evidence.status();
  EXPECT_EQ(evidence->cores[0].sequencers[0].pc, std::nullopt);
  EXPECT_EQ(evidence->cores[0].program, std::nullopt);
  EXPECT_TRUE(MessageDifferencer::Equals(message, SnapshotToWire(*evidence)));
}

TEST(EvidenceWireTest, AComparisonHasTwoSidesOfExpectedWorkers) {
  const v1::CaptureHeader good = HeaderToWire(FilledCapture().header);
  EXPECT_EQ(ErrorOf(good), "accepted");
  v1::CaptureHeader message = good;
  message.mutable_hlo_comparison()->mutable_sides()->RemoveLast();
  EXPECT_EQ(ErrorOf(message), "header.hloComparison.sides: 1 are given, there must be 2");
  message = good;
  message.mutable_hlo_comparison()->mutable_sides(1)->mutable_worker()->set_slice(9);
  EXPECT_EQ(ErrorOf(message),
            "header.hloComparison.sides[1].worker: worker slice 9 task 1 is not among the expected "
            "workers");
  message = good;
  message.mutable_hlo_comparison()->set_position(-1);
  EXPECT_EQ(ErrorOf(message), "header.hloComparison.position: -1 is negative");
  message = good;
  message.mutable_more_hlo_comparisons(1)->mutable_sides(0)->mutable_worker()->set_task(9);
  EXPECT_EQ(ErrorOf(message),
            "header.moreHloComparisons[1].sides[0].worker: worker slice 0 task 9 is not among the "
            "expected workers");
}

TEST(EvidenceWireTest, HeaderWithEveryFieldSurvivesBothWays) {
  const Capture capture = FilledCapture();
  v1::CaptureHeader message;
  FillEveryField(message);
  message.mutable_expected_workers()->CopyFrom(HeaderToWire(capture.header).expected_workers());
  for (int i = 0; i < message.cohorts_size(); ++i) {
    message.mutable_cohorts(i)->mutable_workers()->CopyFrom(
        HeaderToWire(capture.header).cohorts(i).workers());
  }
  const auto name_sides = [&capture](v1::HloComparison& comparison) {
    for (int i = 0; i < comparison.sides_size(); ++i) {
      *comparison.mutable_sides(i)->mutable_worker() =
          HeaderToWire(capture.header).hlo_comparison().sides(i).worker();
    }
  };
  name_sides(*message.mutable_hlo_comparison());
  for (v1::HloComparison& more : *message.mutable_more_hlo_comparisons()) name_sides(more);
  absl::StatusOr<CaptureHeader> evidence = HeaderFromWire(message);
  ASSERT_TRUE(evidence.ok()) << evidence.status();
  std::string difference;
  MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(message, HeaderToWire(*evidence))) << difference;
}

// Every rule of a snapshot: what breaks it, and the nearest value that does not.
struct Rule {
  const char* name;
  std::function<void(v1::Snapshot&)> break_it;
  std::function<void(v1::Snapshot&)> keep_it;
  const char* error;
};

class SnapshotRuleTest : public testing::TestWithParam<Rule> {};

TEST_P(SnapshotRuleTest, RejectsWithThePathAndAcceptsTheTwin) {
  v1::Snapshot broken = FilledSnapshot();
  GetParam().break_it(broken);
  EXPECT_EQ(ErrorOf(broken), GetParam().error);

  v1::Snapshot kept = FilledSnapshot();
  GetParam().keep_it(kept);
  EXPECT_EQ(ErrorOf(kept), "accepted");
}

using S = v1::Snapshot;
const Rule kRules[] = {
    {"NoWorker", [](S& s) { s.clear_worker(); }, [](S& s) { s.mutable_worker()->Clear(); },
     "snapshot.worker: is missing"},
    {"NegativeSlice", [](S& s) { s.mutable_worker()->set_slice(-1); },
     [](S& s) { s.mutable_worker()->set_slice(0); }, "snapshot.worker.slice: -1 is negative"},
    {"HugeTask", [](S& s) { s.mutable_worker()->set_task(WorkerId::kMaxTask + 1); },
     [](S& s) { s.mutable_worker()->set_task(WorkerId::kMaxTask); },
     "snapshot.worker.task: 1000000 is too large (at most 999999)"},
    {"ClockBeforeTheEpoch", [](S& s) { s.set_captured_unix_ms(-1); },
     [](S& s) { s.set_captured_unix_ms(0); }, "snapshot.capturedUnixMs: -1 is negative"},
    {"NegativePid", [](S& s) { s.mutable_processes(1)->set_pid(-2); },
     [](S& s) { s.mutable_processes(1)->set_exit_code(-2); },
     "snapshot.processes[1].pid: -2 is negative"},
    {"NegativeCpu", [](S& s) { s.mutable_processes(0)->set_cpu_ms(-5); },
     [](S& s) { s.mutable_processes(0)->set_cpu_ms(0); },
     "snapshot.processes[0].cpuMs: -5 is negative"},
    {"NegativeExitAge", [](S& s) { s.mutable_processes(0)->set_exited_ms_ago(-5); },
     [](S& s) { s.mutable_processes(0)->clear_exited_ms_ago(); },
     "snapshot.processes[0].exitedMsAgo: -5 is negative"},
    {"NoFingerprint", [](S& s) { s.mutable_programs(1)->clear_fingerprint(); },
     [](S& s) { s.mutable_programs(1)->clear_module(); },
     "snapshot.programs[1].fingerprint: is missing"},
    {"UpperCaseFingerprint", [](S& s) { s.mutable_programs(0)->set_fingerprint("AB12"); },
     [](S& s) { s.mutable_programs(0)->set_fingerprint("ab12"); },
     "snapshot.programs[0].fingerprint: is not lower-case hex"},
    {"NegativeChip", [](S& s) { s.mutable_cores(0)->set_chip(-1); },
     [](S& s) { s.mutable_cores(0)->set_chip_id(-1); }, "snapshot.cores[0].chip: -1 is negative"},
    {"NegativeCoreIndex", [](S& s) { s.mutable_cores(1)->set_index(-3); },
     [](S& s) { s.mutable_cores(1)->set_launch_id(-3); },
     "snapshot.cores[1].index: -3 is negative"},
    {"ProgramOutOfRange", [](S& s) { s.mutable_cores(1)->set_program(2); },
     [](S& s) { s.mutable_cores(1)->set_program(1); },
     "snapshot.cores[1].program: index 2 is out of range (2 programs)"},
    {"NegativeProgram", [](S& s) { s.mutable_cores(1)->set_program(-1); },
     [](S& s) { s.mutable_cores(1)->clear_program(); },
     "snapshot.cores[1].program: -1 is negative"},
    {"NegativeStuck", [](S& s) { s.mutable_cores(0)->set_stuck_ms(-4); },
     [](S& s) { s.mutable_cores(0)->set_stuck_ms(0); },
     "snapshot.cores[0].stuckMs: -4 is negative"},
    {"EndlessStuck", [](S& s) { s.mutable_cores(0)->set_stuck_ms(kMaxMagnitude + 1); },
     [](S& s) { s.mutable_cores(0)->set_stuck_ms(kMaxMagnitude); },
     "snapshot.cores[0].stuckMs: 9007199254740993 is too large (at most 9007199254740992)"},
    {"NegativeSequencerIndex",
     [](S& s) { s.mutable_cores(0)->mutable_sequencers(1)->set_index(-1); },
     [](S& s) { s.mutable_cores(0)->mutable_sequencers(1)->set_pc(-1); },
     "snapshot.cores[0].sequencers[1].index: -1 is negative"},
    {"NegativeFrozen", [](S& s) { s.mutable_cores(0)->mutable_sequencers(1)->set_frozen_ms(-1); },
     [](S& s) { s.mutable_cores(0)->mutable_sequencers(1)->set_tag(-1); },
     "snapshot.cores[0].sequencers[1].frozenMs: -1 is negative"},
    {"QueuedProgramOutOfRange", [](S& s) { s.mutable_cores(0)->mutable_queued(1)->set_program(7); },
     [](S& s) { s.mutable_cores(0)->mutable_queued(1)->set_launch_id(-7); },
     "snapshot.cores[0].queued[1].program: index 7 is out of range (2 programs)"},
    {"NegativeTransitionAge",
     [](S& s) { s.mutable_cores(0)->mutable_transitions(0)->set_age_ms(-1); },
     [](S& s) { s.mutable_cores(0)->mutable_transitions(0)->set_pc(-1); },
     "snapshot.cores[0].transitions[0].ageMs: -1 is negative"},
    {"NegativeTransitionWithin",
     [](S& s) { s.mutable_cores(0)->mutable_transitions(1)->set_within_ms(-1); },
     [](S& s) { s.mutable_cores(0)->mutable_transitions(1)->clear_within_ms(); },
     "snapshot.cores[0].transitions[1].withinMs: -1 is negative"},
    {"TransitionProgramOutOfRange",
     [](S& s) { s.mutable_cores(0)->mutable_transitions(1)->set_program(2); },
     [](S& s) { s.mutable_cores(0)->mutable_transitions(1)->clear_program(); },
     "snapshot.cores[0].transitions[1].program: index 2 is out of range (2 programs)"},
    {"ManyTransitions",
     [](S& s) {
       while (s.cores(0).transitions_size() <= Core::kMaxTransitions) {
         s.mutable_cores(0)->add_transitions();
       }
     },
     [](S& s) {
       while (s.cores(0).transitions_size() < Core::kMaxTransitions) {
         s.mutable_cores(0)->add_transitions();
       }
     },
     "snapshot.cores[0].transitions: 257 entries are too many (at most 256)"},
    {"NegativePendingGraphs", [](S& s) { s.mutable_hang_report()->set_pending_graphs(-1); },
     [](S& s) { s.mutable_hang_report()->set_launch_id(-1); },
     "snapshot.hangReport.pendingGraphs: -1 is negative"},
    {"NegativeTimeout", [](S& s) { s.mutable_hang_report()->set_timeout_ms(-1); },
     [](S& s) { s.clear_hang_report(); }, "snapshot.hangReport.timeoutMs: -1 is negative"},
    {"NegativeInputWait", [](S& s) { s.mutable_progress()->set_input_wait_ms(-1); },
     [](S& s) { s.mutable_progress()->set_input_wait_ms(0); },
     "snapshot.progress.inputWaitMs: -1 is negative"},
    {"TransferWithoutPeer", [](S& s) { s.mutable_transfers(0)->clear_peer(); },
     [](S& s) { s.mutable_transfers(0)->mutable_peer()->Clear(); },
     "snapshot.transfers[0].peer: is missing"},
    {"NegativePending", [](S& s) { s.mutable_transfers(0)->set_pending_ms(-1); },
     [](S& s) { s.mutable_transfers(0)->set_launch_id(-1); },
     "snapshot.transfers[0].pendingMs: -1 is negative"},
    {"NegativeUnacked", [](S& s) { s.mutable_sockets(1)->set_unacked_bytes(-1); },
     [](S& s) { s.mutable_sockets(1)->set_unacked_bytes(0); },
     "snapshot.sockets[1].unackedBytes: -1 is negative"},
    {"NegativeRetransmits", [](S& s) { s.mutable_sockets(1)->set_retransmits(-9); },
     [](S& s) { s.mutable_sockets(1)->set_retransmits(9); },
     "snapshot.sockets[1].retransmits: -9 is negative"},
    {"NegativeSinceAck", [](S& s) { s.mutable_sockets(1)->set_since_ack_ms(-9); },
     [](S& s) { s.mutable_sockets(1)->set_since_ack_ms(9); },
     "snapshot.sockets[1].sinceAckMs: -9 is negative"},
    {"ProbePeerSlice", [](S& s) { s.mutable_probes(0)->mutable_peer()->set_slice(-9); },
     [](S& s) { s.mutable_probes(0)->mutable_peer()->set_slice(9); },
     "snapshot.probes[0].peer.slice: -9 is negative"},
    {"NegativeRtt", [](S& s) { s.mutable_probes(0)->set_rtt_us(-9); },
     [](S& s) { s.mutable_probes(0)->clear_rtt_us(); }, "snapshot.probes[0].rttUs: -9 is negative"},
    {"NegativeCarrierChanges", [](S& s) { s.mutable_nics(0)->set_carrier_changes(-9); },
     [](S& s) { s.mutable_nics(0)->clear_carrier_changes(); },
     "snapshot.nics[0].carrierChanges: -9 is negative"},
    {"NegativeHealth", [](S& s) { s.mutable_ici_links(0)->set_health(-9); },
     [](S& s) { s.mutable_ici_links(0)->set_health(10); },
     "snapshot.iciLinks[0].health: -9 is negative"},
    {"NegativeFatal", [](S& s) { s.mutable_pcie(0)->set_fatal(-9); },
     [](S& s) { s.mutable_pcie(0)->set_fatal(0); }, "snapshot.pcie[0].fatal: -9 is negative"},
    {"NegativeAge", [](S& s) { s.mutable_log_events(1)->set_age_ms(-9); },
     [](S& s) { s.mutable_log_events(1)->set_pc(-9); },
     "snapshot.logEvents[1].ageMs: -9 is negative"},
    {"LongFrame",
     [](S& s) { s.mutable_stacks(1)->set_frames(0, std::string(kMaxNameBytes + 1, 'x')); },
     [](S& s) { s.mutable_stacks(1)->set_frames(0, std::string(kMaxNameBytes, 'x')); },
     "snapshot.stacks[1].frames[0]: a string of 16385 bytes is too long (at most 16384)"},
    {"LongError", [](S& s) { s.mutable_cores(0)->set_error(std::string(kMaxTextBytes + 1, 'x')); },
     [](S& s) { s.mutable_cores(0)->set_error(std::string(kMaxTextBytes, 'x')); },
     "snapshot.cores[0].error: a string of 1048577 bytes is too long (at most 1048576)"},
    {"ManySequencers",
     [](S& s) {
       while (s.cores(0).sequencers_size() <= Core::kMaxSequencers) {
         s.mutable_cores(0)->add_sequencers();
       }
     },
     [](S& s) {
       while (s.cores(0).sequencers_size() < Core::kMaxSequencers) {
         s.mutable_cores(0)->add_sequencers();
       }
     },
     "snapshot.cores[0].sequencers: 1025 entries are too many (at most 1024)"},
};

INSTANTIATE_TEST_SUITE_P(Rules, SnapshotRuleTest, testing::ValuesIn(kRules),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(EvidenceWireTest, EnumValuesOfANewerWriterCountAsNotReported) {
  v1::Snapshot message = FilledSnapshot();
  message.mutable_cores(0)->set_type(static_cast<v1::Core::Type>(99));
  message.mutable_cores(1)->set_type(v1::Core::SPARSE_CORE);
  message.mutable_log_events(0)->set_kind(static_cast<v1::LogEvent::Kind>(-1));
  absl::StatusOr<Snapshot> evidence = SnapshotFromWire(message);
  ASSERT_TRUE(evidence.ok()) << evidence.status();
  EXPECT_EQ(evidence->cores[0].type, CoreType::kUnspecified);
  EXPECT_EQ(evidence->cores[1].type, CoreType::kSparseCore);
  EXPECT_EQ(evidence->log_events[0].kind, LogKind::kUnspecified);
}

TEST(EvidenceWireTest, StringsLeaveAsUtf8AndNoLongerThanReadersTake) {
  Snapshot evidence;
  evidence.host = "a\xFFz\xC3\xA9\xED\xA0\x80";  // a bad byte, an e acute, a surrogate
  evidence.pod = std::string(kMaxNameBytes - 1, 'x') + "\xC3\xA9";
  const v1::Snapshot message = SnapshotToWire(evidence);
  EXPECT_EQ(message.host(), "a\xEF\xBF\xBDz\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(message.pod(), std::string(kMaxNameBytes - 1, 'x'));
  EXPECT_EQ(ErrorOf(message), "accepted");
}

TEST(HeaderTest, RefusesOtherVersions) {
  v1::CaptureHeader header = SmallHeader();
  EXPECT_EQ(ErrorOf(header), "accepted");
  header.set_version(2);
  EXPECT_EQ(ErrorOf(header), "header.version: 2 is not a version this program reads (only 1)");
  header.clear_version();
  EXPECT_THAT(ErrorOf(header), StartsWith("header.version: 0 is not"));
}

TEST(HeaderTest, ExpectsEveryWorkerOnce) {
  v1::CaptureHeader header = SmallHeader();
  header.mutable_expected_workers(2)->set_task(1);
  EXPECT_EQ(ErrorOf(header), "header.expectedWorkers[2]: worker slice 0 task 1 is listed twice");
  header.mutable_expected_workers(2)->set_slice(1);
  EXPECT_EQ(ErrorOf(header), "accepted");
}

TEST(HeaderTest, CohortsHoldExpectedWorkersOnly) {
  v1::CaptureHeader header = SmallHeader();
  header.add_cohorts()->add_workers()->set_task(2);
  EXPECT_EQ(ErrorOf(header), "accepted");
  header.mutable_cohorts(0)->add_workers()->set_task(3);
  EXPECT_EQ(
      ErrorOf(header),
      "header.cohorts[0].workers[1]: worker slice 0 task 3 is not among the expected workers");
}

TEST(HeaderTest, SequencesNameFingerprints) {
  v1::CaptureHeader header = SmallHeader();
  header.add_cohorts()->add_sequence()->set_fingerprint("00ff");
  EXPECT_EQ(ErrorOf(header), "accepted");
  header.mutable_cohorts(0)->add_sequence()->set_fingerprint("0x00ff");
  EXPECT_EQ(ErrorOf(header), "header.cohorts[0].sequence[1].fingerprint: is not lower-case hex");
}

TEST(HeaderTest, ThresholdsAreNotNegative) {
  v1::CaptureHeader header = SmallHeader();
  header.set_hang_threshold_ms(0);
  EXPECT_EQ(ErrorOf(header), "accepted");
  header.set_hang_threshold_ms(-1);
  EXPECT_EQ(ErrorOf(header), "header.hangThresholdMs: -1 is negative");
}

TEST(CheckCaptureTest, OneSnapshotOfEveryExpectedWorkerAtMost) {
  Capture capture = FilledCapture();
  EXPECT_TRUE(CheckCapture(capture).ok());
  capture.snapshots[1].worker = capture.snapshots[0].worker;
  EXPECT_THAT(std::string(CheckCapture(capture).message()),
              HasSubstr("snapshot.worker: a second snapshot of worker slice 0 task 0"));
  capture.snapshots[1].worker = {.slice = 7, .task = 0};
  EXPECT_THAT(std::string(CheckCapture(capture).message()),
              HasSubstr("worker slice 7 task 0 is not among the expected workers"));
  capture.snapshots.pop_back();  // a missing worker is evidence, not an error
  EXPECT_TRUE(CheckCapture(capture).ok());
  capture.header.version = 3;
  EXPECT_THAT(std::string(CheckCapture(capture).message()), StartsWith("header.version: 3"));
}

}  // namespace
}  // namespace rapideye::wire
