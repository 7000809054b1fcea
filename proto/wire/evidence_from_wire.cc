#include "proto/wire/evidence_from_wire.h"

namespace rapideye::wire {

absl::StatusOr<CaptureHeader> HeaderFromWire(const v1::CaptureHeader&) {
  return absl::UnimplementedError("header");
}
absl::StatusOr<Snapshot> SnapshotFromWire(const v1::Snapshot&) {
  return absl::UnimplementedError("snapshot");
}
absl::Status CheckCapture(const Capture&) { return absl::OkStatus(); }

}  // namespace rapideye::wire
