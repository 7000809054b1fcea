// All that the host has shown of the training process so far.
#ifndef RAPIDEYE_AGENT_CORE_HOST_VIEW_H_
#define RAPIDEYE_AGENT_CORE_HOST_VIEW_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/core/alarms.h"
#include "agent/core/effects.h"
#include "agent/core/hardware_view.h"
#include "agent/core/host_sample.h"
#include "agent/core/worker_view.h"
#include "agent/sources/log/state.h"
#include "agent/sources/process/state.h"
#include "agent/sources/progress_page/state.h"
#include "agent/sources/stacks/state.h"
#include "agent/sources/tcp/state.h"
#include "classifier/logs/log_line.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

class HostView {
 public:
  // Logs what became known, raises what alarms, and tells the worker's view which
  // process it looks at.
  void Observe(const HostReading& reading, absl::Duration now, WorkerView& worker, Alarms& alarms,
               Effects& effects);
  void Observe(const logs::LogReading& reading, absl::Duration now, Alarms& alarms,
               Effects& effects);
  // The job has advanced.
  void Progressed();

  StacksState& stacks() { return stacks_; }

  // The process that lives; absent: none was seen, or it has ended.
  std::optional<ProcessId> process() const { return process_.alive(); }

  const HardwareView& hardware() const { return hardware_; }
  void Restore(std::optional<CounterBaseline> kept) { hardware_.Restore(std::move(kept)); }
  // What the training loop says of itself.
  const ProgressPageState& progress() const { return progress_; }

  void Describe(Instant now, Snapshot& snapshot) const;

 private:
  void ObserveHardware(const HardwareReading& reading, absl::Duration now, const WorkerView& worker,
                       Effects& effects);
  void ObserveProcess(const ProcessReading& reading, absl::Duration now, WorkerView& worker,
                      Alarms& alarms, Effects& effects);

  TrainingProcess process_;
  LogState logs_;
  TcpState sockets_;
  HardwareView hardware_;
  ProgressPageState progress_;
  std::vector<Metric> metrics_;  // of the standstill that lasts
  StacksState stacks_;
  std::vector<ChipHolder> chip_holders_;
  std::string process_unavailable_;  // as logged
  std::string sockets_unavailable_;
  std::string nics_unavailable_;
  std::string pcie_unavailable_;
  std::string kernel_log_unavailable_;
  std::string progress_unavailable_;
  std::string metrics_unavailable_;
  std::string stacks_unavailable_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_HOST_VIEW_H_
