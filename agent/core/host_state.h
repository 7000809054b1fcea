// HostState holds the states of all sources, and passes on news that cannot wait.
#ifndef RAPIDEYE_AGENT_CORE_HOST_STATE_H_
#define RAPIDEYE_AGENT_CORE_HOST_STATE_H_

#include <optional>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "agent/core/process_activity.h"
#include "agent/core/requests.h"
#include "agent/core/worker_view.h"
#include "agent/sources/registry.h"
#include "classifier/logs/log_line.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

class HostState {
 public:
  // Takes a reading: logs news, raises alarms, and passes the present process to the
  // worker's view.
  void Observe(const HostReading& reading, absl::Duration now, WorkerView& worker, Alarms& alarms,
               Effects& effects);
  void Observe(const logs::LogReading& reading, absl::Duration now, const WorkerView& worker,
               Alarms& alarms, Effects& effects);
  // The job has advanced.
  void JobProgressed();

  // The state of one source, by its type.
  template <typename State>
  State& Of() {
    return states_.Of<State>();
  }
  template <typename State>
  const State& Of() const {
    return states_.Of<State>();
  }
  // The process that lives; absent: none was seen, or it has ended.
  std::optional<ProcessId> process() const { return Of<TrainingProcess>().alive(); }

  const ProcessActivity& activity() const { return activity_; }
  // For use during an incident: the time without work is then no measure of health.
  void MeasureActivityAnew() { activity_.MeasureAnew(); }

  void AddTo(Snapshot& snapshot, Instant now) const;

 private:
  void ObserveActivity(const HostReading& reading, absl::Duration now);

  SourceStates states_;
  ProcessActivity activity_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_HOST_STATE_H_
