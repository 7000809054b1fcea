// Evidence as messages; the inverse of evidence_from_wire.h.
#ifndef RAPIDEYE_PROTO_WIRE_EVIDENCE_TO_WIRE_H_
#define RAPIDEYE_PROTO_WIRE_EVIDENCE_TO_WIRE_H_

#include "classifier/evidence.h"
#include "v1/capture.pb.h"

namespace rapideye::wire {

v1::CaptureHeader HeaderToWire(const CaptureHeader& header);
// Strings that are not UTF-8 are sanitised: one bad string would make the
// receiver refuse the whole message.
v1::Snapshot SnapshotToWire(const Snapshot& snapshot);
v1::LogEvent LogEventToWire(const LogEvent& event);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_EVIDENCE_TO_WIRE_H_
