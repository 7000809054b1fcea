// Writes captures in the two encodings that capture_reader.h reads.
#ifndef RAPIDEYE_PROTO_CAPTURE_CAPTURE_WRITER_H_
#define RAPIDEYE_PROTO_CAPTURE_CAPTURE_WRITER_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/evidence.h"

namespace rapideye::wire {

enum class Encoding { kJsonLines, kBinary };

struct WriteOptions {
  Encoding encoding = Encoding::kJsonLines;
  bool gzip = false;
};

// The bytes of a capture file. Snapshots are written sorted by worker, so the
// same evidence gives the same bytes. Every reported field is written, zeros
// included. RESOURCE_EXHAUSTED if one record would exceed what readers take.
absl::StatusOr<std::string> WriteCapture(const Capture& capture, const WriteOptions& options);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_CAPTURE_CAPTURE_WRITER_H_
