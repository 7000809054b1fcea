#include "proto/wire/evidence_to_wire.h"

namespace rapideye::wire {

v1::CaptureHeader HeaderToWire(const CaptureHeader&) { return {}; }
v1::Snapshot SnapshotToWire(const Snapshot&) { return {}; }

}  // namespace rapideye::wire
