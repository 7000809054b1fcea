// ReadJsonRecord parses one line of a JSON capture into its message.
#ifndef RAPIDEYE_PROTO_WIRE_JSON_RECORD_H_
#define RAPIDEYE_PROTO_WIRE_JSON_RECORD_H_

#include "absl/status/status.h"
#include "proto/wire/byte_source.h"
#include "proto/wire/record_budget.h"
#include "v1/capture.pb.h"

namespace rapideye::wire {

// Reads one line as the proto3 JSON mapping of CaptureRecord, strictly, and
// consumes it with its newline. INVALID_ARGUMENT names the field or the byte of
// the line; what the source itself reports (a cut gzip file) comes first.
//   * names are camelCase; unknown fields are skipped, whatever they contain
//   * null means absent; a key twice in one object is an error
//   * integers are JSON integers (never 1.0 or 1e3), 64-bit ones also strings
//   * enums are names, or numbers as proto3 JSON allows; unknown ones count as
//     not reported
//   * exactly one of the keys `header` and `snapshot`
// Memory is bounded by `budget`, which the caller resets, and the line's length.
absl::Status ReadJsonRecord(ByteSource& in, RecordBudget& budget, v1::CaptureRecord& record);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_JSON_RECORD_H_
