#include "proto/wire/evidence_wire.h"

#include "absl/strings/str_cat.h"
#include "proto/wire/evidence_fields.h"

namespace rapideye::wire {
namespace {

constexpr int32_t kCaptureVersion = 1;

std::string Named(const WorkerId& worker) {
  return absl::StrCat("worker slice ", worker.slice, " task ", worker.task);
}

// Checks that workers are expected once, and that cohorts and others name only these.
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
  const auto check_sides = [&expected](const FieldScope& comparison,
                                       const std::vector<HloSide>& sides) {
    for (size_t i = 0; i < sides.size(); ++i) {
      if (expected.contains(sides[i].worker)) continue;
      FieldScope(comparison, "sides", static_cast<int>(i))
          .Fail("worker",
                absl::StrCat(Named(sides[i].worker), " is not among the expected workers"));
    }
  };
  if (header.hlo_comparison.has_value()) {
    check_sides(FieldScope(at, "hloComparison"), header.hlo_comparison->sides);
  }
  for (size_t i = 0; i < header.more_hlo_comparisons.size(); ++i) {
    check_sides(FieldScope(at, "moreHloComparisons", static_cast<int>(i)),
                header.more_hlo_comparisons[i].sides);
  }
}

}  // namespace

absl::StatusOr<CaptureHeader> HeaderFromWire(const v1::CaptureHeader& message) {
  absl::Status error;
  const FieldScope at("header", error);
  CaptureHeader out;
  FromWire(at, message, out);
  if (error.ok()) CheckHeader(at, out);
  if (!error.ok()) return error;
  return out;
}

absl::StatusOr<Snapshot> SnapshotFromWire(const v1::Snapshot& message) {
  absl::Status error;
  Snapshot out;
  FromWire(FieldScope("snapshot", error), message, out);
  if (!error.ok()) return error;
  return out;
}

v1::CaptureHeader HeaderToWire(const CaptureHeader& header) {
  v1::CaptureHeader out;
  ToWire(header, out);
  return out;
}

v1::Snapshot SnapshotToWire(const Snapshot& snapshot) {
  v1::Snapshot out;
  ToWire(snapshot, out);
  return out;
}

v1::LogEvent LogEventToWire(const LogEvent& event) {
  v1::LogEvent out;
  ToWire(event, out);
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
