// RedactMessage blots secrets out of what is about to leave the host.
#ifndef RAPIDEYE_AGENT_DAEMON_REDACTION_H_
#define RAPIDEYE_AGENT_DAEMON_REDACTION_H_

#include <google/protobuf/message.h>

#include "proto/common/secrets/redactor.h"

namespace rapideye::agent {

// In every text of the message, whatever source it is from. The names of this worker and its
// machine stay: the coordinator knows it by them. Fields of bytes stay, too: addresses, and the
// texts of programs as XLA dumped them.
void RedactMessage(const secrets::Redactor& redactor, google::protobuf::Message& message);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_REDACTION_H_
