// Reads any bytes as a message of the coordinator: the result is an error of a kind that ends the
// stream or skips the message, or a value that survives the way back.
#include <cstdint>

#include "proto/wire/messages.h"
#include "tests/fuzz/fuzzing.h"
#include "v1/agent.pb.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  rapideye::QuietProtobuf();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rapideye::Require;
  using rapideye::wire::CoordinatorMessageFromWire;
  rapideye::v1::CoordinatorMessage message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto value = CoordinatorMessageFromWire(message);
  if (!value.ok()) {
    Require(absl::IsInvalidArgument(value.status()) || absl::IsUnimplemented(value.status()) ||
                absl::IsFailedPrecondition(value.status()),
            "refusals are of a kind that callers know", value.status().ToString());
    return 0;
  }
  const rapideye::v1::CoordinatorMessage there = rapideye::wire::ToWire(*value);
  const auto back = CoordinatorMessageFromWire(there);
  Require(back.ok(), "an accepted message is accepted again", back.status().ToString());
  Require(rapideye::wire::ToWire(*back).SerializeAsString() == there.SerializeAsString(),
          "and is the same");
  return 0;
}
