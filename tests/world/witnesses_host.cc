#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/world/witnesses.h"

namespace rapideye::world {
namespace {

using Frames = std::vector<std::string>;

int64_t AgeMs(const Engine& engine, double since) {
  return std::max<int64_t>(0, static_cast<int64_t>((engine.now() - since) * 1000));
}

Frames FramesIn(HostActivity activity) {
  switch (activity) {
    case HostActivity::kCheckpointSave:
      return {"write (tensorstore/__init__.py)",
              "_save_fn (orbax/checkpoint/_src/serialization.py)",
              "save (orbax/checkpoint/checkpoint_manager.py)"};
    case HostActivity::kCheckpointRestore:
      return {"read (tensorstore/__init__.py)", "restore (orbax/checkpoint/checkpoint_manager.py)"};
    case HostActivity::kStorageRead:
      return {"read (gcsfs/core.py)", "load_vocabulary (train.py)"};
    case HostActivity::kCompilation:
      return {"backend_compile_and_load (jax/_src/compiler.py)",
              "_cached_compilation (jax/_src/interpreters/pxla.py)"};
    case HostActivity::kBarrier:
      return {"wait_at_barrier (jax/_src/distributed.py)",
              "sync_global_devices (jax/experimental/multihost_utils.py)"};
    case HostActivity::kLock:
      return {"acquire (threading.py)", "update_metrics (train.py)"};
    case HostActivity::kRetry:
      return {"sleep (time)", "retry_call (google/api_core/retry.py)"};
    case HostActivity::kGarbageCollection:
      return {"collect (gc)", "on_step_end (train.py)"};
    case HostActivity::kInput:
      return {"get (queue.py)", "__next__ (grain/_src/python/data_loader.py)"};
    default:
      return {"work (train.py)"};
  }
}

Frames FramesOf(const HostState& host) {
  if (host.process == HostState::Process::kRaised) {
    return {"shutdown (jax/_src/distributed.py)", "clean_up (jax/_src/distributed.py)"};
  }
  if (host.blocked != nullptr) {
    return FramesIn(host.blocked->activity);
  }
  if (!host.action.has_value()) {
    return {};
  }
  switch (host.action->does) {
    case HostState::Does::kBatch:
      return FramesIn(HostActivity::kInput);
    case HostState::Does::kCompile:
      return FramesIn(HostActivity::kCompilation);
    case HostState::Does::kWrite:
      return FramesIn(HostActivity::kCheckpointSave);
    case HostState::Does::kBarrier:
      return FramesIn(HostActivity::kBarrier);
    case HostState::Does::kDispatch:
      return {"__call__ (jax/_src/interpreters/pxla.py)", "train_step (train.py)"};
    default:
      return {"_value (jax/_src/array.py)", "__float__ (jax/_src/array.py)"};
  }
}

void DescribeStacks(const HostState& host, Snapshot& snapshot) {
  Frames frames = FramesOf(host);
  frames.push_back("main (train.py)");
  snapshot.stacks.push_back({.thread = "MainThread", .frames = std::move(frames)});
  if (host.callbacks_block != nullptr) {
    snapshot.stacks.push_back({.thread = "callback",
                               .frames = {"recv (socket.py)", "log_metrics (train.py)",
                                          "_callback (jax/_src/callback.py)"}});
  }
}

// A process that waits for the device sleeps; one that compiles or collects computes.
void DescribeLiving(const Engine& engine, const HostState& host, Process& process) {
  using State = HostState::Process;
  process.state = ProcessState::kSleeping;
  process.wait_channel = "futex_wait_queue";
  double busy = 0;
  const HostActivity activity =
      host.blocked == nullptr ? HostActivity::kOther : host.blocked->activity;
  if (host.action.has_value() && host.action->does == HostState::Does::kCompile) {
    busy = engine.now() - host.action_since;
  }
  if (activity == HostActivity::kCompilation || activity == HostActivity::kGarbageCollection) {
    busy = engine.now() - host.action_since;
  }
  if (host.process == State::kStopped) {
    process.state = ProcessState::kStopped;
    process.wait_channel = "do_signal_stop";
  } else if (host.process == State::kFrozen) {
    process.wait_channel = "do_freezer_trap";
  } else if (busy > 0) {
    process.state = ProcessState::kRunning;
    process.wait_channel.reset();
  } else if (host.storage_hangs != nullptr && host.action.has_value() &&
             host.action->does == HostState::Does::kWrite) {
    process.state = ProcessState::kUninterruptible;
    process.wait_channel = "rpc_wait_bit_killable";
  }
  process.cpu_ms = 200 + static_cast<int64_t>(busy * 1000);
  process.started_ms_ago = AgeMs(engine, -20);
}

void DescribeProcesses(const Engine& engine, int worker, Snapshot& snapshot) {
  const HostState& host = engine.hosts()[static_cast<size_t>(worker)];
  Process process;
  process.pid = 4000 + worker;
  process.command = "python3";
  if (host.process == HostState::Process::kEnded) {
    process.state = ProcessState::kExited;
    process.exited_ms_ago = AgeMs(engine, host.since);
    if (host.fault != nullptr && host.fault->signal != 0) {
      process.signal = host.fault->signal;
    } else {
      process.exit_code = host.fault == nullptr ? 0 : host.fault->exit_code;
    }
  } else {
    DescribeLiving(engine, host, process);
  }
  if (host.process != HostState::Process::kEnded || engine.plan().evidence.logs) {
    snapshot.processes.push_back(std::move(process));
  }
  if (host.restarted.has_value() && *host.restarted < engine.now()) {
    snapshot.processes.push_back({.pid = 9000 + worker,
                                  .command = "python3",
                                  .cpu_ms = 900,
                                  .state = ProcessState::kSleeping,
                                  .started_ms_ago = AgeMs(engine, *host.restarted)});
    // The new one serves, and has launched nothing.
    snapshot.incarnation = absl::StrFormat("restarted-%d", worker);
    snapshot.runtime.state = RuntimeState::kServing;
    for (Core& core : snapshot.cores) {
      core.program.reset();
      core.launch_id.reset();
      core.queued.clear();
      core.transitions.clear();
      core.stuck_ms.reset();
      for (Sequencer& sequencer : core.sequencers) {
        sequencer = {.type = sequencer.type, .pc = 0, .frozen_ms = AgeMs(engine, *host.restarted)};
      }
    }
  }
}

void DescribePage(const Engine& engine, const HostState& host, Snapshot& snapshot) {
  Progress page;
  page.step = host.step;
  page.phase = host.phase;
  if (host.phase != Phase::kUnspecified) {
    page.phase_ms = AgeMs(engine, host.phase_since);
  }
  if (host.phase == Phase::kInput && host.action.has_value() &&
      host.action->does == HostState::Does::kBatch) {
    page.input_wait_ms = AgeMs(engine, host.action_since);
  }
  snapshot.progress = std::move(page);
}

LogEvent EventOf(const Engine& engine, const Fault& fault, double since) {
  LogEvent event;
  event.kind = fault.log;
  event.text = fault.words;
  event.source = LogSource::kJobLog;
  event.age_ms = AgeMs(engine, since);
  event.count = 1;
  return event;
}

void DescribeHalt(const Engine& engine, const Fault& fault, LogEvent& event) {
  const Shape& shape = engine.plan().shape;
  const CoreState& core = engine.cores()[static_cast<size_t>(fault.device)];
  event.chip = shape.chip_of(fault.device);
  event.core_type = CoreType::kTensorCore;
  event.core_index = fault.device % shape.devices_per_chip;
  event.sequencer = "TensorCoreSequencer";
  if (core.current.has_value()) {
    event.tag = engine.At(core).tag;
    event.pc = engine.At(core).pc;
    event.hlo = engine.At(core).name;
  }
}

void DescribeLogs(const Engine& engine, int worker, Snapshot& snapshot) {
  const Plan& plan = engine.plan();
  const HostState& host = engine.hosts()[static_cast<size_t>(worker)];
  for (const Fault& fault : plan.faults) {
    const bool breaks_ici = fault.what == Happening::kIciBreaks;
    const bool own =
        fault.worker == worker || (breaks_ici && plan.shape.worker_of(fault.other) == worker);
    if (!own || fault.log == LogKind::kUnspecified || !engine.TimeOf(fault).has_value()) {
      continue;
    }
    const double began = *engine.TimeOf(fault);
    LogEvent event =
        EventOf(engine, fault, host.fault == &fault && host.since > 0 ? host.since : began);
    if (fault.what == Happening::kChipHalts) {
      DescribeHalt(engine, fault, event);
    }
    if (fault.by_kernel) {
      event.source = LogSource::kKernelLog;
    }
    snapshot.log_events.push_back(std::move(event));
    if (fault.what == Happening::kHostDies && fault.notice) {
      snapshot.log_events.back().age_ms = AgeMs(engine, began - 20);
    }
  }
}

}  // namespace

std::string HostName(const Plan& plan, int worker) {
  const WorkerId id = plan.shape.id_of(worker);
  return absl::StrFormat("tpu-w%d-%d", id.slice, id.task);
}

bool AgentAnswers(const Engine& engine, int worker) {
  const HostState& host = engine.hosts()[static_cast<size_t>(worker)];
  const bool gone = host.fault != nullptr && host.fault->what == Happening::kPodVanishes;
  return !host.dead && !gone && host.process != HostState::Process::kAbsent &&
         !engine.plan().missing_agents.contains(worker);
}

void DescribeHost(const Engine& engine, int worker, Random& random, Snapshot& snapshot) {
  const Plan& plan = engine.plan();
  const HostState& host = engine.hosts()[static_cast<size_t>(worker)];
  snapshot.worker = plan.shape.id_of(worker);
  snapshot.host = HostName(plan, worker);
  snapshot.node = absl::StrCat("node-", worker);
  snapshot.hardware = absl::StrFormat("hw-%08x", plan.seed * 131 + static_cast<uint64_t>(worker));
  snapshot.incarnation = absl::StrCat("first-", worker);
  snapshot.direct_evidence = true;  // of a DaemonSet: whoever is named wrongly may be removed
  snapshot.captured_unix_ms = 1790000000000 + static_cast<int64_t>(engine.now() * 1000) +
                              random.Between(-3000, 3000);  // clocks differ
  DescribeProcesses(engine, worker, snapshot);
  if (plan.evidence.page && host.step > 0) {
    DescribePage(engine, host, snapshot);
  }
  if (plan.evidence.stacks && host.runs()) {
    DescribeStacks(host, snapshot);
  }
  if (plan.evidence.logs) {
    DescribeLogs(engine, worker, snapshot);
  }
  for (int chip = 0; chip < plan.shape.chips; ++chip) {
    const bool broken = std::any_of(plan.faults.begin(), plan.faults.end(), [&](const Fault& f) {
      return f.what == Happening::kChipHalts && f.by_kernel && f.worker == worker &&
             plan.shape.chip_of(f.device) == chip && engine.TimeOf(f).has_value();
    });
    snapshot.pcie.push_back({.chip = chip,
                             .fatal = broken ? 1 : 0,
                             .correctable = random.Chance(0.05) ? random.Between(1, 9) : 0});
  }
}

}  // namespace rapideye::world
