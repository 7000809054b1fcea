// What the workers of a job showed at the time of a hang, as plain values.
//
// This is the vocabulary of the whole project: collectors fill it, the
// classifier decides from it and nothing else. It mirrors the capture format
// (proto/v1/capture.proto) field by field; proto/wire converts and checks.
//
// Conventions
//   * std::optional means "the worker may have been unable to report it". Absent
//     is never zero. An enum's kUnspecified means the same.
//   * Durations and ages are monotonic milliseconds measured on the reporting
//     worker; wall-clock times (…UnixMs) are for people only and are never
//     compared between hosts.
//   * Values of these types own their data, are regular (copyable, comparable by
//     member) and are not synchronised: share them read-only between threads.
#ifndef RAPIDEYE_CLASSIFIER_EVIDENCE_H_
#define RAPIDEYE_CLASSIFIER_EVIDENCE_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rapideye {

// A worker is one training process (a JAX process): its slice, and its number
// in that slice.
struct WorkerId {
  int32_t slice = 0;
  int32_t task = 0;

  friend auto operator<=>(const WorkerId&, const WorkerId&) = default;

  template <typename H>
  friend H AbslHashValue(H h, const WorkerId& w) {
    return H::combine(std::move(h), w.slice, w.task);
  }
};

struct ExpectedWorker {
  WorkerId id;
  std::string host;
  std::optional<std::string> node;
};

// One program of a healthy step and the launch id it had in one particular
// step, the same step for every entry of a cohort.
struct SequenceEntry {
  std::optional<std::string> module;
  std::string fingerprint;  // lower-case hex, never empty
  int32_t launch_id = 0;
};

// Workers that ran the same programs while the job was healthy. Workers of
// different cohorts (pipeline stages, say) may rightly run different modules.
struct Cohort {
  std::string name;
  std::vector<WorkerId> workers;
  std::vector<SequenceEntry> sequence;  // empty: order unknown
};

// How the texts of two compilations compare.
enum class HloOutcome {
  kUnspecified,
  kDifferent,
  kEqual,             // byte for byte
  kEqualButForNames,  // and for where the instructions were written
  kEqualAsFarAsRead,  // a text was too large to be had as a whole
  kNotComparable,     // a side has none, or one that is no HLO
};

// By what a dump was taken for the text of a program that runs. The runtime's
// fingerprint of a program and what XLA dumps of it have no published relation.
enum class HloMatch {
  kUnspecified,
  kFingerprint,  // the module's own attributes hold the fingerprint
  kOnlyDump,     // there is one dump of that module name
  kLatestDump,   // the one written last of several
};

// The program of one side of a divergence, as one worker of that side gave it.
struct HloSide {
  WorkerId worker;
  std::optional<std::string> module;
  std::string fingerprint;
  std::optional<std::string> dump;  // name of the file in the worker's dump directory
  HloMatch match = HloMatch::kUnspecified;
  std::optional<std::string> problem;  // why there is no text
  // Of kDifferent: where. An empty instruction: the computation ends before.
  std::optional<std::string> computation;
  std::optional<std::string> instruction;
};

struct HloComparison {
  HloOutcome outcome = HloOutcome::kUnspecified;
  // Of kDifferent: which instruction of its computation, from 1; 0: the attributes of
  // the module itself.
  std::optional<int64_t> position;
  std::vector<HloSide> sides;  // two: the smaller side first
};

struct CaptureHeader {
  int32_t version = 1;
  std::string job;
  std::optional<std::string> job_incarnation;
  std::vector<ExpectedWorker> expected_workers;  // unique ids
  std::optional<std::string> generation;         // v4 v5e v5p v6e 7x
  std::optional<std::string> trigger;            // no-progress, hang-line, operator
  std::optional<int64_t> hang_threshold_ms;
  std::optional<int64_t> detected_unix_ms;
  // For how long an announced pause was waited for, in vain.
  std::optional<int64_t> announced_pause_ms;
  std::vector<Cohort> cohorts;  // empty: one cohort, order unknown
  // Where diverged programs first differ; absent: nobody has looked.
  std::optional<HloComparison> hlo_comparison;
};

enum class RuntimeState { kUnspecified, kServing, kUnavailable, kTimedOut, kUnimplemented };

// Did the TPU runtime's status service answer? If not, `Snapshot::cores` is the
// last sample taken before, if there was one.
struct RuntimeHealth {
  RuntimeState state = RuntimeState::kUnspecified;
  std::optional<std::string> detail;
};

enum class ProcessState {
  kUnspecified,
  kRunning,
  kSleeping,
  kUninterruptible,
  kStopped,
  kZombie,
  kExited,
};

struct Process {
  int64_t pid = 0;
  std::optional<std::string> command;
  std::optional<int64_t> cpu_ms;  // used since the last progress
  ProcessState state = ProcessState::kUnspecified;
  std::optional<int32_t> exit_code;
  std::optional<int32_t> signal;
  std::optional<int64_t> exited_ms_ago;
  std::optional<std::string> wait_channel;
};

// A process that has device files of chips open.
struct ChipHolder {
  Process process;
  std::vector<std::string> devices;  // e.g. accel0, vfio/3
};

struct Program {
  std::optional<std::string> module;
  std::string fingerprint;  // lower-case hex
};

enum class SequencerType {
  kUnspecified,
  kTensorCoreSequencer,
  kSparseCoreV0Sequencer,
  kSparseCoreV0AddressHandler,
  kSparseCoreSequencer,
  kSparseCoreTileAccessCoreSequencer,
  kSparseCoreTileExecuteCoreSequencer,
};

struct Sequencer {
  SequencerType type = SequencerType::kUnspecified;
  int32_t index = 0;
  std::optional<int64_t> pc;
  std::optional<int64_t> tag;
  std::optional<int64_t> tracemark;
  std::optional<int64_t> run_id;
  std::optional<std::string> hlo;  // instruction name at the pc, e.g. all-reduce.3
  std::optional<std::string> hlo_text;
  // For how long pc, tag, tracemark, run and launch have all stood still.
  std::optional<int64_t> frozen_ms;
};

struct QueuedProgram {
  int32_t program = 0;  // index into Snapshot::programs
  std::optional<int32_t> launch_id;
  std::optional<int64_t> run_id;
};

// One change of a core's position, told by its first sequencer: it happened
// between `age_ms` and `age_ms + within_ms` ago.
struct Transition {
  int64_t age_ms = 0;                // since the poll that first showed it
  std::optional<int64_t> within_ms;  // to the poll before; absent: there was none
  std::optional<int32_t> program;    // index into Snapshot::programs
  std::optional<int32_t> launch_id;
  std::optional<int64_t> pc;
  std::optional<int64_t> tag;
};

enum class CoreType { kUnspecified, kTensorCore, kSparseCoreV0, kSparseCore };

struct Core {
  std::optional<int32_t> chip;  // ordinal on the host, from 0
  std::optional<int32_t> chip_id;
  std::optional<std::string> coords;
  std::optional<std::string> physical;
  CoreType type = CoreType::kUnspecified;
  int32_t index = 0;  // core on the chip
  // Index into Snapshot::programs: what runs, or, on an idle core (pc 0 or
  // absent, nothing queued), sometimes what ran last.
  std::optional<int32_t> program;
  // Signed 32-bit counter of its own per program, from an arbitrary start; it
  // wraps. Two of them compare only within one fingerprint.
  std::optional<int32_t> launch_id;
  // For how long no launch has completed on this core, whatever the pc did.
  std::optional<int64_t> stuck_ms;
  std::vector<Sequencer> sequencers;
  std::vector<QueuedProgram> queued;  // oldest first
  std::optional<std::string> error;
  // The last ones, oldest first: the last one is when the core stopped.
  std::vector<Transition> transitions;
};

// Parsed from the runtime's own "hang detected" line.
struct HangReport {
  int64_t pending_graphs = 0;
  int64_t launch_id = 0;
  int64_t completed = 0;
  bool step_globally_in_progress = false;
  int64_t timeout_ms = 0;
};

enum class Phase { kUnspecified, kCompile, kInput, kStep, kCheckpoint, kEval };

// A phase in which a training loop may rightly launch nothing for long.
inline bool AnnouncesPause(Phase phase) {
  return phase == Phase::kCompile || phase == Phase::kCheckpoint || phase == Phase::kEval;
}

// What the training loop says of itself.
struct Progress {
  std::optional<int64_t> step;
  Phase phase = Phase::kUnspecified;
  std::optional<int64_t> phase_ms;
  std::optional<int64_t> input_wait_ms;
};

enum class TransferDirection { kUnspecified, kSend, kRecv };

struct Transfer {
  WorkerId peer;
  TransferDirection direction = TransferDirection::kUnspecified;
  int64_t pending_ms = 0;
  std::optional<int64_t> launch_id;
  std::optional<std::string> nic;
};

enum class SocketState { kUnspecified, kEstablished, kSynSent, kCloseWait, kGone };

struct Socket {
  WorkerId peer;
  std::optional<std::string> nic;
  SocketState state = SocketState::kUnspecified;
  int64_t unacked_bytes = 0;  // what the send queue still holds
  int64_t since_ack_ms = 0;   // means something only while unacked_bytes > 0
  int64_t retransmits = 0;
};

struct Probe {
  WorkerId peer;
  std::optional<std::string> nic;
  bool ok = false;
  std::optional<int64_t> rtt_us;
  std::optional<std::string> error;
};

struct Nic {
  std::string name;
  bool up = false;
  std::optional<int64_t> carrier_changes;
  std::optional<int64_t> rx_errors;
  std::optional<int64_t> tx_errors;
};

struct IciLink {
  int32_t chip = 0;
  std::string link;    // such as y+
  int32_t health = 0;  // 0 good .. 10 unusable
};

// PCIe AER counts since the job started.
struct PcieCounters {
  int32_t chip = 0;
  int64_t fatal = 0;
  int64_t non_fatal = 0;
  int64_t correctable = 0;
};

enum class MetricSource { kUnspecified, kRuntime, kDevicePlugin, kInputPipeline };

// What a metrics endpoint of the host said.
struct Metric {
  MetricSource source = MetricSource::kUnspecified;
  std::string name;                 // of a distribution with .count or .mean
  std::vector<std::string> labels;  // NAME=VALUE
  int64_t value_milli = 0;          // thousandths
};

enum class LogKind {
  kUnspecified,
  kHangDetected,
  kHaltHardware,
  kHaltNetwork,
  kHaltPower,
  kHaltUser,
  kHaltAssertion,
  kLaunchGroupMismatch,
  kCoreHalt,
  kChipDriverError,
  kMissedHealthChecks,
  kFatalProgramError,
  kFollowOn,
  kOutOfMemory,
  kCoordinationTimeout,
  kCopyFailed,
  kNicFault,
  kKernelHardware,
  kUnknownFlag,
  kPreempted,
  kBenign,
};

enum class LogSource {
  kUnspecified,
  kJobLog,
  kKernelLog,  // the only one beyond the training job's reach
};

struct LogEvent {
  LogKind kind = LogKind::kUnspecified;
  std::string text;
  LogSource source = LogSource::kUnspecified;
  std::optional<int32_t> chip;
  CoreType core_type = CoreType::kUnspecified;
  std::optional<int32_t> core_index;
  std::optional<std::string> core;
  std::optional<std::string> sequencer;
  std::optional<int64_t> tag;
  std::optional<int64_t> pc;
  std::optional<std::string> hlo;
  std::optional<int64_t> launch_id;
  std::optional<int64_t> count;
  std::optional<int64_t> age_ms;  // since the first of them
  std::optional<std::string> peer_host;
};

struct Stack {
  std::string thread;
  std::vector<std::string> frames;  // innermost first
};

// What one worker showed.
struct Snapshot {
  WorkerId worker;
  std::string host;
  std::optional<std::string> node;
  std::optional<std::string> pod;
  std::optional<std::string> hardware;
  std::optional<std::string> incarnation;  // of the training process
  std::optional<int64_t> captured_unix_ms;
  RuntimeHealth runtime;
  std::vector<Process> processes;
  std::vector<Program> programs;
  std::vector<Core> cores;
  std::optional<HangReport> hang_report;
  std::optional<Progress> progress;
  std::vector<Transfer> transfers;
  std::vector<Socket> sockets;
  std::vector<Probe> probes;
  std::vector<Nic> nics;
  std::vector<IciLink> ici_links;
  std::vector<PcieCounters> pcie;
  std::vector<LogEvent> log_events;
  std::vector<Stack> stacks;
  std::vector<Metric> metrics;
  // Those that are neither the training process nor come from it: leftovers.
  std::vector<ChipHolder> chip_holders;
};

// All evidence of one hang. Invariants, established by proto/wire and relied on
// by the classifier: at most one snapshot per worker, every snapshot's worker is
// expected, every program index is within its snapshot's `programs`, every
// duration, count and index is >= 0, every expected worker is unique.
struct Capture {
  CaptureHeader header;
  std::vector<Snapshot> snapshots;  // in any order
};

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_EVIDENCE_H_
