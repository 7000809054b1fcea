// The one place where messages from outside become evidence: every field is
// checked here and nowhere else.
#ifndef RAPIDEYE_PROTO_WIRE_EVIDENCE_FROM_WIRE_H_
#define RAPIDEYE_PROTO_WIRE_EVIDENCE_FROM_WIRE_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "classifier/evidence.h"
#include "v1/capture.pb.h"

namespace rapideye::wire {

// INVALID_ARGUMENT names the field, e.g. "snapshot.cores[2].stuckMs: -4 is
// negative". Unknown enum values count as not reported. Durations, counts,
// indexes, slices and tasks are >= 0; pcs, tags, tracemarks, run and launch ids,
// exit codes and the runtime's own chip ids are taken as they are. A snapshot's
// `worker` and the `peer` of a connection must be given. Strings and lists are
// bounded (limits.h). Hosts may be empty: a capture from elsewhere need not know.
absl::StatusOr<CaptureHeader> HeaderFromWire(const v1::CaptureHeader& message);
absl::StatusOr<Snapshot> SnapshotFromWire(const v1::Snapshot& message);

// Checks what only the whole capture shows: a version other than 1, a worker
// expected twice or in a cohort without being expected, a snapshot of a worker
// that is not expected, two snapshots of one worker. INVALID_ARGUMENT.
// HeaderFromWire has already checked what concerns the header alone.
absl::Status CheckCapture(const Capture& capture);

// The same, snapshot by snapshot, for readers that want to say which one broke
// the rule. `header` must have come through HeaderFromWire.
class SnapshotAdmission {
 public:
  explicit SnapshotAdmission(const CaptureHeader& header);
  absl::Status Admit(const WorkerId& worker);

 private:
  absl::flat_hash_set<WorkerId> awaited_;  // expected, no snapshot yet
  absl::flat_hash_set<WorkerId> seen_;
};

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_EVIDENCE_FROM_WIRE_H_
