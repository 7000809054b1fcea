#include "proto/wire/capture_reader.h"

namespace rapideye::wire {

absl::StatusOr<Capture> ReadCaptureFile(const std::string&) {
  return absl::UnimplementedError("reading captures");
}
absl::StatusOr<Capture> ReadCapture(std::istream&) {
  return absl::UnimplementedError("reading captures");
}

}  // namespace rapideye::wire
