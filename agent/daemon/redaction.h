// RedactMessage removes secrets from a message that is about to leave the host.
#ifndef RAPIDEYE_AGENT_DAEMON_REDACTION_H_
#define RAPIDEYE_AGENT_DAEMON_REDACTION_H_

#include <google/protobuf/message.h>

#include "proto/common/secrets/redactor.h"

namespace rapideye::agent {

// Redacts every text of the message, from any source. The names of this worker and its machine
// stay: the coordinator knows the worker by them. Fields of bytes stay, too: addresses, and the
// texts of programs as XLA dumped them.
void RedactMessage(const secrets::Redactor& redactor, google::protobuf::Message& message);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_REDACTION_H_
