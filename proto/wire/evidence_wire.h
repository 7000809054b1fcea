// Converts messages from outside into evidence, and back. Every field is checked on its
// way in, and nowhere else: by the rules of capture.proto, from which that part is
// generated (evidence_fields.h), and here by those that concern more than one field.
#ifndef RAPIDEYE_PROTO_WIRE_EVIDENCE_WIRE_H_
#define RAPIDEYE_PROTO_WIRE_EVIDENCE_WIRE_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/v1/evidence.h"
#include "v1/capture.pb.h"

namespace rapideye::wire {

// INVALID_ARGUMENT names the field, e.g. "snapshot.cores[2].stuckMs: -4 is
// negative". Unknown enum values count as not reported.
absl::StatusOr<CaptureHeader> HeaderFromWire(const v1::CaptureHeader& message);
absl::StatusOr<Snapshot> SnapshotFromWire(const v1::Snapshot& message);

// Never fails. Strings are made UTF-8 and cut to the receiver's limits.
v1::CaptureHeader HeaderToWire(const CaptureHeader& header);
v1::Snapshot SnapshotToWire(const Snapshot& snapshot);
v1::LogEvent LogEventToWire(const LogEvent& event);

// Checks what only the whole capture shows: a version other than 1, a worker
// expected twice or in a cohort without being expected, a snapshot of a worker
// that is not expected, two snapshots of one worker. INVALID_ARGUMENT.
// HeaderFromWire has already checked what concerns the header alone.
absl::Status CheckCapture(const Capture& capture);

// The same, snapshot by snapshot, for readers that want to name the snapshot that broke the
// rule. `header` must have come through HeaderFromWire.
class SnapshotAdmission {
 public:
  explicit SnapshotAdmission(const CaptureHeader& header);
  absl::Status Admit(const WorkerId& worker);

 private:
  absl::flat_hash_set<WorkerId> awaited_;  // expected, no snapshot yet
  absl::flat_hash_set<WorkerId> seen_;
};

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_EVIDENCE_WIRE_H_
