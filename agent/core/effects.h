// Events enter the agent's core; effects state what its caller has to do.
#ifndef RAPIDEYE_AGENT_CORE_EFFECTS_H_
#define RAPIDEYE_AGENT_CORE_EFFECTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/core/restored_state.h"
#include "agent/sources/registry.h"
#include "agent/sources/runtime/sample.h"
#include "classifier/logs/log_line.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Events --------------------------------------------------------------------

// The answer to the effect Poll with this number; one for each.
struct RuntimeSampled {
  int64_t poll = 0;
  RuntimeReading reading;
};

// One look at the host: answers the effect Poll with this number, if
// AgentSettings::watches_host; or comes with number 0, unasked, because a process has
// ended.
struct HostSampled {
  int64_t poll = 0;
  HostReading reading;
};

// The log lines since the previous event of this kind; sent unasked.
struct LogsRead {
  logs::LogReading reading;
};

// The answer to the effect FetchModuleText with this number.
struct ModuleTextFetched {
  int64_t fetch = 0;
  std::optional<wire::ModuleText> text;
  std::string problem;  // why there is none
};

// The answer to the effect ListDumps.
struct DumpsListed {
  HloDumpReading reading;
};

// The answer to the effect MakeProbes with this number; one for each.
struct ProbesMade {
  int64_t request = 0;
  ProbeReading reading;
};

// A message on the stream that the effect Connect with this number opened. It has
// passed proto/wire's checks; nothing more is trusted.
struct MessageReceived {
  int64_t stream = 0;
  wire::CoordinatorMessage message;
};

// The stream could not be opened, or has ended. Once per stream; OK means that
// the coordinator ended it.
struct StreamClosed {
  int64_t stream = 0;
  absl::Status status;
};

// AgentCore::NextWake has come.
struct Wake {};

// The agent is to end.
struct ShutdownRequested {};

using Event = std::variant<RuntimeSampled, HostSampled, LogsRead, ModuleTextFetched, DumpsListed,
                           ProbesMade, MessageReceived, StreamClosed, Wake, ShutdownRequested>;

// Effects -------------------------------------------------------------------

// Read the runtime, and report with RuntimeSampled; look at the host, and report
// with HostSampled. Neither waits for the other. There is never more than
// one at a time, unless an answer is overdue by far.
struct Poll {
  int64_t poll = 0;
  bool with_hlo = false;
  HostLook look = {};
  absl::Duration deadline;
};

// Read the text of this program from XLA's dumps, and report with ModuleTextFetched. A
// newer request replaces this one. Only if Hello::hlo_dumps is set.
struct FetchModuleText {
  int64_t fetch = 0;
  std::optional<std::string> module;  // absent: its name is not known
  std::string fingerprint;
  absl::Duration deadline;
};

// Look which programs the dumps name, and report with DumpsListed. Only if
// Hello::hlo_dumps is set.
struct ListDumps {
  bool fingerprints = false;  // also of the texts, for a worker whose runtime gives none
  // Age of the training process: older dumps are not its own. Absent: unknown.
  std::optional<absl::Duration> process_age;
};

// Probe these workers, all at once, within kProbeTime; report with ProbesMade. Never
// more than one request at a time, unless an answer is overdue by far.
struct MakeProbes {
  int64_t request = 0;
  std::vector<wire::ProbeTarget> targets;
};

// Open a stream to the coordinator; any earlier one is over.
struct Connect {
  int64_t stream = 0;
};

// Send on the stream opened last. Order is kept. Messages to a stream that is
// closed meanwhile are dropped.
struct Send {
  wire::AgentMessage message;
};

// Close the stream opened last, after the messages sent before.
struct Close {};

// Leave this state on disk for the next agent, in place of an earlier one; if it is empty,
// leave none. Only if AgentSettings::keeps_state.
struct Keep {
  SavedState state;
};

enum class LogLevel { kInfo, kWarning, kError };

struct Log {
  LogLevel level = LogLevel::kInfo;
  std::string text;  // may hold text of a peer, bounded but not sanitised
};

using Effect =
    std::variant<Poll, FetchModuleText, ListDumps, MakeProbes, Connect, Send, Close, Keep, Log>;
using Effects = std::vector<Effect>;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_EFFECTS_H_
