// The capture's header, and what only the whole capture shows.
#include "absl/container/flat_hash_set.h"
#include "proto/wire/enums.h"
#include "proto/wire/evidence_from_wire.h"
#include "proto/wire/field_scope.h"

namespace rapideye::wire {
namespace {

constexpr int32_t kCaptureVersion = 1;

ExpectedWorker ExpectedFromWire(const FieldScope& at, const v1::ExpectedWorker& m) {
  ExpectedWorker out;
  out.id = at.WorkerFields(m.slice(), m.task());
  out.host = at.Name("host", m.host());
  out.node = at.Name("node", Optional(m.has_node(), m.node()));
  return out;
}

SequenceEntry SequenceEntryFromWire(const FieldScope& at, const v1::SequenceEntry& m) {
  SequenceEntry out;
  out.module = at.Name("module", Optional(m.has_module(), m.module()));
  out.fingerprint = at.Fingerprint("fingerprint", m.fingerprint());
  out.launch_id = m.launch_id();
  return out;
}

Cohort CohortFromWire(const FieldScope& at, const v1::Cohort& m) {
  Cohort out;
  out.name = at.Name("name", m.name());
  at.List("workers", m.workers(), kMaxWorkers, out.workers,
          [](const FieldScope& worker, const v1::WorkerId& id) {
            return worker.WorkerFields(id.slice(), id.task());
          });
  at.List("sequence", m.sequence(), kMaxSequenceEntries, out.sequence, SequenceEntryFromWire);
  return out;
}

HloSide HloSideFromWire(const FieldScope& at, const v1::HloSide& m) {
  HloSide out;
  out.worker = at.Worker("worker", m.has_worker(), m.worker());
  out.module = at.Name("module", Optional(m.has_module(), m.module()));
  out.fingerprint = at.Fingerprint("fingerprint", m.fingerprint());
  out.dump = at.Name("dump", Optional(m.has_dump(), m.dump()));
  out.match = EnumFromWire<HloMatch>(m.match());
  out.problem = at.Name("problem", Optional(m.has_problem(), m.problem()));
  out.computation = at.Name("computation", Optional(m.has_computation(), m.computation()));
  out.instruction = at.Name("instruction", Optional(m.has_instruction(), m.instruction()));
  return out;
}

HloComparison HloComparisonFromWire(const FieldScope& at, const v1::HloComparison& m) {
  HloComparison out;
  out.outcome = EnumFromWire<HloOutcome>(m.outcome());
  out.position = at.NonNegative("position", Optional(m.has_position(), m.position()));
  at.List("sides", m.sides(), kHloSides, out.sides, HloSideFromWire);
  if (at.ok() && out.sides.size() != static_cast<size_t>(kHloSides)) {
    at.Fail("sides", absl::StrCat(out.sides.size(), " are given, there must be ", kHloSides));
  }
  return out;
}

std::string Named(const WorkerId& worker) {
  return absl::StrCat("worker slice ", worker.slice, " task ", worker.task);
}

// Who is expected, each once, and only such workers in the cohorts and the rest.
void CheckHeader(const FieldScope& at, const CaptureHeader& header) {
  if (header.version != kCaptureVersion) {
    at.Fail("version", absl::StrCat(header.version, " is not a version this program reads (only ",
                                    kCaptureVersion, ")"));
  }
  absl::flat_hash_set<WorkerId> expected;
  expected.reserve(header.expected_workers.size());
  for (size_t i = 0; i < header.expected_workers.size(); ++i) {
    const WorkerId& id = header.expected_workers[i].id;
    if (!expected.insert(id).second) {
      FieldScope(at, "expectedWorkers", static_cast<int>(i))
          .Fail("", absl::StrCat(Named(id), " is listed twice"));
    }
  }
  for (size_t c = 0; c < header.cohorts.size(); ++c) {
    FieldScope cohort(at, "cohorts", static_cast<int>(c));
    const std::vector<WorkerId>& workers = header.cohorts[c].workers;
    for (size_t i = 0; i < workers.size(); ++i) {
      if (expected.contains(workers[i])) continue;
      FieldScope(cohort, "workers", static_cast<int>(i))
          .Fail("", absl::StrCat(Named(workers[i]), " is not among the expected workers"));
    }
  }
  if (!header.hlo_comparison.has_value()) return;
  FieldScope comparison(at, "hloComparison");
  const std::vector<HloSide>& sides = header.hlo_comparison->sides;
  for (size_t i = 0; i < sides.size(); ++i) {
    if (expected.contains(sides[i].worker)) continue;
    FieldScope(comparison, "sides", static_cast<int>(i))
        .Fail("worker", absl::StrCat(Named(sides[i].worker), " is not among the expected workers"));
  }
}

}  // namespace

absl::StatusOr<CaptureHeader> HeaderFromWire(const v1::CaptureHeader& m) {
  absl::Status error;
  FieldScope at("header", error);
  CaptureHeader out;
  out.version = m.version();
  out.job = at.Name("job", m.job());
  out.job_incarnation =
      at.Name("jobIncarnation", Optional(m.has_job_incarnation(), m.job_incarnation()));
  at.List("expectedWorkers", m.expected_workers(), kMaxWorkers, out.expected_workers,
          ExpectedFromWire);
  out.generation = at.Name("generation", Optional(m.has_generation(), m.generation()));
  out.trigger = at.Name("trigger", Optional(m.has_trigger(), m.trigger()));
  out.announced_pause_ms = at.NonNegative(
      "announcedPauseMs", Optional(m.has_announced_pause_ms(), m.announced_pause_ms()));
  out.hang_threshold_ms =
      at.NonNegative("hangThresholdMs", Optional(m.has_hang_threshold_ms(), m.hang_threshold_ms()));
  out.detected_unix_ms =
      at.UnixMs("detectedUnixMs", Optional(m.has_detected_unix_ms(), m.detected_unix_ms()));
  at.List("cohorts", m.cohorts(), kMaxCohorts, out.cohorts, CohortFromWire);
  if (m.has_hlo_comparison()) {
    const FieldScope comparison(at, "hloComparison");
    out.hlo_comparison = HloComparisonFromWire(comparison, m.hlo_comparison());
  }
  if (error.ok()) CheckHeader(at, out);
  if (!error.ok()) return error;
  return out;
}

SnapshotAdmission::SnapshotAdmission(const CaptureHeader& header) {
  awaited_.reserve(header.expected_workers.size());
  for (const ExpectedWorker& worker : header.expected_workers) awaited_.insert(worker.id);
}

absl::Status SnapshotAdmission::Admit(const WorkerId& worker) {
  if (awaited_.erase(worker) > 0) {
    seen_.insert(worker);
    return absl::OkStatus();
  }
  absl::Status error;
  FieldScope("snapshot", error)
      .Fail("worker", seen_.contains(worker)
                          ? absl::StrCat("a second snapshot of ", Named(worker))
                          : absl::StrCat(Named(worker), " is not among the expected workers"));
  return error;
}

absl::Status CheckCapture(const Capture& capture) {
  absl::Status error;
  CheckHeader(FieldScope("header", error), capture.header);
  if (!error.ok()) return error;
  SnapshotAdmission admission(capture.header);
  for (const Snapshot& snapshot : capture.snapshots) {
    if (absl::Status status = admission.Admit(snapshot.worker); !status.ok()) return status;
  }
  return error;
}

}  // namespace rapideye::wire
