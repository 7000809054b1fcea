#include "tests/scenarios/dynamics.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_map.h"

namespace rapideye::scenarios {
namespace {

// Number of devices that have come to a meeting point, and the time of the last.
struct Meeting {
  int count = 0;
  int64_t last_ms = 0;

  void Join(int64_t at_ms) {
    ++count;
    last_ms = std::max(last_ms, at_ms);
  }
};

using MeetingKey = std::tuple<int, int, int64_t, int>;  // who, program or channel, run, op

}  // namespace

class Dynamics {
 public:
  Dynamics(World& world, const Faults& faults);

  // Runs to the fixpoint. The order of the sweeps does not matter: every wait is for
  // an event that, once it has happened, stays so.
  void Run();
  bool AllDone() const;

 private:
  struct State {
    int launch = -1;  // running, or completed if op is -1
    int op = -1;
    int64_t now_ms = 0;
    int slow = 1;
  };

  State& StateOf(int device) { return states_[static_cast<size_t>(device)]; }

  const Program& ProgramOf(const Instance& instance) const {
    return job_.programs[static_cast<size_t>(instance.program)];
  }

  void Arrive(int device);

  MeetingKey CollectiveKey(int device, const Instance& instance, int op) const {
    return {job_.layout.SliceOfDevice(device), instance.program, instance.run, op};
  }

  // Sender of a message: the worker as a whole, or each device by itself.
  int Sender(int device) const {
    return job_.exchange_per_worker ? -1 - job_.layout.WorkerOfDevice(device) : device;
  }
  MeetingKey MessageKey(int device, int channel, const Instance& instance) const {
    return {Sender(device), channel, instance.run, 0};
  }
  int SendersPerMessage() const {
    return job_.exchange_per_worker ? job_.layout.devices_per_worker() : 1;
  }

  int PeerDevice(int device, int slice_offset) const;
  bool LinkDead(int a, int b, int launch) const;

  // Time at which an exchange is over, or kNever.
  int64_t ExchangeDone(int device, const Op& op, const Instance& instance, int launch);
  bool IsStuck(int device, int launch, int op) const;

  // Time that a fault adds to the operation.
  int64_t StandsFor(int device);

  // Time at which the device leaves the operation it stands at, or kNever.
  int64_t Leaves(int device, const Instance& instance, const Op& op);
  bool Advance(int device);
  bool HostStopped(int worker, int launch) const;

  // Time at which all devices that hold up further dispatch have completed `launch`, or kNever.
  int64_t CompletedAt(int worker, int launch) const;
  bool Dispatch();

  World& world_;
  const Job& job_;
  const Faults& faults_;
  std::vector<DeadLink> dead_links_;
  std::vector<State> states_;
  std::vector<int> next_dispatch_;                     // per worker
  std::vector<Meeting> finished_;                      // per launch
  std::vector<std::vector<Meeting>> worker_finished_;  // per worker, per launch
  absl::flat_hash_map<MeetingKey, Meeting> meetings_;  // at collectives
  absl::flat_hash_map<MeetingKey, Meeting> sent_;      // messages, by sender
};

Dynamics::Dynamics(World& world, const Faults& faults)
    : world_(world), job_(world.job_), faults_(faults) {
  const Layout& layout = job_.layout;
  states_.resize(static_cast<size_t>(layout.devices()));
  for (const SlowDevice& slow : faults.slow) StateOf(slow.device).slow = slow.factor;
  for (const StoppedWorker& stopped : faults.stopped) {
    if (!stopped.silent) continue;
    for (int peer = 0; peer < layout.workers(); ++peer) {
      dead_links_.push_back({stopped.worker, peer, stopped.launch});
    }
  }
  dead_links_.insert(dead_links_.end(), faults.links.begin(), faults.links.end());
  next_dispatch_.resize(static_cast<size_t>(layout.workers()));
  finished_.resize(static_cast<size_t>(world.launches_));
  worker_finished_.assign(static_cast<size_t>(layout.workers()),
                          std::vector<Meeting>(static_cast<size_t>(world.launches_)));
  Dispatch();
}

void Dynamics::Run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (int device = 0; device < job_.layout.devices(); ++device) {
      while (Advance(device)) moved = true;
    }
    if (Dispatch()) moved = true;
  }
}

bool Dynamics::AllDone() const {
  return std::all_of(states_.begin(), states_.end(), [this](const State& state) {
    return state.op < 0 && state.launch == world_.launches_ - 1;
  });
}

void Dynamics::Arrive(int device) {
  State& state = StateOf(device);
  world_.arrivals_[static_cast<size_t>(device)].push_back({state.launch, state.op, state.now_ms});
  world_.last_change_ms_ = std::max(world_.last_change_ms_, state.now_ms);
  const int worker = job_.layout.WorkerOfDevice(device);
  if (state.op < 0) {
    finished_[static_cast<size_t>(state.launch)].Join(state.now_ms);
    worker_finished_[static_cast<size_t>(worker)][static_cast<size_t>(state.launch)].Join(
        state.now_ms);
    return;
  }
  // A device that stands still takes no part: its SparseCore never joins, or the device is gone.
  if (IsStuck(device, state.launch, state.op)) return;
  const Instance instance = world_.InstanceAt(worker, state.launch);
  const Op& op = ProgramOf(instance).ops[static_cast<size_t>(state.op)];
  if (op.kind == OpKind::kCollective) {
    meetings_[CollectiveKey(device, instance, state.op)].Join(state.now_ms);
  } else if (op.kind == OpKind::kExchange) {
    if (op.send_to != 0) sent_[MessageKey(device, op.send_channel, instance)].Join(state.now_ms);
  }
}

int Dynamics::PeerDevice(int device, int slice_offset) const {
  const Layout& layout = job_.layout;
  const int slices = layout.slices;
  const int slice = (layout.SliceOfDevice(device) + slice_offset + slices) % slices;
  return slice * layout.devices_per_slice() + device % layout.devices_per_slice();
}

bool Dynamics::LinkDead(int a, int b, int launch) const {
  return std::any_of(dead_links_.begin(), dead_links_.end(), [&](const DeadLink& link) {
    return launch >= link.launch &&
           ((link.worker == a && link.peer == b) || (link.worker == b && link.peer == a));
  });
}

int64_t Dynamics::ExchangeDone(int device, const Op& op, const Instance& instance, int launch) {
  const Layout& layout = job_.layout;
  const int self = layout.WorkerOfDevice(device);
  int64_t done = StateOf(device).now_ms;
  if (op.send_to != 0) {
    const int peer = layout.WorkerOfDevice(PeerDevice(device, op.send_to));
    if (LinkDead(self, peer, launch)) return kNever;
    const Meeting& own = sent_[MessageKey(device, op.send_channel, instance)];
    if (own.count < SendersPerMessage()) return kNever;
    done = std::max(done, own.last_ms);
  }
  if (op.receive_from != 0) {
    const int from = PeerDevice(device, op.receive_from);
    if (LinkDead(self, layout.WorkerOfDevice(from), launch)) return kNever;
    const Meeting& message = sent_[MessageKey(from, op.receive_channel, instance)];
    if (message.count < SendersPerMessage()) return kNever;
    done = std::max(done, message.last_ms);
  }
  return done;
}

bool Dynamics::IsStuck(int device, int launch, int op) const {
  const int worker = job_.layout.WorkerOfDevice(device);
  for (const StuckDevice& stuck : faults_.stuck) {
    if (stuck.device == device && stuck.launch == launch && stuck.op == op) {
      return stuck.for_ms == kNever;
    }
  }
  for (const StoppedWorker& stopped : faults_.stopped) {
    if (stopped.worker == worker && stopped.launch == launch && op >= stopped.op) return true;
  }
  for (const EntryStall& stall : faults_.entry) {
    if (stall.worker == worker && stall.launch == launch && op == 0) return true;
  }
  return false;
}

int64_t Dynamics::StandsFor(int device) {
  const State& state = StateOf(device);
  for (const StuckDevice& stuck : faults_.stuck) {
    if (stuck.device == device && stuck.launch == state.launch && stuck.op == state.op) {
      return stuck.for_ms;
    }
  }
  return 0;
}

int64_t Dynamics::Leaves(int device, const Instance& instance, const Op& op) {
  const State& state = StateOf(device);
  if (IsStuck(device, state.launch, state.op)) return kNever;
  switch (op.kind) {
    case OpKind::kInfeed:
      return state.now_ms + op.duration_ms;
    case OpKind::kCompute:
    case OpKind::kSparseWork:
      return state.now_ms + op.duration_ms * state.slow + StandsFor(device);
    case OpKind::kCollective: {
      const Meeting& meeting = meetings_[CollectiveKey(device, instance, state.op)];
      if (meeting.count < job_.layout.devices_per_slice()) return kNever;
      return meeting.last_ms + op.duration_ms;
    }
    case OpKind::kExchange: {
      const int64_t done = ExchangeDone(device, op, instance, state.launch);
      return done == kNever ? kNever : done + op.duration_ms;
    }
  }
  return kNever;
}

bool Dynamics::Advance(int device) {
  State& state = StateOf(device);
  const int worker = job_.layout.WorkerOfDevice(device);
  if (state.op < 0) {
    const int next = state.launch + 1;
    if (next >= world_.launches_) return false;
    const int64_t dispatched = world_.DispatchedAt(worker, next);
    if (dispatched == kNever) return false;
    state = {next, 0, std::max(state.now_ms, dispatched), state.slow};
    Arrive(device);
    return true;
  }
  const Instance instance = world_.InstanceAt(worker, state.launch);
  const Program& program = ProgramOf(instance);
  const int64_t leaves = Leaves(device, instance, program.ops[static_cast<size_t>(state.op)]);
  if (leaves == kNever) return false;
  state.now_ms = leaves;
  ++state.op;
  if (state.op == static_cast<int>(program.ops.size())) state.op = -1;
  Arrive(device);
  return true;
}

bool Dynamics::HostStopped(int worker, int launch) const {
  for (const IdleHost& idle : faults_.idle) {
    if (idle.worker == worker && launch >= idle.launch) return true;
  }
  for (const StoppedWorker& stopped : faults_.stopped) {
    if (stopped.worker == worker && launch > stopped.launch) return true;
  }
  return false;
}

int64_t Dynamics::CompletedAt(int worker, int launch) const {
  if (launch < 0) return 0;
  const bool whole_job = job_.dispatch_scope == DispatchScope::kJob;
  const Meeting& done =
      whole_job ? finished_[static_cast<size_t>(launch)]
                : worker_finished_[static_cast<size_t>(worker)][static_cast<size_t>(launch)];
  const int everyone = whole_job ? job_.layout.devices() : job_.layout.devices_per_worker();
  return done.count == everyone ? done.last_ms : kNever;
}

bool Dynamics::Dispatch() {
  bool moved = false;
  for (int worker = 0; worker < job_.layout.workers(); ++worker) {
    std::vector<int64_t>& times = world_.dispatched_[static_cast<size_t>(worker)];
    int& launch = next_dispatch_[static_cast<size_t>(worker)];
    for (; launch < world_.launches_; ++launch) {
      int64_t& time = times[static_cast<size_t>(launch)];
      if (HostStopped(worker, launch)) break;
      const int64_t completed = CompletedAt(worker, launch - job_.dispatch_ahead - 1);
      if (completed == kNever) break;
      time = completed;
      moved = true;
    }
  }
  return moved;
}

World::World(const Job& job, const Faults& faults, int launches) : job_(job), launches_(launches) {
  const auto workers = static_cast<size_t>(job.layout.workers());
  arrivals_.resize(static_cast<size_t>(job.layout.devices()));
  dispatched_.assign(workers, std::vector<int64_t>(static_cast<size_t>(launches), kNever));
  instances_.resize(workers);
  for (int worker = 0; worker < job.layout.workers(); ++worker) {
    for (int launch = 0; launch < launches; ++launch) {
      instances_[static_cast<size_t>(worker)].push_back(
          {job.ProgramAt(job.layout.SliceOfWorker(worker), launch),
           job.RunOf(job.layout.SliceOfWorker(worker), launch)});
    }
  }
  for (const Diversion& diversion : faults.diversions) {
    if (diversion.launch >= launches) continue;
    instances_[static_cast<size_t>(diversion.worker)][static_cast<size_t>(diversion.launch)] = {
        diversion.program, diversion.run};
  }
  Dynamics dynamics(*this, faults);
  dynamics.Run();
  completed_ = dynamics.AllDone();
}

size_t World::ArrivalsUntil(int device, int64_t at_ms) const {
  const std::vector<Arrival>& arrivals = arrivals_[static_cast<size_t>(device)];
  return static_cast<size_t>(
      std::upper_bound(arrivals.begin(), arrivals.end(), at_ms,
                       [](int64_t at, const Arrival& arrival) { return at < arrival.at_ms; }) -
      arrivals.begin());
}

Arrival World::At(int device, int64_t at_ms) const {
  const size_t count = ArrivalsUntil(device, at_ms);
  if (count == 0) return {-1, -1, 0};
  return arrivals_[static_cast<size_t>(device)][count - 1];
}

int64_t World::LastCompletion(int device, int64_t at_ms) const {
  for (size_t i = ArrivalsUntil(device, at_ms); i > 0; --i) {
    const Arrival& arrival = arrivals_[static_cast<size_t>(device)][i - 1];
    if (arrival.op < 0) return arrival.at_ms;
  }
  return -1;
}

int64_t World::NextCompletion(int64_t behind_ms) const {
  int64_t next = kNever;
  for (int device = 0; device < job_.layout.devices(); ++device) {
    const std::vector<Arrival>& arrivals = arrivals_[static_cast<size_t>(device)];
    for (size_t i = ArrivalsUntil(device, behind_ms); i < arrivals.size(); ++i) {
      if (arrivals[i].op >= 0) continue;
      next = std::min(next, arrivals[i].at_ms);
      break;
    }
  }
  return next;
}

int64_t World::DispatchedAt(int worker, int launch) const {
  if (launch < 0 || launch >= launches_) return kNever;
  return dispatched_[static_cast<size_t>(worker)][static_cast<size_t>(launch)];
}

Instance World::InstanceAt(int worker, int launch) const {
  return instances_[static_cast<size_t>(worker)][static_cast<size_t>(launch)];
}

}  // namespace rapideye::scenarios
