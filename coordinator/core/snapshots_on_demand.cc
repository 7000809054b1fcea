#include "coordinator/core/snapshots_on_demand.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void SnapshotsOnDemand::Request(Ticket ticket, const WatchedJob& job, Effects& effects) {
  if (job.membership.connected() == 0) {
    effects.push_back(SnapshotRefused{
        ticket, absl::FailedPreconditionError(
                    "no agent is connected, so there is nobody to ask; see rapideye status")});
  } else if (waiting_.size() >= kMaxSnapshotRequests) {
    effects.push_back(SnapshotRefused{
        ticket, absl::ResourceExhaustedError(absl::StrFormat(
                    "%d requests for a snapshot wait already; try again later", waiting_.size()))});
  } else {
    waiting_.push_back(ticket);
  }
}

void SnapshotsOnDemand::Follow(bool may_begin, WatchedJob& job, const Instant& now,
                               Effects& effects) {
  if (collection_.has_value()) {
    collection_->OnTick(now.monotonic, effects);
    if (collection_->state() == Incident::State::kDone) {
      Conclude(job, now.monotonic, effects);
    } else if (collection_->state() == Incident::State::kRecovered) {
      Abandon(effects);  // its two rounds saw two different jobs: begun anew
    }
  }
  if (waiting_.empty() || !may_begin) return;
  if (job.membership.connected() == 0) {
    RefuseAll(absl::UnavailableError("all agents have disconnected; see rapideye status"), effects);
    return;
  }
  if (!collection_.has_value() && now.monotonic >= not_before_) Begin(job, now, effects);
}

void SnapshotsOnDemand::Begin(WatchedJob& job, const Instant& now, Effects& effects) {
  ++job.counters.snapshots_taken;
  const std::optional<Standstill> measure = job.Measure(now.monotonic);
  Suspicion suspicion{.trigger = "operator",
                      .why = "an operator asks for a snapshot",
                      .threshold = std::nullopt,
                      .detected = now,
                      .to_the_end = true};
  if (measure.has_value()) suspicion.threshold = measure->threshold;
  const std::vector<Target> targets = job.ConnectedWorkers();
  effects.push_back(
      Log{LogLevel::kInfo, absl::StrFormat("%s; collecting from %d of %d workers", suspicion.why,
                                           targets.size(), job.membership.Expected().size())});
  collection_.emplace(std::move(suspicion), targets, job.collections.TakePair(), collect_deadline_,
                      now.monotonic, effects);
}

void SnapshotsOnDemand::Conclude(WatchedJob& job, absl::Duration now, Effects& effects) {
  job.counters.snapshots_over_budget += static_cast<int64_t>(collection_->over_budget());
  job.counters.probes_asked += static_cast<int64_t>(collection_->probes_asked());
  const Incident collected = *std::exchange(collection_, std::nullopt);
  not_before_ = now + kSnapshotInterval;
  if (collected.snapshots().empty()) {
    RefuseAll(absl::UnavailableError(absl::StrCat("no worker answered within ",
                                                  absl::FormatDuration(collect_deadline_),
                                                  "; see rapideye status")),
              effects);
    return;
  }
  effects.push_back(
      Examine{.tickets = std::exchange(waiting_, {}), .capture = job.BuildCapture(collected)});
}

void SnapshotsOnDemand::Abandon(Effects& effects) {
  if (!collection_.has_value()) return;
  collection_->Abandon(effects);
  collection_.reset();
}

void SnapshotsOnDemand::RefuseAll(const absl::Status& status, Effects& effects) {
  for (const Ticket ticket : std::exchange(waiting_, {})) {
    effects.push_back(SnapshotRefused{ticket, status});
  }
}

void SnapshotsOnDemand::AnswerAll(const std::string& incident_id, Effects& effects) {
  for (const Ticket ticket : std::exchange(waiting_, {})) {
    effects.push_back(SnapshotAnswered{ticket, incident_id});
  }
}

}  // namespace rapideye::coordinator
