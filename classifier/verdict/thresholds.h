// Holds every number the classifier judges by, each with its reason. Times in milliseconds.
#ifndef RAPIDEYE_CLASSIFIER_VERDICT_THRESHOLDS_H_
#define RAPIDEYE_CLASSIFIER_VERDICT_THRESHOLDS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace rapideye::classifier {

// --- Time -------------------------------------------------------------------

// Ages are read at polls (5 s apart by default) and a collection is spread over
// as much again: two errors closer together than this have no order.
inline constexpr int64_t kAgeErrorMs = 10'000;

// Snapshots of one collection are taken within this of each other: agents poll anew on
// request, and their polls take milliseconds. The evidence about the order in which cores
// stopped allows for it.
inline constexpr int64_t kCollectionSpreadMs = 1'500;

// Launchers of one kind need the same time to start a process again, to within this: the kernel
// tells when each was started.
inline constexpr int64_t kRestartSpreadMs = 3'000;

// A process whose peer is gone ends by itself no later than this after it has said so:
// JAX's coordination service waits for 100 s for heartbeats and for 300 s in the barrier
// of the shutdown.
inline constexpr int64_t kVictimEndsWithinMs = 420'000;

// An error after which the job still ran for longer than this, and than it has
// stood since, did not stop it.
inline constexpr int64_t kOldNewsMs = 60'000;

// Assumed when the capture states no threshold: the runtime's own default for a
// launch that has started (one minute).
inline constexpr int64_t kDefaultHangThresholdMs = 60'000;

// A core that completed a launch within this share of the threshold advances. An
// alarm is raised when the threshold has passed, and the data of a poll lags by a
// few seconds: the bar lies somewhat below.
inline constexpr double kRecentShareOfThreshold = 0.75;

// In a healthy step a core waits for a slow peer, or for the stage before its own, for up to
// this share of the threshold, which is learnt as some multiple of a step.
inline constexpr double kStepShareOfThreshold = 0.25;

// The runtime's own threshold inside a launch: the meaning of a hang line that
// was not parsed.
inline constexpr int64_t kRuntimeLaunchThresholdMs = 60'000;

// A training loop whose page changed within this time has not stood for long enough to
// be called hung: no threshold is shorter than half of it.
inline constexpr int64_t kLoopMovesWithinMs = 20'000;

// A loop that has entered a step for so short a time shows that all loops were there to make the
// step before: none of them has stood for long.
inline constexpr int64_t kJustEnteredMs = 2'000;

// A loop runs ahead of its device, and so of the other loops, by fewer steps.
inline constexpr int64_t kLockstepSteps = 10;

// No host rests on purpose for longer than this, whatever evidence it shows. For captures that
// do not state the limit.
inline constexpr int64_t kLongestPauseMs = 30 * 60'000;

// A pause is no excuse once it lasts so many times as long as the longest of its kind in health.
inline constexpr int64_t kPauseFactor = 3;

// Heartbeats show the length of healthy pauses only roughly. Healthy pauses of seconds say
// little about the length of one on a slow day.
inline constexpr int64_t kLeastExcusedMs = 60'000;

// The next step line of a log is missing once this many times the longest healthy distance
// between such lines has passed.
inline constexpr int64_t kStepLineFactor = 3;

// The job advances if more than this share of its cores completed a launch
// recently: cores of one step cannot advance past a core that stands, so in a
// hang this share falls to zero.
inline constexpr double kAdvancingShare = 0.5;

// A wait for input shorter than this share of the time for which the job has
// stood cannot have begun the hang: every healthy step has short ones.
inline constexpr double kLongWaitShare = 0.5;
// A wait this short proves no stall, however fresh the standstill is.
inline constexpr int64_t kLongWaitMs = 2'000;

// A connection loses packets if it has sent so many segments again, and so many times the median
// of the job's connections: in the long run all connections have some.
inline constexpr int64_t kLossyRetransmits = 5;
inline constexpr int64_t kLossyFactor = 3;
inline constexpr int64_t kMaxTypicalRetransmits = 1'000'000'000;
// Bytes are acknowledged within milliseconds, or else sent again after 0.2 s, 0.4 s, ... So bytes
// that wait for this long were lost.
inline constexpr int64_t kHeldBytesMs = 1'000;

// Of Grain's histogram of prefetched elements: fewer samples prove nothing, and with a mean
// below this the pipeline is mostly empty when the loop asks.
inline constexpr char kPipelineReadySum[] = "grain_python_dataset_prefetch_buffer_ready_count_sum";
inline constexpr char kPipelineReadyCount[] =
    "grain_python_dataset_prefetch_buffer_ready_count_count";
inline constexpr int64_t kLeastPipelineLooks = 10;
inline constexpr double kEmptyPipelineMean = 0.5;

// --- Shares and counts ------------------------------------------------------

// "All but a few": cores that stand elsewhere in the same launch are what the
// rest of their slice waits for if they are at most this share of the slice.
inline constexpr double kFewShare = 1.0 / 3;

// So many cores, of several hosts, that compute by the name of their instruction alone, are no bad
// chips: bad chips are one or two, and a fusion may be a collective with another name.
inline constexpr size_t kLeastDoubtfulUnits = 3;

// Deliberately beyond any real job; keeps quoted text and lists bounded.
inline constexpr size_t kQuoteBytes = 160;
inline constexpr size_t kDivergedCulprits = 10;  // of the smaller side; more names do not help
inline constexpr size_t kMostProgramSides = 4;   // whose texts are compared; each may be large
inline constexpr size_t kMaxAlternatives = 8;
inline constexpr size_t kMaxEvidence = 32;
inline constexpr size_t kMaxReasons = 200;
inline constexpr size_t kMaxConsidered = 24;
inline constexpr size_t kMaxConsideredWorkers = 10;
inline constexpr size_t kMaxChainLines = 12;  // of an explanation: people do not read more at night

// A successor of a program is learnt from queues only if no other successor is
// seen on more than this share as many workers: phases and repeated programs
// otherwise teach an order that does not hold.
inline constexpr double kRivalSuccessorShare = 0.25;

// A circle of programs seen on fewer workers than this share of those in the most common
// program belongs to a few workers that left the step, and is not the step.
inline constexpr double kLeastStepShare = 0.25;

// Removal at once of a host for its network needs this many peers (all of them,
// where there are fewer) whose probes agree (classifier/CAUSES.md, "Removal").
inline constexpr size_t kAgreeingPeers = 3;

// --- Confidence -------------------------------------------------------------
// Each value ranks findings: the surest one is the cause. A verdict states this certainty after
// calibration, see kCalibration.

inline constexpr double kConfidenceDirectHardware = 0.97;  // the hardware said so itself
inline constexpr double kConfidenceDirectError = 0.95;     // an error older than the freeze
inline constexpr double kConfidenceOwnError = 0.94;        // another as old, but no cause of it
inline constexpr double kConfidenceUnorderedErrors = 0.6;  // another error as old elsewhere
inline constexpr double kConfidenceLaterError = 0.45;      // than the first: never the cause
inline constexpr double kConfidenceErrorWithoutAge = 0.85;
inline constexpr double kConfidenceExitBesideMissing = 0.92;  // a lost worker may be the first
inline constexpr double kConfidenceGoneAlone = 0.955;    // one process is gone, all others live
inline constexpr double kConfidenceComputeHead = 0.95;   // HLO proves it does not wait
inline constexpr double kConfidenceLoneComputer = 0.85;  // and only other slices wait for it
inline constexpr double kConfidenceLaggard = 0.93;       // peers are in a later launch
inline constexpr double kConfidenceFewElsewhere = 0.88;  // place alone, HLO unknown
inline constexpr double kConfidenceWaitingHead = 0.7;    // its HLO could be a wait
inline constexpr double kConfidenceLoopPenalty = 0.1;    // its pc still moves
inline constexpr double kConfidencePeerHead = 0.55;      // its peer elsewhere may be it
inline constexpr double kConfidenceManyHeads = 0.45;     // more than a few at once: never the cause
inline constexpr double kConfidenceSparseHead = 0.92;
inline constexpr double kConfidenceSparseByTensor = 0.7;  // its own SparseCore shows nothing
inline constexpr double kConfidenceWholeHostCompute = 0.6;
inline constexpr double kConfidenceInputSeen = 0.96;   // idle and seen waiting for input
inline constexpr double kConfidenceNotQueued = 0.88;   // idle, reason not seen
inline constexpr double kConfidenceEntryByHlo = 0.93;  // infeed or outstanding arguments
// A whole host elsewhere in the launch, HLO unknown: the host is at an infeed or a callback, or has
// left out a collective, which is the more likely, the further on it stands.
inline constexpr double kConfidenceEntryByPlace = 0.55;
inline constexpr double kConfidencePastByPlace = 0.45;
inline constexpr double kConfidenceHostBehind = 0.45;     // a whole host in an earlier launch
inline constexpr double kConfidenceStuckInKernel = 0.63;  // its runtime silent, others wait for it
inline constexpr double kConfidenceAllIdle = 0.75;        // nothing queued anywhere
inline constexpr double kConfidenceInputUnseenCores = 0.75;  // its host says so, its cores nothing
inline constexpr double kConfidenceLinkBothEnds = 0.95;      // both ends see it, waiters fit
inline constexpr double kConfidenceLinkOneEnd = 0.85;
inline constexpr double kConfidenceLinkByPlace = 0.58;     // waiters alone
inline constexpr double kConfidenceCarrierByPlace = 0.75;  // one of them has no carrier
inline constexpr double kConfidenceNetworkHost = 0.95;
inline constexpr double kConfidenceLinkUnawaited = 0.6;  // broken, but no core seen waiting
inline constexpr double kConfidenceStrayProbe = 0.45;    // alone, and no head waits for either end
inline constexpr double kConfidenceIciHealth = 0.9;
inline constexpr double kConfidenceDiverged = 0.93;
inline constexpr double kConfidenceDivergedOneSided = 0.67;  // order of programs unknown
inline constexpr double kConfidenceModuleUnnamed = 0.72;     // could be a compilation
inline constexpr double kConfidenceFingerprintUnnamed = 0.62;
inline constexpr double kConfidenceFingerprint = 0.95;
// By dumps, for a job that stands: a program that differs need not be the reason.
inline constexpr double kConfidenceFingerprintOfDump = 0.57;
inline constexpr double kConfidenceFingerprintOfHalves = 0.55;  // the odd side is not known
inline constexpr double kConfidenceFingerprintMore = 0.45;      // only one more: never the cause
inline constexpr double kConfidenceFingerprintSaid = 0.92;      // and a collective found it so
inline constexpr double kConfidenceLaunchOrder = 0.9;
inline constexpr double kConfidenceSkippedLaunch = 0.6;
// Hosts of one slice wait in two launches, and only their number shows which side is odd.
inline constexpr double kConfidenceSplitSlice = 0.62;
inline constexpr double kConfidenceLaunchGroupSeen = 0.94;  // assertion, and the odd side
inline constexpr double kConfidenceLaunchGroupText = 0.8;   // the assertion alone
inline constexpr double kConfidenceMismatchText = 0.9;      // of a collective: names nobody
inline constexpr double kConfidenceNotStarted = 0.96;       // the others' start-up ended, or waits
inline constexpr double kConfidenceKept = 0.95;             // by what its host knows
inline constexpr double kConfidenceBarrier = 0.7;           // the few that did not come
inline constexpr double kConfidenceBarrierByStep = 0.85;    // it left before the others
inline constexpr double kConfidenceCameAlone = 0.65;        // to the shutdown, its step not known
inline constexpr double kConfidenceAwaitedInVain = 0.75;    // busy as others' wait timed out
inline constexpr double kConfidenceDeclaredAlive = 0.7;     // it lived to hear that it was dead
inline constexpr double kConfidenceLostUnreachable = 0.93;
inline constexpr double kConfidenceLostTakesNoBytes = 0.9;
inline constexpr double kConfidenceLostDeclared = 0.85;  // its service misses it, too
inline constexpr double kConfidenceLostClosed = 0.92;    // its connections are closed
inline constexpr double kConfidenceLostAwaited = 0.63;
inline constexpr double kConfidenceLostMaybe = 0.45;  // or its agent alone: never the cause
inline constexpr double kConfidenceAdvancing = 0.97;
inline constexpr double kConfidencePause = 0.9;

// A broken link explains a whole host that stands elsewhere with at most this confidence.
inline constexpr double kExplainedByLink = 0.62;

// By logs alone: a worker is silent while the others complain of it, in one of these ways.
inline constexpr double kConfidenceSilentAndDeclared = 0.85;  // the service misses it, too
inline constexpr double kConfidenceDeclaredUnheard = 0.58;    // the service alone: no log of it
inline constexpr double kConfidencePreemptedByLog = 0.8;      // the platform says so in a log
inline constexpr double kConfidenceSilentLeader = 0.65;       // all others miss the leader
inline constexpr double kConfidenceSilentAndClosed = 0.6;     // a connection to it was closed
inline constexpr double kConfidenceSilentInWait = 0.56;       // the others' waits timed out
inline constexpr double kConfidencePortByLog = 0.6;           // its adapter reports its own port
inline constexpr double kConfidenceRetries = 0.55;            // it tries again and again
inline constexpr double kConfidenceOfNobody = 0.57;           // a log of several: names nobody
inline constexpr double kConfidenceAwaitedByName = 0.58;      // whoever waits names it
inline constexpr double kConfidenceOtherCollective = 0.6;     // watchdogs' numbers tell it apart
inline constexpr double kConfidenceHalfOfBarrier = 0.5;       // half of the job came, it did not
inline constexpr double kConfidenceLoaderFailed = 0.65;       // its loader of data failed
inline constexpr double kConfidenceBehindInLog = 0.6;         // began what all others finished
inline constexpr double kConfidenceOnlyError = 0.5;           // it alone logs an error of its own
inline constexpr double kConfidenceStartUpLingers = 0.5;      // its TPU waits for other hosts
inline constexpr int64_t kLeastRetries = 5;
// Fewer workers do not tell what is usual, nor do their logs if the odd one is silent for less.
inline constexpr size_t kLeastLogsToCompare = 3;
inline constexpr int64_t kBehindInLogMs = 60'000;
// An error that a log tells of so shortly before its end is what it ended with.
inline constexpr int64_t kErrorAtEndMs = 60'000;

// By the places of hosts, where no core is known: by stacks, and by pages alone.
inline constexpr double kConfidenceHostByStack = 0.85;
inline constexpr double kConfidenceHostByPage = 0.8;
inline constexpr double kDoubtAmongWaiters = 0.1;  // the odd side is known by number alone
inline constexpr double kDoubtByProgram = 0.2;     // likewise, and by a function of the program

// Below this a finding is named as an alternative and never as the cause.
inline constexpr double kLeastConfidence = 0.5;

// The share of right verdicts by certainty, straight lines between.
// Measured with `rapideye-evaluate --count=20000 --seed=6000000`, with --noise=on and
// --noise=heavy together. Made-up hangs know no surprises, so nothing is stated above
// kMostStated, however often it was right there; and it rises everywhere below, so
// that less evidence states less.
inline constexpr double kMostStated = 0.98;
struct CalibrationPoint {
  double certainty;
  double stated;
};
inline constexpr std::array kCalibration = {
    CalibrationPoint{0.0, 0.0},          CalibrationPoint{0.5, 0.5},
    CalibrationPoint{0.55, 0.63},        CalibrationPoint{0.58, 0.91},
    CalibrationPoint{0.67, 0.94},        CalibrationPoint{0.7, 0.96},
    CalibrationPoint{0.85, 0.97},        CalibrationPoint{0.95, 0.979},
    CalibrationPoint{0.97, kMostStated}, CalibrationPoint{1.0, kMostStated},
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_VERDICT_THRESHOLDS_H_
