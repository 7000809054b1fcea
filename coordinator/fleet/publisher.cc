#include "coordinator/fleet/publisher.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "coordinator/fleet/history.h"
#include "coordinator/fleet/records/fleet_clock.h"
#include "coordinator/fleet/schema.h"
#include "proto/common/clock/clock.h"

namespace rapideye::coordinator {
namespace {

// Errors of a history that will be back; until then, every other incident would fail as well.
bool Passes(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsAborted(status);
}

}  // namespace

Publisher::Publisher(Settings settings)
    : settings_(std::move(settings)), backoff_(settings_.first_retry, settings_.longest_retry) {}

void Publisher::Add(IncidentRecord incident) {
  if (Waits(incident.id)) return;
  incident.digest.clear();
  waiting_.push_back(std::move(incident));
}

bool Publisher::Waits(const std::string& incident) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const IncidentRecord& waiting) { return waiting.id == incident; });
}

absl::Status Publisher::Open() {
  if (history_ != nullptr) return absl::OkStatus();
  auto opened = OpenDatabase(settings_.history_url);
  if (!opened.ok()) return opened.status();
  if (absl::Status status = Migrate(**opened, FleetMigrations()); !status.ok()) return status;
  history_ = *std::move(opened);
  return absl::OkStatus();
}

absl::Status Publisher::Deliver(std::vector<std::string>& delivered) {
  if (absl::Status status = Open(); !status.ok()) return status;
  History history(*history_);
  const absl::StatusOr<absl::Time> wall = history_->WallClock();
  if (!wall.ok()) return wall.status();
  const absl::StatusOr<absl::Time> newest = history.Newest(*wall + kLargestClockError);
  if (!newest.ok()) return newest.status();
  const absl::Duration monotonic = MonotonicTime();
  const absl::Time now = FleetClock(*wall, *newest, monotonic).At(monotonic);
  absl::Status problem;
  std::deque<IncidentRecord> refused;
  while (!waiting_.empty()) {
    IncidentRecord incident = waiting_.front();
    if (settings_.digest) incident.digest = settings_.digest(incident.id);
    const absl::Status status = history.Record(incident, now);
    if (Passes(status)) {
      problem = status;
      break;
    }
    if (status.ok()) {
      delivered.push_back(incident.id);
    } else {
      problem = status;
      refused.push_back(std::move(waiting_.front()));
    }
    waiting_.pop_front();
  }
  waiting_.insert(waiting_.end(), std::make_move_iterator(refused.begin()),
                  std::make_move_iterator(refused.end()));
  return problem;
}

std::vector<std::string> Publisher::Turn(bool last) {
  std::vector<std::string> delivered;
  if (waiting_.empty() && (last || (opened_ && problem_.ok()))) return delivered;
  // A history that was down a moment ago does not delay the end of the process, and is not asked
  // again early because another incident came.
  if (last ? !problem_.ok() : MonotonicTime() < not_before_) return delivered;
  opened_ = true;
  const absl::Status problem = Deliver(delivered);
  if (problem.code() != problem_.code() && settings_.changed) settings_.changed(problem);
  problem_ = problem;
  if (problem.ok()) {
    backoff_.Reset();
    not_before_ = -absl::InfiniteDuration();
  } else {
    ++failures_;
    not_before_ = MonotonicTime() + backoff_.Next();
  }
  return delivered;
}

absl::Duration Publisher::UntilNext() const {
  if (waiting_.empty() && problem_.ok()) return absl::InfiniteDuration();
  return std::max(not_before_ - MonotonicTime(), absl::ZeroDuration());
}

}  // namespace rapideye::coordinator
