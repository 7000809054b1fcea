// Prints messages of the wire as one line of a transcript, and reads them: the vocabulary that the
// transcripts of both cores share.
#ifndef RAPIDEYE_TESTS_TRANSCRIPTS_MESSAGES_H_
#define RAPIDEYE_TESTS_TRANSCRIPTS_MESSAGES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"
#include "tests/transcripts/command.h"

namespace rapideye::transcripts {

std::string Print(const wire::AgentMessage& message);
std::string Print(const wire::CoordinatorMessage& message);
// "ALREADY_EXISTS: a newer agent ...", or "OK".
std::string Print(const absl::Status& status);
// Since the beginning of the transcript: "[12.5s]".
std::string PrintTime(absl::Duration time);

// The message of a command such as "grant collection=7"; absent: no message has this
// verb. Fields that the command leaves out have usual values.
std::optional<wire::CoordinatorMessage> ReadCoordinatorMessage(Command& command);
// Reads the messages that are no more than a few fields: alarm, ready.
std::optional<wire::AgentMessage> ReadAgentMessage(Command& command);

// "made=1.0%eth1:ok,1.1:failed", and why some were left out behind ": ".
wire::ProbeReply ReadProbes(Command& command);

std::optional<RuntimeState> ReadRuntimeState(Command& command, const std::string& name);
// "code=UNAVAILABLE: connection refused"
absl::Status ReadStatus(Command& command);

}  // namespace rapideye::transcripts

#endif  // RAPIDEYE_TESTS_TRANSCRIPTS_MESSAGES_H_
