// The one place where messages from outside become evidence: every field is
// checked here and nowhere else.
#ifndef RAPIDEYE_PROTO_WIRE_EVIDENCE_FROM_WIRE_H_
#define RAPIDEYE_PROTO_WIRE_EVIDENCE_FROM_WIRE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "classifier/evidence.h"
#include "v1/capture.pb.h"

namespace rapideye::wire {

// INVALID_ARGUMENT names the field, e.g. "snapshot.cores[2].stuckMs: -4 is
// negative". Unknown enum values count as not reported.
absl::StatusOr<CaptureHeader> HeaderFromWire(const v1::CaptureHeader& message);
absl::StatusOr<Snapshot> SnapshotFromWire(const v1::Snapshot& message);

// Checks what only the whole capture shows: duplicate or unexpected workers.
absl::Status CheckCapture(const Capture& capture);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_EVIDENCE_FROM_WIRE_H_
