// Limits bound the coordinator's memory, work and waiting, each limit with its reason. A counter of
// the same subject (coordinator/core/job_status.h) shows when a limit takes effect.
#ifndef RAPIDEYE_COORDINATOR_CORE_LIMITS_H_
#define RAPIDEYE_COORDINATOR_CORE_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::coordinator {

// Membership ---------------------------------------------------------------

// One coordinator is meant for about 10,000 hosts; ten times as many keep a wrong shape in one
// Hello from costing gigabytes.
inline constexpr int64_t kMaxWorkers = 100'000;
// A host's clock stamps its agent's start, and may be wrong, but not by more than this: the younger
// of two agents speaks for their worker, and an agent of the far future would do so for ever.
inline constexpr absl::Duration kMaxAgentClockLead = absl::Hours(24);
// A stream without a Hello holds a slot for no longer than this.
inline constexpr absl::Duration kHelloDeadline = absl::Seconds(10);
// After the coordinator starts, agents come back within their backoff. Until all are there or this
// time has passed, a job that seems still is not judged: many reports are missing. An alarm waits
// as long for most of them.
inline constexpr absl::Duration kSettleTime = absl::Seconds(30);
// An agent whose connections break all the time takes over from itself so often. Beyond that, two
// agents that give the same name are taken to replace each other in turn, and the second has to
// wait until the keepalive finds the first gone.
inline constexpr int kMaxTakeovers = 16;
// An incident that agents remember as concluded, and this disk does not have, counts for so long.
inline constexpr absl::Duration kBelieveUnwritten = absl::Minutes(5);
// A stream that is silent for so long, and for so many of its poll intervals, is closed: its
// agent may be connected, but reports nothing about its worker. The limit also ends a message
// that is begun and never finished.
inline constexpr absl::Duration kMaxSilence = absl::Minutes(1);
inline constexpr int kSilentPolls = 10;
// Bytes of a peer's text that a line of the log quotes.
inline constexpr size_t kMaxQuoted = 128;
// Lines a second about peers that are refused: a flood of them must not become a
// flood of the log.
inline constexpr double kPeerLinesPerSecond = 10;
inline constexpr double kPeerLineBurst = 100;
// Lines about agents that come and go: enough for all agents when a job of thousands starts, and
// too few to fill a disk when a single agent connects all day.
inline constexpr double kArrivalLinesPerSecond = 5;
inline constexpr double kArrivalLineBurst = 25'000;
// Streams of one host at once, or of all hosts behind one translated address. Loopback, where
// tests run whole jobs, is not bounded.
inline constexpr size_t kMaxStreamsOfHost = 1024;
// Streams of one certificate at once, where certificates name workers: a host has few workers, and
// each may have an old half-open stream beside its new one.
inline constexpr size_t kMaxStreamsOfCertificate = 64;
// An attentive agent sends four messages a second. A stream may send ten times as many,
// and a burst for a backlog that the network delivered at once.
inline constexpr double kMessagesPerSecond = 40;
inline constexpr double kMessageBurst = 200;

// Learning -----------------------------------------------------------------

// Distinct programs of one job incarnation. Real jobs run tens of programs.
inline constexpr size_t kMaxPrograms = 4096;
// Launches remembered per worker to find the order of programs in a step.
inline constexpr size_t kMaxLaunchHistory = 64;
// A launch counts for half once this many more have completed: a lasting phase (training,
// then evaluation) replaces the previous one within a few thousand launches.
inline constexpr int64_t kRecentLaunches = 1024;
// No counter beyond this is believed; sums of thousands of such counters fit 64 bits.
inline constexpr int64_t kMaxCountedLaunches = int64_t{1} << 40;
// A program belongs to a worker's steady set if it ran at least this fraction
// (one in so many) as often as the worker's most frequent program.
inline constexpr int64_t kSteadyShare = 16;
// A slice whose workers have launched nothing when others have completed this many
// launches is on standby. A slice with fewer launches behind may just be late: programs that
// prepare a job are few.
inline constexpr int64_t kStandbyAfter = 100;
// A larger number of groups is noise (or malice), not pipeline stages, and the search for
// groups is quadratic in their number.
inline constexpr size_t kMaxCohorts = 256;
// A longer pause in health is not believed: three times as long would leave a dead job
// unnoticed for a working day.
inline constexpr absl::Duration kMaxLearntPause = absl::Hours(1);

// Learnt pauses are written to disk no more often than this: a job in its first hour learns longer
// pauses all the time.
inline constexpr absl::Duration kKeepPausesSpacing = absl::Minutes(1);

// Progress (deploy/COMMANDS.md, "When an alarm is raised") ----------------------

inline constexpr absl::Duration kMinLaunchThreshold = absl::Seconds(10);
inline constexpr absl::Duration kMaxLaunchThreshold = absl::Minutes(5);
inline constexpr int kLaunchFactor = 5;
inline constexpr absl::Duration kMinHangThreshold = absl::Minutes(5);
inline constexpr int kPauseFactor = 3;
// For so long at least an alarm waits while all processes work: an evaluation and a retry in vain
// look the same from outside, and a threshold of seconds is about processes that wait.
inline constexpr absl::Duration kMinWorkAllowance = absl::Minutes(1);
// When every loop's page says that the loop is within a step or waits for input, the usual
// reasons of a long pause (a checkpoint, an evaluation, a compilation) are excluded, and the
// runtime's own patience inside a launch is enough.
inline constexpr absl::Duration kMinWatchedHangThreshold = absl::Minutes(1);
// Agents learn a new threshold from which to poll more often once it has changed by this factor:
// each such message costs every agent work.
inline constexpr double kAttentionChange = 1.25;
// The interval of the judgement of stillness: the resolution of every threshold.
inline constexpr absl::Duration kJudgePeriod = absl::Milliseconds(100);
// A worker that has gone is retired once the others have gone on for so long without it. Workers
// run a few launches ahead: if the others needed that worker, they would all have stood still long
// before.
inline constexpr absl::Duration kGoesOnWithout = absl::Minutes(1);
inline constexpr int kLaunchesWithout = 4;
// Intervals of the search for workers that have gone, and of the judgement of a start-up.
inline constexpr absl::Duration kRetirePeriod = absl::Seconds(1);
inline constexpr absl::Duration kStartUpJudgePeriod = absl::Seconds(1);

// Incident -------------------------------------------------------------------

// The two rounds are at least this far apart, per worker.
inline constexpr absl::Duration kRoundInterval = absl::Milliseconds(500);
// After the failed end of a process at what may be the end of the run, the second round waits for
// the fate of the others. Shorter than agents stay after the end of their process.
inline constexpr absl::Duration kExitsSettle = absl::Seconds(4);
// Runtimes that are asked for HLO: the answer is expensive for a runtime.
inline constexpr size_t kMaxHloRequests = 32;
// An answer with HLO is expensive but bounded; the rest of the deadline is kept for the
// digest.
inline constexpr absl::Duration kHloDeadline = absl::Seconds(5);
// Texts of programs are large, and the digest waits for them: a slower disk than this
// delivers none. So many workers of each side are asked, one after the other.
inline constexpr absl::Duration kModuleTextDeadline = absl::Seconds(5);
inline constexpr size_t kMaxTextTries = 3;
// A worker that raises the alarm while launches still complete is asked again after this
// time, so often: the fault that it saw may stop the others a little later.
inline constexpr absl::Duration kAlarmRetry = absl::Seconds(2);
inline constexpr int kAlarmTries = 4;
// Alarms without a hang begin no more than one collection in this time.
inline constexpr absl::Duration kAlarmInterval = absl::Seconds(10);

// Time until another look at a job that stands (core/look_schedule.h). After a verdict without a
// hang the look comes as soon as an alarm may be raised again.
inline constexpr absl::Duration kLookAfterNoHang = kAlarmInterval;
// After UNKNOWN: the lacking evidence, an error or a line in a log, comes within minutes or never.
inline constexpr absl::Duration kLookAfterUnknown = absl::Minutes(1);
inline constexpr absl::Duration kLongestLookInterval = absl::Minutes(30);
// Looks at one standstill after the first: enough for a night.
inline constexpr int kMaxLooks = 24;

// Probes ---------------------------------------------------------------------

// Probes of one hang, for any size of job: a few tens of small packets each.
inline constexpr size_t kMaxProbes = 96;
// Agents that make the probes.
inline constexpr size_t kMaxProbers = 32;
// Limits for one suspect. Beyond a few missing workers, or suspect connections,
// the fault is larger than a host, and more probes add no evidence.
inline constexpr size_t kMaxProbedMissing = 4;
inline constexpr size_t kMaxProbedPairs = 8;
inline constexpr size_t kMaxPairsOfWorker = 3;
inline constexpr size_t kMaxProbedOutsiders = 4;
// Hosts of TPUs have a NIC for management and two for the other slices.
inline constexpr size_t kMaxNicsOfPair = 4;
// Workers that probe a missing worker (classifier/CAUSES.md, "Removal": three peers that
// agree), and bystanders that probe both ends of a suspect connection.
inline constexpr size_t kWitnesses = 3;
inline constexpr size_t kBystanders = 2;
// Bytes unacknowledged for this long are worth a probe; round trips take
// milliseconds.
inline constexpr absl::Duration kSuspectSilence = absl::Seconds(1);
// Agents give their probes 800 ms. The second round and HLO take about as long, and the digest
// waits no longer for any of them.
inline constexpr absl::Duration kProbeDeadline = absl::Seconds(1);
// Agents without probes whose reason is logged.
inline constexpr size_t kMaxLoggedRefusals = 3;

// Operators --------------------------------------------------------------------

// Each snapshot on demand asks runtimes for HLO, which is expensive; requests in between wait
// and share the next snapshot.
inline constexpr absl::Duration kSnapshotInterval = absl::Seconds(5);
// One certificate may ask for snapshots no more often than this, so that runtimes get their rest.
inline constexpr absl::Duration kLookInterval = absl::Minutes(1);
// Requests for a snapshot that wait at once: each is a person at a keyboard.
inline constexpr size_t kMaxSnapshotRequests = 16;
// Workers and cohorts that a status names; longer lists are not read.
inline constexpr size_t kMaxListedWorkers = 10;
inline constexpr size_t kMaxListedCohorts = 16;
inline constexpr size_t kMaxListedVersions = 8;  // of agents: a job updates from one to the next
// Incidents whose end is remembered; pages list as many.
inline constexpr size_t kMaxEndedIncidents = 200;
// Finding the cohorts costs more than the rest of a status, and they change rarely.
inline constexpr absl::Duration kCohortRefresh = absl::Seconds(5);

// The largest age of a status: a coordinator of 100,000 workers then spends a small
// part of its time on statuses, for any number of requests.
inline constexpr absl::Duration kStatusFresh = absl::Milliseconds(200);
// Calls of operators at once: people and a few scripts.
inline constexpr size_t kMaxOperatorCalls = 32;
// Bytes of all answers to operators that are being sent: a capture of the
// largest job, twice.
inline constexpr int64_t kMaxOperatorBytes = int64_t{512} << 20;
// A call that takes longer (a disk that hangs, a caller that does not read) ends.
inline constexpr absl::Duration kOperatorCallLimit = absl::Minutes(2);
// One message of a document: small beside what a connection buffers.
inline constexpr size_t kOperatorPartBytes = size_t{256} << 10;
// Incidents in one list; retention keeps fewer.
inline constexpr size_t kMaxListedIncidents = 1000;

// Pages ------------------------------------------------------------------------

// The longest pause of the watch that an operator may announce at once: a forgotten pause hides a
// hang no longer than this.
inline constexpr absl::Duration kLongestWatchPause = absl::Hours(24);
// Difference that the clocks of two coordinators may have when one takes over the other's pause.
inline constexpr absl::Duration kWatchPauseClockSlack = absl::Hours(1);
// The part of a scrape's or a health probe's timeout that is spent waiting for the core.
inline constexpr absl::Duration kStatusPatience = absl::Milliseconds(500);
// A page that comes from the disk: to read and show the digest of 10,000 hosts
// takes seconds. A browser waits that long.
inline constexpr absl::Duration kDocumentPatience = absl::Seconds(10);
// Pages that wait for the disk at once: fewer than the server has threads, so that
// a disk that hangs leaves some for probes and scrapes.
inline constexpr int kMaxPagesFromDisk = 2;
// Incidents on one page; the command lists more.
inline constexpr size_t kMaxListedOnPage = 200;
// The loop turns at least once a second. A loop that has not turned for so long is no longer
// busy but stuck: /healthz fails, and the platform may restart the coordinator.
inline constexpr absl::Duration kLoopPatience = absl::Seconds(15);
// A coordinator that turned connections away for want of descriptors within this time says so
// at /readyz.
inline constexpr absl::Duration kStarvedPatience = absl::Seconds(10);
// Descriptors of a coordinator beside two for each worker: one for its stream, one while a
// half-open stream of the same worker lingers.
inline constexpr int64_t kDescriptorsBesideWorkers = 256;

// Collection -----------------------------------------------------------------

// Snapshots on their way at once. A typical one is 10 to 130 KiB.
inline constexpr size_t kMaxSnapshotsInFlight = 64;
inline constexpr int64_t kMaxBytesInFlight = int64_t{64} << 20;
// Largest snapshot taken, equal to the transport's limit of one message.
inline constexpr int64_t kMaxSnapshotBytes = int64_t{8} << 20;
// Snapshots sent without asking first: even if each is as large as it may be, and none of them
// comes, half of the bytes in flight are left to the others.
inline constexpr size_t kUpFrontCredits = kMaxBytesInFlight / kMaxSnapshotBytes / 2;
// All snapshots of one incident together, on the wire: five times the size of those of the largest
// job, 12,500 hosts. Snapshots beyond are missing, and the log says so.
inline constexpr int64_t kMaxCollectionBytes = int64_t{1} << 30;
// A verdict takes seconds for the largest job. A verdict that takes longer is not waited for: the
// digest says what is known without it.
inline constexpr absl::Duration kVerdictPatience = absl::Seconds(30);
// Parts of one snapshot, near those of real hosts: 8 chips of up to 10 cores, tens of programs.
// Rules compare them with each other; a worker that sends more loses its stream. A capture from
// elsewhere may hold more (proto/v1/capture.proto).
inline constexpr size_t kMaxCoresOfWorker = 4096;
inline constexpr size_t kMaxProgramsOfWorker = 1024;
inline constexpr size_t kMaxChipsOfWorker = 256;
inline constexpr size_t kMaxLogEventsOfWorker = 1024;
inline constexpr size_t kMaxNicsOfWorker = 1024;
inline constexpr size_t kMaxIciLinksOfWorker = 4096;
// A worker that was granted credit and does not send loses it after this.
inline constexpr absl::Duration kGrantTimeout = absl::Seconds(2);
// Agents announce an estimate: the real snapshot may be this many times as large,
// and this much more.
inline constexpr int64_t kSizeFactor = 2;
inline constexpr int64_t kSizeSlack = int64_t{64} << 10;

// The shell: streams, queues, the disk -------------------------------------------

// Streams at once: a job of 10,000 hosts, each with an old half-open connection
// beside its new one. Descriptors allow hardly more.
inline constexpr size_t kMaxStreams = 20'000;
// Messages that wait for the core. At most one message per stream waits, so the limit takes
// effect only when thousands of agents send their largest message together, unasked.
inline constexpr int64_t kMaxQueuedBytes = int64_t{256} << 20;
// Commands that wait for one agent to read. One incident sends an agent fewer than ten.
inline constexpr size_t kMaxSendQueue = 32;
// A closed stream whose peer does not even read that is cut off after this.
inline constexpr absl::Duration kCloseGrace = absl::Seconds(2);
// SIGTERM ends the program within 5 s (deploy/COMMANDS.md): the incident in progress gets this
// time, then the streams theirs.
inline constexpr absl::Duration kStopIncident = absl::Seconds(3);
inline constexpr absl::Duration kStopStreams = absl::Milliseconds(500);
// How often the shell does its periodic work: checks whether a disk is back, cuts off
// closed streams that are not read, updates /healthz.
inline constexpr absl::Duration kHousekeeping = absl::Seconds(1);
// Memory that was freed is returned to the system if it is more than this, which the next
// collection needs again.
inline constexpr size_t kKeptFreeMemory = size_t{128} << 20;
inline constexpr absl::Duration kFreeMemoryCheck = absl::Seconds(5);
// A disk that takes longer than this does not hold up the digest in the log.
inline constexpr absl::Duration kDiskPatience = absl::Seconds(1);
// A coordinator that was asked to end takes 5 s; its successor may have been started meanwhile.
inline constexpr absl::Duration kPredecessorPatience = absl::Seconds(7);
inline constexpr absl::Duration kPredecessorLook = absl::Milliseconds(200);
// Largest file of a stored incident that is read into memory: the digest of
// 100,000 workers has tens of megabytes, a capture of 10,000 some hundred.
inline constexpr int64_t kMaxIncidentBytes = int64_t{256} << 20;
// Incidents that wait in memory for a disk that fails; the oldest is given up first: a job that
// cannot stay up has about one incident an hour, and the capture of 10,000 hosts takes some ten
// MiB. Their digests are in the log.
inline constexpr size_t kMaxPendingIncidents = 16;
inline constexpr int64_t kMaxPendingBytes = int64_t{256} << 20;
// Time between two tries at a disk: short at first, since most failures pass, then longer,
// since each try may write the whole incident before it fails.
inline constexpr absl::Duration kFirstDiskRetry = absl::Seconds(1);
inline constexpr absl::Duration kLongestDiskRetry = absl::Minutes(1);

// Hooks --------------------------------------------------------------------------

// Default of --hook-timeout. A request of a hook to a control plane takes seconds.
inline constexpr absl::Duration kHookTimeout = absl::Seconds(60);
// Time of a hook between SIGTERM and SIGKILL; two of these fit into the 5 s in which SIGTERM ends
// the program.
inline constexpr absl::Duration kHookGrace = absl::Seconds(1);
// Bytes kept of the output of one hook: enough for the error of any tool, and for the record of an
// incident to stay small.
inline constexpr size_t kMaxHookOutput = size_t{16} << 10;

// How long hooks wait for the decision about an incident's machines, to get the removal
// as input. A history that is down delays them no longer.
inline constexpr absl::Duration kDecisionPatience = absl::Seconds(30);
// Time that a stop gives to the writing of incidents' records.
inline constexpr absl::Duration kStopRemovals = absl::Seconds(2);

// Limits of flags ---------------------------------------------------------

// The largest interval on the wire; no launch takes longer.
inline constexpr absl::Duration kMaxThreshold = absl::Hours(24);
// Shorter thresholds than this exceed the resolution of the agents' polling.
inline constexpr absl::Duration kMinThreshold = absl::Seconds(1);
// Two rounds and their interval (kRoundInterval) need this time.
inline constexpr absl::Duration kMinCollectDeadline = absl::Seconds(2);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_LIMITS_H_
