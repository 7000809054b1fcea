// Faults of training processes and their hosts.
#include "tests/world/kinds.h"

namespace rapideye::world {
namespace {

Fault& End(Draft& draft, const std::string& detail, Happening what = Happening::kProcessEnds) {
  const int worker = draft.AnyWorker();
  Fault& fault = draft.Break(what, worker);
  draft.Accept("UNRECOVERABLE_ERROR", {detail}, {draft.Worker(worker)});
  draft.MayLookSoon("exit");
  return fault;
}

void Killed(Draft& draft) {
  Fault& fault = End(draft, "PROCESS_EXIT");
  fault.signal = draft.random.Chance(0.7) ? 9 : 11;
}

void KilledForMemory(Draft& draft) {
  Fault& fault = End(draft, "OUT_OF_MEMORY");
  fault.signal = 9;
  fault.by_kernel = true;
  fault.log = LogKind::kOutOfMemory;
  fault.words = "Out of memory: Killed process 4000 (python3) total-vm:812GB";
  if (!draft.plan.evidence.logs) {
    draft.plan.truth.accepted.front().details.insert("PROCESS_EXIT");
  }
}

void Crashed(Draft& draft) {
  Fault& fault = End(draft, "PROCESS_EXIT");
  fault.exit_code = 1;
  fault.log = LogKind::kUncaughtException;
  fault.words = "ValueError: bad record in shard 17";
}

void EndedInTheMiddle(Draft& draft) { End(draft, "PROCESS_EXIT").exit_code = 0; }

void Raised(Draft& draft) {
  Fault& fault = End(draft, "PROCESS_EXIT", Happening::kProcessRaises);
  fault.log = LogKind::kUncaughtException;
  fault.words = "KeyError: 'labels'";
  if (!draft.plan.evidence.logs) {  // it lives on: a shutdown that it never comes out of
    draft.Accept("DATA_INPUT_STALL", {}, {draft.Worker(fault.worker)});
  }
}

void Stopped(Draft& draft) {
  const Fault& fault = draft.Break(Happening::kProcessStops, draft.AnyWorker());
  draft.Accept("UNRECOVERABLE_ERROR", {"PROCESS_STOPPED"}, {draft.Worker(fault.worker)});
}

void Frozen(Draft& draft) {
  const Fault& fault = draft.Break(Happening::kProcessFreezes, draft.AnyWorker());
  draft.Accept("UNRECOVERABLE_ERROR", {"PROCESS_STOPPED"}, {draft.Worker(fault.worker)});
  draft.plan.truth.activity = HostActivity::kPaused;
}

void Restarted(Draft& draft) {
  const Fault& fault = draft.Break(Happening::kProcessRestarts, draft.AnyWorker());
  draft.plan.faults.back().exit_code = 1;
  draft.Accept("UNRECOVERABLE_ERROR", {}, {draft.Worker(fault.worker)});
}

void HostDies(Draft& draft) {
  const Fault& fault = draft.Break(Happening::kHostDies, draft.AnyWorker());
  draft.Accept("UNRECOVERABLE_ERROR", {"WORKER_LOST"}, {draft.Worker(fault.worker)});
}

void PodVanishes(Draft& draft) {
  const Fault& fault = draft.Break(Happening::kPodVanishes, draft.AnyWorker());
  draft.Accept("UNRECOVERABLE_ERROR", {"WORKER_LOST", "PROCESS_EXIT"},
               {draft.Worker(fault.worker)});
}

void NeverCame(Draft& draft) {
  const int worker = draft.random.Between(1, draft.plan.shape.workers() - 1);
  draft.plan.absent_workers = {worker};
  draft.Accept("UNRECOVERABLE_ERROR", {"NOT_STARTED"}, {draft.Worker(worker)});
}

void CopyFailed(Draft& draft) {
  const bool to_device = draft.random.Chance(0.5);
  Fault& fault = End(draft, to_device ? "HOST_TO_DEVICE" : "DEVICE_TO_HOST", Happening::kCopyFails);
  fault.log = LogKind::kCopyFailed;
  fault.words = to_device ? "INTERNAL: failed to copy data from host to TPU: buffer 12"
                          : "INTERNAL: failed to copy data from TPU to host: buffer 12";
  draft.plan.evidence.logs = true;
}

void DeviceMemory(Draft& draft) {
  Fault& fault = End(draft, "OUT_OF_MEMORY", Happening::kDeviceMemory);
  fault.log = LogKind::kOutOfMemory;
  fault.words = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.";
  draft.plan.evidence.logs = true;
}

void Preempted(Draft& draft) {
  Fault& fault = End(draft, "PREEMPTED");
  fault.signal = 15;
  fault.log = LogKind::kPreempted;
  fault.words = "maintenance event: TERMINATE_ON_HOST_MAINTENANCE, SIGTERM received";
  draft.plan.evidence.logs = true;
}

// The coordination service of all processes notices one death and ends the others.
void ExitThenAllEnd(Draft& draft) {
  Crashed(draft);
  draft.plan.evidence.logs = true;
  draft.plan.looks_after_fault.reset();
  draft.plan.trigger = "exit";
  const Fault first = draft.plan.faults.front();
  for (int worker = 0; worker < draft.plan.shape.workers(); ++worker) {
    if (worker != first.worker) {
      Fault& fault = draft.Break(Happening::kProcessEnds, worker);
      fault.delay = first.delay + draft.random.Uniform(1, 9);
      fault.signal = 6;
      fault.log = LogKind::kFollowOn;
      fault.words = "Terminating process because the JAX distributed service detected fatal errors";
    }
  }
}

// Two faults at once: an exit, and a thread of another host that blocks later.
void ExitThenBlock(Draft& draft) {
  Killed(draft);
  const int other = (draft.plan.faults.front().worker + 1) % draft.plan.shape.workers();
  Fault& fault = draft.Break(Happening::kThreadBlocks, other);
  fault.delay = draft.plan.faults.front().delay + draft.plan.threshold * 0.5;
  fault.activity = HostActivity::kLock;
  draft.plan.truth.accepted.front().culprits = draft.Workers({draft.plan.faults.front().worker});
}

}  // namespace

std::vector<Kind> ProcessKinds() {
  const ShapeNeeds two{.workers = 2};
  return {
      {"process-killed", {.shape = two}, Killed},
      {"process-killed-for-memory", {.shape = two}, KilledForMemory},
      {"process-crashed", {.shape = two}, Crashed},
      {"process-ended-in-the-middle", {.shape = two}, EndedInTheMiddle},
      {"process-raised", {.shape = two}, Raised},
      {"process-stopped", {.shape = two}, Stopped},
      {"process-frozen", {.shape = two}, Frozen},
      {"process-restarted", {.shape = two}, Restarted},
      {"host-dies", {.shape = two}, HostDies},
      {"pod-vanishes", {.shape = two}, PodVanishes},
      {"never-came", {.shape = two}, NeverCame},
      {"copy-failed", {.shape = two}, CopyFailed},
      {"device-memory", {.shape = two}, DeviceMemory},
      {"preempted", {.shape = two}, Preempted},
      {"exit-then-all-end", {.shape = two}, ExitThenAllEnd},
      {"exit-then-block", {.shape = two}, ExitThenBlock},
  };
}

}  // namespace rapideye::world
