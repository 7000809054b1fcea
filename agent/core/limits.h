// Limits bound what the agent's core remembers, asks and waits for, each limit with its reason.
// A limit of a single source stands with that source (agent/sources/<name>/limits.h).
#ifndef RAPIDEYE_AGENT_CORE_LIMITS_H_
#define RAPIDEYE_AGENT_CORE_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// Memory of the agent.

// Programs of a job; the least recently seen make room.
inline constexpr size_t kMaxPrograms = 64;
// Module names learnt, which outlive the programs.
inline constexpr size_t kMaxModules = 256;
// Programs and queue entries that go into one heartbeat: it has to stay small.
inline constexpr size_t kMaxHeartbeatPrograms = 16;
inline constexpr size_t kMaxHeartbeatQueue = 16;
// A launch counter that advances faster than this belongs to another process:
// dispatching one launch costs a host at least tens of microseconds.
inline constexpr int64_t kMaxLaunchesPerSecond = 20'000;
// Launches that a counter may be ahead without any time having passed.
inline constexpr int64_t kLaunchCounterSlack = 1'024;

// Alarms, and questions about the workers behind addresses.

// Time between alarms of one kind: for each the coordinator looks at all workers.
inline constexpr absl::Duration kAlarmSpacing = absl::Seconds(10);
// An alarm that found no coordinator is old news after this: by then a
// coordinator that came back sees for itself.
inline constexpr absl::Duration kKeepAlarmFor = absl::Minutes(1);

// Addresses at the other ends of connections: the coordinator is asked for their workers. A
// worker talks to some hundred others, and to its storage.
inline constexpr size_t kMaxKnownAddresses = 4'096;
// An address without a known worker is requested again, at first soon, since workers come
// one by one when a job starts; then hardly ever.
inline constexpr absl::Duration kFirstPeerSpacing = absl::Seconds(15);
inline constexpr absl::Duration kLongestPeerSpacing = absl::Minutes(10);
// Time between two such requests.
inline constexpr absl::Duration kPeerAskSpacing = absl::Seconds(5);

// Changes of position kept for every core: with eight the ring takes about half a
// kilobyte, and a snapshot of 256 cores not 100 KiB more.
inline constexpr size_t kMaxTransitionsPerCore = 8;

// State on disk, for the next agent.

// An agent that is replaced comes back within minutes; a hang without
// any agent for this long is collected anew.
inline constexpr absl::Duration kKeepStateFor = absl::Hours(1);
// The same while no training process is seen: the process that starts may be of the next
// incarnation.
inline constexpr absl::Duration kKeepUnseenFor = absl::Minutes(1);
// Time between two writes: a coordinator that sends endless commands must not wear out the disk.
inline constexpr absl::Duration kKeepSpacing = absl::Seconds(1);
// Size of the file: a snapshot and a few lines.
inline constexpr size_t kMaxStateBytes = 8 * 1024 * 1024;
// Longest wait for the disk: one that hangs must hold up neither the start nor the end.
inline constexpr absl::Duration kStatePatience = absl::Seconds(1);

// Polling.

// Four times a second: as often as a standstill is worth looking at.
inline constexpr absl::Duration kFastestPoll = absl::Milliseconds(250);
inline constexpr absl::Duration kSlowestPoll = absl::Hours(1);
// A launch that takes longer than this many times the longest one so far (as measured
// by polls, which overstates it) may be the beginning of a standstill: the order in
// which cores stop is worth a burst of fast polls. In health that is rare, and no more
// than 40 polls a minute beside the usual 12.
inline constexpr double kOverdueLaunch = 1.25;
inline constexpr absl::Duration kOverduePollingFor = absl::Seconds(10);
inline constexpr absl::Duration kOverdueSpacing = absl::Minutes(1);
// Least time over which the work of a training process without known steps is measured: windows
// shorter than the usual polls would show little of a step each.
inline constexpr absl::Duration kActivityWindow = absl::Seconds(4);
// So many windows with work tell the usual amount.
inline constexpr size_t kActivityWindows = 8;
// Growth of this part (1/8) of the usual is still work: services that go on in a hang cause less.
inline constexpr int64_t kActivityPart = 8;
// CPU time of so many times the usual of steps, in a window without a step's traffic, input and
// output, is work: a process that waits in a loop uses no more than one core, as its steps do.
inline constexpr double kBusyFactor = 3;
// For so long after its start a process without a rhythm of traffic may still read its program, and
// compile: what it does is no measure of steps.
inline constexpr absl::Duration kStartLasts = absl::Minutes(5);
// A first thread that runs, or waits for a processor, for this part of a window works; it does not
// if it does half as much in windows with steps, as where a library waits in a loop.
inline constexpr double kWorksPart = 0.5;
inline constexpr double kWorksFactor = 2;
// So many windows with less, without a larger one in between, show another kind of work: two
// minutes at the usual pace of polls, less than any default hang threshold.
inline constexpr size_t kSmallerWindows = 24;
// The least --poll-interval may be: a poll costs the training process something.
inline constexpr absl::Duration kShortestPollInterval = absl::Milliseconds(50);
// A runtime whose state changes with every poll does not flood the log.
inline constexpr absl::Duration kHealthLogSpacing = absl::Seconds(10);
// A status answer takes milliseconds; a runtime that needs longer is wedged.
inline constexpr absl::Duration kPollDeadline = absl::Seconds(2);
// HLO is expensive to put together.
inline constexpr absl::Duration kHloDeadline = absl::Seconds(10);
// Whatever a coordinator asks, the runtime is not asked for HLO more often.
inline constexpr absl::Duration kHloSpacing = absl::Seconds(1);
// The sampler always answers; should it not, the core carries on after this.
inline constexpr absl::Duration kLostPollGrace = absl::Seconds(5);
// For snapshots the runtime is asked no more often than this: the two looks of an incident
// are five times as far apart.
inline constexpr absl::Duration kCollectSpacing = absl::Milliseconds(100);
// A job that stands still for long (paused, waiting for data) is polled at the
// usual pace again.
inline constexpr absl::Duration kFastPollingFor = absl::Minutes(10);
// Half of the shortest launch threshold, until a coordinator says otherwise.
inline constexpr absl::Duration kDefaultAttentionAfter = absl::Seconds(5);

// The coordinator.

inline constexpr absl::Duration kFirstBackoff = absl::Milliseconds(500);
// Short enough that a restarted coordinator soon knows its job again, long
// enough that 10,000 agents do not trample it.
inline constexpr absl::Duration kLongestBackoff = absl::Seconds(15);
// After a refusal that will not go away by itself (a newer agent has taken this
// worker, identity not accepted).
inline constexpr absl::Duration kRefusedBackoff = absl::Minutes(1);
// A stream has to live this long before the backoff starts from the beginning.
inline constexpr absl::Duration kStableStream = absl::Seconds(10);
// For so long after the end of its training process an agent connects again as soon as at first:
// under exec it stays for no longer than this (agent/exec/limits.h).
inline constexpr absl::Duration kHurryFor = absl::Seconds(5);
// Longest wait for the Welcome after a Hello.
inline constexpr absl::Duration kWelcomeTimeout = absl::Seconds(15);
// Deadlines of a coordinator are brought into this range.
inline constexpr absl::Duration kShortestDeadline = absl::Milliseconds(100);
inline constexpr absl::Duration kLongestDeadline = absl::Minutes(1);
// So long after a coordinator's question its collection still counts as under way.
inline constexpr absl::Duration kCollectionLasts = absl::Seconds(15);
// A snapshot that never gets credit is dropped after this.
inline constexpr absl::Duration kKeepSnapshotFor = absl::Minutes(5);
// Messages that wait to be written. Heartbeats replace each other and there is
// one collection at a time: more means a coordinator that does not read.
inline constexpr size_t kMaxOutgoingMessages = 16;
// Events that wait for the core; each producer has at most a few on their way.
inline constexpr size_t kMaxWaitingEvents = 64;
// SIGTERM ends the agent within 5 s; the last messages get this much of it.
inline constexpr absl::Duration kShutdownFlush = absl::Seconds(1);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_LIMITS_H_
