// Any bytes as a message of the agent: an error of a kind that ends or skips it,
// or a value that survives the way back.
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
  using rapideye::wire::AgentMessageFromWire;
  rapideye::v1::AgentMessage message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto value = AgentMessageFromWire(message);
  if (!value.ok()) {
    Require(absl::IsInvalidArgument(value.status()) || absl::IsUnimplemented(value.status()) ||
                absl::IsFailedPrecondition(value.status()),
            "refusals are of a kind that callers know", value.status().ToString());
    return 0;
  }
  const rapideye::v1::AgentMessage there = rapideye::wire::ToWire(*value);
  const auto back = AgentMessageFromWire(there);
  Require(back.ok(), "an accepted message is accepted again", back.status().ToString());
  Require(rapideye::wire::ToWire(*back).SerializeAsString() == there.SerializeAsString(),
          "and is the same");
  return 0;
}
