// Reads any bytes as a message of the agent: the result is an error of a kind that ends the
// stream or skips the message, or a value that survives the way back.
#include <cstdint>
#include <string_view>

#include "proto/wire/messages.h"
#include "tests/fuzz/fuzzing.h"
#include "v1/agent.pb.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  rapideye::QuietProtobuf();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rapideye::Require;
  const auto parsed = rapideye::wire::ParseAgentMessage(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!parsed.ok()) {
    Require(absl::IsInvalidArgument(parsed.status()) || absl::IsUnimplemented(parsed.status()) ||
                absl::IsFailedPrecondition(parsed.status()),
            "refusals are of a kind that callers know", parsed.status().ToString());
    return 0;
  }
  const rapideye::v1::AgentMessage there = rapideye::wire::ToWire(parsed->message);
  const auto back = rapideye::wire::AgentMessageFromWire(there);
  Require(back.ok(), "an accepted message is accepted again", back.status().ToString());
  Require(rapideye::wire::ToWire(*back).SerializeAsString() == there.SerializeAsString(),
          "and is the same");
  return 0;
}
