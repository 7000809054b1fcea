// Plan states everything that makes one world: the job, its programs and schedule, what breaks,
// what agents can see, and the truth about it. The engine turns it into events.
#ifndef RAPIDEYE_TESTS_WORLD_PLAN_H_
#define RAPIDEYE_TESTS_WORLD_PLAN_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/world/program.h"
#include "tests/world/random.h"
#include "tests/world/shape.h"
#include "tests/world/truth.h"

namespace rapideye::world {

// All times are virtual seconds since the training processes started.
struct Schedule {
  // Programs (indexes into Plan::programs), by slice where slices are stages, else one entry.
  std::vector<std::vector<int>> step;
  std::vector<int> evaluation;  // one by stage
  std::vector<int> save;
  int evaluate_every = 0;  // steps; 0: never
  int evaluation_launches = 0;
  int save_every = 0;
  double write_seconds = 1;  // of a checkpoint, on storage
  int log_every = 1;         // steps between reads of the loss, which wait for the device
  int launches_ahead = 2;    // that a host dispatches before it waits
  double batch_seconds = 0;  // that the loader needs for one
  int buffered_batches = 4;
  int last_step = 0;  // 0: trains on
  double dispatch_seconds = 0.0005;
  double jitter = 0.02;     // of every duration
  double step_seconds = 1;  // in health, about
};

// Physical events, each of them once, at a time; everything else follows.
enum class Happening {
  kCoreStops,  // at its next instruction that computes (or at any), mid-way
  kCoreLoops,  // its pc moves, it comes no further
  kSparseCoreStops,
  kChipHalts,        // its cores stop and report an error
  kIciBreaks,        // a link between two devices of a slice
  kProcessEnds,      // exit or signal
  kProcessStops,     // SIGSTOP
  kProcessFreezes,   // by its cgroup or hypervisor
  kProcessRaises,    // traceback; the process lives on in a shutdown barrier
  kProcessRestarts,  // ends; another begins, which launches nothing
  kHostDies,
  kPodVanishes,   // process and agent gone, the host answers
  kCopyFails,     // between host and device; the main thread raises and waits
  kDeviceMemory,  // RESOURCE_EXHAUSTED
  kPairCut,       // a worker and another, on one NIC or all
  kNicDies,       // no carrier
  kNicSilent,     // drops everything, carrier up
  kSwitchCut,     // a set of workers from all others, all NICs
  kLossy,         // transfers of a worker take many times as long
  kLoaderStops,   // no more batches
  kCallbackBlocks,
  kThreadBlocks,   // the main thread, in `activity`
  kStorageHangs,   // writes of this worker never return
  kProbesDropped,  // a firewall; the job's own connections work
  kCrashesAtEnd,   // falls over after its last step
  kWarns,          // writes a line of which nothing follows
};

// A fault happens `delay` seconds after the first host has seen its devices complete `step`; hosts
// run ahead of those. Steps 0 and 1 count as soon as they begin.
struct Fault {
  Happening what = Happening::kCoreStops;
  int step = 3;
  double delay = 0;
  int worker = 0;
  int device = 0;              // of a core or chip; one end of kIciBreaks
  int other = 0;               // worker of kPairCut, device of kIciBreaks
  std::optional<int> nic;      // absent: all
  std::set<int> workers;       // of kSwitchCut
  std::set<Op> ops;            // of kCoreStops: where; empty: anywhere
  std::optional<int> program;  // of kCoreStops: in which alone
  int exit_code = 0;
  int signal = 0;
  bool by_kernel = false;  // killed for memory
  std::string words;       // of an error that is reported
  LogKind log = LogKind::kUnspecified;
  std::string source;  // of kLoaderStops: starved, blocked, died
  HostActivity activity = HostActivity::kOther;
  double factor = 1;       // of kLossy
  bool notice = false;     // kHostDies: after a maintenance notice
  bool both_ways = false;  // kProbesDropped: also those that it sends
};

// A worker that departs from what all others do, from a step on.
struct Departure {
  int from_step = 0;
  std::map<int, int> instead;               // program: the one that it runs in its place
  std::optional<std::pair<int, int>> swap;  // positions of the step's programs
  std::optional<int> leaves_out;            // position, in that one step
};

// Evidence that can be seen of this job at all.
struct EvidenceAvailable {
  bool hlo = true;
  bool hlo_text = true;  // with groups
  bool sequence = true;  // and cohorts
  bool page = true;
  bool sockets = true;
  bool probes = true;
  bool stacks = true;
  bool logs = true;          // and how processes ended
  bool old_runtime = false;  // pcs and fingerprints alone
  bool ici_health = false;
};

struct Plan {
  uint64_t seed = 0;
  std::string kind;
  int noise = 0;
  Shape shape;
  std::vector<Program> programs;
  Schedule schedule;
  int fault_step = 4;  // around which everything happens
  std::vector<Fault> faults;
  std::map<int, Departure> departures;  // by worker
  std::map<int, double> slow_workers;   // worker: factor of all that its cores compute
  std::map<int, double> slow_loaders;
  std::set<int> absent_workers;  // that never come
  std::set<int> missing_agents;  // though their training processes work
  double threshold = 60;         // standstill until the alarm
  // A look before the alarm: so long after the first fault, or after the first host has
  // come to a step.
  std::optional<double> looks_after_fault;
  std::optional<std::pair<int, double>> looks_at_step;
  std::string trigger = "no-progress";
  double poll_seconds = 2;
  bool aborts_on_hang = false;  // runtimes declare the hang and abort
  EvidenceAvailable evidence;
  Truth truth;
};

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_PLAN_H_
