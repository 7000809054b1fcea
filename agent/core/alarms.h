// What must reach the coordinator before the next heartbeat.
#ifndef RAPIDEYE_AGENT_CORE_ALARMS_H_
#define RAPIDEYE_AGENT_CORE_ALARMS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// One alarm of a kind in a while: a flood of lines is one alarm. What is raised
// while there is no coordinator waits for it, but not for long.
class Alarms {
 public:
  void Raise(wire::AlarmKind kind, std::string text, absl::Duration now);
  // What waits and is no old news.
  std::vector<wire::Alarm> Waiting(absl::Duration now) const;
  // Sends what waits. Call while the link is up.
  void Send(absl::Duration now, Effects& effects);

 private:
  struct Raised {
    std::string text;
    absl::Duration at;
  };

  std::map<wire::AlarmKind, Raised> waiting_;
  std::map<wire::AlarmKind, absl::Duration> last_;  // when each was last raised
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_ALARMS_H_
