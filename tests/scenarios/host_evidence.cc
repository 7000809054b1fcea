#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/scenarios/evidence.h"

namespace rapideye::scenarios {
namespace {

constexpr int32_t kSigAbrt = 6;
constexpr int64_t kMsPerMinute = 60000;

bool Contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

const ProcessEnd* EndOf(const Plan& plan, int worker) {
  for (const ProcessEnd& end : plan.ends) {
    if (end.worker == worker) return &end;
  }
  return nullptr;
}

const PhaseReport* PhaseOf(const Plan& plan, int worker) {
  for (const PhaseReport& report : plan.phases) {
    if (report.worker == worker) return &report;
  }
  return nullptr;
}

// How long ago the fault struck, as the worker would see it now.
int64_t FaultAge(const Scene& scene) {
  return std::max<int64_t>(0, scene.timing.detected_ms - scene.timing.fault_ms);
}

void AddProcess(const Scene& scene, int worker, Random& random, Snapshot& snapshot) {
  Process process{.pid = random.Between(900, 99000), .command = "python3 train.py"};
  process.state = random.Chance(0.5) ? ProcessState::kRunning : ProcessState::kSleeping;
  const ProcessEnd* end = EndOf(scene.plan, worker);
  const PhaseReport* phase = PhaseOf(scene.plan, worker);
  if (end != nullptr) {
    process.state = ProcessState::kExited;
    process.exit_code = end->exit_code;
    process.signal = end->signal;
    process.exited_ms_ago = std::max<int64_t>(0, FaultAge(scene) - end->after_ms);
  } else if (scene.aborted[static_cast<size_t>(worker)]) {
    process.state = ProcessState::kExited;
    process.signal = kSigAbrt;
    process.exited_ms_ago = std::max<int64_t>(
        0, scene.timing.detected_ms - scene.timing.aborted_ms - random.Between(0, 900));
  } else if (Contains(scene.plan.stopped_processes, worker)) {
    process.state = ProcessState::kStopped;
  } else if (phase != nullptr && phase->burns_cpu) {
    process.state = ProcessState::kRunning;
    process.cpu_ms = FaultAge(scene) * random.Between(80, 800) / 100;
  } else if (random.Chance(0.3)) {
    process.cpu_ms = random.Between(0, 900);
  }
  snapshot.processes.push_back(std::move(process));
}

// The operation that the worker's first device stands at; null between launches.
struct Place {
  const Op* op = nullptr;
  int64_t step = 0;
  Arrival at;
};
Place PlaceOf(const Scene& scene, int worker) {
  const Job& job = scene.plan.job;
  Place place;
  const int64_t now = scene.sampled_ms[static_cast<size_t>(worker)];
  place.at = scene.world.At(job.layout.FirstDevice(worker), now);
  place.step = job.first_step;
  if (place.at.launch < 0) return place;
  const Instance instance = scene.world.InstanceAt(worker, place.at.launch);
  place.step = job.StepOf(place.at.launch + (place.at.op < 0 ? 1 : 0));
  if (place.at.op >= 0) {
    place.op =
        &job.programs[static_cast<size_t>(instance.program)].ops[static_cast<size_t>(place.at.op)];
  }
  return place;
}

void AddProgress(const Scene& scene, int worker, bool reported, Random& random,
                 Snapshot& snapshot) {
  const PhaseReport* report = PhaseOf(scene.plan, worker);
  if (report == nullptr && !reported) return;
  if (report != nullptr && report->phase == Phase::kUnspecified) return;
  Progress progress{.step = PlaceOf(scene, worker).step, .phase = Phase::kStep};
  if (report != nullptr) {
    progress.phase = report->phase;
    if (report->waits_for_input) {
      progress.input_wait_ms = std::max<int64_t>(0, FaultAge(scene) - random.Between(0, 400));
    } else if (report->phase != Phase::kStep) {
      progress.phase_ms = std::max<int64_t>(0, FaultAge(scene) + random.Between(0, 2000));
    }
  }
  snapshot.progress = progress;
}

std::string HangLine(const HangReport& report) {
  return absl::StrFormat(
      "Megascale hang detected: Timed out waiting for %d graphs to complete at launch_id %d. "
      "Already completed: %d. StepGloballyInProgress: %s. Timeout: %dm",
      report.pending_graphs, report.launch_id, report.completed,
      report.step_globally_in_progress ? "true" : "false", report.timeout_ms / kMsPerMinute);
}

// The runtime's own watch over cross-slice transfers: those who wait for one say so.
void AddHangReport(const Scene& scene, int worker, Random& random, Snapshot& snapshot) {
  const Place place = PlaceOf(scene, worker);
  if (place.op == nullptr || place.op->kind != OpKind::kExchange) return;
  const int64_t waited = scene.timing.detected_ms - place.at.at_ms;
  if (waited < scene.timing.threshold_ms || !random.Chance(0.5)) return;
  HangReport report{.pending_graphs = random.Between(1, 8),
                    .launch_id = place.step,
                    .completed = random.Between(0, 200),
                    .step_globally_in_progress = random.Chance(0.5),
                    .timeout_ms = scene.timing.threshold_ms};
  snapshot.log_events.push_back({.kind = LogKind::kHangDetected,
                                 .text = HangLine(report),
                                 .source = LogSource::kJobLog,
                                 .launch_id = report.launch_id,
                                 .age_ms = std::max<int64_t>(0, waited - report.timeout_ms)});
  snapshot.hang_report = report;
}

std::string SequencerName(bool sparse) {
  return sparse ? "SparseCoreSequencer" : "TensorCoreSequencer";
}

// Fills in where the device of a line stands, as runtimes print it.
void LocateLine(const Scene& scene, const LogLine& line, LogEvent& event) {
  const Layout& layout = scene.plan.job.layout;
  const bool sparse = line.sparse_core >= 0;
  const Arrival at = scene.world.At(line.device, kNever);
  event.chip = layout.ChipOfDevice(line.device);
  event.core_type = sparse ? CoreType::kSparseCore : CoreType::kTensorCore;
  event.core_index = sparse ? line.sparse_core : 0;
  event.core = absl::StrCat(*event.chip, "x", line.worker % 4, "x0_", sparse ? "SC" : "TC",
                            *event.core_index);
  event.sequencer = SequencerName(sparse);
  int64_t tag = 0;
  int64_t pc = 3;
  if (at.launch >= 0 && at.op >= 0) {
    const Instance instance = scene.world.InstanceAt(line.worker, at.launch);
    const Op& op = scene.plan.job.programs[static_cast<size_t>(instance.program)]
                       .ops[static_cast<size_t>(at.op)];
    tag = op.tag;
    pc = sparse ? op.sparse_pc : op.pc;
    if (!sparse) event.hlo = op.hlo;
  }
  event.tag = tag;
  event.pc = pc;
  event.text = absl::StrFormat("%s: %s Node 0 halted unexpectedly at tag:pc %s:%d:0x%x",
                               *event.core, line.text, *event.sequencer, tag, pc);
}

void AddLogLines(const Scene& scene, int worker, Snapshot& snapshot) {
  for (const LogLine& line : scene.plan.log_lines) {
    const int64_t age = FaultAge(scene) - line.after_ms;
    if (line.worker != worker || age < 0) continue;
    LogEvent event{.kind = line.kind,
                   .text = line.text,
                   .source = line.source,
                   .chip = line.chip,
                   .count = 1,
                   .age_ms = age,
                   .peer_host = line.peer_host};
    if (line.device >= 0) LocateLine(scene, line, event);
    snapshot.log_events.push_back(std::move(event));
  }
  if (scene.aborted[static_cast<size_t>(worker)] && worker == 0) {
    snapshot.log_events.push_back(
        {.kind = LogKind::kFollowOn,
         .text = "Aborting the coordinator after collecting errors",
         .source = LogSource::kJobLog,
         .age_ms = std::max<int64_t>(0, scene.timing.detected_ms - scene.timing.aborted_ms)});
  }
}

void AddPcie(const Scene& scene, int worker, bool reported, Snapshot& snapshot) {
  const std::vector<int>& faulty = scene.plan.pcie_workers;
  if (!reported && !Contains(faulty, worker)) return;
  for (int chip = 0; chip < scene.plan.job.layout.chips; ++chip) {
    PcieCounters counters{.chip = chip};
    for (size_t i = 0; i < faulty.size(); ++i) {
      if (faulty[i] == worker && scene.plan.pcie[i].chip == chip) counters = scene.plan.pcie[i];
    }
    snapshot.pcie.push_back(counters);
  }
}

}  // namespace

void AddHost(const Scene& scene, int worker, Random random, Snapshot& snapshot) {
  snapshot.runtime.state = scene.runtimes[static_cast<size_t>(worker)];
  AddProcess(scene, worker, random, snapshot);
  AddProgress(scene, worker, random.Chance(0.6), random, snapshot);
  AddHangReport(scene, worker, random, snapshot);
  AddLogLines(scene, worker, snapshot);
  AddPcie(scene, worker, random.Chance(0.5), snapshot);
  if (scene.plan.trusted_agents) snapshot.direct_evidence = true;
  for (const HostStack& stack : scene.plan.stacks) {
    if (stack.worker == worker) {
      snapshot.stacks.push_back({.thread = "MainThread", .frames = stack.frames});
    }
  }
}

}  // namespace rapideye::scenarios
