#include "absl/status/status.h"
#include "proto/wire/limits.h"
#include "proto/wire/messages.h"
#include "proto/wire/record_budget.h"
#include "v1/agent.pb.h"

namespace rapideye::wire {

absl::StatusOr<ParsedMessage> ParseAgentMessage(std::string_view bytes) {
  RecordBudget budget(kMaxMessageMemory);
  absl::Status error;
  if (!ChargeSerialised(*v1::AgentMessage::descriptor(), bytes, budget, error)) return error;
  v1::AgentMessage message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("not an agent's message (a string that is not UTF-8, maybe)");
  }
  absl::StatusOr<AgentMessage> checked = AgentMessageFromWire(message);
  if (!checked.ok()) return checked.status();
  return ParsedMessage{.message = *std::move(checked),
                       .bytes = static_cast<int64_t>(bytes.size()),
                       .memory = static_cast<int64_t>(budget.spent() + bytes.size())};
}

}  // namespace rapideye::wire
