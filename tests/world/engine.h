// Engine carries a planned job out in virtual time: hosts dispatch, cores execute and meet,
// data crosses the network, something breaks, and whatever depends on it comes to a standstill.
// Deterministic: the same plan gives the same events.
#ifndef RAPIDEYE_TESTS_WORLD_ENGINE_H_
#define RAPIDEYE_TESTS_WORLD_ENGINE_H_

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tests/world/meetings.h"
#include "tests/world/network.h"
#include "tests/world/plan.h"

namespace rapideye::world {

struct Launch {
  int program = 0;
  int ordinal = 0;     // of this fingerprint on its worker, from 0
  int64_t number = 0;  // of all launches of its worker
};

struct CoreState {
  int device = 0;
  int worker = 0;
  int sparse = -1;  // -1: a TensorCore; else which SparseCore of the device
  std::deque<Launch> queue;
  std::optional<Launch> current;
  std::optional<Launch> last;  // that completed
  size_t at = 0;               // visit of the current launch
  bool entered = false;        // that visit has begun
  std::optional<double> busy_until;
  bool stopped = false;
  bool looping = false;
  std::string error;
  int64_t completed = 0;
  double last_completion = 0;
};

struct HostState {
  enum class Process { kWorks, kStopped, kFrozen, kEnded, kRaised, kAbsent };
  enum class Does { kBatch, kDispatch, kAwait, kCompile, kWrite, kBarrier, kFinish };
  struct Action {
    Does does = Does::kAwait;
    Phase phase = Phase::kStep;
    int argument = 0;  // program, barrier
  };
  Process process = Process::kWorks;
  bool dead = false;  // the machine
  double since = 0;   // that `process` began
  const Fault* fault = nullptr;
  std::optional<double> restarted;
  std::deque<Action> script;
  std::optional<Action> action;  // that it is in
  std::optional<double> action_ends;
  double action_since = 0;
  Phase phase = Phase::kUnspecified;
  double phase_since = 0;
  const Fault* blocked = nullptr;  // the main thread stands in it
  const Fault* will_block = nullptr;
  const Fault* callbacks_block = nullptr;
  const Fault* storage_hangs = nullptr;
  const Fault* crashes_at_end = nullptr;
  int step = 0;
  int batches = 0;
  const Fault* loader_stopped = nullptr;
  bool loading = false;
  std::map<std::string, int> launched;  // by fingerprint
  std::set<int> compiled;
  std::deque<Launch> in_flight;
  int64_t dispatched = 0;
  bool runs() const { return process != Process::kEnded && process != Process::kAbsent; }
  bool serves() const { return process == Process::kWorks || process == Process::kRaised; }
};

class Engine {
 public:
  explicit Engine(const Plan& plan);

  // Called at every time at which an agent polls its runtime.
  void OnPoll(std::function<void(int worker)> poll) { poll_ = std::move(poll); }
  void RunUntil(double time);
  // Runs until the alarm is raised or an operator asks, or, if neither comes, for a bounded time.
  // Returns the time.
  double RunUntilAlarm();

  const Plan& plan() const { return plan_; }
  double now() const { return now_; }
  double started() const { return started_; }  // when starting up must be over
  double last_progress() const { return last_progress_; }
  std::optional<double> fault_time() const { return fault_time_; }
  // When this fault of Plan::faults happened; absent: not yet, or never, as a core that was to stop
  // may never have come to such a place.
  std::optional<double> TimeOf(const Fault& fault) const;
  const std::vector<CoreState>& cores() const { return cores_; }
  const std::vector<HostState>& hosts() const { return hosts_; }
  const Network& network() const { return network_; }
  // The visit's instruction of a core that has a launch.
  const Instruction& At(const CoreState& core) const;
  // How far along the ring a core stands in a collective that is not complete.
  int RingSteps(const CoreState& core) const;

 private:
  enum class Kind { kCore, kHost, kBatch, kPoll, kFault, kArrival, kLook };
  struct Event {
    double time;
    int64_t order;
    Kind kind;
    int subject;
    uint64_t key;
    bool operator>(const Event& o) const {
      return std::tie(time, order) > std::tie(o.time, o.order);
    }
  };
  struct Delivery {
    int from = 0;  // devices
    int to = 0;
    bool sent = false;
    bool done = false;
  };

  void Push(double time, Kind kind, int subject, uint64_t key = 0);
  void Handle(const Event& event);
  double Jitter(double seconds);
  void StepHost(int worker);
  bool FinishAction(int worker, HostState& host);
  void BeginAction(HostState& host);
  void Dispatch(int worker, HostState& host, int program);
  void Load(int worker);
  void RunCore(int index);
  void Enter(int index);
  void Join(int index);
  std::optional<double> ReadyAt(int index);
  void Complete(int index);
  void Send(const CoreState& core, const Instruction& instruction);
  void Arrive(uint64_t key);
  std::vector<int> PeersOf(const CoreState& core, const Instruction& instruction) const;
  const Visit& VisitOf(const CoreState& core) const;
  Attendance AttendanceOf(const CoreState& core) const;
  uint64_t DeliveryKey(const CoreState& core, const Instruction& instruction, int from,
                       int to) const;
  bool MayStopHere(const CoreState& core) const;
  void Apply(const Fault& fault);
  bool ApplyToProcess(const Fault& fault);
  void StopChip(const Fault& fault);
  void EndProcess(int worker, HostState::Process how, const Fault& fault);
  void ReachStep(int step);

  const Plan& plan_;
  Meetings meetings_;
  Random random_;
  Network network_;
  double now_ = 0;
  double started_ = 0;
  double last_progress_ = 0;
  std::optional<double> fault_time_;
  std::optional<double> look_;
  int64_t order_ = 0;
  int reached_step_ = -1;
  std::vector<CoreState> cores_;
  std::vector<HostState> hosts_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::unordered_map<uint64_t, Delivery> deliveries_;
  std::map<const Fault*, double> happened_;
  std::map<int, std::set<int>> barriers_;
  std::map<int, const Fault*> stops_;  // core: will stop when it comes to such a place
  std::function<void(int)> poll_;
};

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_ENGINE_H_
