// Implements `rapideye-agent exec -- COMMAND`.
#ifndef RAPIDEYE_AGENT_DAEMON_EXEC_MODE_H_
#define RAPIDEYE_AGENT_DAEMON_EXEC_MODE_H_

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "agent/daemon/flags.h"
#include "agent/exec/supervisor.h"
#include "proto/common/process/signals.h"

namespace rapideye::agent {

class Agent;

// Runs flags.command, and beside it `watch` as the agent, in a process of its own;
// returns the exit status to leave with. `problem` states why the job
// cannot be watched (empty: it can); the command runs all the same. `log_name`: of
// the file for the agent's own log. Call before any thread is started.
int RunCommand(const Flags& flags, const std::string& problem, const std::string& log_name,
               const std::function<int(const CommandWatch&)>& watch);

// Sets what the agent's sources need to know of the command.
void LetSourcesKnow(const CommandWatch& command, Flags& flags);

// Waits until the agent gets a signal to stop, or the command has ended and its end has
// been reported, or could not be reported in time.
void AwaitEnd(const CommandWatch& command, const Agent& agent, const program::StopSignals& signals);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_EXEC_MODE_H_
