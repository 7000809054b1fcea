// Plan describes a scenario before it becomes evidence: a job, the fault in it, and what people,
// kernels and runtimes report about that.
#ifndef RAPIDEYE_TESTS_SCENARIOS_PLAN_H_
#define RAPIDEYE_TESTS_SCENARIOS_PLAN_H_

#include <optional>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"
#include "tests/scenarios/dynamics.h"
#include "tests/scenarios/job.h"
#include "tests/scenarios/truth.h"

namespace rapideye::scenarios {

// A log line that the fault causes. Times count from the fault.
struct LogLine {
  int worker = 0;
  LogKind kind = LogKind::kUnspecified;
  std::string text;
  LogSource source = LogSource::kJobLog;
  int64_t after_ms = 0;
  int device = -1;       // fills chip, core, pc and tag from where it stands
  int sparse_core = -1;  // of that device
  std::optional<int32_t> chip;
  std::optional<std::string> peer_host;
};

struct ProcessEnd {
  int worker = 0;
  std::optional<int32_t> exit_code;
  std::optional<int32_t> signal;
  int64_t after_ms = 0;
};

struct HostStack {
  int worker = 0;
  std::vector<std::string> frames;
};

struct PhaseReport {
  int worker = 0;
  Phase phase = Phase::kUnspecified;
  bool waits_for_input = false;
  bool burns_cpu = false;
};

struct NicFault {
  int worker = 0;
  std::string nic;
  bool carrier_lost = false;
};

// When the capture is taken.
enum class Moment {
  kAfterThreshold,  // everything stood still for as long as the alarm takes
  kAtOnce,          // a halt or an exit raised the alarm
  kMidway,          // the job runs
};

// Evidence that shows the truth: the culprits' cores; what their hosts say of processes,
// logs, counters and connections, whatever is known of the cores; or each of many
// culprits, whatever is known of the others.
enum class Witness { kCores, kHost, kEach };

struct Plan {
  Job job;
  Faults faults;
  std::optional<int> launches;  // otherwise the job's horizon
  Moment moment = Moment::kAfterThreshold;
  std::optional<std::string> trigger;   // otherwise by chance
  std::optional<int64_t> threshold_ms;  // otherwise by chance
  std::optional<double> standstill;     // kAfterThreshold: how long, in thresholds
  int reference_device = -1;  // where it stands, it stands since the fault; -1: the last to move
  uint64_t network_seed = 0;  // which NIC a pair of workers uses

  std::vector<LogLine> log_lines;
  std::vector<ProcessEnd> ends;
  std::vector<int> stopped_processes;
  std::vector<int> lost_workers;   // no snapshot, unreachable
  std::vector<int> silent_agents;  // no snapshot, reachable
  std::vector<int> no_samples;     // the runtime is gone and no sample was kept
  std::vector<PhaseReport> phases;
  std::vector<HostStack> stacks;
  std::vector<PcieCounters> pcie;  // parallel to pcie_workers
  std::vector<int> pcie_workers;
  bool trusted_agents = false;       // their word on their machines is beyond the job's reach
  std::vector<int> looping_devices;  // pc moves, nothing completes
  std::vector<int> halted_devices;   // the runtime reports an error for the core
  std::vector<int> dead_hosts;       // all cross-slice NICs
  std::vector<NicFault> nic_faults;
  std::vector<IciLink> ici_faults;  // parallel to ici_workers
  std::vector<int> ici_workers;
  bool unlearnt = false;          // the job never ran healthily: no sequence
  bool nothing_launched = false;  // cores have run no program yet

  bool contradictory_hlo = false;  // runtimes name one place differently
  Witness told_by = Witness::kCores;
  // Workers besides the culprits whose evidence the truth rests on.
  std::vector<int> witnesses;
  Truth truth;

  int launches_to_run() const { return launches.value_or(job.horizon()); }
};

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_PLAN_H_
