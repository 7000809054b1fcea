// Implements `rapideye-agent exec -- COMMAND`.
#ifndef RAPIDEYE_AGENT_DAEMON_EXEC_MODE_H_
#define RAPIDEYE_AGENT_DAEMON_EXEC_MODE_H_

#include <string>

#include "absl/time/time.h"
#include "agent/daemon/flags.h"
#include "agent/exec/supervisor.h"
#include "proto/common/process/signals.h"

namespace rapideye::agent {

class Agent;

// Opens the file `name` for the agent's own log as the flags say, in a directory and a file that
// no other user controls. If that fails, says why on standard error, and returns standard error:
// lines of the agent among those of the command are better than an agent without a log.
int OpenLog(const Flags& flags, const std::string& name);

// Lets standard output and error go to this descriptor.
void LogTo(int log);

// Tells the agent's sources the facts of the command that they need.
void LetSourcesKnow(const CommandWatch& command, Flags& flags);

// Waits until the agent gets a signal to stop (a SIGHUP is handled meanwhile), or the command has
// ended and its end has been reported, or could not be reported in time.
void AwaitEnd(const CommandWatch& command, const Agent& agent, program::StopSignals& signals);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_EXEC_MODE_H_
