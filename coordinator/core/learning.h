// Learning derives the healthy state of a job: cohorts of workers that run the same programs,
// their order, the longest launch and pause. Rebuilt from heartbeats, dropped when the job
// restarts.
#ifndef RAPIDEYE_COORDINATOR_CORE_LEARNING_H_
#define RAPIDEYE_COORDINATOR_CORE_LEARNING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "coordinator/core/launch_history.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// The longest healthy steps and pauses. Zero: none is known.
struct LearntPauses {
  absl::Duration step;
  absl::Duration step_lines;  // between two lines that tell a further step
  absl::Duration pause;       // of any kind
  absl::Duration unannounced_pause;
  absl::Duration compile;  // as pages announce it
  absl::Duration checkpoint;
  absl::Duration eval;

  bool operator==(const LearntPauses&) const = default;
};

// The same pauses in the form that outlives a coordinator.
struct KeptPauses {
  std::string job_incarnation;  // the incarnation that they were learnt of
  LearntPauses learnt;

  bool operator==(const KeptPauses&) const = default;
};

class Learning {
 public:
  // Learns from a heartbeat of a job in health; the caller leaves out those of an
  // incident. `progressed`: launches completed since the worker's last one; the
  // order of programs is learnt from such heartbeats alone, so that the queue of
  // a worker that already stands still teaches nothing.
  void Observe(const WorkerId& worker, const wire::Heartbeat& heartbeat, bool progressed);

  // Learns how long a step took on this worker, in health. Call before Observe.
  void ObserveStep(const WorkerId& worker, absl::Duration took);

  // A hang is over. The longest launch or pause that each worker reports next may be
  // the hang itself, and is not taken for healthy.
  void AfterIncident();

  void ObserveModules(const std::vector<Program>& programs);
  std::optional<std::string> ModuleOf(const std::string& fingerprint) const;

  // True if a launch of this program has completed anywhere.
  bool HasCompleted(const std::string& fingerprint) const;
  // The longest launch of this program, or of all if absent or unknown. Zero: nothing learnt.
  absl::Duration LongestLaunch(const std::optional<std::string>& fingerprint) const;
  absl::Duration LongestStep() const { return longest_step_; }
  // The longest time between two lines that tell a further step.
  absl::Duration LongestStepLines() const { return longest_step_lines_; }
  absl::Duration LongestPause() const { return longest_pause_; }
  // The longest pause that no page announced.
  absl::Duration LongestUnannouncedPause() const { return longest_unannounced_pause_; }
  // A phase of this kind, from beginning to end as heartbeats showed it.
  absl::Duration LongestPhase(Phase phase) const;

  LearntPauses Pauses() const;
  // Goes on from the pauses learnt before of the same job. No pause becomes shorter, nor longer
  // than kMaxLearntPause.
  void Restore(const LearntPauses& before);

  // Groups of workers that ran the same set of programs, largest first; `members`
  // are the workers to place. A worker seen to run only a part of a group's
  // programs belongs to it; one seen to run nothing belongs where most of its
  // slice does, and in a job long at work to none if no worker of its slice ever ran
  // anything: it is on standby. Empty while no launch has completed.
  std::vector<Cohort> Cohorts(const std::vector<WorkerId>& members) const;

  // The job restarted: drops all but the names of modules, as a fingerprint stands for content.
  void Forget();

 private:
  struct ProgramFacts {
    bool completed = false;
    absl::Duration longest = absl::ZeroDuration();
  };
  struct WorkerFacts {
    // Launches per program: as last reported, and of late, so that programs of an earlier
    // phase of the job fade.
    std::map<ProgramNumber, int64_t> reported;
    std::map<ProgramNumber, int64_t> completed;
    LaunchHistory launches;
    // The next progress may end a hang; times reported then are no measure.
    bool after_incident = false;
    std::map<ProgramNumber, absl::Duration> distrusted_launches;
    absl::Duration distrusted_pause = absl::ZeroDuration();
    absl::Duration distrusted_unannounced_pause = absl::ZeroDuration();
    absl::Duration distrusted_step_lines = absl::ZeroDuration();
    // The phase of the present announced pause, and its length as last reported.
    Phase phase = Phase::kUnspecified;
    absl::Duration phase_for = absl::ZeroDuration();
  };
  using ProgramSet = std::set<ProgramNumber>;
  using Groups = std::map<ProgramSet, std::vector<WorkerId>>;

  std::optional<ProgramNumber> Number(const std::string& fingerprint);
  void ObservePrograms(WorkerFacts& facts, const wire::Heartbeat& heartbeat);
  static void CountLaunches(ProgramNumber program, int64_t reported, WorkerFacts& facts);
  static void Fade(WorkerFacts& facts);
  void ObservePauses(WorkerFacts& facts, const wire::Heartbeat& heartbeat);
  void ObservePhase(WorkerFacts& facts, const std::optional<rapideye::Progress>& progress);
  void ObserveQueue(WorkerFacts& facts, const wire::Heartbeat& heartbeat);
  // The programs that the worker runs in every step; programs that it runs rarely (to
  // start, to evaluate) hardly identify its cohort.
  ProgramSet SteadyPrograms(const WorkerId& worker) const;
  Groups GroupByPrograms(const std::vector<WorkerId>& members) const;
  // Launches of the worker that has completed most.
  int64_t MostLaunches() const;
  void PlaceIdle(const std::vector<WorkerId>& idle, Groups& groups) const;
  std::vector<SequenceEntry> SequenceOf(const std::vector<WorkerId>& workers) const;

  // Fingerprints as small numbers, in the order in which they were first seen.
  absl::flat_hash_map<std::string, ProgramNumber> numbers_;
  std::vector<std::string> fingerprints_;
  std::vector<ProgramFacts> programs_;
  std::map<WorkerId, WorkerFacts> workers_;
  absl::Duration longest_step_ = absl::ZeroDuration();
  absl::Duration longest_step_lines_ = absl::ZeroDuration();
  absl::Duration longest_pause_ = absl::ZeroDuration();
  absl::Duration longest_unannounced_pause_ = absl::ZeroDuration();
  std::map<Phase, absl::Duration> longest_phase_;
  absl::flat_hash_map<std::string, std::string> modules_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_LEARNING_H_
