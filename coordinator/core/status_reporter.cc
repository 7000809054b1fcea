#include "coordinator/core/status_reporter.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/host/start_up_stage.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

// Bound of one line of a page; a host with many chips repeats itself.
constexpr size_t kMaxStartUpText = 512;

// Culprits of the present hang come first: their victims have stood for as long. Then workers
// without any completion, then those with the longest time since theirs.
bool Slower(const WorkerStatus& a, const WorkerStatus& b) {
  if (a.accused != b.accused) return a.accused;
  const absl::Duration since_a = a.since_completion.value_or(absl::InfiniteDuration());
  const absl::Duration since_b = b.since_completion.value_or(absl::InfiniteDuration());
  return since_a != since_b ? since_a > since_b : a.id < b.id;
}

// Describes a start-up: "with its chips open; port 8471 is taken by python3 (71)".
std::string DescribeStartUp(const StartUp& start_up) {
  std::string text = classifier::StageName(classifier::StageOf(start_up));
  for (const Obstacle& obstacle : start_up.obstacles) {
    absl::StrAppend(&text, "; ", classifier::DescribeObstacle(obstacle));
    if (text.size() > kMaxStartUpText) break;
  }
  return text;
}

std::vector<std::pair<std::string, size_t>> PhasesOf(const WatchedJob& job) {
  std::array<size_t, classifier::kStartUpStages> counts = {};
  for (const auto& [id, member] : job.membership.members()) {
    const WorkerProgress* progress = job.progress.Find(id);
    if (!member.stream.has_value() || progress == nullptr) continue;
    if (!progress->start_up.has_value()) continue;
    ++counts[static_cast<size_t>(classifier::StageOf(*progress->start_up))];
  }
  std::vector<std::pair<std::string, size_t>> phases;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    phases.emplace_back(classifier::StageName(static_cast<classifier::StartUpStage>(i)), counts[i]);
  }
  return phases;
}

WorkerStatus StatusOf(const WatchedJob& job, const WorkerId& id, absl::Duration now) {
  WorkerStatus status{.id = id,
                      .host = {},
                      .connected = false,
                      .runtime_answers = false,
                      .since_completion = {},
                      .in_flight_for = {},
                      .fingerprint = {},
                      .module = {}};
  if (const Member* member = job.membership.Find(id)) {
    status.host = member->hello.host;
    status.connected = member->stream.has_value();
  }
  const WorkerProgress* progress = job.progress.Find(id);
  if (progress == nullptr) return status;
  status.runtime_answers = status.connected && progress->runtime_answers;
  if (progress->last_completion.has_value()) {
    status.since_completion = now - *progress->last_completion;
  }
  if (progress->in_flight_since.has_value()) {
    // The launch that is in flight now began later than the last completion, even if some launch
    // has been in flight for longer.
    const absl::Duration since = std::max(
        *progress->in_flight_since, progress->last_completion.value_or(-absl::InfiniteDuration()));
    status.in_flight_for = now - since;
  }
  if (progress->start_up.has_value()) status.start_up = DescribeStartUp(*progress->start_up);
  status.fingerprint = progress->program;
  if (progress->program.has_value()) status.module = job.learning.ModuleOf(*progress->program);
  return status;
}

// `late_after`: a worker that stands for so long is late.
WorkerOnMap PlaceOnMap(const WatchedJob& job, const WorkerStatus& worker,
                       absl::Duration late_after) {
  WorkerOnMap place{.id = worker.id,
                    .host = worker.host,
                    .since_completion = worker.since_completion,
                    .step = {},
                    .phase = {}};
  const WorkerProgress* progress = job.progress.Find(worker.id);
  if (!worker.connected) return place;
  if (progress != nullptr) {
    place.step = progress->step;
    place.phase = progress->phase;
  }
  if (progress == nullptr || !progress->heard) {
    place.state = WorkerState::kNotRunning;
  } else if (progress->Pauses()) {
    place.state = WorkerState::kPaused;
  } else if (!progress->Shown()) {
    place.state =
        progress->active_at.has_value() ? WorkerState::kAdvancing : WorkerState::kNotRunning;
  } else if (!worker.since_completion.has_value()) {
    place.state = WorkerState::kStarting;
  } else {
    // Launches that completed since the last heartbeat are not known yet.
    const absl::Duration unheard = job.membership.Find(worker.id)->hello.poll_interval;
    place.state = *worker.since_completion - unheard >= late_after ? WorkerState::kLate
                                                                   : WorkerState::kAdvancing;
  }
  return place;
}

void DescribeStartUp(const WatchedJob& job, absl::Duration now, JobStatus& status) {
  const auto list = [&](const std::vector<WorkerId>& ids, std::vector<WorkerStatus>& listed) {
    for (size_t i = 0; i < std::min(ids.size(), kMaxListedWorkers); ++i) {
      listed.push_back(StatusOf(job, ids[i], now));
    }
    return ids.size();
  };
  status.not_come_count = list(job.NotCome(), status.not_come);
  status.behind_count = list(job.Behind(), status.behind);
  status.phases = PhasesOf(job);
  status.without_process_count = list(job.WithoutProcess(), status.without_process);
}

// The most frequent version first. Agents state their versions themselves.
std::vector<std::pair<std::string, size_t>> VersionsOf(const Membership& membership) {
  std::map<std::string, size_t> counts;
  for (const auto& [id, member] : membership.members()) {
    if (member.stream.has_value()) ++counts[member.hello.version];
  }
  std::vector<std::pair<std::string, size_t>> versions(counts.begin(), counts.end());
  std::stable_sort(versions.begin(), versions.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (versions.size() > kMaxListedVersions) versions.resize(kMaxListedVersions);
  return versions;
}

// Hosts that the verdict on the present hang names.
std::set<std::string> Accused(Activity activity, const ToldDigest& told) {
  if (activity != Activity::kWaiting || !told.verdict.has_value()) return {};
  return {told.verdict->culprits.begin(), told.verdict->culprits.end()};
}

// Adds the figures since the start of the coordinator.
void AddFigures(const WatchedJob& job, absl::Duration now, JobStatus& status) {
  status.last_hour = job.launch_times.LastHour(now);
  status.launches = job.launch_times.durations();
  status.losses = job.lost_time.Total(now);
  status.agent_versions = VersionsOf(job.membership);
}

}  // namespace

JobStatus StatusReporter::Report(const WatchedJob& job, Activity activity, const ToldDigest& told,
                                 const LookSchedule& looks, absl::Duration now) {
  JobStatus status;
  status.job = job.membership.job();
  status.incarnation = job.incarnation.Id();
  status.generation = job.membership.Generation();
  status.activity = activity;
  status.last_incident = told.incident;
  status.last_revision = told.revision;
  status.last_verdict = told.verdict;
  if (looks.next() < absl::InfiniteDuration()) {
    status.next_look = std::max(looks.next() - now, absl::ZeroDuration());
  }
  status.connected = job.membership.connected();
  status.running = job.progress.Running();
  const auto measure = job.Measure(now);
  const absl::Duration late_after =
      (measure.has_value() ? measure->threshold : job.HangThreshold()) / 2;
  const std::set<std::string> accused = Accused(activity, told);
  std::vector<WorkerId> workers;
  for (const ExpectedWorker& worker : job.membership.Expected()) {
    workers.push_back(worker.id);
    WorkerStatus one = StatusOf(job, worker.id, now);
    one.accused = accused.contains(one.host);
    status.workers.push_back(PlaceOnMap(job, one, late_after));
    if (one.connected) {
      status.slowest.push_back(std::move(one));
    } else if (status.missing.size() < kMaxListedWorkers) {
      status.missing.push_back(std::move(one));
    }
  }
  status.expected = workers.size();
  const size_t listed = std::min(status.slowest.size(), kMaxListedWorkers);
  const auto end = status.slowest.begin() + static_cast<std::ptrdiff_t>(listed);
  std::partial_sort(status.slowest.begin(), end, status.slowest.end(), Slower);
  status.slowest.erase(end, status.slowest.end());

  status.starting = job.StartingFor(now);
  if (status.starting.has_value()) DescribeStartUp(job, now, status);
  if (const auto last = job.progress.LastCompletion()) {
    status.since_completion = now - *last;
  }
  if (measure.has_value()) {
    status.waiting = JobStatus::Waiting{measure->still_for, measure->threshold, measure->why};
  }
  status.launch_threshold = job.LaunchThreshold();
  status.hang_threshold = job.HangThreshold();
  status.startup_grace = job.thresholds.startup_grace;
  status.launch_threshold_set = job.thresholds.launch.has_value();
  status.hang_threshold_set = job.thresholds.hang.has_value();
  status.longest_launch = job.learning.LongestLaunch(std::nullopt);
  status.longest_pause = job.learning.LongestPause();
  UpdateCohorts(job.learning, workers, now);
  status.cohorts = cohorts_;
  status.cohort_count = cohort_count_;
  AddFigures(job, now, status);
  status.ended = job.ended;
  status.counters = job.counters;
  return status;
}

void StatusReporter::UpdateCohorts(const Learning& learning, const std::vector<WorkerId>& workers,
                                   absl::Duration now) {
  if (now < next_cohorts_) return;
  next_cohorts_ = now + kCohortRefresh;
  cohorts_.clear();
  const std::vector<Cohort> all = learning.Cohorts(workers);
  cohort_count_ = all.size();
  for (const Cohort& cohort : all) {
    if (cohorts_.size() == kMaxListedCohorts) break;
    CohortStatus& one = cohorts_.emplace_back();
    one.name = cohort.name;
    one.workers = cohort.workers.size();
    for (const SequenceEntry& entry : cohort.sequence) {
      one.programs.push_back(
          entry.module.value_or(learning.ModuleOf(entry.fingerprint).value_or(entry.fingerprint)));
    }
  }
}

}  // namespace rapideye::coordinator
