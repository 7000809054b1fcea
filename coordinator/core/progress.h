// Progress judges whether the job advances: by launches that complete, or, where no TPU
// runtime answers, by the steps of the progress pages, or else by those that lines of logs
// tell, or else by the work of the processes as their kernels count it. Never by messages that
// arrive, because the agent of a stuck worker still sends heartbeats.
#ifndef RAPIDEYE_COORDINATOR_CORE_PROGRESS_H_
#define RAPIDEYE_COORDINATOR_CORE_PROGRESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "coordinator/core/host_votes.h"
#include "coordinator/core/learning.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

struct Thresholds {
  std::optional<absl::Duration> launch;  // absent: auto, from what was learnt
  std::optional<absl::Duration> hang;    // absent: auto
  absl::Duration startup_grace = absl::Minutes(30);
  // The longest wait for any pause, however long pauses were in health.
  absl::Duration longest_pause = absl::Minutes(30);
};

// The longest time that launches of this program may take (--launch-threshold).
absl::Duration LaunchThreshold(const Thresholds& thresholds, const Learning& learning,
                               const std::optional<std::string>& fingerprint);
// The longest time that a step may take by the progress pages, where no runtime reports
// launches (--launch-threshold, too).
absl::Duration StepThreshold(const Thresholds& thresholds, const Learning& learning);
// The longest time without a line that tells a further step, where nothing else tells of
// progress (--hang-threshold): no line is missing before it is due.
absl::Duration StepLinesThreshold(const Thresholds& thresholds, const Learning& learning);
// The longest time without work of the processes (--hang-threshold), where nothing else tells of
// progress. `longest_gap`: the longest between their work in health.
absl::Duration ActivityThreshold(const Thresholds& thresholds, const Learning& learning,
                                 absl::Duration longest_gap);
// The longest time without a launch (--hang-threshold), while the state of the
// training loops is unknown.
absl::Duration HangThreshold(const Thresholds& thresholds, const Learning& learning);
// The same threshold while every loop's page says that it is within a step or waits for input.
absl::Duration WatchedHangThreshold(const Thresholds& thresholds, const Learning& learning);
// The longest time without progress while a loop announces this phase. Bounded for
// any page (--longest-pause): a loop may hang in its checkpoint.
absl::Duration PauseAllowance(const Thresholds& thresholds, const Learning& learning, Phase phase);

// The time for which the job has stood still, and the threshold that applies. The job
// is suspected to hang once `still_for` has reached the threshold.
struct Standstill {
  absl::Duration threshold;  // the one that applies
  absl::Duration still_for;
  std::string why;              // one clause for the log
  std::string noticed_by = {};  // the kind of progress that stood still, for people
  // A pause is announced, and has made the threshold longer.
  bool announced = false;
  // Most workers have stood for twice the threshold. The few that complete launches, here or
  // between the looks, do not excuse them.
  bool most_stand = false;
};

// True if the few that advance cannot outweigh the others, which have most votes (HostVotes): the
// few are one worker in ten, or one host in ten, or one of three already. Such a worker may run a
// program of its own, or lie, and a host may connect any number.
bool AreExceptions(const Tally& few, const Tally& all);

// The state of one worker by its last heartbeat, in the coordinator's time.
struct WorkerProgress {
  bool heard = false;  // at least one heartbeat
  bool connected = false;
  bool runtime_answers = false;  // true also if it has stopped answering
  int64_t agent_incarnation = 0;
  std::optional<std::string> process_incarnation;
  int64_t completed = 0;
  std::optional<absl::Duration> last_completion;
  std::optional<absl::Duration> in_flight_since;
  std::optional<std::string> program;        // the program that runs, while in flight
  std::optional<absl::Duration> seen_since;  // in this incarnation of the job
  std::optional<Phase> phase;                // as its page says, if it has one
  std::optional<int64_t> step;               // as its page says, else as lines of its log tell
  std::optional<int64_t> line_advances;      // of its log; absent: a page has the step, or nothing
  std::optional<StartUp> start_up;           // by the last heartbeat, until a launch completes
  // The work of its processes, used where nothing else tells of progress; absent: no known rhythm.
  std::optional<wire::ProcessActivity> activity;
  std::optional<absl::Duration> active_at;  // when work was last seen
  // When it last did anything but wait (Heartbeat.since_any_work_ms); absent: never seen.
  std::optional<absl::Duration> any_work_at;
  // Duration of the step that ended by the last heartbeat; of several steps the average. Absent if
  // no step ended, or a pause was announced in between.
  std::optional<absl::Duration> step_took;
  // The last announced pause that is over: its phase, and the time of its end.
  std::optional<Phase> paused_for;
  absl::Duration pause_ended = -absl::InfiniteDuration();

  // True if its loop announces a pause and no launch is in flight.
  bool Pauses() const;
  // True if the worker is connected, and launches or steps tell how far it has come.
  bool Shown() const { return connected && (runtime_answers || step.has_value()); }
  // True if only lines of its log tell the step.
  bool ByLines() const { return line_advances.has_value(); }
};

class Progress {
 public:
  // True if launches, or steps where no runtime answers, have completed on this worker
  // between its last heartbeat and this one. Not known, hence false, for the first
  // heartbeat of an agent.
  bool Advanced(const WorkerId& worker, int64_t agent_incarnation,
                const wire::Heartbeat& heartbeat) const;
  // Takes a heartbeat; returns Advanced().
  bool Observe(const WorkerId& worker, int64_t agent_incarnation, const wire::Heartbeat& heartbeat,
               absl::Duration now);
  // The worker's agent is connected, from `host`, whose workers share one vote (HostVotes).
  void Connected(const WorkerId& worker, const std::string& host) { hosts_.Join(worker, host); }
  double PartOf(const WorkerId& worker) const { return hosts_.PartOf(worker); }
  const HostVotes& hosts() const { return hosts_; }
  // The worker's agent is gone: completed launches stay known, its present state
  // does not.
  void Disconnected(const WorkerId& worker);

  // The measure that applies now:
  //   * No launch has completed in this incarnation: startup grace.
  //   * Launches of programs that have completed before are in flight: the
  //     longest launch threshold of those programs, whatever else is in flight.
  //   * Only launches of programs that never completed: startup grace.
  //   * Nothing in flight: hang threshold; a shorter one if pages say that no pause
  //     is to be expected.
  // A worker that has nothing in flight and announces a pause on its progress page
  // makes a launch or hang threshold that is not set as long as such a pause may
  // last: the others, in their launches, wait for it. Once the pause is over, the
  // threshold counts from its end: it grows by the pause, at most by its allowance.
  // Where no runtime answers anywhere, but pages have steps, steps take the place of
  // launches:
  //   * Fewer than two steps have completed in this incarnation: startup grace, extended up to
  //   three
  //     times, but not beyond the longest pause, while any process works.
  //   * Every page is within a step or waits for input: StepThreshold.
  //   * Otherwise: hang threshold. An announced pause counts as above.
  // Where no page has a step either, but the log of some worker tells one, seldom of every
  // worker: StepLinesThreshold, also once the agent of that worker has gone while others stay.
  // Where pages or lines, or the work of the processes itself, tell of progress, but no page is
  // known to be within a step, an evaluation may be under way that tells nothing, or a save: while
  // no worker only waits (Heartbeat.since_any_work_ms), the threshold is up to three times as
  // long, or a minute, but no longer than the longest pause.
  // Where no log tells a step, but a rhythm of work is known of at least half of the workers:
  // ActivityThreshold, from when half of those or more have stood still. A worker that spins,
  // retries or compiles while the others wait for it does not count. A start has rhythms of its
  // own: until the startup grace has passed since the first worker came, extended as above as long
  // as no traffic has a rhythm, no hang is concluded. Absent while none of these measures is known:
  // the job is not running.
  std::optional<Standstill> Measure(const Thresholds& thresholds, const Learning& learning,
                                    absl::Duration now) const;
  // The hang, if there is one: no worker completes launches, for as long as the threshold that
  // applies or longer; or workers stand in launches, or steps, for twice as long as those may
  // take, while only exceptions (AreExceptions), fewer than those that stand, complete any, and
  // the rest has been idle for as long.
  std::optional<Standstill> Judge(const Thresholds& thresholds, const Learning& learning,
                                  absl::Duration now) const;

  // The standstill of a job that began at `begin` and of which nothing has shown any progress: all
  // its processes have only waited for half of the startup grace, which is over, or at least half
  // of them have, and the others work for longer than a start may.
  std::optional<Standstill> MeasureIdleStart(const Thresholds& thresholds, absl::Duration begin,
                                             absl::Duration now) const;

  // The time when half of the workers or more were last seen at work, if no better evidence exists;
  // absent: better evidence exists, or the time is not known.
  std::optional<absl::Duration> LastWork() const;
  // The time when the last launch, or step, completed on any worker; absent if none has in this
  // incarnation of the job.
  std::optional<absl::Duration> LastCompletion() const;

  // True if there are connected workers that have ever completed something, and all of them have
  // done so again since `moment`: the job goes on.
  bool GoesOnSince(absl::Duration moment) const;

  const WorkerProgress* Find(const WorkerId& worker) const;
  // Workers that are Shown.
  size_t Running() const;
  // The votes of workers that tell of progress in any way.
  double Told() const;
  // Forgets completions when the job restarts. Counters stay, so that a worker which only repeats
  // old ones does not seem to advance.
  void Forget();

 private:
  std::optional<Standstill> MeasureWork(const Thresholds& thresholds, const Learning& learning,
                                        absl::Duration now) const;
  // True if at most exceptions (AreExceptions) have completed launches since `moment`.
  bool MostStandSince(absl::Duration moment) const;

  std::map<WorkerId, WorkerProgress> workers_;
  HostVotes hosts_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_PROGRESS_H_
