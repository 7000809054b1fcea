// The core's part in what operators ask: the state of the job, and a look at it
// on demand.
//
// A look on demand stands beside the watch and never in its way: the watch goes
// on judging and learning, and a suspicion that arises ends the look. Whether the
// job hangs is decided by the watch alone; a look raises, stores and counts
// nothing, so it can never cost a hang its one digest.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

// Longest without a completion first; whoever has none at all leads.
bool Slower(const WorkerStatus& a, const WorkerStatus& b) {
  const absl::Duration since_a = a.since_completion.value_or(absl::InfiniteDuration());
  const absl::Duration since_b = b.since_completion.value_or(absl::InfiniteDuration());
  return since_a != since_b ? since_a > since_b : a.id < b.id;
}

}  // namespace

// A look on demand ---------------------------------------------------------------

void CoordinatorCore::On(const SnapshotRequested& event) {
  ++job_.counters.snapshots_requested;
  const auto refuse = [&](absl::Status status) {
    Emit(SnapshotRefused{event.ticket, std::move(status)});
  };
  if (stopping_) return refuse(absl::UnavailableError("the coordinator is stopping"));
  if (job_.membership.connected() == 0) {
    return refuse(absl::FailedPreconditionError(
        "no agent is connected, so there is nobody to ask; see rapideye status"));
  }
  if (requests_.size() >= kMaxSnapshotRequests) {
    return refuse(absl::ResourceExhaustedError(absl::StrFormat(
        "%d requests for a snapshot wait already; try again later", requests_.size())));
  }
  requests_.push_back(event.ticket);
}

void CoordinatorCore::FollowRequests() {
  if (inspection_.has_value()) {
    inspection_->OnTick(now_.monotonic, effects_);
    if (inspection_->state() == Incident::State::kDone) {
      ConcludeInspection();
    } else if (inspection_->state() == Incident::State::kRecovered) {
      AbandonInspection();  // its looks saw two different jobs: begun anew
    }
  }
  if (requests_.empty()) return;
  if (job_.membership.connected() == 0 && !incident_.has_value() && state_ != State::kConcluding) {
    RefuseRequests(absl::UnavailableError("all agents have disconnected; see rapideye status"));
    return;
  }
  // During an incident its end answers.
  const bool may_begin = state_ == State::kArmed || state_ == State::kWaiting;
  if (may_begin && !inspection_.has_value() && now_.monotonic >= inspect_not_before_) {
    BeginInspection();
  }
}

void CoordinatorCore::BeginInspection() {
  ++job_.counters.snapshots_taken;
  const std::optional<Stillness> measure = job_.Measure(now_.monotonic);
  Suspicion suspicion{.trigger = "operator",
                      .why = "an operator asks for a snapshot",
                      .threshold = std::nullopt,
                      .detected = now_,
                      .to_the_end = true};
  if (measure.has_value()) suspicion.threshold = measure->threshold;
  const std::vector<Target> targets = job_.ConnectedWorkers();
  Info(absl::StrFormat("%s; collecting from %d of %d workers", suspicion.why, targets.size(),
                       job_.membership.Expected().size()));
  const int64_t number = job_.collections.TakePair();
  inspection_.emplace(std::move(suspicion), targets, number, collect_deadline_, now_.monotonic,
                      effects_);
}

void CoordinatorCore::ConcludeInspection() {
  job_.counters.snapshots_over_budget += static_cast<int64_t>(inspection_->over_budget());
  job_.counters.probes_asked += static_cast<int64_t>(inspection_->probes_asked());
  const Incident inspection = *std::exchange(inspection_, std::nullopt);
  inspect_not_before_ = now_.monotonic + kSnapshotInterval;
  if (inspection.snapshots().empty()) {
    RefuseRequests(absl::UnavailableError(absl::StrCat("no worker answered within ",
                                                       absl::FormatDuration(collect_deadline_),
                                                       "; see rapideye status")));
    return;
  }
  Emit(Examine{.tickets = std::exchange(requests_, {}), .capture = job_.BuildCapture(inspection)});
}

void CoordinatorCore::AbandonInspection() {
  if (!inspection_.has_value()) return;
  inspection_->Abandon(effects_);
  inspection_.reset();
}

void CoordinatorCore::RefuseRequests(const absl::Status& status) {
  for (const Ticket ticket : std::exchange(requests_, {})) Emit(SnapshotRefused{ticket, status});
}

void CoordinatorCore::AnswerRequests(const std::string& incident_id) {
  for (const Ticket ticket : std::exchange(requests_, {})) {
    Emit(SnapshotAnswered{ticket, incident_id});
  }
}

// The state of the job -------------------------------------------------------------

void CoordinatorCore::On(const StatusRequested& event) {
  Emit(StatusReport{event.ticket, Status()});
}

WorkerStatus CoordinatorCore::StatusOf(const WorkerId& id) const {
  WorkerStatus status{.id = id,
                      .host = {},
                      .connected = false,
                      .runtime_answers = false,
                      .since_completion = {},
                      .in_flight_for = {},
                      .fingerprint = {},
                      .module = {}};
  if (const Member* member = job_.membership.Find(id)) {
    status.host = member->hello.host;
    status.connected = member->stream.has_value();
  }
  const WorkerProgress* progress = job_.progress.Find(id);
  if (progress == nullptr) return status;
  status.runtime_answers = status.connected && progress->runtime_answers;
  if (progress->last_completion.has_value()) {
    status.since_completion = now_.monotonic - *progress->last_completion;
  }
  if (progress->in_flight_since.has_value()) {
    // Something has been in flight since; what is in flight now began later than
    // what completed last.
    const absl::Duration since = std::max(
        *progress->in_flight_since, progress->last_completion.value_or(-absl::InfiniteDuration()));
    status.in_flight_for = now_.monotonic - since;
  }
  status.fingerprint = progress->program;
  if (progress->program.has_value()) status.module = job_.learning.ModuleOf(*progress->program);
  return status;
}

Activity CoordinatorCore::CurrentActivity() const {
  switch (state_) {
    case State::kCollecting:
      return Activity::kCollecting;
    case State::kConcluding:
      return Activity::kConcluding;
    case State::kWaiting:
      return Activity::kWaiting;
    case State::kArmed:
      break;
  }
  return settled_ && job_.progress.LastCompletion().has_value() ? Activity::kArmed
                                                                : Activity::kLearning;
}

JobStatus CoordinatorCore::Status() {
  JobStatus status;
  status.job = job_.membership.job();
  status.incarnation = job_.incarnation.Id();
  status.generation = job_.membership.Generation();
  status.activity = CurrentActivity();
  status.last_incident = last_incident_;
  status.connected = job_.membership.connected();
  status.running = job_.progress.Running();
  std::vector<WorkerId> workers;
  for (const ExpectedWorker& worker : job_.membership.Expected()) {
    workers.push_back(worker.id);
    WorkerStatus one = StatusOf(worker.id);
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

  if (const auto last = job_.progress.LastCompletion()) {
    status.since_completion = now_.monotonic - *last;
  }
  if (const auto measure = job_.Measure(now_.monotonic)) {
    status.waiting = JobStatus::Waiting{measure->still_for, measure->threshold, measure->why};
  }
  status.launch_threshold = job_.LaunchThreshold();
  status.hang_threshold = job_.HangThreshold();
  status.startup_grace = job_.thresholds.startup_grace;
  status.launch_threshold_set = job_.thresholds.launch.has_value();
  status.hang_threshold_set = job_.thresholds.hang.has_value();
  status.longest_launch = job_.learning.LongestLaunch(std::nullopt);
  status.longest_pause = job_.learning.LongestPause();
  UpdateCohorts(workers);
  status.cohorts = cohorts_;
  status.cohort_count = cohort_count_;
  status.counters = job_.counters;
  return status;
}

void CoordinatorCore::UpdateCohorts(const std::vector<WorkerId>& workers) {
  if (now_.monotonic < next_cohorts_) return;
  next_cohorts_ = now_.monotonic + kCohortRefresh;
  cohorts_.clear();
  const std::vector<Cohort> all = job_.learning.Cohorts(workers);
  cohort_count_ = all.size();
  for (const Cohort& cohort : all) {
    if (cohorts_.size() == kMaxListedCohorts) break;
    CohortStatus& one = cohorts_.emplace_back();
    one.name = cohort.name;
    one.workers = cohort.workers.size();
    for (const SequenceEntry& entry : cohort.sequence) {
      one.programs.push_back(entry.module.value_or(
          job_.learning.ModuleOf(entry.fingerprint).value_or(entry.fingerprint)));
    }
  }
}

}  // namespace rapideye::coordinator
