#include "coordinator/core/collection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

absl::Status NotAsked(const char* message, int64_t number) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s.collection: nothing was asked of this worker in collection %d", message, number));
}

}  // namespace

Collection::Collection(int64_t number, std::optional<std::string> incident,
                       const std::vector<Target>& targets, absl::Duration deadline, int64_t budget,
                       absl::Duration now, Effects& effects)
    : number_(number), incident_(std::move(incident)), budget_(budget) {
  for (const Target& target : targets) Join(target, deadline, now, effects);
}

void Collection::Join(const Target& target, absl::Duration deadline, absl::Duration now,
                      Effects& effects) {
  auto [found, first] = entries_.try_emplace(target.worker);
  Entry& entry = found->second;
  if (!first && entry.state != State::kGone) return;
  entry = Entry{};
  entry.stream = target.stream;
  ++waiting_;
  // Ahead of any announcement a few may send at once: small jobs need no second
  // round trip, and even the largest snapshots of so few are within bounds.
  const bool credit = in_flight_ < kUpFrontCredits && ready_.empty() &&
                      received_bytes_ + bytes_in_flight_ + kMaxSnapshotBytes <= budget_;
  if (credit) {
    entry.state = State::kGranted;
    entry.size = kMaxSnapshotBytes;
    entry.granted_at = now;
    granted_.push_back(target.worker);
    ++in_flight_;
    bytes_in_flight_ += entry.size;
  }
  effects.push_back(Send{
      target.stream,
      wire::Collect{
          .collection = number_, .credit = credit, .deadline = deadline, .incident = incident_}});
}

void Collection::Release(Entry& entry) {
  if (entry.state != State::kGranted) return;
  --in_flight_;
  bytes_in_flight_ -= entry.size;
}

void Collection::Leave(const WorkerId& worker, absl::Duration now, Effects& effects) {
  auto found = entries_.find(worker);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (entry.state == State::kAnswered || entry.state == State::kGone) return;
  Release(entry);
  entry.state = State::kGone;
  --waiting_;
  GrantNext(now, effects);
}

absl::Status Collection::OnReady(const WorkerId& worker, const wire::SampleReady& ready,
                                 absl::Duration now, Effects& effects) {
  auto found = entries_.find(worker);
  if (found == entries_.end() || found->second.state == State::kGone) {
    return NotAsked("sampleReady", number_);
  }
  Entry& entry = found->second;
  if (ready.size_bytes < 0 || ready.size_bytes > kMaxSnapshotBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("sampleReady.sizeBytes: %d is out of range (0 to %d)", ready.size_bytes,
                        kMaxSnapshotBytes));
  }
  // A second announcement, or that of a worker that needs none, changes nothing.
  if (entry.state != State::kAsked) return absl::OkStatus();
  entry.state = State::kReady;
  entry.size = std::min(ready.size_bytes * kSizeFactor + kSizeSlack, kMaxSnapshotBytes);
  ready_.push_back(worker);
  GrantNext(now, effects);
  return absl::OkStatus();
}

void Collection::GrantNext(absl::Duration now, Effects& effects) {
  while (!ready_.empty() && in_flight_ < kMaxSnapshotsInFlight) {
    Entry& entry = entries_.at(ready_.front());
    if (entry.state != State::kReady) {
      ready_.pop_front();
      continue;
    }
    if (received_bytes_ + bytes_in_flight_ + entry.size > budget_) {
      if (in_flight_ > 0) return;  // less may arrive than was reserved
      ready_.pop_front();
      entry.state = State::kGone;
      --waiting_;
      ++over_budget_;
      effects.push_back(Send{entry.stream, wire::Cancel{.collection = number_}});
      continue;
    }
    if (bytes_in_flight_ + entry.size > kMaxBytesInFlight) return;
    entry.state = State::kGranted;
    entry.granted_at = now;
    ++in_flight_;
    bytes_in_flight_ += entry.size;
    granted_.push_back(ready_.front());
    ready_.pop_front();
    effects.push_back(Send{entry.stream, wire::Grant{.collection = number_}});
  }
}

absl::Status Collection::OnSnapshot(const WorkerId& worker, int64_t bytes, absl::Duration now,
                                    Effects& effects) {
  auto found = entries_.find(worker);
  if (found == entries_.end() || found->second.state == State::kGone) {
    return NotAsked("snapshot", number_);
  }
  Entry& entry = found->second;
  if (entry.state == State::kAnswered) {
    return absl::InvalidArgumentError(
        absl::StrFormat("snapshot.collection: a second snapshot for collection %d", number_));
  }
  if (entry.state != State::kGranted && entry.state != State::kOverdue) {
    return absl::InvalidArgumentError(
        absl::StrFormat("snapshot.collection: sent without a grant for collection %d", number_));
  }
  if (bytes > entry.size) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "snapshot: %d bytes are far more than sampleReady.sizeBytes announced (%d were granted)",
        bytes, entry.size));
  }
  Release(entry);
  entry.state = State::kAnswered;
  --waiting_;
  received_bytes_ += bytes;
  GrantNext(now, effects);
  return absl::OkStatus();
}

void Collection::OnTick(absl::Duration now, Effects& effects) {
  while (!granted_.empty()) {
    Entry& entry = entries_.at(granted_.front());
    if (entry.state == State::kGranted) {
      if (now - entry.granted_at < kGrantTimeout) break;
      Release(entry);
      entry.state = State::kOverdue;
    }
    granted_.pop_front();
  }
  GrantNext(now, effects);
}

bool Collection::Answered(const WorkerId& worker) const {
  auto found = entries_.find(worker);
  return found != entries_.end() && found->second.state == State::kAnswered;
}

void Collection::CancelRest(Effects& effects) const {
  for (const auto& [worker, entry] : entries_) {
    if (entry.state == State::kAnswered || entry.state == State::kGone) continue;
    effects.push_back(Send{entry.stream, wire::Cancel{.collection = number_}});
  }
}

}  // namespace rapideye::coordinator
