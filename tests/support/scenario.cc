#include "tests/support/scenario.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"

namespace rapideye::classifier::testing {
namespace {

constexpr char kStepPrint[] = "aa01";
constexpr char kApplyPrint[] = "bb02";

Snapshot MakeWorker(WorkerId id, const Shape& shape) {
  Snapshot snapshot;
  snapshot.worker = id;
  snapshot.host = absl::StrCat("host-", id.slice, "-", id.task);
  snapshot.runtime.state = RuntimeState::kServing;
  Process process;
  process.pid = 100;
  process.state = ProcessState::kSleeping;
  snapshot.processes.push_back(process);
  snapshot.programs = {{"jit_step", kStepPrint}, {"jit_apply", kApplyPrint}};
  for (const char* name : {"eth0", "eth1", "eth2"}) {
    Nic nic;
    nic.name = name;
    nic.up = true;
    snapshot.nics.push_back(nic);
  }
  for (int chip = 0; chip < shape.chips; ++chip) {
    Core tensor;
    tensor.chip = chip;
    tensor.type = CoreType::kTensorCore;
    tensor.sequencers.resize(1);
    tensor.sequencers[0].type = SequencerType::kTensorCoreSequencer;
    snapshot.cores.push_back(tensor);
    for (int i = 0; i < shape.sparse_cores; ++i) {
      Core sparse;
      sparse.chip = chip;
      sparse.type = CoreType::kSparseCore;
      sparse.index = i;
      sparse.sequencers.resize(1);
      sparse.sequencers[0].type = SequencerType::kSparseCoreSequencer;
      sparse.sequencers[0].pc = 0;
      sparse.sequencers[0].frozen_ms = kStillMs;
      snapshot.cores.push_back(sparse);
    }
  }
  return snapshot;
}

Core& FindCore(Snapshot& snapshot, CoreType type, int chip, int index) {
  return *std::find_if(snapshot.cores.begin(), snapshot.cores.end(), [&](const Core& core) {
    return core.type == type && core.chip == chip && core.index == index;
  });
}

}  // namespace

Scenario::Scenario(Shape shape) : shape_(shape) {
  CaptureHeader& header = capture.header;
  header.job = "job";
  header.trigger = "no-progress";
  header.generation = "v6e";
  header.hang_threshold_ms = kThresholdMs;
  Cohort cohort;
  cohort.name = "all";
  // The ids of a step twenty steps ago.
  cohort.sequence = {{"jit_step", kStepPrint, kStep - 20}, {"jit_apply", kApplyPrint, kApply - 20}};
  for (int slice = 0; slice < shape.slices; ++slice) {
    for (int task = 0; task < shape.tasks; ++task) {
      const WorkerId id{slice, task};
      capture.snapshots.push_back(MakeWorker(id, shape));
      header.expected_workers.push_back({id, capture.snapshots.back().host, std::nullopt});
      cohort.workers.push_back(id);
    }
  }
  header.cohorts.push_back(std::move(cohort));
  for (int slice = 0; slice < shape.slices; ++slice) {
    PutSlice(slice, 0, kStep, slice == 0 ? kCollective : kTransfer);
  }
}

Snapshot& Scenario::At(int slice, int task) {
  return *std::find_if(
      capture.snapshots.begin(), capture.snapshots.end(),
      [&](const Snapshot& snapshot) { return snapshot.worker == WorkerId{slice, task}; });
}

Core& Scenario::Tensor(int slice, int task, int chip) {
  return FindCore(At(slice, task), CoreType::kTensorCore, chip, 0);
}

Core& Scenario::Sparse(int slice, int task, int chip, int index) {
  return FindCore(At(slice, task), CoreType::kSparseCore, chip, index);
}

void Scenario::Remove(int slice, int task) {
  std::erase_if(capture.snapshots,
                [&](const Snapshot& snapshot) { return snapshot.worker == WorkerId{slice, task}; });
}

void Scenario::Put(Core& core, int program, int32_t launch, const Spot& spot) {
  core.program = program;
  core.launch_id = launch;
  core.stuck_ms = kStillMs;
  Sequencer& sequencer = core.sequencers[0];
  sequencer.pc = spot.pc;
  sequencer.tag = spot.tag;
  sequencer.hlo = spot.hlo;
  sequencer.frozen_ms = kStillMs;
  core.queued.clear();
  if (core.type != CoreType::kTensorCore || program > 1) return;
  // The two programs take turns; kStep is followed by kApply.
  const int32_t step = program == 0 ? launch - kStep : launch - kApply + 1;
  core.queued.push_back({program == 0 ? 1 : 0, program == 0 ? kApply + step : kStep + step, {}});
}

void Scenario::PutHost(int slice, int task, int program, int32_t launch, const Spot& spot) {
  for (int chip = 0; chip < shape_.chips; ++chip) {
    Put(Tensor(slice, task, chip), program, launch, spot);
  }
}

void Scenario::PutSlice(int slice, int program, int32_t launch, const Spot& spot) {
  for (int task = 0; task < shape_.tasks; ++task) PutHost(slice, task, program, launch, spot);
}

void Scenario::MakeIdle(int slice, int task) {
  for (int chip = 0; chip < shape_.chips; ++chip) {
    Core& core = Tensor(slice, task, chip);
    Put(core, 1, kApply - 1, Spot{0, 0, std::nullopt});
    core.queued.clear();
  }
}

void Scenario::RunOther(int slice, int task, const std::string& module,
                        const std::string& fingerprint) {
  Snapshot& snapshot = At(slice, task);
  const auto program = static_cast<int32_t>(snapshot.programs.size());
  snapshot.programs.push_back({module, fingerprint});
  for (int chip = 0; chip < shape_.chips; ++chip) {
    Core& core = Tensor(slice, task, chip);
    Put(core, program, 7, Spot{1, 0x333, "all-gather.5"});
    core.queued.push_back({program, 8, {}});
  }
}

void Scenario::Log(int slice, int task, LogKind kind, const std::string& text,
                   std::optional<int64_t> age_ms, std::optional<int32_t> chip, LogSource source) {
  LogEvent event;
  event.kind = kind;
  event.text = text;
  event.source = source;
  event.age_ms = age_ms;
  event.chip = chip;
  At(slice, task).log_events.push_back(event);
}

void Scenario::Exit(int slice, int task, int64_t ms_ago, std::optional<int32_t> code,
                    std::optional<int32_t> signal) {
  Snapshot& snapshot = At(slice, task);
  snapshot.runtime.state = RuntimeState::kUnavailable;
  Process& process = snapshot.processes[0];
  process.state = ProcessState::kExited;
  process.exited_ms_ago = ms_ago;
  process.exit_code = code;
  process.signal = signal;
}

void Scenario::ProbeAll() {
  for (Snapshot& snapshot : capture.snapshots) {
    const WorkerId own = snapshot.worker;
    for (const char* nic : {"eth1", "eth2"}) {
      for (int slice = 0; slice < shape_.slices; ++slice) {
        const WorkerId peer = slice == own.slice ? WorkerId{slice, (own.task + 1) % shape_.tasks}
                                                 : WorkerId{slice, own.task};
        if (peer != own) snapshot.probes.push_back({peer, nic, true, 300, std::nullopt});
      }
    }
  }
}

void Scenario::FailProbes(WorkerId a, WorkerId b, const std::optional<std::string>& nic) {
  for (Snapshot& snapshot : capture.snapshots) {
    for (Probe& probe : snapshot.probes) {
      const bool between =
          (snapshot.worker == a && probe.peer == b) || (snapshot.worker == b && probe.peer == a);
      if (!between || (nic.has_value() && probe.nic != nic)) continue;
      probe.ok = false;
      probe.rtt_us.reset();
    }
  }
}

void Scenario::ForgetHlo() {
  for (Snapshot& snapshot : capture.snapshots) {
    for (Core& core : snapshot.cores) {
      for (Sequencer& sequencer : core.sequencers) sequencer.hlo.reset();
    }
  }
}

void Scenario::ForgetModules() {
  for (Snapshot& snapshot : capture.snapshots) {
    for (Program& program : snapshot.programs) program.module.reset();
  }
  for (Cohort& cohort : capture.header.cohorts) {
    for (SequenceEntry& entry : cohort.sequence) entry.module.reset();
  }
}

void Scenario::ForgetCohorts() { capture.header.cohorts.clear(); }

void Scenario::StandFor(int64_t stuck_ms, int64_t frozen_ms) {
  for (Snapshot& snapshot : capture.snapshots) {
    for (Core& core : snapshot.cores) {
      core.stuck_ms = stuck_ms;
      for (Sequencer& sequencer : core.sequencers) sequencer.frozen_ms = frozen_ms;
    }
  }
}

std::string Summary(const Verdict& verdict) {
  std::string text{CauseName(verdict.cause)};
  if (verdict.detail != Detail::kNone) {
    absl::StrAppend(&text, "/", std::string(DetailName(verdict.detail)));
  }
  for (const Culprit& culprit : verdict.culprits) {
    absl::StrAppend(&text, " ", culprit.worker.slice, ".", culprit.worker.task);
    if (culprit.chip.has_value()) absl::StrAppend(&text, ".", *culprit.chip);
  }
  return text;
}

std::string Diagnose(const Scenario& scenario) { return Summary(Classify(scenario.capture)); }

}  // namespace rapideye::classifier::testing
