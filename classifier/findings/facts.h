// Fact states as data the result of a rule; FactText puts the fact into a sentence.
//
// Rules that return facts hold no English of their own: facts.cc alone holds the sentence of each
// fact, and code that compares findings compares values.
#ifndef RAPIDEYE_CLASSIFIER_FINDINGS_FACTS_H_
#define RAPIDEYE_CLASSIFIER_FINDINGS_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "classifier/errors/coordination.h"
#include "classifier/findings/dumped_sides.h"
#include "classifier/findings/finding.h"
#include "classifier/findings/log_facts.h"
#include "classifier/findings/settings.h"
#include "classifier/findings/sides.h"
#include "classifier/host/host_place.h"
#include "classifier/host/start_up_stage.h"

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

// The coordination service declared live workers dead.
struct DeclaredDead {
  // The weakest proof of life among them, the strongest first: they heard of it, or ended because
  // the service did not answer them, or their devices advanced.
  enum class Life { kHeard, kUnanswered, kAdvanced };
  const std::vector<int>* workers = nullptr;
  Life life = Life::kHeard;
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

// A runtime does not answer, because the kernel holds its process, and others wait for the worker.
struct StuckInKernel {
  int worker = 0;
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

// Loaders of further workers stand where that of an accused one does.
struct LoadersStandAlike {
  const std::vector<int>* workers = nullptr;
  std::string place;  // "read_shard (data.py:31)"
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
  kNoHeartbeats,       // it sends no heartbeats, or health checks of it fail
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

// The worker has not come to the start-up of the job, in one of these ways.
enum class Absent {
  kNoProcess,   // it has an agent, and no training process
  kNeverSpoke,  // logs are all the evidence, and none is of it
  kNeverCame,   // no agent has said Hello for it
  kNoSnapshot,  // its agent came once, and sent no snapshot
};
struct WorkerAbsent {
  int worker = 0;
  Absent absent = Absent::kNeverCame;
};

// Evidence shows in one of these ways that the others wait for the job to be complete.
enum class StartUpWait {
  kTimedOut,          // their start-up ended by a time-out
  kForOthers,         // they wait for others
  kOpensChips,        // all open their chips, where libtpu waits for the other hosts
  kNothingCompletes,  // no launch and no step completes
};
struct StartUpWaits {
  const std::vector<int>* workers = nullptr;  // may be empty for kNothingCompletes
  StartUpWait wait = StartUpWait::kNothingCompletes;
  std::string_view line;  // for kTimedOut: of the log of the first
};

// An obstacle that its host knows keeps a worker from its first launch.
struct Obstructed {
  int worker = 0;
};

// Few workers were started with another setting or version than most.
struct StartedOtherwise {
  const SettingDifference* difference = nullptr;
};

// Workers that are equally far in the start-up, as their agents report it.
struct ReachedStage {
  const std::vector<int>* workers = nullptr;
  StartUpStage stage = StartUpStage::kAgent;
};

// Workers that are at one place of the start-up, as far as their stacks show it.
enum class StartUpPlace { kNotCome, kNoProcess, kWaits, kOpensChips, kPast, kNotKnown };
struct StandInStartUp {
  const std::vector<int>* workers = nullptr;
  StartUpPlace place = StartUpPlace::kNotKnown;
};

// The job has begun nothing; the capture's header holds for how long.
struct NothingBegun {};
// The same, and no worker is seen to wait for another one.
struct NoneSeenToWait {};

// Training loops in one phase, by their own reports.
struct LoopsAre {
  const std::vector<int>* workers = nullptr;
  Phase phase = Phase::kUnspecified;
  bool by_logs = false;               // no page names the phase; logs hold the steps
  std::optional<int64_t> first_step;  // absent: no loop reports its step
  std::optional<int64_t> last_step;   // likewise
};

// Cores completed a launch within the threshold: `recent` of those that report for how long they
// have completed none.
struct CoresAdvance {
  int64_t recent = 0;
  int64_t telling = 0;
};

// The loops of so many workers of the job made a step within `within_ms`.
struct LoopsAdvance {
  int64_t loops = 0;
  int64_t within_ms = 0;
};

// The logs of workers held a further step in time.
struct LogsAdvance {
  const std::vector<int>* workers = nullptr;
};

// The kernels count work of the processes of workers as in health.
struct ProcessesWork {
  const std::vector<int>* workers = nullptr;
};

// Nothing runs where work is missing, and a host rests there.
struct HostRests {
  int worker = 0;
  Phase phase = Phase::kUnspecified;  // one for which AnnouncesPause() is true
  std::optional<HostPlace> place;     // absent: its page names the phase
};

// The job has ended, and not by a failure.
enum class JobEnd {
  kProgramOver,  // some interpreters still end
  kFellLater,    // some processes fell over, after others had ended with status 0
  kFromOutside,  // all processes were ended from outside
};
struct JobEnded {
  JobEnd how = JobEnd::kFromOutside;
};

// By XLA's dumps few workers have compiled a module to another program than the others.
struct CompiledOtherwise {
  const DumpedSides* sides = nullptr;
};
// One of these workers.
struct HasCompiled {
  int worker = 0;
  const DumpedSides* sides = nullptr;
};

// The smaller side of a cohort runs other programs than the rest.
struct SidesApart {
  const Sides* sides = nullptr;
};
// The same cohort: the program of the rest.
struct RestRuns {
  const Sides* sides = nullptr;
};
// The same cohort: the program of one worker.
struct RunsProgram {
  int worker = 0;
  int program = -1;  // -1: an unnamed one
};

// PCIe counted fatal errors of a chip since the job started.
struct PcieFatal {
  int worker = 0;
  int64_t errors = 0;
};

// Both ends of a link between chips report its fault.
struct BothEndsReportIci {
  int one = 0;
  int other = 0;
};

// A ground for the removal of a host, or against it.
// The agent that reports the fault of a chip is out of the job's reach, or within.
struct ChipWordBeyondJob {
  int worker = 0;
  int32_t chip = 0;
  std::string_view text;
};
struct ChipWordWithinJob {
  int worker = 0;
};
// The worker's own side and so many peers, which reach others, agree that it is cut off.
struct PeersAgree {
  int worker = 0;
  int64_t peers = 0;
};

// Pointers and views in a fact outlive it.
using Fact =
    std::variant<CoreStands, CoreStoppedFirst, Words, Failure, BadIciLink, WorkerSilent,
                 MissedBarrier, BusyWhileAwaited, DeclaredDead, HostStands, HostUntold,
                 LoadersStandAlike, LaunchesDiffer, SetsCut, HostCutOff, PairBroken, AwaitEachOther,
                 NoCarrier, HostStandsAt, HostOwes, PauseTooLong, AwaitsInput, StuckInKernel,
                 WorkerAbsent, StartUpWaits, Obstructed, StartedOtherwise, ReachedStage,
                 StandInStartUp, NothingBegun, NoneSeenToWait, LoopsAre, CoresAdvance, LoopsAdvance,
                 LogsAdvance, ProcessesWork, HostRests, JobEnded, CompiledOtherwise, HasCompiled,
                 SidesApart, RestRuns, RunsProgram, PcieFatal, BothEndsReportIci, ChipWordBeyondJob,
                 ChipWordWithinJob, PeersAgree, LogEnds, LogRepeats, PortFailed, CaughtSigterm,
                 MachineTaken, RunEnded, StepsGoOn, LineOfNobody, AwaitedByName, BegunAlone,
                 StartUpLingers, AtOtherCollective>;

// The workers that the fact is about, as indexes into Topology::workers(). Empty: no single ones.
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

#endif  // RAPIDEYE_CLASSIFIER_FINDINGS_FACTS_H_
