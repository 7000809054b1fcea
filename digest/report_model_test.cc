#include "digest/report_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "digest/content_hash.h"
#include "digest/digest.h"
#include "digest/report_json.h"
#include "tests/support/example_cases.h"

namespace rapideye::digest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

Verdict Accuse(Cause cause, WorkerId worker) {
  Verdict verdict;
  verdict.cause = cause;
  Culprit culprit;
  culprit.worker = worker;
  verdict.culprits.push_back(culprit);
  return verdict;
}

FirstError FirstErrorOf(const Capture& capture, const Verdict& verdict) {
  return BuildReport(capture, verdict, {}).first_error.value();
}

LogEvent Event(LogKind kind, int64_t age_ms) {
  LogEvent event;
  event.kind = kind;
  event.age_ms = age_ms;
  return event;
}

// Detected at …03:54:20.139; every core has been frozen for 60 s.

TEST(FirstErrorTest, IsDetectionMinusTheCulpritsLargestAge) {
  Capture capture = FrozenJob(1, 4);
  SequencerAt(capture, 0, 1, 2).frozen_ms = 70'000;
  SequencerAt(capture, 0, 3, 0).frozen_ms = 90'000;  // of another worker
  const FirstError first = FirstErrorOf(capture, Accuse(Cause::kBadTpuChip, {0, 1}));
  EXPECT_EQ(first.at, "2026-10-03T03:53:10.139Z");
  EXPECT_EQ(first.type, FirstErrorType::kHangDetected);
}

TEST(FirstErrorTest, OfAChipIgnoresOtherChips) {
  Capture capture = FrozenJob(1, 4);
  SequencerAt(capture, 0, 1, 3).frozen_ms = 70'000;
  Verdict verdict = Accuse(Cause::kBadTpuChip, {0, 1});
  verdict.culprits[0].chip = 2;
  EXPECT_EQ(FirstErrorOf(capture, verdict).at, "2026-10-03T03:53:20.139Z");
  verdict.culprits[0].chip = 3;
  EXPECT_EQ(FirstErrorOf(capture, verdict).at, "2026-10-03T03:53:10.139Z");
}

TEST(FirstErrorTest, CountsLogLinesButNotNoise) {
  Capture capture = FrozenJob(1, 4);
  auto& events = SnapshotOf(capture, 0, 1).log_events;
  events = {Event(LogKind::kBenign, 1'000'000)};
  const Verdict verdict = Accuse(Cause::kUnrecoverableError, {0, 1});
  EXPECT_EQ(FirstErrorOf(capture, verdict).at, "2026-10-03T03:53:20.139Z");
  events.push_back(Event(LogKind::kCoreHalt, 80'000));
  EXPECT_EQ(FirstErrorOf(capture, verdict).at, "2026-10-03T03:53:00.139Z");
  EXPECT_EQ(FirstErrorOf(capture, verdict).type, FirstErrorType::kUnrecoverableError);
}

// The job of above, where polls show that core 0.1.2 stopped between 70 s and 75 s ago.
Capture StoppedBetweenPolls(std::optional<int64_t> within_ms) {
  Capture capture = FrozenJob(1, 4);
  SequencerAt(capture, 0, 1, 2).frozen_ms = 70'000;
  Transition last;
  last.age_ms = 70'000;
  last.within_ms = within_ms;
  for (Core& core : SnapshotOf(capture, 0, 1).cores) {
    if (core.chip == 2) core.transitions = {last};
  }
  return capture;
}

TEST(FirstErrorTest, IsUncertainByTheTimeBetweenPolls) {
  const Verdict verdict = Accuse(Cause::kBadTpuChip, {0, 1});
  const FirstError first = FirstErrorOf(StoppedBetweenPolls(5'000), verdict);
  EXPECT_EQ(first.at, "2026-10-03T03:53:10.139Z");
  EXPECT_EQ(first.uncertainty_ms, 5'000);
  // Not worth telling, and not known.
  EXPECT_EQ(FirstErrorOf(StoppedBetweenPolls(1'001), verdict).uncertainty_ms, 1'001);
  EXPECT_EQ(FirstErrorOf(StoppedBetweenPolls(1'000), verdict).uncertainty_ms, std::nullopt);
  EXPECT_EQ(FirstErrorOf(StoppedBetweenPolls(std::nullopt), verdict).uncertainty_ms, std::nullopt);
}

TEST(FirstErrorTest, IsCertainAsFarAsSomethingOlderIs) {
  Capture capture = StoppedBetweenPolls(5'000);
  const Verdict verdict = Accuse(Cause::kBadTpuChip, {0, 1});
  SnapshotOf(capture, 0, 1).log_events = {Event(LogKind::kCoreHalt, 72'000)};
  EXPECT_EQ(FirstErrorOf(capture, verdict).at, "2026-10-03T03:53:08.139Z");
  EXPECT_EQ(FirstErrorOf(capture, verdict).uncertainty_ms, 3'000);
  SnapshotOf(capture, 0, 1).log_events = {Event(LogKind::kCoreHalt, 80'000)};
  EXPECT_EQ(FirstErrorOf(capture, verdict).uncertainty_ms, std::nullopt);
}

TEST(FirstErrorTest, OfAnotherChangeOrAHostileAgeIsNotUncertain) {
  const Verdict verdict = Accuse(Cause::kBadTpuChip, {0, 1});
  Capture capture = StoppedBetweenPolls(5'000);
  SequencerAt(capture, 0, 1, 2).frozen_ms = 69'000;  // the tracemark moved since
  EXPECT_EQ(FirstErrorOf(capture, verdict).uncertainty_ms, std::nullopt);
  capture = StoppedBetweenPolls(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(FirstErrorOf(capture, verdict).uncertainty_ms, std::nullopt);
}

TEST(FirstErrorTest, WithUncertaintySaysSoInTextAndJson) {
  const Verdict verdict = Accuse(Cause::kBadTpuChip, {0, 1});
  const Report report = BuildReport(StoppedBetweenPolls(5'000), verdict, {});
  EXPECT_THAT(RenderText(report, TextFormat::kClassic),
              HasSubstr("\n    Uncertainty: the first error may be up to 5.0 s earlier than its "
                        "timestamp\n"));
  EXPECT_EQ(ReportToJson(report)["firstError"]["uncertaintyMs"], 5'000);
  const Report sure = BuildReport(FrozenJob(1, 4), verdict, {});
  EXPECT_THAT(RenderText(sure, TextFormat::kClassic), Not(HasSubstr("Uncertainty")));
  EXPECT_FALSE(ReportToJson(sure)["firstError"].contains("uncertaintyMs"));
}

TEST(JsonTest, HoldsTheRuntimesVerdictAndTheHoldersOfChipsWhereThereAreSuch) {
  const Capture capture = FrozenJob(1, 4);
  Verdict verdict = Accuse(Cause::kBadTpuChip, {0, 1});
  const nlohmann::ordered_json without = ReportToJson(BuildReport(capture, verdict, {}));
  EXPECT_FALSE(without.contains("runtimeVerdict"));
  EXPECT_FALSE(without.contains("holders"));

  verdict.runtime_verdict =
      RuntimeVerdict{Cause::kDataInputStall, {WorkerId{0, 2}, WorkerId{0, 3}}, false};
  Process known;
  known.pid = 77;
  known.user = "tpu";
  known.started_ms_ago = 9'000'000;
  known.command = "python3";
  Process bare;
  bare.pid = 78;
  verdict.holders = {ForeignHolder{WorkerId{0, 1}, known}, ForeignHolder{WorkerId{0, 1}, bare}};
  const nlohmann::ordered_json json = ReportToJson(BuildReport(capture, verdict, {}));
  EXPECT_EQ(json["runtimeVerdict"], nlohmann::ordered_json::parse(R"({"cause": "DATA_INPUT_STALL",
      "hosts": ["tpu-0-2", "tpu-0-3"], "agrees": false})"));
  EXPECT_EQ(json["holders"], nlohmann::ordered_json::parse(R"([
      {"slice": 0, "task": 1, "pid": 77, "user": "tpu", "ageMs": 9000000, "command": "python3"},
      {"slice": 0, "task": 1, "pid": 78}])"));
}

TEST(FirstErrorTest, WithoutACulpritIsDetection) {
  Verdict verdict;
  EXPECT_EQ(FirstErrorOf(FrozenJob(1, 2), verdict).at, "2026-10-03T03:54:20.139Z");
}

TEST(FirstErrorTest, WithoutAClockIsUnknown) {
  Capture capture = FrozenJob(1, 2);
  for (const std::optional<int64_t> detected :
       {std::optional<int64_t>(), std::optional(std::numeric_limits<int64_t>::max()),
        std::optional(std::numeric_limits<int64_t>::min())}) {
    capture.header.detected_unix_ms = detected;
    const Report report = BuildReport(capture, Accuse(Cause::kBadTpuChip, {0, 1}), {});
    EXPECT_EQ(report.detected_at, std::nullopt);
    EXPECT_EQ(report.first_error->at, std::nullopt);
  }
}

TEST(FirstErrorTest, SurvivesAbsurdAges) {
  Capture capture = FrozenJob(1, 2);
  SequencerAt(capture, 0, 1, 0).frozen_ms = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(FirstErrorOf(capture, Accuse(Cause::kBadTpuChip, {0, 1})).at, std::nullopt);
}

TEST(FirstErrorTest, CancelledIfToldToStopBeforeAnythingElse) {
  Capture capture = FrozenJob(1, 4);
  SnapshotOf(capture, 0, 0).log_events = {Event(LogKind::kPreempted, 61'000)};
  const Verdict verdict = Accuse(Cause::kUnrecoverableError, {0, 1});
  EXPECT_EQ(FirstErrorOf(capture, verdict).type, FirstErrorType::kCancelled);
  // Someone gave up on a job that already hung.
  SnapshotOf(capture, 0, 0).log_events[0].age_ms = 10'000;
  EXPECT_EQ(FirstErrorOf(capture, verdict).type, FirstErrorType::kUnrecoverableError);
}

TEST(FirstErrorTest, NoneWithoutAHang) {
  Verdict verdict;
  verdict.cause = Cause::kNoHang;
  EXPECT_FALSE(BuildReport(FrozenJob(1, 2), verdict, {}).first_error);
}

TEST(ReportTest, TaskIdsCountThroughTheJobWhateverTheOrder) {
  Capture capture;
  capture.header.expected_workers = {
      {{1, 1}, "d", {}}, {{0, 1}, "b", {}}, {{1, 0}, "c", {}}, {{0, 0}, "a", {}}};
  const Report report = BuildReport(capture, Accuse(Cause::kBadTpuChip, {1, 0}), {});
  EXPECT_EQ(report.culprits[0].worker.task_id, 2u);
  EXPECT_EQ(report.culprits[0].worker.host, "c");
  EXPECT_THAT(report.missing, SizeIs(4));
}

TEST(ReportTest, AWorkerThatTheJobDoesNotListHasNoTaskId) {
  const Report report = BuildReport(FrozenJob(1, 1), Accuse(Cause::kBadTpuChip, {7, 7}), {});
  EXPECT_EQ(report.culprits[0].worker.task_id, std::nullopt);
}

TEST(ReportTest, WhatOneWorkerToldOfAProgramHoldsForAll) {
  Capture capture = FrozenJob(1, 3);
  for (int task = 1; task < 3; ++task) {
    SnapshotOf(capture, 0, task).programs[0].module = std::nullopt;
    SequencerAt(capture, 0, task, 0).hlo = std::nullopt;
  }
  const Report report = BuildReport(capture, Verdict{}, {});
  ASSERT_THAT(report.tpu_states, SizeIs(1));
  EXPECT_EQ(report.tpu_states[0].module, "jit_train_step");
  ASSERT_THAT(report.tpu_states[0].positions, SizeIs(1));
  EXPECT_EQ(report.tpu_states[0].positions[0].hlo, "all-reduce.3");
  EXPECT_THAT(report.tpu_states[0].positions[0].cores, SizeIs(12));
}

TEST(ReportTest, AbsentIsNotZero) {
  Capture capture = FrozenJob(1, 2);
  SequencerAt(capture, 0, 0, 0).pc = 0;
  SequencerAt(capture, 0, 1, 0).pc = std::nullopt;
  const Report report = BuildReport(capture, Verdict{}, {});
  const auto& positions = report.tpu_states[0].positions;
  ASSERT_THAT(positions, SizeIs(3));
  EXPECT_EQ(positions[1].pc, std::nullopt);
  EXPECT_FALSE(positions[1].idle);
  EXPECT_EQ(positions[2].pc, 0);
  EXPECT_TRUE(positions[2].idle);
}

TEST(ReportTest, LargestGroupFirstAndWhatRunsNothingLast) {
  Capture capture = FrozenJob(1, 4);
  for (int task = 0; task < 3; ++task) {
    for (Core& core : SnapshotOf(capture, 0, task).cores) {
      core.launch_id = task == 0 ? 7 : 0;
      if (task != 0) core.program = std::nullopt;
    }
  }
  SnapshotOf(capture, 0, 3).cores.pop_back();
  const Report report = BuildReport(capture, Verdict{}, {});
  ASSERT_THAT(report.tpu_states, SizeIs(3));
  EXPECT_EQ(report.tpu_states[0].launch_id, 7);
  EXPECT_EQ(report.tpu_states[1].launch_id, 804);
  EXPECT_FALSE(report.tpu_states[2].fingerprint);
  EXPECT_EQ(report.tpu_states[2].cores, 8u);
}

TEST(ReportTest, AnIdleSparseCoreIsNoCulpritUnlessNamed) {
  Capture capture = FrozenJob(1, 1);
  Core& core = SnapshotOf(capture, 0, 0).cores[0];
  core.type = CoreType::kSparseCore;
  core.program = std::nullopt;
  core.sequencers[0].pc = 0;
  Verdict verdict = Accuse(Cause::kDataInputStall, {0, 0});
  EXPECT_FALSE(BuildReport(capture, verdict, {}).tpu_states.back().culprit);
  verdict.culprits[0].core_type = CoreType::kSparseCore;
  EXPECT_FALSE(BuildReport(capture, verdict, {}).tpu_states.back().culprit);
  verdict.culprits[0].core_index = 0;
  EXPECT_TRUE(BuildReport(capture, verdict, {}).tpu_states.back().culprit);
}

TEST(ReportTest, PcsOfACulpritsHostAreDistinctAndAscending) {
  Capture capture = FrozenJob(1, 2);
  SequencerAt(capture, 0, 1, 0).pc = 0x20;
  SequencerAt(capture, 0, 1, 1).pc = 0x10;
  const Report report = BuildReport(capture, Accuse(Cause::kDataInputStall, {0, 1}), {});
  ASSERT_THAT(report.culprit_pcs, SizeIs(1));
  EXPECT_THAT(report.culprit_pcs[0].pcs, ElementsAre(0x10, 0x20, 0x1f03));
}

TEST(ReportTest, SaysWhoseHistoryGoesByName) {
  Capture capture = FrozenJob(1, 4);
  const auto reason = [&capture](Cause cause) {
    return BuildReport(capture, Accuse(cause, {0, 1}), {}).removal.reason;
  };
  for (Snapshot& snapshot : capture.snapshots) snapshot.hardware = "machine-1";
  EXPECT_THAT(reason(Cause::kBadTpuChip), testing::Not(testing::HasSubstr("by host name")));
  SnapshotOf(capture, 0, 2).hardware.reset();  // another's
  EXPECT_THAT(reason(Cause::kBadTpuChip), testing::Not(testing::HasSubstr("by host name")));
  SnapshotOf(capture, 0, 1).hardware.reset();
  EXPECT_THAT(reason(Cause::kBadTpuChip), testing::HasSubstr("history goes by host name"));
  EXPECT_THAT(reason(Cause::kDataInputStall), testing::Not(testing::HasSubstr("by host name")));
}

TEST(ReportTest, ConfidenceIsANumberBetweenZeroAndOne) {
  Verdict verdict;
  for (const auto& [given, expected] :
       {std::pair{0.12345, 0.123}, {7.0, 1.0}, {-1.0, 0.0}, {std::nan(""), 0.0}}) {
    verdict.confidence = given;
    EXPECT_EQ(BuildReport(FrozenJob(1, 1), verdict, {}).confidence, expected);
  }
}

TEST(ContentHashTest, ChangesWithTheContentOnly) {
  Capture capture = FrozenJob(2, 2);
  const uint64_t hash = ContentHash(capture);
  std::swap(capture.snapshots[0], capture.snapshots[3]);
  EXPECT_EQ(ContentHash(capture), hash);
  // Pinned: ids of offline diagnoses must not change between versions.
  EXPECT_EQ(hash, 11026668279954623782u);
  SequencerAt(capture, 1, 1, 3).pc = 0x1f04;
  EXPECT_NE(ContentHash(capture), hash);
}

TEST(ContentHashTest, TellsAbsentFromZero) {
  Capture capture = FrozenJob(1, 1);
  SequencerAt(capture, 0, 0, 0).pc = 0;
  const uint64_t zero = ContentHash(capture);
  SequencerAt(capture, 0, 0, 0).pc = std::nullopt;
  EXPECT_NE(ContentHash(capture), zero);
}

std::vector<std::string> Keys(const nlohmann::ordered_json& json) {
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  return keys;
}

TEST(ReportTest, TheFirstStepLeadsToTheRunbookOfTheCause) {
  Verdict verdict = Accuse(Cause::kBadTpuChip, {0, 1});
  const Capture capture = FrozenJob(1, 4);
  EXPECT_TRUE(BuildReport(capture, verdict, {}).actions.empty());
  verdict.actions = {{"Do this.", std::nullopt}, {"Do that.", std::nullopt}};
  const Report report = BuildReport(capture, verdict, {});
  EXPECT_EQ(report.actions[0].documentation_url, "deploy/monitoring/RUNBOOK.md#bad_tpu_chip");
  EXPECT_EQ(report.actions[1].documentation_url, std::nullopt);
  // A link of the step itself takes precedence over the runbook.
  verdict.actions[0].documentation_url = "elsewhere";
  EXPECT_EQ(BuildReport(capture, verdict, {}).actions[0].documentation_url, "elsewhere");
  verdict.actions[0].documentation_url.reset();
  verdict.cause = Cause::kNoHang;
  EXPECT_EQ(BuildReport(capture, verdict, {}).actions[0].documentation_url, std::nullopt);
}

TEST(JsonTest, KeysStandInTheDocumentedOrder) {
  ExampleCase example = ExampleCases().front();
  ReportContext context;
  context.timings = Timings{};
  context.files.capture = "c";
  const auto json = ReportToJson(BuildReport(example.capture, example.verdict, context));
  EXPECT_THAT(Keys(json), ElementsAre("schemaVersion", "incidentId", "job", "jobIncarnation",
                                      "detectedAt", "trigger", "cause", "detail", "confidence",
                                      "headline", "sentence", "culprits", "links", "evidence",
                                      "alternatives", "removal", "recommendedActions", "tpuStates",
                                      "workers", "firstError", "timings", "files", "explain"));
  EXPECT_THAT(Keys(json["culprits"][0]),
              ElementsAre("slice", "task", "host", "chip", "coreType", "coreIndex", "why"));
  EXPECT_THAT(Keys(json["removal"]), ElementsAre("eligible", "targets", "reason"));
  EXPECT_THAT(Keys(json["removal"]["targets"][0]), ElementsAre("host", "chip"));
  EXPECT_THAT(Keys(json["tpuStates"][0]),
              ElementsAre("launchId", "module", "fingerprint", "cores", "positions"));
  EXPECT_THAT(Keys(json["tpuStates"][0]["positions"][0]),
              ElementsAre("tag", "pc", "hlo", "cores", "workers"));
  EXPECT_THAT(Keys(json["explain"]), ElementsAre("chain", "considered"));
  EXPECT_THAT(Keys(json["explain"]["chain"]), ElementsAre("groups", "edges", "more"));
  EXPECT_THAT(Keys(json["timings"]),
              ElementsAre("detectToCollectMs", "collectMs", "classifyMs", "renderMs"));
}

TEST(JsonTest, OptionalKeysAreLeftOut) {
  Capture capture;
  capture.header.job = "j";
  Verdict verdict;
  verdict.cause = Cause::kNoHang;
  const auto json = ReportToJson(BuildReport(capture, verdict, {}));
  EXPECT_THAT(Keys(json), ElementsAre("schemaVersion", "incidentId", "job", "cause", "headline",
                                      "sentence", "culprits", "links", "evidence", "alternatives",
                                      "removal", "recommendedActions", "tpuStates", "workers"));
  EXPECT_EQ(json["cause"], "NO_HANG");
}

TEST(JsonTest, WhatIsNotUtf8IsReplaced) {
  ExampleCase example = ExampleCases().front();
  example.verdict.culprits[0].why = "bad \xFF byte";
  example.capture.header.job = "j\xC0";
  const std::string text = RenderJson(BuildReport(example.capture, example.verdict, {}), false);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["culprits"][0]["why"], "bad \uFFFD byte");
  EXPECT_EQ(json["job"], "j\uFFFD");
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace rapideye::digest
