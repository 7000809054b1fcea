// Reads any bytes as a capture file: the result is an error of the right kind, or a capture that
// keeps its invariants and survives every encoding.
#include <cstdint>
#include <sstream>

#include "proto/capture/capture_reader.h"
#include "proto/capture/capture_writer.h"
#include "proto/wire/evidence_wire.h"
#include "tests/fuzz/fuzzing.h"

namespace rapideye {
namespace {

absl::StatusOr<Capture> Read(const std::string& bytes) {
  std::istringstream in(bytes);
  return wire::ReadCapture(in);
}

void Fuzz(const std::string& bytes) {
  const absl::StatusOr<Capture> capture = Read(bytes);
  if (!capture.ok()) {
    const std::string text(capture.status().message());
    Require(absl::IsInvalidArgument(capture.status()), "bad bytes are INVALID_ARGUMENT", text);
    Require(text.rfind("line ", 0) == 0 || text.rfind("record ", 0) == 0,
            "errors name line or record", text);
    Require(text.find('\n') == std::string::npos, "errors are one line", text);
    return;
  }
  Require(wire::CheckCapture(*capture).ok(), "what was read keeps the invariants");
  for (wire::Encoding encoding : {wire::Encoding::kJsonLines, wire::Encoding::kBinary}) {
    const wire::WriteOptions options = {.encoding = encoding, .gzip = bytes.size() % 2 == 0};
    const absl::StatusOr<std::string> written = wire::WriteCapture(*capture, options);
    Require(written.ok(), "what was read can be written");
    const absl::StatusOr<Capture> back = Read(*written);
    Require(back.ok(), "what was written can be read", back.status().ToString());
    Require(wire::WriteCapture(*back, options).value() == *written, "and written the same");
  }
}

}  // namespace
}  // namespace rapideye

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  rapideye::QuietProtobuf();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rapideye::Fuzz(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
