#include "proto/wire/messages.h"

namespace rapideye::wire {

absl::StatusOr<AgentMessage> AgentMessageFromWire(const v1::AgentMessage&) {
  return absl::UnimplementedError("agent message");
}
absl::StatusOr<CoordinatorMessage> CoordinatorMessageFromWire(const v1::CoordinatorMessage&) {
  return absl::UnimplementedError("coordinator message");
}
v1::AgentMessage ToWire(const AgentMessage&) { return {}; }
v1::CoordinatorMessage ToWire(const CoordinatorMessage&) { return {}; }

}  // namespace rapideye::wire
