// WorkerView holds the state of this worker, as samples of the runtime have shown it.
#ifndef RAPIDEYE_AGENT_CORE_WORKER_VIEW_H_
#define RAPIDEYE_AGENT_CORE_WORKER_VIEW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/core/launches.h"
#include "agent/core/program_book.h"
#include "agent/sources/hlo_dump/state.h"
#include "agent/sources/runtime/sample.h"
#include "agent/sources/source.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Keeps the last sample until a newer one comes: a runtime that aborts on a
// hang loses its own state. Not synchronised.
class WorkerView {
 public:
  // `prefix` begins the incarnations that this view gives to training processes.
  explicit WorkerView(std::string prefix);

  // Takes samples in the order of time; two samples of one moment, and samples that lack
  // parts, are fine. True if the sample is of another training process than before: then all
  // but the names of modules is forgotten.
  bool Observe(const RuntimeSample& sample, absl::Duration now);
  // The runtime's port is closed: the next answer comes from another process, unless
  // the host shows that it is the same.
  void RuntimeGone();
  // An incident has prolonged the launches and the pause under way: only later ones
  // count as measures of the job.
  void MeasureAnew(absl::Duration now);
  // Sets the process of the next samples, as the host shows it; absent while it is
  // not known, or once it has ended.
  void SetProcess(std::optional<ProcessId> process) { process_now_ = process; }

  void Learn(const HloDumpReading& dumps) { modules_.Learn(dumps.programs); }
  // Sets whether the training loop announces that it launches nothing for a while: a pause with
  // such an announcement at any time does not count among the unannounced pauses.
  void SetPauseAnnounced(bool announced) { pause_announced_now_ = announced; }

  const std::optional<RuntimeSample>& last_sample() const { return last_sample_; }
  const PositionAges& position_ages() const { return position_ages_; }
  const Transitions& transitions() const { return transitions_; }
  const ModuleNames& modules() const { return modules_; }
  // Absent until a runtime has answered.
  const std::optional<std::string>& incarnation() const { return incarnation_; }
  // The time when a launch last completed on this core; absent for a core never seen.
  std::optional<absl::Duration> LastCompletion(int32_t core_id) const;

  bool AnyInLaunch() const;
  // A launch was on a core at some time of this incarnation.
  bool EverLaunched() const { return ever_launched_; }
  // The time when a launch last completed, on any core; absent if none did in this
  // incarnation.
  const std::optional<absl::Duration>& last_completion() const { return last_completion_; }
  // The time when a launch last completed or began, on any core. Without a meaning before the
  // first sample.
  absl::Duration last_progress() const { return last_progress_; }

  // A launch has been on the cores for clearly longer than any that completed.
  bool LaunchOverdue(absl::Duration now) const;

  // Sets the launches, programs and queue of a heartbeat.
  void Describe(absl::Duration now, wire::Heartbeat& heartbeat) const;

 private:
  void Forget(absl::Duration now);
  bool TrackLaunches(const RuntimeSample& sample, absl::Duration now);
  void TrackPause(absl::Duration now);
  std::vector<wire::QueueEntry> LongestQueue() const;

  std::string prefix_;
  int64_t processes_ = 0;  // training processes seen so far
  std::optional<std::string> incarnation_;
  std::optional<ProcessId> process_;      // the process of the samples so far
  std::optional<ProcessId> process_now_;  // the process of the next sample
  bool runtime_gone_ = false;

  std::optional<RuntimeSample> last_sample_;
  PositionAges position_ages_;
  Transitions transitions_;
  ModuleNames modules_;
  std::map<int32_t, LaunchTracker> trackers_;  // by core id
  ProgramBook programs_;
  int64_t launches_completed_ = 0;
  absl::Duration first_seen_;
  std::optional<absl::Duration> last_completion_;
  absl::Duration last_progress_;
  bool ever_launched_ = false;
  std::optional<absl::Duration> idle_since_;
  bool pause_announced_now_ = false;
  bool pause_announced_ = false;  // at any time of the pause that lasts
  std::optional<absl::Duration> longest_pause_;
  std::optional<absl::Duration> longest_unannounced_pause_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_WORKER_VIEW_H_
