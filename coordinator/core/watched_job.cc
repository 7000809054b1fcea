#include "coordinator/core/watched_job.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "classifier/host/start_up_stage.h"
#include "coordinator/core/limits.h"
#include "coordinator/core/settings.h"

namespace rapideye::coordinator {
namespace {

void AddPause(Phase phase, absl::Duration longest, CaptureHeader& header) {
  if (longest == absl::ZeroDuration()) return;
  header.learnt_pauses.push_back({phase, absl::ToInt64Milliseconds(longest)});
}

}  // namespace

Suspicion SuspicionOf(const Standstill& standstill, const Instant& now) {
  return {
      .trigger = "no-progress",
      .why = absl::StrFormat(
          "no progress for %s (threshold %s): %s",
          absl::FormatDuration(absl::Trunc(standstill.still_for, absl::Milliseconds(1))),
          absl::FormatDuration(standstill.threshold), standstill.why),
      .threshold = standstill.threshold,
      .detected = now,
      .announced_pause = standstill.announced ? std::optional(standstill.threshold) : std::nullopt,
      .noticed_by = standstill.noticed_by,
      .most_stand = standstill.most_stand,
      .still_for = standstill.still_for};
}

std::optional<Standstill> WatchedJob::Judge(absl::Duration now) const {
  return progress.Judge(thresholds, learning, now);
}

std::optional<Standstill> WatchedJob::Measure(absl::Duration now) const {
  return progress.Measure(thresholds, learning, now);
}

std::optional<absl::Duration> WatchedJob::StartingFor(absl::Duration now) const {
  if (!started.has_value() || progress.LastCompletion().has_value()) return std::nullopt;
  const absl::Duration starting = std::max(now - *started, absl::ZeroDuration());
  // A rhythm of work is no step, but a job that works has started once the startup grace is over.
  const bool works = progress.LastWork().has_value() && starting >= thresholds.startup_grace;
  if (works && NotCome().empty() && WithoutProcess().empty()) return std::nullopt;
  return starting;
}

std::vector<WorkerId> WatchedJob::NotCome() const {
  std::vector<WorkerId> workers;
  for (const ExpectedWorker& worker : membership.Expected()) {
    if (membership.Find(worker.id) == nullptr) workers.push_back(worker.id);
  }
  return workers;
}

std::vector<WorkerId> WatchedJob::WithoutProcess() const {
  std::vector<WorkerId> without;
  bool some = false;
  for (const auto& [id, member] : membership.members()) {
    const WorkerProgress* known = progress.Find(id);
    if (!member.stream.has_value() || known == nullptr || !known->heard) continue;
    if (known->process_incarnation.has_value()) {
      some = true;
    } else {
      without.push_back(id);
    }
  }
  if (!some) without.clear();
  return without;
}

std::vector<WorkerId> WatchedJob::Obstructed() const {
  std::vector<WorkerId> workers;
  for (const auto& [id, member] : membership.members()) {
    const WorkerProgress* known = progress.Find(id);
    if (!member.stream.has_value() || known == nullptr || !known->start_up.has_value()) continue;
    if (!known->start_up->obstacles.empty()) workers.push_back(id);
  }
  return workers;
}

std::vector<WorkerId> WatchedJob::Behind() const {
  using classifier::StartUpStage;
  std::map<WorkerId, StartUpStage> stages;
  StartUpStage furthest = StartUpStage::kAgent;
  for (const auto& [id, member] : membership.members()) {
    const WorkerProgress* known = progress.Find(id);
    if (!member.stream.has_value() || known == nullptr || !known->start_up.has_value()) continue;
    const StartUpStage stage = classifier::StageOf(*known->start_up);
    stages[id] = stage;
    furthest = std::max(furthest, stage);
  }
  std::vector<WorkerId> workers;
  for (const auto& [id, stage] : stages) {
    if (stage < furthest || !progress.Find(id)->start_up->obstacles.empty()) workers.push_back(id);
  }
  return workers;
}

void WatchedJob::Left(const WorkerId& worker, absl::Duration now) {
  left_at.insert_or_assign(worker, now);
}

std::vector<std::string> WatchedJob::RetireLeavers(absl::Duration now) {
  if (now < next_retire) return {};
  next_retire = now + kRetirePeriod;
  std::erase_if(left_at, [this](const auto& entry) {
    const Member* member = membership.Find(entry.first);
    return member == nullptr || member->stream.has_value() || membership.Retired(entry.first);
  });
  if (left_at.empty()) return {};
  std::set<int32_t> inhabited;  // slices
  for (const auto& [id, member] : membership.members()) {
    if (member.stream.has_value()) inhabited.insert(id.slice);
  }
  const absl::Duration longest = learning.LongestLaunch(std::nullopt);
  const absl::Duration enough = std::max(kGoesOnWithout, kLaunchesWithout * longest);
  std::vector<std::string> retired;
  for (const auto& [id, left] : left_at) {
    const bool may_go = membership.Find(id)->leaving || !inhabited.contains(id.slice);
    if (!may_go || now - left < enough || !progress.GoesOnSince(left + enough)) continue;
    membership.Retire(id);
    incarnation.Forget(id);
    retired.push_back(absl::StrCat(DebugName(*membership.Find(id)),
                                   " has left, and the job goes on without it: it is not missed"));
  }
  return retired;
}

std::optional<Standstill> WatchedJob::JudgeStartUp(absl::Duration now) const {
  const std::optional<absl::Duration> starting = StartingFor(now);
  if (!starting.has_value() || *starting < thresholds.startup_grace) return std::nullopt;
  if (progress.Running() > 0) return std::nullopt;
  const size_t not_come = NotCome().size();
  const size_t without = WithoutProcess().size();
  const size_t kept = Obstructed().size();
  if (not_come + without + kept == 0) {
    return progress.MeasureIdleStart(thresholds, now - *starting, now);
  }
  return Standstill{
      .threshold = thresholds.startup_grace,
      .still_for = *starting,
      .why = absl::StrFormat("%d of %d workers have not come, and %d have no training process",
                             not_come, membership.Expected().size(), without) +
             (kept > 0 ? absl::StrFormat("; %d are kept by something that their hosts know", kept)
                       : "")};
}

absl::Duration WatchedJob::LaunchThreshold() const {
  return coordinator::LaunchThreshold(thresholds, learning, std::nullopt);
}

absl::Duration WatchedJob::HangThreshold() const {
  return coordinator::HangThreshold(thresholds, learning);
}

absl::Duration WatchedJob::AttentionAfter() const {
  return std::min(LaunchThreshold(), HangThreshold()) / 2;
}

void WatchedJob::TakeOver(std::optional<KeptPauses> left) {
  inherited_pauses = std::move(left);
  may_keep_pauses = true;
}

std::optional<KeptPauses> WatchedJob::PausesToKeep(absl::Duration now) {
  const std::optional<std::string> id = incarnation.Id();
  if (!may_keep_pauses || !settled || !id.has_value()) return std::nullopt;
  if (const auto left = std::exchange(inherited_pauses, std::nullopt)) {
    kept_pauses = *left;
    if (left->job_incarnation == *id) learning.Restore(left->learnt);
  }
  KeptPauses pauses{.job_incarnation = *id, .learnt = learning.Pauses()};
  if (now < keep_pauses_not_before || pauses.learnt == LearntPauses{}) return std::nullopt;
  if (pauses == kept_pauses) return std::nullopt;
  keep_pauses_not_before = now + kKeepPausesSpacing;
  kept_pauses = pauses;
  return pauses;
}

bool WatchedJob::UpdateSettled(absl::Duration now) {
  if (!settled && first_hello.has_value()) {
    settled = membership.Complete() || now - *first_hello >= kSettleTime;
  }
  return settled;
}

std::vector<Target> WatchedJob::ConnectedWorkers() const {
  std::vector<Target> targets;
  for (const auto& [id, member] : membership.members()) {
    if (member.stream.has_value()) targets.push_back({id, *member.stream, progress.PartOf(id)});
  }
  return targets;
}

std::string WatchedJob::NameIncident(absl::Time detected) const {
  const uint64_t hash = StableHash(absl::StrFormat(
      "%s\n%s\n%d", membership.job(), incarnation.Id().value_or(""), absl::ToUnixNanos(detected)));
  return absl::StrFormat("%s-%08x",
                         absl::FormatTime("%Y%m%dT%H%M%SZ", detected, absl::UTCTimeZone()),
                         static_cast<uint32_t>(hash ^ (hash >> 32)));
}

std::vector<PlannedProbe> WatchedJob::PlanProbes(const Incident& incident) const {
  return coordinator::PlanProbes({.snapshots = incident.snapshots(),
                                  .expected = membership.Expected(),
                                  .addresses = addresses,
                                  .stands_still = !incident.suspicion().to_the_end});
}

Capture WatchedJob::BuildCapture(const Incident& incident) {
  const Suspicion& suspicion = incident.suspicion();
  Capture capture;
  CaptureHeader& header = capture.header;
  header.job = membership.job();
  header.job_incarnation = incarnation.Id();
  header.expected_workers = membership.Expected();
  header.generation = membership.Generation();
  header.trigger = suspicion.trigger;
  if (suspicion.threshold.has_value()) {
    header.hang_threshold_ms = absl::ToInt64Milliseconds(*suspicion.threshold);
  }
  if (suspicion.announced_pause.has_value()) {
    header.announced_pause_ms = absl::ToInt64Milliseconds(*suspicion.announced_pause);
  }
  if (const auto starting = StartingFor(suspicion.detected.monotonic)) {
    header.starting_ms = absl::ToInt64Milliseconds(*starting);
    header.startup_grace_ms = absl::ToInt64Milliseconds(thresholds.startup_grace);
  }
  for (const Phase phase : {Phase::kCompile, Phase::kCheckpoint, Phase::kEval}) {
    AddPause(phase, learning.LongestPhase(phase), header);
  }
  AddPause(Phase::kUnspecified, learning.LongestPause(), header);
  header.longest_pause_ms = absl::ToInt64Milliseconds(thresholds.longest_pause);
  if (!suspicion.noticed_by.empty()) header.noticed_by = suspicion.noticed_by;
  header.detected_unix_ms = absl::ToUnixMillis(suspicion.detected.wall);
  learning.ObserveModules(incident.named_programs());
  for (const auto& [worker, snapshot] : incident.snapshots()) {
    learning.ObserveModules(snapshot.programs);
  }
  std::vector<WorkerId> workers;
  for (const ExpectedWorker& worker : header.expected_workers) workers.push_back(worker.id);
  header.cohorts = learning.Cohorts(workers);
  for (const auto& [worker, collected] : incident.snapshots()) {
    Snapshot snapshot = collected;
    for (Program& program : snapshot.programs) {
      if (!program.module.has_value()) program.module = learning.ModuleOf(program.fingerprint);
    }
    capture.snapshots.push_back(std::move(snapshot));
  }
  DropCommonSettings(capture.snapshots);
  return capture;
}

std::map<WorkerId, std::string> WatchedJob::ShownIn(const Incident& incident) const {
  std::map<WorkerId, std::string> shown;
  for (const auto& [worker, snapshot] : incident.snapshots()) {
    std::optional<std::string> key = incarnation.LastGiven(worker);
    if (!key.has_value()) key = snapshot.incarnation;
    if (key.has_value()) shown[worker] = *std::move(key);
  }
  return shown;
}

std::map<WorkerId, std::string> WatchedJob::HardwareOfMissing(const Incident& incident) const {
  std::map<WorkerId, std::string> hardware;
  for (const auto& [worker, member] : membership.members()) {
    if (incident.snapshots().contains(worker) || !member.hello.hardware.has_value()) continue;
    hardware[worker] = *member.hello.hardware;
  }
  return hardware;
}

int64_t WatchedJob::HostsIn(const Incident& incident) const {
  std::set<std::string> voters;
  for (const auto& [worker, snapshot] : incident.snapshots()) {
    if (const Member* member = membership.Find(worker)) voters.insert(member->voter);
  }
  // A single address cannot tell hosts apart, as in HostVotes.
  return static_cast<int64_t>(voters.size() == 1 ? incident.snapshots().size() : voters.size());
}

}  // namespace rapideye::coordinator
