#include "tests/scenarios/scenario.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/scenarios/decidability.h"
#include "tests/scenarios/evidence.h"
#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

constexpr std::array<std::pair<Kind, std::string_view>, 42> kKinds = {{
    {Kind::kChipCompute, "chip-compute"},
    {Kind::kChipTail, "chip-tail"},
    {Kind::kChipLoop, "chip-loop"},
    {Kind::kChipTwo, "chip-two"},
    {Kind::kChipHaltText, "chip-halt-text"},
    {Kind::kChipPcie, "chip-pcie"},
    {Kind::kSparseCore, "sparse-core"},
    {Kind::kSparseCoreOffload, "sparse-core-offload"},
    {Kind::kDcnLink, "dcn-link"},
    {Kind::kDcnHost, "dcn-host"},
    {Kind::kDcnNic, "dcn-nic"},
    {Kind::kIciLink, "ici-link"},
    {Kind::kModuleOneHost, "module-one-host"},
    {Kind::kModuleManyHosts, "module-many-hosts"},
    {Kind::kModuleSlice, "module-slice"},
    {Kind::kLaunchOrder, "launch-order"},
    {Kind::kLaunchGroup, "launch-group"},
    {Kind::kFingerprintFew, "fingerprint-few"},
    {Kind::kFingerprintMany, "fingerprint-many"},
    {Kind::kInputOneHost, "input-one-host"},
    {Kind::kInputSeveralHosts, "input-several-hosts"},
    {Kind::kInputAllHosts, "input-all-hosts"},
    {Kind::kInputAtEntry, "input-at-entry"},
    {Kind::kProgramNotQueued, "program-not-queued"},
    {Kind::kHaltAssertion, "halt-assertion"},
    {Kind::kHaltUser, "halt-user"},
    {Kind::kProcessExit, "process-exit"},
    {Kind::kProcessKilled, "process-killed"},
    {Kind::kProcessStopped, "process-stopped"},
    {Kind::kOutOfMemory, "out-of-memory"},
    {Kind::kWorkerLost, "worker-lost"},
    {Kind::kCopyFailed, "copy-failed"},
    {Kind::kPower, "power"},
    {Kind::kPreempted, "preempted"},
    {Kind::kPipeline, "pipeline"},
    {Kind::kRingFar, "ring-far"},
    {Kind::kTwoFaults, "two-faults"},
    {Kind::kUnknownCause, "unknown"},
    {Kind::kHealthy, "healthy"},
    {Kind::kSlow, "slow"},
    {Kind::kCompiling, "compiling"},
    {Kind::kCheckpointing, "checkpointing"},
}};

bool Contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Evidence that the capture as a whole has or lacks.
struct Coverage {
  bool cohorts = true;
  bool sequence = true;
  bool module_names = true;
  bool launch_ids = true;
  HloSampling hlo = HloSampling::kOnePerPosition;
  NetworkOptions network;
};

Coverage DrawCoverage(const Plan& plan, const Options& options, Random random) {
  const Noise& noise = options.noise;
  Coverage coverage;
  coverage.cohorts = !random.Chance(noise.no_cohorts) && !plan.unlearnt;
  coverage.sequence = !random.Chance(noise.no_learnt_sequence);
  coverage.module_names = !random.Chance(noise.no_module_names);
  coverage.launch_ids = !random.Chance(noise.no_launch_ids);
  if (random.Chance(0.25) || options.aborted) coverage.hlo = HloSampling::kEveryWorker;
  if (random.Chance(noise.no_hlo)) coverage.hlo = HloSampling::kNone;
  coverage.network = {.sockets = !random.Chance(noise.no_sockets),
                      .probes = plan.moment != Moment::kMidway && !random.Chance(noise.no_probes),
                      .transfers = options.transfers,
                      .ici_links = options.ici_links,
                      .seed = plan.network_seed};
  return coverage;
}

Timing DrawTiming(const Plan& plan, const World& world, bool aborted, Random random) {
  constexpr int64_t kMinuteMs = 60000;
  Timing timing;
  timing.threshold_ms =
      plan.threshold_ms.value_or(kMinuteMs * random.Pick(std::array<int64_t, 3>{1, 2, 5}));
  timing.fault_ms = plan.reference_device < 0 ? world.last_change_ms()
                                              : world.At(plan.reference_device, kNever).at_ms;
  if (plan.moment == Moment::kMidway) {
    timing.detected_ms = world.last_change_ms() * random.Between(40, 85) / 100;
    timing.fault_ms = timing.detected_ms;
  } else if (plan.moment == Moment::kAtOnce && !aborted) {
    timing.detected_ms = timing.fault_ms + random.Between(1500, 8000);
  } else {
    const double standstill = plan.standstill.value_or(1.0);
    timing.detected_ms =
        world.last_change_ms() +
        static_cast<int64_t>(static_cast<double>(timing.threshold_ms) * standstill) +
        random.Between(0, 4000);
  }
  if (aborted) {
    timing.aborted_ms = timing.detected_ms + random.Between(0, 15000);
    timing.detected_ms = timing.aborted_ms + random.Between(1000, 20000);
  }
  return timing;
}

Scene MakeScene(const Plan& plan, const World& world, const Timing& timing, Random random) {
  const auto count = static_cast<size_t>(plan.job.layout.workers());
  Scene scene{.plan = plan, .world = world, .timing = timing};
  scene.sampled_ms.resize(count);
  scene.runtimes.assign(count, RuntimeState::kServing);
  scene.aborted.assign(count, false);
  scene.has_cores.assign(count, true);
  const double part = random.Chance(0.5) ? 1.0 : 0.01 * static_cast<double>(random.Between(30, 90));
  for (int worker = 0; worker < plan.job.layout.workers(); ++worker) {
    const auto w = static_cast<size_t>(worker);
    scene.has_cores[w] = !Contains(plan.no_samples, worker);
    const int64_t since_poll = random.Between(0, kPollMs);
    int64_t sampled = timing.detected_ms + random.Between(-1500, 1500);
    const auto end = std::find_if(plan.ends.begin(), plan.ends.end(),
                                  [&](const ProcessEnd& e) { return e.worker == worker; });
    if (end != plan.ends.end()) {
      scene.runtimes[w] = RuntimeState::kUnavailable;
      sampled = timing.fault_ms + end->after_ms - since_poll;
    } else if (Contains(plan.stopped_processes, worker)) {
      scene.runtimes[w] = RuntimeState::kTimedOut;
      sampled = timing.fault_ms - since_poll;
    } else if (timing.aborted_ms != kNever && random.Chance(part)) {
      scene.aborted[w] = true;
      scene.runtimes[w] = RuntimeState::kUnavailable;
      sampled = timing.aborted_ms - since_poll;
    }
    scene.sampled_ms[w] = std::max<int64_t>(0, sampled);
  }
  return scene;
}

std::vector<Cohort> MakeCohorts(const Job& job, const Coverage& coverage, Random random) {
  const int64_t seen_step = job.first_step - random.Between(1, 25);
  std::vector<Cohort> cohorts;
  const Layout& layout = job.layout;
  for (int slice = 0; slice < layout.slices; ++slice) {
    if (slice == 0 || job.pipeline) {
      cohorts.push_back({.name = job.pipeline ? absl::StrCat("stage", slice) : "all"});
      if (coverage.sequence) {
        for (int entry = 0; entry < job.launches_per_step(); ++entry) {
          const Program& program = job.programs[static_cast<size_t>(job.ProgramAt(slice, entry))];
          cohorts.back().sequence.push_back(
              {.module = program.module,
               .fingerprint = program.fingerprint,
               .launch_id = LaunchId(program, job.RunAt(slice, seen_step, entry))});
        }
      }
    }
    for (int task = 0; task < layout.tasks; ++task) {
      cohorts.back().workers.push_back(layout.Id(layout.Worker(slice, task)));
    }
  }
  return cohorts;
}

CaptureHeader MakeHeader(const Scene& scene, const Coverage& coverage, int64_t detected_unix_ms,
                         Random random) {
  const Job& job = scene.plan.job;
  CaptureHeader header;
  header.job = job.name;
  header.job_incarnation = random.Hex(12);
  for (const Machine& machine : job.layout.machines) {
    header.expected_workers.push_back(
        {.id = machine.id, .host = machine.host, .node = machine.node});
  }
  for (const Machine& machine : job.layout.standby) {
    header.expected_workers.push_back({.id = machine.id, .host = machine.host});
  }
  header.generation = job.layout.generation;
  header.trigger = scene.plan.trigger.value_or(
      scene.plan.moment == Moment::kMidway ? "operator"
                                           : (random.Chance(0.5) ? "no-progress" : "hang-line"));
  header.hang_threshold_ms = scene.timing.threshold_ms;
  header.detected_unix_ms = detected_unix_ms;
  if (coverage.cohorts) header.cohorts = MakeCohorts(job, coverage, random);
  return header;
}

Snapshot MakeSnapshot(const Scene& scene, int worker, const Coverage& coverage,
                      int64_t detected_unix_ms, Random random) {
  const Machine& machine = scene.plan.job.layout.machines[static_cast<size_t>(worker)];
  Snapshot snapshot{.worker = machine.id, .host = machine.host};
  snapshot.node = machine.node;
  snapshot.hardware = machine.hardware;
  snapshot.incarnation = random.Hex(10);
  snapshot.captured_unix_ms = detected_unix_ms + random.Between(-4000, 4000);
  if (scene.has_cores[static_cast<size_t>(worker)]) {
    AddCores(scene, worker, Random(random.Next()), snapshot);
  }
  AddHost(scene, worker, Random(random.Next()), snapshot);
  AddNetwork(scene, worker, coverage.network, Random(random.Next()), snapshot);
  return snapshot;
}

void DropLaunchIds(Capture& capture) {
  for (Snapshot& snapshot : capture.snapshots) {
    for (Core& core : snapshot.cores) {
      core.launch_id.reset();
      for (QueuedProgram& queued : core.queued) queued.launch_id.reset();
    }
  }
}

void DropModuleNames(Capture& capture) {
  for (Cohort& cohort : capture.header.cohorts) {
    for (SequenceEntry& entry : cohort.sequence) entry.module.reset();
  }
  for (Snapshot& snapshot : capture.snapshots) {
    for (rapideye::Program& program : snapshot.programs) program.module.reset();
  }
}

bool HasSnapshot(const Capture& capture, const WorkerId& worker) {
  return std::any_of(capture.snapshots.begin(), capture.snapshots.end(),
                     [&](const Snapshot& snapshot) { return snapshot.worker == worker; });
}

// Takes away all that a culprit showed, or all of its cores. A culprit that does not
// report may be called lost. Evidence of its host or of others decides as before;
// where several did the same by themselves, the other culprits remain.
void TakeFromCulprit(const Plan& plan, const std::vector<WorkerId>& culprits, Random random,
                     Capture& capture, Truth& truth) {
  const WorkerId culprit = random.Pick(culprits);
  if (!HasSnapshot(capture, culprit)) return;
  AddGapAt(culprit, Random(random.Next()), capture);
  const bool gone = !HasSnapshot(capture, culprit);
  if (gone) {
    truth.otherwise.push_back({.cause = Cause::kUnrecoverableError,
                               .details = {Detail::kWorkerLost},
                               .culprits = {{.worker = culprit}}});
  }
  if (!gone && plan.told_by == Witness::kHost) return;
  for (Answer& answer : truth.accepted) answer.among = true;
  constexpr size_t kMany = 3;
  if (plan.told_by == Witness::kEach && truth.accepted.front().culprits.size() >= kMany) {
    truth.accepted.insert(truth.accepted.end(), truth.otherwise.begin(), truth.otherwise.end());
    return;
  }
  truth.needs.push_back(Need::kUndecidable);
}

void ApplyNoise(const Plan& plan, const Noise& noise, Random random, Capture& capture,
                Truth& truth) {
  const std::vector<WorkerId> culprits = CulpritWorkers(truth);
  std::vector<WorkerId> spared = culprits;
  for (const int witness : plan.witnesses) spared.push_back(plan.job.layout.Id(witness));
  // Right after the fault, the culprit's report may be the only evidence.
  const bool others_show_it = plan.moment == Moment::kAfterThreshold;
  if (!culprits.empty() && others_show_it && random.Chance(noise.gap_at_culprit)) {
    TakeFromCulprit(plan, culprits, Random(random.Next()), capture, truth);
  }
  AddNoise(noise, spared, Random(random.Next()), capture);
}

}  // namespace

std::vector<Kind> AllKinds() {
  std::vector<Kind> kinds;
  for (const auto& [kind, name] : kKinds) kinds.push_back(kind);
  return kinds;
}

std::string_view KindName(Kind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  return "";
}

std::optional<Kind> KindByName(std::string_view name) {
  for (const auto& [kind, known] : kKinds) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

bool IsHealthyKind(Kind kind) {
  return kind == Kind::kHealthy || kind == Kind::kSlow || kind == Kind::kCompiling ||
         kind == Kind::kCheckpointing;
}

Scenario Generate(Kind kind, uint64_t seed, const Options& options) {
  constexpr int64_t kSomeDayUnixMs = 1'790'000'000'000;
  Random random(seed * 1000003 + static_cast<uint64_t>(kind));
  Scenario scenario{.kind = kind, .seed = seed, .options = options};
  if (IsHealthyKind(kind)) scenario.options.aborted = false;
  Random build(random.Next());
  Plan plan = BuildPlan(kind, build);
  NamePlaces(options.naming, options.texts, seed, plan.job.programs);
  const World world(plan.job, plan.faults, plan.launches_to_run());
  const Coverage coverage = DrawCoverage(plan, scenario.options, Random(random.Next()));
  const Timing timing = DrawTiming(plan, world, scenario.options.aborted, Random(random.Next()));
  Scene scene = MakeScene(plan, world, timing, Random(random.Next()));
  scene.wavefront_poll_ms = options.wavefront_poll_ms;
  const int64_t detected_unix_ms = kSomeDayUnixMs + random.Between(0, 1'000'000'000);

  Capture& capture = scenario.capture;
  capture.header = MakeHeader(scene, coverage, detected_unix_ms, Random(random.Next()));
  for (int worker = 0; worker < plan.job.layout.workers(); ++worker) {
    Random own(random.Next());
    if (Contains(plan.lost_workers, worker) || Contains(plan.silent_agents, worker)) continue;
    capture.snapshots.push_back(MakeSnapshot(scene, worker, coverage, detected_unix_ms, own));
  }
  for (const Machine& machine : plan.job.layout.standby) {
    Snapshot& snapshot =
        capture.snapshots.emplace_back(Snapshot{.worker = machine.id, .host = machine.host});
    AddStandbyEvidence(scene, Random(random.Next()), snapshot);
  }
  AddHlo(scene, coverage.hlo, Random(random.Next()), capture.snapshots);
  if (!coverage.launch_ids) DropLaunchIds(capture);
  if (!coverage.module_names) DropModuleNames(capture);
  scenario.truth = plan.truth;
  ApplyNoise(plan, options.noise, Random(random.Next()), capture, scenario.truth);
  Decide(plan, capture, scenario.truth);
  return scenario;
}

}  // namespace rapideye::scenarios
