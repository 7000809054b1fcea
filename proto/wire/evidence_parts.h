// Conversions that several messages share. Internal to proto/wire.
#ifndef RAPIDEYE_PROTO_WIRE_EVIDENCE_PARTS_H_
#define RAPIDEYE_PROTO_WIRE_EVIDENCE_PARTS_H_

#include "classifier/evidence.h"
#include "proto/wire/field_scope.h"
#include "v1/capture.pb.h"

namespace rapideye::wire {

RuntimeHealth RuntimeHealthFromWire(const FieldScope& at, const v1::RuntimeHealth& message);
Snapshot SnapshotFromWire(const FieldScope& at, const v1::Snapshot& message);
Progress ProgressFromWire(const FieldScope& at, const v1::Progress& message);

// `programs` is how many programs the snapshot names: cores refer to them.
Core CoreFromWire(const FieldScope& at, const v1::Core& message, size_t programs);

// What the host showed of the network and the rest of the machine.
Transfer TransferFromWire(const FieldScope& at, const v1::Transfer& message);
Socket SocketFromWire(const FieldScope& at, const v1::Socket& message);
Probe ProbeFromWire(const FieldScope& at, const v1::Probe& message);
Nic NicFromWire(const FieldScope& at, const v1::Nic& message);
IciLink IciLinkFromWire(const FieldScope& at, const v1::IciLink& message);
PcieCounters PcieFromWire(const FieldScope& at, const v1::PcieCounters& message);
LogEvent LogEventFromWire(const FieldScope& at, const v1::LogEvent& message);
Metric MetricFromWire(const FieldScope& at, const v1::Metric& message);
Stack StackFromWire(const FieldScope& at, const v1::Stack& message);

void RuntimeHealthToWire(const RuntimeHealth& health, v1::RuntimeHealth& message);
void WorkerToWire(const WorkerId& worker, v1::WorkerId& message);
void ProgressToWire(const Progress& progress, v1::Progress& message);
void ProbeToWire(const Probe& probe, v1::Probe& message);
void SnapshotToWire(const Snapshot& snapshot, v1::Snapshot& message);

// Strings as the wire takes them: bytes that are not UTF-8 become U+FFFD (one
// bad string would make the receiver refuse the whole message), and what is
// longer than the receiver accepts is cut.
std::string WireName(const std::string& value);
std::string WireText(const std::string& value);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_EVIDENCE_PARTS_H_
