#include "proto/wire/capture_writer.h"

namespace rapideye::wire {

absl::StatusOr<std::string> WriteCapture(const Capture&, const WriteOptions&) {
  return absl::UnimplementedError("writing captures");
}

}  // namespace rapideye::wire
