// Converts the messages between agent and coordinator into checked plain values, and back.
//
// The cores speak these values (proto/v1/messages.h, generated from agent.proto); protobuf
// stays in the shells. A value that came through AgentMessageFromWire or
// CoordinatorMessageFromWire keeps the rules of agent.proto, whatever the peer sent.
#ifndef RAPIDEYE_PROTO_WIRE_MESSAGES_H_
#define RAPIDEYE_PROTO_WIRE_MESSAGES_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/v1/messages.h"

// Forward declarations: a caller without a use for protobuf does not get it from here.
namespace rapideye::v1 {
class AgentMessage;
class CoordinatorMessage;
}  // namespace rapideye::v1

namespace rapideye::wire {

// Versions of the protocol: one back and one forward are spoken. Fields and
// messages that the other side does not know are skipped by it.
//   1  no Hello.incident, Hello.connection, Collect.incident, Concluded
inline const int32_t kProtocolVersion = Hello().protocol_version;  // as agent.proto says
inline constexpr int kOldestProtocolVersion = 1;
inline constexpr int kNewestProtocolVersion = 3;

// True for YYYYMMDDTHHMMSSZ-<8 lower-case hex digits>: what an incident is called,
// on the wire, in logs, and as a directory.
bool IsIncidentId(std::string_view text);

// INVALID_ARGUMENT names the field that breaks a rule, e.g.
//   hello.worker.slice: index 4 is out of range (2 slices)
// FAILED_PRECONDITION: a Hello or Welcome of a protocol version that is not
// spoken here. An empty oneof (a message of a newer protocol) is UNIMPLEMENTED:
// the caller skips it. Durations are whole milliseconds.
absl::StatusOr<AgentMessage> AgentMessageFromWire(const v1::AgentMessage& message);
absl::StatusOr<CoordinatorMessage> CoordinatorMessageFromWire(
    const v1::CoordinatorMessage& message);

struct ParsedMessage {
  AgentMessage message;
  int64_t bytes = 0;   // on the wire
  int64_t memory = 0;  // that it takes, about
};
// A message as it came from the network, before anything is built from it: INVALID_ARGUMENT
// also for bytes that are no protobuf, nest too deeply, would take more than
// kMaxMessageMemory, or hold a string that is not UTF-8.
absl::StatusOr<ParsedMessage> ParseAgentMessage(std::string_view bytes);

// Total. Strings are made UTF-8 and cut to what the receiver takes (limits.h);
// lists and numbers are the caller's to keep within the rules.
v1::AgentMessage ToWire(const AgentMessage& message);
v1::CoordinatorMessage ToWire(const CoordinatorMessage& message);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_MESSAGES_H_
