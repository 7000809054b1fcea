#include "tests/world/engine.h"

#include <algorithm>

#include "tests/world/script.h"

namespace rapideye::world {
namespace {

constexpr double kTransferSeconds = 0.02;

}  // namespace

Engine::Engine(const Plan& plan)
    : plan_(plan), meetings_(plan), random_(plan.seed ^ 0x656e67696e65) {
  const Shape& shape = plan.shape;
  for (int device = 0; device < shape.devices(); ++device) {
    cores_.push_back({.device = device, .worker = shape.worker_of(device)});
  }
  const int sparse = shape.sparse_cores / shape.devices_per_chip;
  for (int device = 0; device < shape.devices(); ++device) {
    for (int i = 0; i < sparse; ++i) {
      cores_.push_back({.device = device, .worker = shape.worker_of(device), .sparse = i});
    }
  }
  for (const Program& program : plan.programs) {
    started_ += 1.5 * program.compile_seconds;
  }
  started_ += 3 * plan.schedule.step_seconds + 10;
  hosts_.resize(static_cast<size_t>(shape.workers()));
  for (int worker = 0; worker < shape.workers(); ++worker) {
    HostState& host = hosts_[static_cast<size_t>(worker)];
    if (plan.absent_workers.contains(worker)) {
      host.process = HostState::Process::kAbsent;
    }
    host.batches = plan.schedule.buffered_batches;
    // All hosts meet once before they begin.
    host.script.push_back({HostState::Does::kBarrier, Phase::kUnspecified, -1});
    Push(random_.Uniform(0, 2), Kind::kHost, worker);
    Push(random_.Uniform(0, plan.poll_seconds), Kind::kPoll, worker);
  }
}

void Engine::Push(double time, Kind kind, int subject, uint64_t key) {
  events_.push({time, order_++, kind, subject, key});
}

void Engine::RunUntil(double time) {
  while (!events_.empty() && events_.top().time <= time) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    Handle(event);
  }
  now_ = time;
}

double Engine::RunUntilAlarm() {
  // A job that nothing stops is watched no longer than this.
  const double longest = started_ + 100 * plan_.schedule.step_seconds + 5 * plan_.threshold;
  bool began = false;
  for (;;) {
    // Starting up takes longer than any step: the alarm waits for hosts that have not begun. Steps
    // only grow.
    began = began || (last_progress_ > 0 &&
                      std::all_of(hosts_.begin(), hosts_.end(),
                                  [](const HostState& host) { return host.step >= 2; }));
    double until = (began ? last_progress_ : std::max(last_progress_, started_)) + plan_.threshold;
    if (look_.has_value()) {
      until = std::min(until, *look_);
    }
    const bool over = std::all_of(hosts_.begin(), hosts_.end(),
                                  [](const HostState& host) { return !host.runs(); });
    if (over && !look_.has_value()) {
      until = now_ + 5;
      RunUntil(until);
      return until;
    }
    if (now_ >= std::min(until, longest)) {
      return now_;
    }
    RunUntil(std::min(until, events_.empty() ? until : std::max(now_, events_.top().time)));
  }
}

void Engine::Handle(const Event& event) {
  switch (event.kind) {
    case Kind::kCore:
      RunCore(event.subject);
      break;
    case Kind::kHost:
      StepHost(event.subject);
      break;
    case Kind::kBatch: {
      HostState& host = hosts_[static_cast<size_t>(event.subject)];
      host.loading = false;
      if (host.loader_stopped == nullptr) {
        ++host.batches;
        Load(event.subject);
        StepHost(event.subject);
      }
      break;
    }
    case Kind::kPoll:
      if (poll_) {
        poll_(event.subject);
      }
      Push(now_ + plan_.poll_seconds, Kind::kPoll, event.subject);
      break;
    case Kind::kFault:
      Apply(plan_.faults[static_cast<size_t>(event.subject)]);
      break;
    case Kind::kArrival:
      Arrive(event.key);
      break;
    case Kind::kLook:
      look_ = now_;
      break;
  }
}

double Engine::Jitter(double seconds) {
  return seconds * (1 + plan_.schedule.jitter * random_.Uniform(-1, 1));
}

// ---- hosts

void Engine::ReachStep(int step) {
  for (; reached_step_ < step; ++reached_step_) {
    for (size_t i = 0; i < plan_.faults.size(); ++i) {
      if (plan_.faults[i].step == reached_step_ + 1) {
        Push(now_ + plan_.faults[i].delay, Kind::kFault, static_cast<int>(i));
      }
    }
    if (plan_.looks_at_step.has_value() && plan_.looks_at_step->first == reached_step_ + 1) {
      Push(now_ + plan_.looks_at_step->second, Kind::kLook, 0);
    }
  }
}

// Runs the main thread until it waits for something.
void Engine::StepHost(int worker) {
  HostState& host = hosts_[static_cast<size_t>(worker)];
  while (host.process == HostState::Process::kWorks && host.blocked == nullptr) {
    if (!host.action.has_value()) {
      if (host.will_block != nullptr) {
        host.blocked = host.will_block;
        host.action_since = now_;
        return;
      }
      if (host.script.empty()) {
        WriteStep(plan_, worker, host);
        ReachStep(std::min(host.step, 1));
      }
      host.action = host.script.front();
      host.script.pop_front();
      host.action_since = now_;
      BeginAction(host);
    }
    if (!FinishAction(worker, host)) {
      return;
    }
    host.action.reset();
  }
}

void Engine::BeginAction(HostState& host) {
  const int worker = static_cast<int>(&host - hosts_.data());
  if (host.action->phase != host.phase) {
    host.phase = host.action->phase;
    host.phase_since = now_;
  }
  std::optional<double> lasts;
  switch (host.action->does) {
    case HostState::Does::kCompile:
      lasts = Jitter(plan_.programs[static_cast<size_t>(host.action->argument)].compile_seconds);
      break;
    case HostState::Does::kWrite:
      lasts = Jitter(plan_.schedule.write_seconds);
      break;
    case HostState::Does::kDispatch:
      lasts = Jitter(plan_.schedule.dispatch_seconds);
      break;
    case HostState::Does::kFinish:
      lasts = random_.Uniform(0.05, 1.5);
      break;
    case HostState::Does::kBarrier:
      barriers_[host.action->argument].insert(worker);
      break;
    default:
      break;
  }
  host.action_ends.reset();
  if (lasts.has_value()) {
    host.action_ends = now_ + *lasts;
    Push(*host.action_ends, Kind::kHost, worker);
  }
}

// Returns false while the host's action lasts.
bool Engine::FinishAction(int worker, HostState& host) {
  if (host.action_ends.has_value() && now_ < *host.action_ends) {
    return false;
  }
  switch (host.action->does) {
    case HostState::Does::kBatch:
      if (host.batches == 0) {
        return false;
      }
      --host.batches;
      Load(worker);
      return true;
    case HostState::Does::kDispatch:
      if (static_cast<int>(host.in_flight.size()) >= plan_.schedule.launches_ahead) {
        return false;
      }
      Dispatch(worker, host, host.action->argument);
      return true;
    case HostState::Does::kAwait:
      return host.in_flight.empty();
    case HostState::Does::kCompile:
      return true;
    case HostState::Does::kWrite:
      return host.storage_hangs == nullptr;
    case HostState::Does::kBarrier: {
      const std::set<int>& came = barriers_[host.action->argument];
      if (static_cast<int>(came.size()) < plan_.shape.workers()) {
        return false;
      }
      if (*came.begin() >= 0) {  // the last one to come wakes all, once
        barriers_[host.action->argument].insert(-1);
        for (int other = 0; other < plan_.shape.workers(); ++other) {
          Push(now_ + random_.Uniform(0.001, 0.02), Kind::kHost, other);
        }
      }
      return true;
    }
    case HostState::Does::kFinish:
      host.process = HostState::Process::kEnded;
      host.since = now_;
      host.fault = host.crashes_at_end;
      return true;
  }
  return true;
}

void Engine::Load(int worker) {
  HostState& host = hosts_[static_cast<size_t>(worker)];
  if (host.loading || host.loader_stopped != nullptr ||
      host.batches >= plan_.schedule.buffered_batches) {
    return;
  }
  const auto slow = plan_.slow_loaders.find(worker);
  const double factor = slow == plan_.slow_loaders.end() ? 1 : slow->second;
  host.loading = true;
  Push(now_ + Jitter(plan_.schedule.batch_seconds * factor), Kind::kBatch, worker);
}

void Engine::Dispatch(int worker, HostState& host, int program) {
  const std::string& fingerprint = plan_.programs[static_cast<size_t>(program)].fingerprint;
  const Launch launch{program, host.launched[fingerprint]++, host.dispatched++};
  host.in_flight.push_back(launch);
  const int first = worker * plan_.shape.devices_per_host();
  for (int device = first; device < first + plan_.shape.devices_per_host(); ++device) {
    cores_[static_cast<size_t>(device)].queue.push_back(launch);
    RunCore(device);
  }
}

// ---- cores

const Visit& Engine::VisitOf(const CoreState& core) const {
  return plan_.programs[static_cast<size_t>(core.current->program)].trace[core.at];
}

const Instruction& Engine::At(const CoreState& core) const {
  const Program& program = plan_.programs[static_cast<size_t>(core.current->program)];
  if (core.sparse >= 0) {
    return program.sparse_code[core.at];
  }
  return program.code[static_cast<size_t>(VisitOf(core).instruction)];
}

// The collective that a core stands at; both halves of an asynchronous pair mean the same one.
Attendance Engine::AttendanceOf(const CoreState& core) const {
  const Program& program = plan_.programs[static_cast<size_t>(core.current->program)];
  const Instruction& instruction = At(core);
  const bool sparse = core.sparse >= 0;
  return {.core = static_cast<int>(&core - cores_.data()),
          .device = core.device,
          .plane = core.sparse + 1,
          .program = HashOf(program.fingerprint),
          .ordinal = core.current->ordinal,
          .instruction = sparse                        ? static_cast<int>(core.at)
                         : instruction.op == Op::kDone ? instruction.start
                                                       : VisitOf(core).instruction,
          .turn = sparse ? 0 : VisitOf(core).turn,
          .axes = instruction.axes};
}

uint64_t Engine::DeliveryKey(const CoreState& core, const Instruction& instruction, int from,
                             int to) const {
  const int turn = core.sparse < 0 ? VisitOf(core).turn : 0;
  return HashOf({HashOf(instruction.channel), static_cast<uint64_t>(core.current->ordinal),
                 static_cast<uint64_t>(turn), static_cast<uint64_t>(from),
                 static_cast<uint64_t>(to)});
}

// The devices of other slices at the same seat.
std::vector<int> Engine::PeersOf(const CoreState& core, const Instruction& instruction) const {
  const int size = plan_.shape.devices_per_slice();
  const int slice = core.device / size;
  std::vector<int> peers;
  for (int other = 0; other < plan_.shape.slices; ++other) {
    const bool wanted = instruction.peers == Peers::kNext       ? other == slice + 1
                        : instruction.peers == Peers::kPrevious ? other == slice - 1
                                                                : other != slice;
    if (wanted) {
      peers.push_back(other * size + core.device % size);
    }
  }
  return peers;
}

bool Engine::MayStopHere(const CoreState& core) const {
  const auto stop = stops_.find(static_cast<int>(&core - cores_.data()));
  if (stop == stops_.end()) {
    return false;
  }
  const Fault& fault = *stop->second;
  return (fault.ops.empty() || fault.ops.contains(At(core).op)) &&
         (!fault.program.has_value() || *fault.program == core.current->program);
}

// Lets a core go on until it waits, works or has nothing to do.
void Engine::RunCore(int index) {
  CoreState& core = cores_[static_cast<size_t>(index)];
  while (!core.stopped && hosts_[static_cast<size_t>(core.worker)].runs() &&
         !hosts_[static_cast<size_t>(core.worker)].dead) {
    if (!core.current.has_value()) {
      if (core.queue.empty()) {
        return;
      }
      core.current = core.queue.front();
      core.queue.pop_front();
      core.at = 0;
      core.entered = false;
    }
    const Program& program = plan_.programs[static_cast<size_t>(core.current->program)];
    const size_t length = core.sparse >= 0 ? program.sparse_code.size() : program.trace.size();
    if (core.at == length) {
      Complete(index);
      continue;
    }
    if (!core.entered) {
      core.entered = true;
      Enter(index);
      if (MayStopHere(core)) {
        core.stopped = true;
        core.looping = stops_.at(index)->what == Happening::kCoreLoops;
        fault_time_ = fault_time_.value_or(now_);
        happened_.emplace(stops_.at(index), now_);
        return;
      }
    }
    const std::optional<double> ready = ReadyAt(index);
    if (!ready.has_value()) {
      return;
    }
    if (*ready > now_) {
      if (core.busy_until != ready) {
        core.busy_until = ready;
        Push(*ready, Kind::kCore, index);
      }
      return;
    }
    core.busy_until.reset();
    core.entered = false;
    ++core.at;
  }
}

void Engine::Enter(int index) {
  CoreState& core = cores_[static_cast<size_t>(index)];
  const Instruction& instruction = At(core);
  switch (instruction.op) {
    case Op::kCompute:
    case Op::kKernel:
    case Op::kInfeed:
    case Op::kCallback: {
      const auto slow = plan_.slow_workers.find(core.worker);
      const double factor = slow == plan_.slow_workers.end() ? 1 : slow->second;
      core.busy_until.reset();
      core.busy_until = now_ + Jitter(instruction.seconds) * factor;
      Push(*core.busy_until, Kind::kCore, index);
      break;
    }
    case Op::kCollective:
    case Op::kRingKernel:
    case Op::kStart:
      Join(index);
      break;
    case Op::kSend:
      Send(core, instruction);
      break;
    case Op::kSparseStart: {
      const int each = plan_.shape.sparse_cores / plan_.shape.devices_per_chip;
      for (int i = 0; i < each; ++i) {
        const int sparse = plan_.shape.devices() + core.device * each + i;
        cores_[static_cast<size_t>(sparse)].queue.push_back(*core.current);
        RunCore(sparse);
      }
      break;
    }
    default:
      break;
  }
}

void Engine::Join(int index) {
  const CoreState& core = cores_[static_cast<size_t>(index)];
  const Attendance attendance = AttendanceOf(core);
  if (!meetings_.Join(attendance)) {
    return;
  }
  Meeting& meeting = meetings_.At(attendance);
  meeting.done = now_ + Jitter(At(core).seconds);
  for (const int member : meeting.arrived) {
    Push(*meeting.done, Kind::kCore, member);
  }
}

std::optional<double> Engine::ReadyAt(int index) {
  CoreState& core = cores_[static_cast<size_t>(index)];
  const HostState& host = hosts_[static_cast<size_t>(core.worker)];
  const Instruction& instruction = At(core);
  switch (instruction.op) {
    case Op::kCompute:
    case Op::kKernel:
      return core.busy_until;
    case Op::kInfeed:
      return host.serves() && host.loader_stopped == nullptr ? core.busy_until : std::nullopt;
    case Op::kCallback:
      return host.serves() && host.callbacks_block == nullptr ? core.busy_until : std::nullopt;
    case Op::kCollective:
    case Op::kRingKernel:
    case Op::kDone: {
      const Meeting* meeting = meetings_.Find(AttendanceOf(core));
      return meeting == nullptr ? std::nullopt : meeting->done;
    }
    case Op::kSendDone:
    case Op::kRecvDone:
      for (const int peer : PeersOf(core, instruction)) {
        const bool sends = instruction.op == Op::kSendDone;
        const uint64_t key =
            DeliveryKey(core, instruction, sends ? core.device : peer, sends ? peer : core.device);
        const auto delivery = deliveries_.find(key);
        if (delivery == deliveries_.end() || !delivery->second.done) {
          return std::nullopt;
        }
      }
      return now_;
    case Op::kSparseDone: {
      const int each = plan_.shape.sparse_cores / plan_.shape.devices_per_chip;
      for (int i = 0; i < each; ++i) {
        const CoreState& sparse =
            cores_[static_cast<size_t>(plan_.shape.devices() + core.device * each + i)];
        if (!sparse.last.has_value() || sparse.last->number < core.current->number) {
          return std::nullopt;
        }
      }
      return now_;
    }
    case Op::kStart:
    case Op::kSend:
    case Op::kSparseStart:
      return now_;
  }
  return now_;
}

void Engine::Complete(int index) {
  CoreState& core = cores_[static_cast<size_t>(index)];
  core.last = core.current;
  core.current.reset();
  ++core.completed;
  core.last_completion = now_;
  if (core.sparse >= 0) {
    RunCore(core.device);
    return;
  }
  last_progress_ = now_;
  HostState& host = hosts_[static_cast<size_t>(core.worker)];
  const int first = core.worker * plan_.shape.devices_per_host();
  const auto over = [&](const Launch& launch) {
    for (int device = first; device < first + plan_.shape.devices_per_host(); ++device) {
      const auto& last = cores_[static_cast<size_t>(device)].last;
      if (!last.has_value() || last->number < launch.number) {
        return false;
      }
    }
    return true;
  };
  bool any = false;
  while (!host.in_flight.empty() && over(host.in_flight.front())) {
    host.in_flight.pop_front();
    any = true;
  }
  if (any) {
    ReachStep(host.step - static_cast<int>(host.in_flight.size()));
    Push(now_ + random_.Uniform(0.0001, 0.001), Kind::kHost, core.worker);
  }
}

void Engine::Send(const CoreState& core, const Instruction& instruction) {
  for (const int peer : PeersOf(core, instruction)) {
    const uint64_t key = DeliveryKey(core, instruction, core.device, peer);
    deliveries_[key] = {.from = core.device, .to = peer, .sent = true};
    if (!hosts_[static_cast<size_t>(core.worker)].serves()) {
      continue;  // the host never takes it off the device
    }
    const double slowness =
        network_.Slowness(core.worker, plan_.shape.worker_of(peer)) * random_.Uniform(0.8, 1.5);
    Push(now_ + kTransferSeconds * slowness, Kind::kArrival, 0, key);
  }
}

void Engine::Arrive(uint64_t key) {
  Delivery& delivery = deliveries_[key];
  const Shape& shape = plan_.shape;
  const int from = shape.worker_of(delivery.from);
  const int to = shape.worker_of(delivery.to);
  const int nic = shape.nic_of(delivery.from);
  if (!hosts_[static_cast<size_t>(from)].serves()) {
    return;
  }
  if (!network_.Passes(from, to, nic)) {
    network_.Stick(from, to, nic, now_);
    return;
  }
  if (!hosts_[static_cast<size_t>(to)].serves()) {
    return;  // its kernel has it, or refuses it
  }
  delivery.done = true;
  RunCore(delivery.to);
  RunCore(delivery.from);
}

int Engine::RingSteps(const CoreState& core) const {
  const Instruction& instruction = At(core);
  const bool waits = instruction.op == Op::kCollective || instruction.op == Op::kRingKernel ||
                     instruction.op == Op::kDone;
  return core.sparse < 0 && instruction.ring && waits ? meetings_.RingSteps(AttendanceOf(core)) : 0;
}

// ---- faults

std::optional<double> Engine::TimeOf(const Fault& fault) const {
  const auto found = happened_.find(&fault);
  return found == happened_.end() ? std::nullopt : std::optional(found->second);
}

void Engine::EndProcess(int worker, HostState::Process how, const Fault& fault) {
  HostState& host = hosts_[static_cast<size_t>(worker)];
  host.process = how;
  host.since = now_;
  host.fault = &fault;
}

void Engine::StopChip(const Fault& fault) {
  const Shape& shape = plan_.shape;
  for (CoreState& core : cores_) {
    if (core.worker == fault.worker && shape.chip_of(core.device) == shape.chip_of(fault.device)) {
      core.stopped = true;
      core.error = core.device == fault.device && core.sparse < 0 ? fault.words : "";
    }
  }
}

// Applies a fault of a whole process or host. False if the fault is of another kind.
bool Engine::ApplyToProcess(const Fault& fault) {
  HostState& host = hosts_[static_cast<size_t>(fault.worker)];
  using Process = HostState::Process;
  switch (fault.what) {
    case Happening::kProcessEnds:
    case Happening::kPodVanishes:
      EndProcess(fault.worker, Process::kEnded, fault);
      break;
    case Happening::kProcessRestarts:
      EndProcess(fault.worker, Process::kEnded, fault);
      host.restarted = now_ + random_.Uniform(2, 8);
      break;
    case Happening::kProcessStops:
      EndProcess(fault.worker, Process::kStopped, fault);
      break;
    case Happening::kProcessFreezes:
      EndProcess(fault.worker, Process::kFrozen, fault);
      break;
    case Happening::kProcessRaises:
    case Happening::kCopyFails:
    case Happening::kDeviceMemory:
      EndProcess(fault.worker, Process::kRaised, fault);
      break;
    case Happening::kHostDies:
      host.dead = true;
      EndProcess(fault.worker, Process::kEnded, fault);
      network_.LoseHost(fault.worker);
      break;
    case Happening::kLoaderStops:
      host.loader_stopped = &fault;
      break;
    case Happening::kCallbackBlocks:
      host.callbacks_block = &fault;
      break;
    case Happening::kThreadBlocks:
      host.will_block = &fault;
      break;
    case Happening::kStorageHangs:
      host.storage_hangs = &fault;
      break;
    case Happening::kCrashesAtEnd:
      host.crashes_at_end = &fault;
      break;
    case Happening::kWarns:
      break;
    default:
      return false;
  }
  return true;
}

void Engine::Apply(const Fault& fault) {
  const bool waits_for_place = fault.what == Happening::kCoreStops ||
                               fault.what == Happening::kCoreLoops ||
                               fault.what == Happening::kSparseCoreStops;
  if (!waits_for_place) {
    fault_time_ = fault_time_.value_or(now_);
    happened_.emplace(&fault, now_);
  }
  if (plan_.looks_after_fault.has_value() && !look_.has_value()) {
    Push(now_ + *plan_.looks_after_fault, Kind::kLook, 0);
  }
  if (ApplyToProcess(fault)) {
    return;
  }
  const int sparse = plan_.shape.sparse_cores / plan_.shape.devices_per_chip;
  switch (fault.what) {
    case Happening::kCoreStops:
    case Happening::kCoreLoops:
      stops_[fault.device] = &fault;
      break;
    case Happening::kSparseCoreStops:
      stops_[plan_.shape.devices() + fault.device * sparse + fault.other] = &fault;
      break;
    case Happening::kChipHalts:
      StopChip(fault);
      hosts_[static_cast<size_t>(fault.worker)].fault = &fault;
      break;
    case Happening::kIciBreaks:
      meetings_.BreakLink(fault);
      break;
    default:
      network_.Break(fault);
      break;
  }
}

}  // namespace rapideye::world
