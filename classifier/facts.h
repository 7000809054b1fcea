// Fact states as data the result of a rule; FactText puts the fact into a sentence.
//
// Rules that return facts hold no English of their own: facts.cc alone holds the sentence of each
// fact, and code that compares findings compares values.
#ifndef RAPIDEYE_CLASSIFIER_FACTS_H_
#define RAPIDEYE_CLASSIFIER_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "classifier/coordination.h"
#include "classifier/finding.h"
#include "classifier/host_place.h"
#include "classifier/log_evidence.h"

namespace rapideye::classifier {

// A core that all others wait for stands at its place.
struct CoreStands {
  const Head* head = nullptr;
  const Core* core = nullptr;
};

// The core stopped at least `ahead_ms` before `others` more cores whose stop is known.
struct CoreStoppedFirst {
  int worker = 0;
  const Core* core = nullptr;
  int64_t ahead_ms = 0;
  int64_t others = 0;
};

// Words of a driver, of a kernel, of a runtime or of a program.
enum class Said {
  kOfItself,        // of its hardware
  kOfOthers,        // it noticed what another worker may have caused
  kUnexpectedData,  // its collective received what it does not expect
  kLogged,          // a line of its log
  kLine,            // a line of its log, where logs are all there is
};
struct Words {
  int worker = 0;
  std::string_view text;
  Said said = Said::kOfItself;
};

// Something failed outright.
struct Failure {
  const ErrorEvent* event = nullptr;
};

// An exporter reports a bad link between chips.
struct BadIciLink {
  int worker = 0;
  const IciLink* link = nullptr;
};

// How a worker missed the others at a barrier of the coordination service.
enum class Missed {
  kBarrier,     // it did not come to a barrier of the job
  kShutdown,    // it did not come to that of the shutdown
  kCameInStep,  // it came to that of the shutdown in a step that the others are in or past
  kCameAlone,   // it came to that of the shutdown alone
};
struct MissedBarrier {
  int worker = 0;
  const FailedBarrier* barrier = nullptr;
  Missed missed = Missed::kBarrier;
  std::optional<int64_t> step;  // for kCameInStep
};

// A host was busy while the waits of others ended by a time-out.
struct BusyWhileAwaited {
  int worker = 0;
  const HostPlace* place = nullptr;
  const std::vector<int>* waiting = nullptr;
};

// The coordination service declared live workers dead: they lived to hear so, or their devices
// advanced.
struct DeclaredDead {
  const std::vector<int>* workers = nullptr;
  bool heard = false;
};

// Nothing gets through between two sets of workers, and everything within them.
struct SetsCut {
  const std::vector<int>* smaller = nullptr;
  const std::vector<int>* others = nullptr;  // nullptr: all others
};

// A host does not get through to several peers.
struct HostCutOff {
  int worker = 0;
  std::optional<std::string> nic;  // absent: not one NIC alone
  std::vector<int> peers;
};

// The connection between two workers is broken.
struct PairBroken {
  WorkerPair pair;
  const PairEvidence* evidence = nullptr;
};

// Two workers alone wait for each other's slice.
struct AwaitEachOther {
  int one = 0;
  int other = 0;
};

// A worker waits for another slice, and its NIC has no carrier.
struct NoCarrier {
  int worker = 0;
  std::string_view nic;
};

// Cores of a host stand at a place that says whom they wait for.
struct HostStandsAt {
  const Head* head = nullptr;
};

// A host owes its cores a launch, its input or an answer.
struct HostOwes {
  const Head* head = nullptr;
};

// A loop announced a pause that has lasted longer than such a pause is excused.
struct PauseTooLong {
  int worker = 0;
};

// A host waits for input, as `seen` says; with `unseen` nothing is known of its cores. Without
// `seen` that is known from its peers.
struct AwaitsInput {
  int worker = 0;
  std::string_view seen;
  bool unseen = false;
};

// A host stands where `others` hosts, which all wait in the same way, do not.
struct HostStands {
  int worker = 0;
  const HostPlace* place = nullptr;
  size_t others = 0;
  HostWait wait = HostWait::kNone;
};

// The only host of which nothing shows where it stands.
struct HostUntold {
  int worker = 0;
};

// How the launches of a worker differ from those of its peers.
enum class Differs {
  kOrder,     // given in another order
  kSkipped,   // it is past one in which its slice still meets
  kSplit,     // it waits in another one than the rest of its slice
  kReporter,  // it found an unexpected leader in its launch group
  kLaunches,  // given others, by the word of a launch group
};
struct LaunchesDiffer {
  int worker = 0;
  Differs differs = Differs::kOrder;
};

// How the evidence shows that the others wait for a worker that sent no snapshot.
enum class Silence {
  kProbesFail,         // every probe of it fails
  kTakesNoBytes,       // it acknowledges nothing that its peers send
  kNoHeartbeats,       // the coordination service misses its heartbeats
  kProcessMissed,      // its host answers, but service or peers miss its process
  kConnectionsClosed,  // its end of every connection is closed
  kOthersFollowed,     // the processes of all others ended because a worker was gone
  kAwaitedByCores,     // every core that reported waits for its slice
  kAwaitedByHosts,     // all other hosts wait for a worker
};
struct WorkerSilent {
  int worker = 0;
  Silence silence = Silence::kProbesFail;
};

// How others show, by their logs, that they wait for a worker whose log ends or is not there.
enum class Missing {
  kHeartbeats,  // the coordination service missed its heartbeats
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

// Pointers and views in a fact outlive it.
using Fact = std::variant<CoreStands, CoreStoppedFirst, Words, Failure, BadIciLink, WorkerSilent,
                          MissedBarrier, BusyWhileAwaited, DeclaredDead, HostStands, HostUntold,
                          LaunchesDiffer, SetsCut, HostCutOff, PairBroken, AwaitEachOther,
                          NoCarrier, HostStandsAt, HostOwes, PauseTooLong, AwaitsInput, LogEnds,
                          LogRepeats, PortFailed, CaughtSigterm, MachineTaken, RunEnded, StepsGoOn,
                          LineOfNobody, AwaitedByName, BegunAlone, StartUpLingers>;

// The workers that the fact is about, as indexes into Topology::workers().
std::vector<int> WorkersOf(const Fact& fact);

// One sentence, the same for the same case and fact, bounded and not escaped.
std::string FactText(const Case& c, const Fact& fact);

// The fact as evidence, about its workers.
EvidenceItem Evidence(const Case& c, Strength strength, const Fact& fact);

// Adds a culprit with the fact as its reason, and as evidence of that strength.
Culprit& Accuse(const Case& c, Strength strength, const Fact& fact, Finding& finding);

// The place at which others wait: "at a barrier".
std::string_view WaitedFor(HostWait wait);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FACTS_H_
