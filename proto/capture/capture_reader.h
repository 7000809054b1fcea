// ReadCapture reads capture files: JSON Lines or length-delimited protobuf, plain or gzip, told
// apart by content. Everything read is untrusted.
#ifndef RAPIDEYE_PROTO_CAPTURE_CAPTURE_READER_H_
#define RAPIDEYE_PROTO_CAPTURE_CAPTURE_READER_H_

#include <istream>
#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/evidence.h"

namespace rapideye::wire {

// Reads and checks one capture. On success the invariants of Capture hold.
// INVALID_ARGUMENT if the bytes break a rule; the message names the line (JSON)
// or record (binary) and the field, e.g.
//   line 3: snapshot.cores[2].program: index 7 is out of range (4 programs)
// NOT_FOUND or INTERNAL if the file cannot be opened or read. Memory stays
// bounded by the limits of limits.h plus the result, whatever the bytes.
//
// A JSON line ends with a newline, the last one may lack it; a carriage return
// before it is blank space; an empty line is an error. For the rules of a line see
// json_record.h. gzip may have several members; a cut one is an error.
absl::StatusOr<Capture> ReadCaptureFile(const std::string& path);
absl::StatusOr<Capture> ReadCapture(std::istream& in);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_CAPTURE_CAPTURE_READER_H_
