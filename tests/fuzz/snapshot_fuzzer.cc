// Reads any bytes as a snapshot from the wire: an error, or evidence that survives the
// way back.
#include <cstdint>

#include "proto/wire/evidence_wire.h"
#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  rapideye::QuietProtobuf();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rapideye::Require;
  rapideye::v1::Snapshot message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto evidence = rapideye::wire::SnapshotFromWire(message);
  if (!evidence.ok()) {
    Require(absl::IsInvalidArgument(evidence.status()), "broken rules are INVALID_ARGUMENT");
    return 0;
  }
  const rapideye::v1::Snapshot there = rapideye::wire::SnapshotToWire(*evidence);
  const auto back = rapideye::wire::SnapshotFromWire(there);
  Require(back.ok(), "accepted evidence is accepted again", back.status().ToString());
  Require(rapideye::wire::SnapshotToWire(*back).SerializeAsString() == there.SerializeAsString(),
          "and is the same");
  return 0;
}
