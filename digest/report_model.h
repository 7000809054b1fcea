// Report is the model that all renderers print: verdict and capture, named, grouped and sorted.
//
// Every string in a Report is valid UTF-8 and bounded (safe_text.h), but not
// escaped: each renderer escapes as its own form demands.
#ifndef RAPIDEYE_DIGEST_REPORT_MODEL_H_
#define RAPIDEYE_DIGEST_REPORT_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classifier/verdict/log_evidence.h"
#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::digest {

// The duration of each part; left out of offline digests, so that the same
// capture gives the same bytes.
struct Timings {
  int64_t detect_to_collect_ms = 0;
  int64_t collect_ms = 0;
  int64_t classify_ms = 0;
  int64_t render_ms = 0;
};

// Paths of the incident's files; empty members are left out.
struct Files {
  std::string capture;
  std::string json;
  std::string text;
  std::string html;
  std::vector<std::string> hlo = {};  // texts of modules that were compared
};

// Inputs of a report beyond capture and verdict.
struct ReportContext {
  // Empty: derived from the capture's content (offline diagnosis).
  std::string incident_id;
  std::optional<Timings> timings;
  Files files;
  // How many digests there have been of the incident, this one included.
  int64_t revision = 1;
  // The evidence of the logs beyond the capture; nullptr: no logs were read.
  const LogEvidence* logs = nullptr;
};

// A worker as readers know it. `task_id` is its number in the whole job (slice
// 0 first); absent only for a worker that the job does not list.
struct ReportWorker {
  WorkerId id;
  std::optional<size_t> task_id;
  std::string host;
  bool reported = false;  // has a snapshot
};

struct ReportCulprit {
  ReportWorker worker;
  std::optional<std::string> node;
  std::optional<int32_t> chip;
  std::optional<CoreType> core_type;
  std::optional<int32_t> core_index;
  std::optional<std::string> nic;
  std::string why;
  std::optional<HostActivity> host_activity = std::nullopt;
  std::optional<int64_t> pid = std::nullopt;  // of its training process, as its host counts
  // The end of that process: "exited with status 1"; absent: it lives, or its end was not seen.
  std::optional<std::string> end = std::nullopt;
  bool frozen = false;  // that process, by a cgroup
};

struct ReportLink {
  ReportWorker from;
  ReportWorker to;
  std::optional<std::string> nic;
  std::string why;
};

struct ReportAlternative {
  Cause cause = Cause::kUnknown;
  Detail detail = Detail::kNone;
  double confidence = 0;
  std::vector<ReportCulprit> culprits;
  std::string why;
  bool independent = false;  // as Alternative::independent
};

// One core at a position.
struct CoreAt {
  size_t worker = 0;  // index into Report::workers
  std::optional<int32_t> chip;
  CoreType type = CoreType::kUnspecified;
  int32_t index = 0;
  bool culprit = false;
};

// Cores that stand at the same place of the same launch.
struct Position {
  std::optional<int64_t> tag;
  std::optional<int64_t> pc;
  // Known for all once one runtime reported it: within one program the same
  // place is the same instruction. Absent: no runtime did.
  std::optional<std::string> hlo;
  bool idle = false;          // all at pc 0 with nothing queued
  bool culprit = false;       // holds a culprit
  std::vector<CoreAt> cores;  // by worker, chip, type, index
};

// Cores in the same launch of the same program; without a fingerprint: cores
// that run nothing or do not say what.
struct ProgramGroup {
  std::optional<int32_t> launch_id;
  std::optional<std::string> module;
  std::optional<std::string> fingerprint;
  size_t cores = 0;
  bool culprit = false;
  std::vector<Position> positions;  // most cores first
};

// Workers whose main threads stand alike.
struct StackGroup {
  std::string at;                   // "process_allgather (multihost_utils.py)"
  bool waits = false;               // for other workers, or for the device
  std::vector<std::string> frames;  // innermost first; of the program and of libraries
  std::vector<size_t> workers;      // indexes into Report::workers, ascending
  std::optional<int64_t> since_ms;  // by their progress pages, all of them
  bool culprit = false;             // holds a culprit
};

// The kind of thing that stopped.
enum class StopKind {
  kCore,     // a core stands
  kLoop,     // a core completes no launch, although its pc moves
  kProcess,  // the training process of a host ended
  kError,    // the first error in a log
  kSilence,  // the last line of a log that had shown steps
};

// Things of a lane that stopped at the same time.
struct Stop {
  int64_t age_ms = 0;  // before the collection, as all ages here
  size_t cores = 0;
  size_t logs = 0;                  // workers whose logs tell
  bool culprit = false;             // holds a core of a culprit
  std::string first_core;           // "tpu-1-2 chip 2 TensorCore 0": of the culprit, else the first
  StopKind kind = StopKind::kCore;  // of the first; but for cores, it is a host
};

// The last minutes of a slice, or of a worker where the job has one slice or reports no core. From
// logs alone, it ends with the last line.
struct Lane {
  std::string name;                   // "slice 1", "tpu-1-2"; "3 more slices"
  bool culprit = false;               // holds a culprit
  std::vector<int64_t> completions;   // ages of launches and steps that completed, oldest first
  std::vector<Stop> stops;            // oldest first
  std::optional<std::string> phase;   // of its training loops: "step", "checkpoint, step"
  std::optional<int64_t> end_age_ms;  // of the last thing that moved; absent: nothing tells
};

// A recognised line of a log, folded over the workers that wrote the same.
struct LoggedLine {
  std::optional<int64_t> age_ms;  // of the first; absent: not dated
  std::string text;
  std::string source;           // "kernel log", "platform"; empty: the training process
  std::vector<size_t> workers;  // indexes into Report::workers, ascending
  int64_t count = 1;            // of such lines, all workers together
  bool culprit = false;         // a culprit wrote it
  bool minor = false;           // follows from something else, or means nothing
  bool alike = false;           // stands for lines with other numbers, too
  bool last = false;            // the last line of the logs, whether recognised or not
};

// Workers whose start-up has come equally far.
struct StartUpGroup {
  std::string stage;   // the last that they reached: "started", "opened its chips", …
  size_t reached = 0;  // how many of kStartUpStages
  std::vector<size_t> workers;
  std::vector<std::string> obstacles;
  bool culprit = false;
};
inline constexpr size_t kStartUpStages = 5;

// The last minutes before the collection, for the page.
struct LastMinutes {
  std::vector<Lane> lanes;             // those of culprits first, then by their end, oldest first
  std::vector<LoggedLine> log;         // oldest first, what has no date last
  size_t more_log = 0;                 // lines left out
  std::vector<StartUpGroup> start_up;  // least far first; empty: the job has started
  std::optional<int64_t> still_ms;     // for how long half of the cores have stood still
  std::optional<int64_t> step;         // the last step that a culprit tells, else the largest
};

// A host's place in the torus of its slice: the smallest coordinates of its chips.
using TorusPlace = std::array<int32_t, 3>;

// The scheduler of the job, as far as the evidence tells.
enum class Scheduler { kUnknown, kKubernetes };

// The pcs of a culprit's cores: distinct, ascending.
struct CulpritPcs {
  std::string host;
  std::vector<int64_t> pcs;  // empty: not reported
};

enum class FirstErrorType { kHangDetected, kUnrecoverableError, kCancelled };

struct FirstError {
  std::optional<std::string> at;  // RFC 3339, UTC; absent if the capture has no clock
  // By how much earlier it may have been, as far as the polls tell; absent: by a second at most, or
  // nothing tells.
  std::optional<int64_t> uncertainty_ms = std::nullopt;
  FirstErrorType type = FirstErrorType::kHangDetected;
};

// The verdict that the TPU runtime itself logged.
struct ReportRuntimeVerdict {
  Cause cause = Cause::kUnknown;
  std::vector<std::string> hosts;  // of the job, that it names; sorted, each once
  bool agrees = false;
};

// A process that holds chips which the job wants.
struct ReportHolder {
  WorkerId worker;
  int64_t pid = 0;
  std::optional<std::string> user;
  std::optional<int64_t> age_ms;
  std::optional<std::string> command;
};

// The model itself.
struct Report {
  std::string incident_id;  // of a capture that is no stored incident, made of its content
  bool stored = false;      // a coordinator knows it by this id
  bool snapshot = false;    // taken on request, of no incident
  int64_t revision = 1;     // as in ReportContext
  std::string job;
  std::optional<std::string> job_incarnation;
  std::optional<std::string> detected_at;  // RFC 3339, UTC
  std::optional<std::string> trigger;
  std::optional<std::string> noticed_by;  // what told of progress until then

  Cause cause = Cause::kUnknown;
  Detail detail = Detail::kNone;
  std::optional<double> confidence;  // 0..1, to three places
  std::string headline;              // the digest's first line
  std::vector<ReportCulprit> culprits;
  std::vector<ReportLink> links;
  std::array<std::vector<ReportWorker>, 2> partition;  // both empty: no cut
  std::vector<EvidenceItem> evidence;
  std::vector<ReportAlternative> alternatives;
  std::vector<std::string> lacking;
  std::vector<RecommendedAction> actions;
  Removal removal;
  std::vector<Reason> reasons;         // printed only when asked for
  WaitChain chain;                     // as Verdict::chain; its workers are among `workers`
  std::vector<Considered> considered;  // as Verdict::considered
  std::optional<HloComparison> hlo_comparison;

  // All workers of the job; the index is the task id.
  std::vector<ReportWorker> workers;
  std::vector<ReportWorker> missing;
  size_t reported = 0;  // workers with a snapshot
  std::vector<CulpritPcs> culprit_pcs;
  // Largest first; what runs no program comes last.
  std::vector<ProgramGroup> tpu_states;
  // Largest first; empty: no stacks are known.
  std::vector<StackGroup> stack_groups;
  std::optional<ReportRuntimeVerdict> runtime_verdict;  // absent: the runtime logged none
  std::vector<ReportHolder> holders;                    // by worker and pid
  std::optional<FirstError> first_error;                // absent if there is no hang
  std::optional<Timings> timings;
  Files files;

  // For the page alone.
  std::optional<int64_t> detected_unix_ms;
  LastMinutes last_minutes;
  std::vector<std::optional<TorusPlace>> torus;  // by worker; empty: not known of any
  Scheduler scheduler = Scheduler::kUnknown;
  bool by_logs = false;    // no worker reported a core: logs, or hosts alone
  bool from_logs = false;  // no agent watched the job: its logs are all there is
};

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_REPORT_MODEL_H_
