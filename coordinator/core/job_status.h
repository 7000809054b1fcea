// JobStatus states the condition of the job for operators, pages and metrics.
//
// All ages are counted from the moment of the report. Texts come from peers:
// bounded by proto/wire, not escaped.
#ifndef RAPIDEYE_COORDINATOR_CORE_JOB_STATUS_H_
#define RAPIDEYE_COORDINATOR_CORE_JOB_STATUS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// Counts events since the start; a limit that takes effect shows here.
struct Counters {
  int64_t hellos_admitted = 0;
  int64_t hellos_refused = 0;
  int64_t hello_timeouts = 0;    // streams that never sent a Hello
  int64_t superseded = 0;        // streams replaced by a newer agent
  int64_t takeovers = 0;         // streams replaced by a newer one of the same agent
  int64_t duplicate_agents = 0;  // hellos refused: another agent speaks for the worker
  int64_t foreign_agents = 0;    // hellos refused: another certificate speaks for the worker
  int64_t streams_refused = 0;   // before their first message: certificate, limit
  int64_t cut_off = 0;           // streams that do not read, or whose bytes do not fit
  int64_t silent_streams = 0;    // agents that stopped talking
  int64_t unlogged_lines = 0;    // about refused peers, beyond the limit
  int64_t messages_refused = 0;  // that broke the protocol; each cost a stream
  int64_t floods = 0;            // streams that sent faster than allowed
  int64_t alarms = 0;            // raised by workers
  int64_t job_restarts = 0;
  int64_t suspicions = 0;             // collections begun
  int64_t further_looks = 0;          // of these: at a standstill that was looked at before
  int64_t recovered_in_between = 0;   // of these: launches completed after all
  int64_t incidents = 0;              // of these: hangs
  int64_t recalled = 0;               // incidents that an earlier coordinator began
  int64_t snapshots_requested = 0;    // by operators
  int64_t snapshots_taken = 0;        // collections for these requests; several may share one
  int64_t probes_asked = 0;           // of agents, of other workers
  int64_t snapshots_over_budget = 0;  // workers left out of a collection
};

// The present activity of the coordinator.
enum class Activity {
  kLearning,    // no launch has completed yet, or workers are still expected
  kArmed,       // the job is watched
  kCollecting,  // a hang is suspected: workers are asked
  kConcluding,  // evidence is classified and stored
  kWaiting,     // the hang has its digest: the job must advance again
};
const char* ActivityName(Activity activity);  // "learning" ...

struct WorkerStatus {
  WorkerId id;
  std::string host;  // "" for a worker that never connected
  bool connected = false;
  bool runtime_answers = false;  // of a connected one
  std::optional<absl::Duration> since_completion;
  // How long the coordinator has known a launch to be in flight, and its program.
  std::optional<absl::Duration> in_flight_for;
  std::optional<std::string> fingerprint;
  std::optional<std::string> module;
  // While the job starts: its phase, and what keeps it there.
  std::optional<std::string> start_up = std::nullopt;
  bool accused = false;  // the verdict on the present hang names its host
};

// How far a worker has come, for a map of the job.
enum class WorkerState {
  kAway,        // no agent of the worker is connected
  kNotRunning,  // no source tells of its progress
  kStarting,    // no launch and no step of it is known to have completed
  kPaused,      // its page announces a checkpoint, an evaluation or a compilation
  kAdvancing,
  kLate,  // it stands for half of the time after which the alarm is raised, or longer
};

struct WorkerOnMap {
  WorkerId id;
  std::string host;  // "" for a worker that never connected
  WorkerState state = WorkerState::kAway;
  std::optional<absl::Duration> since_completion;
  std::optional<int64_t> step;
  std::optional<Phase> phase;  // as its page states, if there is a page
};

// Launches of all workers that completed within one minute; steps where no runtime answers.
struct LaunchMinute {
  int64_t launches = 0;
  // Times from one completion of a worker to its next; zero without launches. The longest is the
  // average of one heartbeat's launches.
  absl::Duration mean;
  absl::Duration longest;
};

// Durations of the launches of all workers since the start of the coordinator, by upper bounds;
// durations of steps where no runtime answers.
struct LaunchDurations {
  // In seconds: from a kernel by itself to a step that includes a checkpoint.
  static constexpr std::array<double, 12> kBounds = {0.005, 0.025, 0.1, 0.25, 0.5, 1,
                                                     2.5,   5,     10,  30,   60,  300};

  std::array<int64_t, kBounds.size() + 1> counts = {};  // the last one: longer than all bounds
  absl::Duration sum;
};

// The time that the job has hung since the start of the coordinator, from the last progress of each
// hang to the recovery, and the same in chip time, as far as the chips are known.
struct Losses {
  absl::Duration hung;
  absl::Duration of_chips;
};

// An incident after which the job went on.
struct EndedIncident {
  std::string id;
  absl::Time ended;
  std::string why = {};  // one clause
};

// An operator takes care of the incident: no further notice of it is needed.
struct Acknowledgement {
  absl::Time at;
  std::string reason;  // "" for none
  std::string by;
};

struct CohortStatus {
  std::string name;
  size_t workers = 0;
  std::vector<std::string> programs;  // of a step in order: modules, else fingerprints
};

// The verdict of an incident's digest, in one line: the names of digest.json.
struct ToldVerdict {
  std::string cause;
  std::string detail = {};                // "" for none
  std::optional<double> confidence = {};  // absent: the cause states none
  std::string headline = {};
  std::string sentence = {};               // what stopped, where, how many wait; "": not known
  std::vector<std::string> culprits = {};  // hosts, the first few
  size_t culprit_hosts = 0;                // number of all culprit hosts
};

// Takes a digest for the log: its verdict in one line, if that is known, and its text.
using DigestLog = std::function<void(const std::string& incident_id, const std::string& text,
                                     const std::optional<ToldVerdict>& verdict)>;

// A pause of the watch that an operator has announced.
struct PauseStatus {
  absl::Duration left;
  std::string reason;
  std::string by;
};

// The same pause in the form that outlives a coordinator.
struct KeptPause {
  absl::Time until;
  std::string reason;
  std::string by;
};

struct JobStatus {
  std::string job;  // "" while no worker has come and no flag says
  std::optional<std::string> incarnation;
  std::optional<std::string> generation;

  Activity activity = Activity::kLearning;
  // The last incident that this coordinator knows of; older ones are on disk.
  std::optional<std::string> last_incident;
  int64_t last_revision = 1;                    // of its digest
  std::optional<ToldVerdict> last_verdict;      // absent: its digest was not seen
  std::optional<Acknowledgement> acknowledged;  // absent: no operator has acknowledged it
  std::optional<absl::Duration> next_look;      // time until the standstill is looked at again

  // While it lasts, no alarm begins an incident.
  std::optional<PauseStatus> pause;

  size_t expected = 0;                  // workers of the job, as far as known
  size_t connected = 0;                 // with an agent here
  size_t running = 0;                   // of these: with a runtime that answers
  std::vector<WorkerStatus> missing;    // the first kMaxListedWorkers not connected
  std::vector<WorkerStatus> slowest;    // connected, longest without a completion first
  std::vector<WorkerOnMap> workers;     // all expected, by slice and task
  std::vector<LaunchMinute> last_hour;  // oldest first; the last one is not over
  LaunchDurations launches;
  Losses losses;
  // Versions of the connected agents, and how many have each: the most frequent kMaxListedVersions.
  std::vector<std::pair<std::string, size_t>> agent_versions;
  std::vector<EndedIncident> ended;  // the last few that ended since the start, oldest first

  // While the job starts: for how long, the workers that have not come, and those of them on hosts
  // without a known training process. The first kMaxListedWorkers of each, and the whole numbers.
  std::optional<absl::Duration> starting;
  std::vector<WorkerStatus> not_come;
  size_t not_come_count = 0;
  std::vector<WorkerStatus> without_process;
  size_t without_process_count = 0;

  // The number of connected workers in each phase of the start-up, in the order of the phases.
  std::vector<std::pair<std::string, size_t>> phases;
  // The first kMaxListedWorkers that are behind the others, or that an obstacle keeps.
  std::vector<WorkerStatus> behind;
  size_t behind_count = 0;

  // The standstill of the job as a whole; absent while it does not run.
  struct Waiting {
    absl::Duration still_for;  // since anything advanced
    absl::Duration threshold;  // the threshold that applies now
    std::string why;           // one clause
  };
  std::optional<Waiting> waiting;
  std::optional<absl::Duration> since_completion;  // of the last launch anywhere
  absl::Duration launch_threshold;                 // for the slowest program known
  absl::Duration hang_threshold;
  absl::Duration startup_grace;
  bool launch_threshold_set = false;  // by a flag, instead of learnt
  bool hang_threshold_set = false;

  absl::Duration longest_launch;  // learnt in health; zero: nothing yet
  absl::Duration longest_pause;
  std::vector<CohortStatus> cohorts;  // the largest kMaxListedCohorts
  size_t cohort_count = 0;

  Counters counters;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_JOB_STATUS_H_
