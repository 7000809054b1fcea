#include "coordinator/fleet/records/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

using ::testing::SizeIs;

const absl::Time kThen = absl::FromUnixSeconds(1'790'000'000);

class FindingsTest : public ::testing::Test {
 protected:
  FindingsTest() {
    capture_.header.job = "llama";
    capture_.header.job_incarnation = "7";
    capture_.header.expected_workers = {
        {{0, 0}, "h0", {}}, {{0, 1}, "h1", {}}, {{1, 0}, "h2", {}}, {{1, 1}, "h2", {}}};
    Snapshot snapshot;
    snapshot.worker = {0, 1};
    snapshot.host = "h1";
    snapshot.node = "n1";
    snapshot.hardware = "serial-1";
    snapshot.programs = {{"jit_init", "aa"}, {"jit_train_step", "bb"}};
    Core idle;
    idle.chip = 0;
    idle.type = CoreType::kTensorCore;
    idle.program = 0;
    Core busy = idle;
    busy.chip = 2;
    busy.program = 1;
    snapshot.cores = {idle, busy};
    capture_.snapshots = {snapshot};

    verdict_.cause = Cause::kBadTpuChip;
    verdict_.detail = Detail::kTensorCore;
    verdict_.confidence = 0.9;
    Culprit culprit;
    culprit.worker = {0, 1};
    culprit.host = "h1";
    culprit.chip = 2;
    culprit.core_type = CoreType::kTensorCore;
    culprit.core_index = 0;
    verdict_.culprits = {culprit};
  }
  IncidentRecord Run() { return Describe("i1", capture_, verdict_, kThen, known_); }
  Grounds GroundsFor(Cause cause, Detail detail) {
    verdict_.cause = cause;
    verdict_.detail = detail;
    return GroundsOf(verdict_, verdict_.culprits[0]);
  }

  Capture capture_;
  Verdict verdict_;
  std::map<WorkerId, std::string> known_;
};

TEST_F(FindingsTest, NamesTheIncidentItsJobAndItsSize) {
  const IncidentRecord record = Run();
  EXPECT_EQ(record.id, "i1");
  EXPECT_EQ(record.job, "llama");
  EXPECT_EQ(record.incarnation, "7");
  EXPECT_EQ(record.cause, "BAD_TPU_CHIP");
  EXPECT_EQ(record.detail, "TENSOR_CORE");
  EXPECT_EQ(record.detected, kThen);
  EXPECT_EQ(record.hosts, 1);  // of three expected hosts, one answered
  EXPECT_EQ(record.slices, 2);
}

TEST_F(FindingsTest, ACulpritHasItsHardwareItsPlaceAndItsProgram) {
  const IncidentRecord record = Run();
  ASSERT_THAT(record.culprits, SizeIs(1));
  const CulpritRecord& culprit = record.culprits[0];
  EXPECT_EQ(culprit.machine, "hardware:serial-1");
  EXPECT_EQ(culprit.node, "n1");
  EXPECT_EQ(culprit.chip, 2);
  EXPECT_EQ(culprit.core_type, "TENSOR_CORE");
  EXPECT_EQ(culprit.slice, 0);
  EXPECT_EQ(culprit.task, 1);
  EXPECT_EQ(culprit.module, "jit_train_step");
  EXPECT_EQ(culprit.fingerprint, "bb");
}

TEST_F(FindingsTest, AMachineOfSeveralWorkersStandsWhereItsFirstOneDoes) {
  EXPECT_EQ(Run().culprits[0].home_slice, 0);
  EXPECT_EQ(Run().culprits[0].home_task, 1);
  verdict_.culprits[0].worker = {1, 1};
  verdict_.culprits[0].host = "h2";
  EXPECT_EQ(Run().culprits[0].task, 1);
  EXPECT_EQ(Run().culprits[0].home_slice, 1);
  EXPECT_EQ(Run().culprits[0].home_task, 0);
}

TEST_F(FindingsTest, WhoLeftNoSnapshotIsKnownByWhatTheCoordinatorKnows) {
  capture_.snapshots.clear();
  EXPECT_EQ(Run().culprits[0].machine, "host:h1");
  EXPECT_EQ(Run().culprits[0].fingerprint, std::nullopt);
  known_[{0, 1}] = "serial-1";
  EXPECT_EQ(Run().culprits[0].machine, "hardware:serial-1");
}

// Such a number may come with a copied image: the history must not mix two machines.
TEST_F(FindingsTest, HardwareThatTwoHostsClaimToBeIsNoHardware) {
  Snapshot other = capture_.snapshots[0];
  other.worker = {0, 0};
  other.host = "h0";
  other.node.reset();
  other.hardware = "serial-0";
  capture_.snapshots.push_back(other);
  EXPECT_EQ(Run().culprits[0].machine, "hardware:serial-1");
  capture_.snapshots[1].hardware = "serial-1";
  EXPECT_EQ(Run().culprits[0].machine, "host:h1");
  capture_.snapshots[1].host = "h1";  // two workers of one host
  capture_.snapshots[1].node = "n1";
  EXPECT_EQ(Run().culprits[0].machine, "hardware:serial-1");
  capture_.snapshots[1].host = "pod-0";  // two pods on one node
  EXPECT_EQ(Run().culprits[0].machine, "hardware:serial-1");
  capture_.snapshots[1].node = "n2";
  EXPECT_EQ(Run().culprits[0].machine, "host:h1");
}

TEST_F(FindingsTest, HardwareThatSaysNothingIsNoHardware) {
  for (const char* nothing : {"", "  ", "0", "0000", "--", "Unknown", "none", "N/A", "default"}) {
    EXPECT_EQ(MachineKey(nothing, "h1"), "host:h1") << nothing;
  }
  EXPECT_EQ(MachineKey(std::nullopt, "h1"), "host:h1");
  EXPECT_EQ(MachineKey("00f1", "h1"), "hardware:00f1");
  EXPECT_EQ(MachineKey(" 00f1\n", "h1"), "hardware:00f1");
}

// Another role that writes to a history may claim any grounds in it.
TEST_F(FindingsTest, NoGroundsGoBeyondTheirCause) {
  using enum Grounds;
  EXPECT_EQ(GroundsAllowed("BAD_TPU_CHIP", "", kDirect), kDirect);
  EXPECT_EQ(GroundsAllowed("BAD_TPU_CHIP", "TENSOR_CORE", kRepetition), kRepetition);
  EXPECT_EQ(GroundsAllowed("NETWORKING_ISSUE", "DCN_HOST", kDirect), kDirect);
  EXPECT_EQ(GroundsAllowed("NETWORKING_ISSUE", "DCN_HOST", kRepetition), kNever);
  EXPECT_EQ(GroundsAllowed("NETWORKING_ISSUE", "ICI_LINK", kDirect), kRepetition);
  EXPECT_EQ(GroundsAllowed("NETWORKING_ISSUE", "DCN_LINK", kDirect), kNever);
  EXPECT_EQ(GroundsAllowed("UNRECOVERABLE_ERROR", "POWER", kDirect), kRepetition);
  EXPECT_EQ(GroundsAllowed("UNRECOVERABLE_ERROR", "POWER", kNever), kNever);
  EXPECT_EQ(GroundsAllowed("UNRECOVERABLE_ERROR", "PREEMPTED", kDirect), kNever);
  EXPECT_EQ(GroundsAllowed("DATA_INPUT_STALL", "WORKER_LOST", kDirect), kNever);
  EXPECT_EQ(GroundsAllowed("SOMETHING_NEW", "", kDirect), kNever);
}

TEST_F(FindingsTest, ATargetOfTheSameNameOnAnotherNodeIsAnother) {
  verdict_.removal.eligible = true;
  verdict_.culprits[0].node = "n1";
  verdict_.removal.targets = {{"h1", "n2", {}, 2}};
  EXPECT_EQ(Run().culprits[0].grounds, Grounds::kRepetition);
  verdict_.removal.targets[0].node = "n1";
  EXPECT_EQ(Run().culprits[0].grounds, Grounds::kDirect);
}

TEST_F(FindingsTest, GroundsAreThoseOfTheContract) {
  EXPECT_EQ(GroundsFor(Cause::kBadTpuChip, Detail::kTensorCore), Grounds::kRepetition);
  EXPECT_EQ(GroundsFor(Cause::kBadTpuChip, Detail::kSparseCore), Grounds::kRepetition);
  for (const Detail detail :
       {Detail::kWorkerLost, Detail::kPower, Detail::kHostToDevice, Detail::kDeviceToHost}) {
    EXPECT_EQ(GroundsFor(Cause::kUnrecoverableError, detail), Grounds::kRepetition);
  }
  for (const Detail detail : {Detail::kCoreHalt, Detail::kProcessExit, Detail::kProcessStopped,
                              Detail::kOutOfMemory, Detail::kPreempted, Detail::kOther}) {
    EXPECT_EQ(GroundsFor(Cause::kUnrecoverableError, detail), Grounds::kNever);
  }
  EXPECT_EQ(GroundsFor(Cause::kNetworkingIssue, Detail::kIciLink), Grounds::kRepetition);
  EXPECT_EQ(GroundsFor(Cause::kNetworkingIssue, Detail::kDcnLink), Grounds::kNever);
  EXPECT_EQ(GroundsFor(Cause::kNetworkingIssue, Detail::kDcnHost), Grounds::kNever);
  EXPECT_EQ(GroundsFor(Cause::kDifferentModule, Detail::kModuleDivergence), Grounds::kNever);
  EXPECT_EQ(GroundsFor(Cause::kFingerprintMismatch, Detail::kNone), Grounds::kNever);
  EXPECT_EQ(GroundsFor(Cause::kDataInputStall, Detail::kInputPipeline), Grounds::kNever);
  EXPECT_EQ(GroundsFor(Cause::kUnknown, Detail::kNone), Grounds::kNever);
}

TEST_F(FindingsTest, DirectIsOnlyWhatTheVerdictNamesAsTarget) {
  verdict_.removal.targets = {{"h1", {}, {}, 2}};
  EXPECT_EQ(Run().culprits[0].grounds, Grounds::kRepetition);  // not eligible
  verdict_.removal.eligible = true;
  EXPECT_EQ(Run().culprits[0].grounds, Grounds::kDirect);
  verdict_.removal.targets[0].chip = 3;
  EXPECT_EQ(Run().culprits[0].grounds, Grounds::kRepetition);
  verdict_.removal.targets[0] = {"h0", {}, {}, {}};
  EXPECT_EQ(Run().culprits[0].grounds, Grounds::kRepetition);
}

TEST(IncidentKey, LeadsBackToTheIncidentAndItsDigest) {
  const std::string id = "20261120T124419Z-5dc4d1c8";
  EXPECT_EQ(IncidentKey(id, 1), id);
  EXPECT_EQ(IncidentKey(id, 12), id + "-r12");
  for (const int64_t revision : {1, 2, 1000}) {
    const IncidentOfKey of = ParseIncidentKey(IncidentKey(id, revision));
    EXPECT_EQ(of.id, id);
    EXPECT_EQ(of.revision, revision);
  }
  for (const char* other : {"i1", "a-r", "a-r1", "a-rx", "a-r-2"}) {
    EXPECT_EQ(ParseIncidentKey(other).id, other);
    EXPECT_EQ(ParseIncidentKey(other).revision, 1);
  }
}

}  // namespace
}  // namespace rapideye::coordinator
