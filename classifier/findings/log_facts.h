// Facts about logs, for verdicts from the logs of a job alone.
#ifndef RAPIDEYE_CLASSIFIER_FINDINGS_LOG_FACTS_H_
#define RAPIDEYE_CLASSIFIER_FINDINGS_LOG_FACTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/verdict/log_evidence.h"

namespace rapideye::classifier {

struct Case;

// The logs of others show, in one of these ways, that they wait for a worker whose log ends or is
// not there.
enum class Missing {
  kHeartbeats,  // it sent no heartbeats, or health checks of it failed
  kLeader,      // the coordination service, which it runs, did not answer
  kClosed,      // connections to a peer were closed
  kWaits,       // their waits ended by a time-out
};
struct LogEnds {
  int worker = 0;
  const WorkerLog* log = nullptr;  // nullptr: there is none
  Missing missing = Missing::kHeartbeats;
  int64_t others = 0;                        // for kLeader and kWaits: who waited
  const std::vector<int>* closed = nullptr;  // for kClosed: whose connections
};

// A worker that waits names this one as the one for which it waits.
struct AwaitedByName {
  int worker = 0;
  int reporter = 0;
  std::string_view text;
};

// Of one group, a rank stands at another collective than most, or has not queued theirs.
struct AtOtherCollective {
  int worker = 0;
  const NumberedCollective* own = nullptr;
  const NumberedCollective* most = nullptr;
  int64_t others = 0;  // those who stand at the latter
};

// The log of a worker ends as it begins what all others have finished, in the words of `finished`.
struct BegunAlone {
  int worker = 0;
  const WorkerLog* log = nullptr;
  std::string_view finished;
};

// The runtime of the only worker with a log waits for the other hosts of its slice.
struct StartUpLingers {
  int worker = 0;
  std::string_view text;
};

// A log ends with a failed try, which it repeats.
struct LogRepeats {
  int worker = 0;
  const WorkerLog* log = nullptr;
};

// An adapter reports an error of its own port.
struct PortFailed {
  int worker = 0;
  std::string_view text;
};

// A process caught a SIGTERM and went on.
struct CaughtSigterm {
  int worker = 0;
};

// The platform says in a worker's log that it takes a machine back.
struct MachineTaken {
  int worker = 0;
  std::string_view text;
};

// The run has ended: in the words of `text`, or, if there are none, since all were told to stop.
struct RunEnded {
  const std::vector<int>* workers = nullptr;
  std::string_view text;
};

// The steps of these workers go on to the end of their logs.
struct StepsGoOn {
  const std::vector<int>* workers = nullptr;
  int64_t step = 0;
};

// An error in a log of several workers, in a line that may be of any of them.
struct LineOfNobody {
  std::string_view text;
};

// One sentence each, as FactText says it.
std::string Say(const Case& c, const LogEnds& fact);
std::string Say(const Case& c, const AwaitedByName& fact);
std::string Say(const Case& c, const AtOtherCollective& fact);
std::string Say(const Case& c, const BegunAlone& fact);
std::string Say(const Case& c, const StartUpLingers& fact);
std::string Say(const Case& c, const LogRepeats& fact);
std::string Say(const Case& c, const PortFailed& fact);
std::string Say(const Case& c, const CaughtSigterm& fact);
std::string Say(const Case& c, const MachineTaken& fact);
std::string Say(const Case& c, const RunEnded& fact);
std::string Say(const Case& c, const StepsGoOn& fact);
std::string Say(const Case& c, const LineOfNobody& fact);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FINDINGS_LOG_FACTS_H_
