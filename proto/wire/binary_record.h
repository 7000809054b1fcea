// Reads one record of a binary capture: its length as a varint, then the message.
#ifndef RAPIDEYE_PROTO_WIRE_BINARY_RECORD_H_
#define RAPIDEYE_PROTO_WIRE_BINARY_RECORD_H_

#include "absl/status/status.h"
#include "proto/wire/byte_source.h"
#include "proto/wire/record_budget.h"
#include "v1/capture.pb.h"

namespace rapideye::wire {

// True if the bytes begin as a binary capture does: a length, then the tag of a
// header or a snapshot. Consumes nothing.
bool LooksBinary(ByteSource& in);

// INVALID_ARGUMENT if the record is cut, too long, needs too much memory
// (`budget`, which the caller resets) or is no CaptureRecord; what the source
// itself reports comes first.
absl::Status ReadBinaryRecord(ByteSource& in, RecordBudget& budget, v1::CaptureRecord& record);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_BINARY_RECORD_H_
