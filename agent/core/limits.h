// Every limit of the agent, with its reason.
#ifndef RAPIDEYE_AGENT_CORE_LIMITS_H_
#define RAPIDEYE_AGENT_CORE_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// What a runtime may say. Whatever exceeds these is left out and named in the
// detail of the runtime's state.

// An answer without HLO. Parsed messages take many times the memory of their
// bytes; one with HLO may take what the channel accepts.
inline constexpr size_t kMaxStatusBytes = 2 * 1024 * 1024;
// The largest host has 8 devices of 2 TensorCores and 4 SparseCores.
inline constexpr size_t kMaxCores = 256;
// Global core ids count over a whole job: 100,000 hosts of 48 cores fit.
inline constexpr int32_t kMaxCoreId = (1 << 24) - 1;
// A SparseCore has one sequencer, and up to 16 tiles of two each.
inline constexpr size_t kMaxSequencersPerCore = 64;
// Hosts run a few launches ahead; a queue this long is already nonsense.
inline constexpr size_t kMaxQueuedPerCore = 128;
// Fingerprints are 16 or 32 bytes.
inline constexpr size_t kMaxFingerprintBytes = 64;
// One instruction as text; longer ones are cut.
inline constexpr size_t kMaxHloTextBytes = 4 * 1024;
// All HLO texts of one sample, so that a snapshot fits into one message.
inline constexpr size_t kMaxHloTextBytesPerSample = 1024 * 1024;
// A JSON array that describes one instruction.
inline constexpr size_t kMaxHloDetailBytes = 64 * 1024;
// Names of instructions and modules.
inline constexpr size_t kMaxNameBytes = 256;
// What the runtime reports as the error of a core; longer ones are cut.
inline constexpr size_t kMaxCoreErrorBytes = 2 * 1024;
// Text of a runtime's or coordinator's error that is passed on.
inline constexpr size_t kMaxDetailBytes = 512;
// Complaints about one answer that are spelled out; the rest is counted.
inline constexpr size_t kMaxComplaints = 3;

// What the agent remembers.

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

// What the host shows.

// The kernel takes 15 bytes, and its own threads up to 63.
inline constexpr size_t kMaxCommandBytes = 64;
// One line of numbers and a name.
inline constexpr size_t kMaxProcFileBytes = 4 * 1024;
// Listening sockets come first; a host with more of them is none that trains.
inline constexpr size_t kMaxSocketTableBytes = 1024 * 1024;
// Of one process: more than its limit usually allows.
inline constexpr size_t kMaxDescriptorsSearched = 65'536;
// A search through all processes of a host takes milliseconds; on one with very
// many it is given up, and begun again no sooner than this.
inline constexpr absl::Duration kProcessSearchDeadline = absl::Seconds(1);
inline constexpr absl::Duration kProcessSearchSpacing = absl::Seconds(5);
// Who listens is read from a table for which the kernel walks through all connections
// of the host, milliseconds each time: of a process that lives, no more often than this.
inline constexpr absl::Duration kListenerSpacing = absl::Minutes(1);
// Who holds the chips: looked for at a hang only, through all descriptors of the host,
// and not in every poll then.
inline constexpr absl::Duration kHolderSearchDeadline = absl::Milliseconds(200);
inline constexpr absl::Duration kHolderSpacing = absl::Seconds(30);
// A leftover or two; more tell no more.
inline constexpr size_t kMaxChipHolders = 8;
// Stacks of the training process: the tools need a tenth of a second for a small
// process, and longer for hundreds of threads. They have less than a coordinator allows
// for collecting, and what is not there in time is left out.
inline constexpr absl::Duration kStackDeadline = absl::Seconds(2);
// To look at a process holds it up, however shortly: a coordinator that names one
// incident after the other gets no more than this.
inline constexpr absl::Duration kStackSpacing = absl::Minutes(1);
// Processor time of one tool, which the kernel sees to even if nobody else does any more.
inline constexpr unsigned long kToolCpuSeconds = 10;
// A thousand threads of 48 frames.
inline constexpr size_t kMaxToolBytes = 4 * 1024 * 1024;
inline constexpr size_t kMaxThreadsRead = 2'048;
// What a snapshot carries, of all threads together, of which those that stand alike are
// one: there may be ten thousand workers.
inline constexpr size_t kMaxStackBytes = 16 * 1024;
inline constexpr size_t kMaxStacks = 24;
// Recursion, or a library's layers: whoever waits and for what is told further in.
inline constexpr size_t kMaxStackFrames = 48;
// C++ names are longer, and begin with what tells most.
inline constexpr size_t kMaxStackFrameBytes = 160;
// The host answers at once; a poll waits this much longer for it than for the
// runtime, and not again while an answer is owing.
inline constexpr absl::Duration kHostGrace = absl::Milliseconds(300);
// Alarms of one kind: the coordinator looks at all workers for each.
inline constexpr absl::Duration kAlarmSpacing = absl::Seconds(10);
// An alarm that found no coordinator is old news after this: by then a
// coordinator that came back sees for itself.
inline constexpr absl::Duration kKeepAlarmFor = absl::Minutes(1);

// Connections of a host, of which only those to other workers are kept.
inline constexpr size_t kMaxConnections = 200'000;
// Fullest send queues first; links that are broken are among them.
inline constexpr size_t kMaxSockets = 1'024;
// Listing a thousand connections takes a millisecond.
inline constexpr absl::Duration kSocketDeadline = absl::Milliseconds(500);
// How often they are listed in health: one look in so many polls.
inline constexpr int kPollsPerSocketLook = 4;
// And while nothing moves, though polls may be faster.
inline constexpr absl::Duration kSocketSpacing = absl::Seconds(1);

// Addresses at the other ends of its connections, whose the coordinator is asked. A
// worker talks to some hundred others, and to its storage.
inline constexpr size_t kMaxKnownAddresses = 4'096;
// An address that is nobody's is asked about again, at first soon, since workers come
// one by one when a job starts; then hardly ever.
inline constexpr absl::Duration kFirstPeerSpacing = absl::Seconds(15);
inline constexpr absl::Duration kLongestPeerSpacing = absl::Minutes(10);
// Between two questions.
inline constexpr absl::Duration kPeerAskSpacing = absl::Seconds(5);

// What its kernel shows of its hardware.

// A number, a word, or a table of counters.
inline constexpr size_t kMaxSysFileBytes = 4 * 1024;
// Of one host; those of the largest are a few hundred.
inline constexpr size_t kMaxPciDevices = 4'096;
inline constexpr size_t kMaxTpus = 64;
// With the bridges of containers; more is none that trains.
inline constexpr size_t kMaxNics = 256;
// The kernel answers from memory, in well under a millisecond for each.
inline constexpr absl::Duration kCounterDeadline = absl::Milliseconds(200);
// How often counters are read in health, to know what health looks like: an error of
// which nobody knows whether it was a minute or five before the hang still tells.
inline constexpr absl::Duration kCounterSpacing = absl::Minutes(5);
// The longest line that /dev/kmsg hands out.
inline constexpr size_t kMaxKernelRecordBytes = 8 * 1024;
// A ring of the usual size holds some ten thousand lines, a microsecond each.
inline constexpr int kMaxKernelLinesPerLook = 20'000;
inline constexpr absl::Duration kKernelLogDeadline = absl::Milliseconds(100);
// Distinct events of the kernel's log that are remembered: a few for each chip.
inline constexpr size_t kMaxKernelEvents = 32;
// The kernel stamps its log with a clock that nobody corrects: quartz is off by up
// to 100 millionths, what measured it at boot by as much.
inline constexpr double kKernelClockDrift = 200e-6;
inline constexpr absl::Duration kKernelClockError = absl::Seconds(1);
// In which the kernel tells when a process began, on all its machines.
inline constexpr int64_t kTicksPerSecond = 100;
// What the training loop says (agent/progress).

// Reads of a page that is being written all the time: a write takes nanoseconds.
inline constexpr int kProgressPageTries = 16;
// The clock is the same; what is later than now by more than this was not read from it.
inline constexpr absl::Duration kProgressClockSlack = absl::Seconds(1);

// What metrics endpoints say, at a hang only.

// A page of a device plugin or of Grain has some KiB.
inline constexpr size_t kMaxMetricsPageBytes = 1024 * 1024;
// What is kept of each endpoint: enough for all of a host's chips.
inline constexpr size_t kMaxMetricsPerSource = 64;
inline constexpr size_t kMaxMetricLabels = 8;
// All of them are on this host and answer in milliseconds; less than the host's grace.
inline constexpr absl::Duration kMetricsDeadline = absl::Milliseconds(200);

// Probes of other workers, which only a coordinator asks for.

// Whatever a coordinator asks, others are not probed more often.
inline constexpr absl::Duration kProbeRequestSpacing = absl::Seconds(1);
// Where to knock: the slice builder's port, which firewalls between the hosts of a TPU
// job let through. Nothing needs to listen there, since a refusal is an answer.
inline constexpr uint16_t kProbePort = 8471;
// A packet may get lost on a link that is sound: so many tries, so far apart, which no
// round trip inside a region exceeds. All are made, and answered, within a time that
// does not hold up the digest.
inline constexpr int kProbeTries = 3;
inline constexpr absl::Duration kProbeSpacing = absl::Milliseconds(250);
inline constexpr absl::Duration kProbeTime = absl::Milliseconds(800);
// A peer that has answered a SYN, but no datagram within this, never will.
inline constexpr absl::Duration kDatagramPatience = absl::Milliseconds(400);
// The prober always answers; should it not, it is taken for gone after this.
inline constexpr absl::Duration kLostProbeGrace = absl::Seconds(5);

// What the logs say.

// Read at a time, and at most in one look. 100,000 lines a second are some 8 MiB a
// look; twice that costs a tenth of a core, and a log that grows faster still is
// skipped to near its end, where the last words of a process stand.
inline constexpr size_t kLogReadBytes = 256 * 1024;
inline constexpr int64_t kMaxLogBacklogBytes = 16 * 1024 * 1024;
// The last bytes read, by which a file that was truncated and has grown again is
// told from one that only grew.
inline constexpr size_t kLogTailBytes = 64;
// Files that one agent follows.
inline constexpr size_t kMaxLogFiles = 64;
// How often followed files that grow are looked at, two system calls each; those too
// of which the kernel does not tell when they grow.
inline constexpr absl::Duration kLogPoll = absl::Milliseconds(500);
// And all others: in case that it has missed something.
inline constexpr absl::Duration kLogCheck = absl::Seconds(5);
// An agent whose log files do not answer starts all the same.
inline constexpr absl::Duration kFirstLogLook = absl::Seconds(1);
// How often patterns are looked at for new files of which the kernel does not tell.
inline constexpr absl::Duration kLogSearch = absl::Seconds(2);
// Distinct events that are remembered, and for how long after the last of each.
inline constexpr size_t kMaxLogEvents = 64;
inline constexpr absl::Duration kKeepLogEventsFor = absl::Hours(1);
// A process's last words are read this long after its end, at most.
inline constexpr absl::Duration kLastWordsDelay = absl::Seconds(1);

// The command that the agent starts (exec).

// What of one output is held for the agent, read at a time (a pipe holds as much), and
// from when on the agent is woken: that leaves it 150 ms at 20 MB/s, on a host whose
// cores are all busy.
inline constexpr size_t kOutputRingBytes = 4 * 1024 * 1024;
inline constexpr size_t kOutputPieceBytes = 64 * 1024;
inline constexpr size_t kOutputWakeBytes = 1024 * 1024;
// An agent or relay that dies is started again, at once the first time, less and less
// often if it goes on dying.
inline constexpr absl::Duration kFirstRestart = absl::Seconds(1);
inline constexpr absl::Duration kSlowestRestart = absl::Minutes(1);
// After the command's end, output that others still hold open is passed on for as long
// as it moves.
inline constexpr absl::Duration kDrainPatience = absl::Seconds(5);
// A bad end is looked at by all: how long the agent stays to tell of it, and how long
// if the command was told to end, since whoever did so waits.
inline constexpr absl::Duration kLastWordsFor = absl::Seconds(15);
inline constexpr absl::Duration kLastWordsIfTold = absl::Seconds(2);
// Of the agent's own log, found at its start, before it is set aside.
inline constexpr int64_t kMaxExecLogBytes = 16 * 1024 * 1024;
// Then it may take this much longer to end before it is killed.
inline constexpr absl::Duration kAgentEndGrace = absl::Seconds(2);

// Changes of position kept for every core: with eight the ring takes about half a
// kilobyte, and a snapshot of 256 cores not 100 KiB more.
inline constexpr size_t kMaxTransitionsPerCore = 8;

// XLA's dumps, which are looked at in a hang only.

// Entries of the directory: a job that dumps every pass of hundreds of modules writes
// tens of thousands.
inline constexpr size_t kMaxDumpEntries = 200'000;
// Dumps whose first lines are looked at, the latest ones first.
inline constexpr size_t kMaxDumpsLookedInto = 128;
// Of a text, what is read to find the attributes of the module: the layouts of all
// arguments of a large model come before them.
inline constexpr size_t kMaxDumpBeginningBytes = 128 * 1024;
inline constexpr size_t kDumpReadBytes = 256 * 1024;
// For a look at the names in the directory, which nobody waits for, and how often.
inline constexpr absl::Duration kHloDumpDeadline = absl::Seconds(1);
inline constexpr absl::Duration kHloDumpSpacing = absl::Seconds(10);
// Whatever a coordinator asks, a text is not read more often than this: to compress a
// large one takes a second of a core.
inline constexpr absl::Duration kModuleTextSpacing = absl::Seconds(1);

// What is left on disk for the next agent.

// An agent that is replaced comes back within minutes; a hang that nobody has
// looked at for this long is looked at anew.
inline constexpr absl::Duration kKeepStateFor = absl::Hours(1);
// While no training process is seen: it may be that of the next incarnation that
// starts.
inline constexpr absl::Duration kKeepUnseenFor = absl::Minutes(1);
// A coordinator that sends commands without end does not wear out the disk.
inline constexpr absl::Duration kKeepSpacing = absl::Seconds(1);
// A snapshot and a few lines.
inline constexpr size_t kMaxStateBytes = 8 * 1024 * 1024;
// A disk that hangs holds up neither the start nor the end.
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
// Nor, for snapshots, more often than this: the two looks of an incident are five
// times as far apart.
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
// From Hello to Welcome.
inline constexpr absl::Duration kWelcomeTimeout = absl::Seconds(15);
// Deadlines of a coordinator are brought into this range.
inline constexpr absl::Duration kShortestDeadline = absl::Milliseconds(100);
inline constexpr absl::Duration kLongestDeadline = absl::Minutes(1);
// A snapshot for which nobody ever grants credit is forgotten.
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
