#include "coordinator/store/pending_incidents.h"

#include <algorithm>
#include <utility>

namespace rapideye::coordinator {

std::vector<std::string> PendingIncidents::Add(IncidentFiles incident, absl::Duration now) {
  Entry entry{.incident = nullptr,
              .bytes = 0,
              .tries = 0,
              .due = now,
              .retry = Backoff(limits_.first_retry, limits_.longest_retry)};
  for (const IncidentFile& file : incident.files) {
    entry.bytes += static_cast<int64_t>(file.bytes.size());
  }
  entry.incident = std::make_shared<const IncidentFiles>(std::move(incident));
  bytes_ += entry.bytes;
  entries_.push_back(std::move(entry));

  std::vector<std::string> given_up;
  while (entries_.size() > limits_.incidents || bytes_ > limits_.bytes) {
    const auto oldest = std::find_if(entries_.begin(), entries_.end() - 1, [this](const Entry& e) {
      return e.incident.get() != in_progress_;
    });
    if (oldest == entries_.end() - 1) break;
    given_up.push_back(oldest->incident->id);
    bytes_ -= oldest->bytes;
    entries_.erase(oldest);
  }
  return given_up;
}

std::shared_ptr<const IncidentFiles> PendingIncidents::Begin(absl::Duration now) {
  if (in_progress_ != nullptr) return nullptr;
  for (const Entry& entry : entries_) {
    if (entry.due > now) continue;
    in_progress_ = entry.incident.get();
    return entry.incident;
  }
  return nullptr;
}

std::deque<PendingIncidents::Entry>::iterator PendingIncidents::InProgress() {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [this](const Entry& e) {
    return e.incident.get() == in_progress_;
  });
  in_progress_ = nullptr;
  return entry;
}

void PendingIncidents::Written(absl::Duration now) {
  const auto written = InProgress();
  bytes_ -= written->bytes;
  entries_.erase(written);
  for (Entry& entry : entries_) entry.due = std::min(entry.due, now);
}

PendingIncidents::Failure PendingIncidents::Failed(absl::Duration now) {
  const auto failed = InProgress();
  const absl::Duration wait = failed->retry.Next();
  failed->due = now + wait;
  return {.tries = ++failed->tries, .retry_in = wait};
}

absl::Duration PendingIncidents::NextDue() const {
  absl::Duration next = absl::InfiniteDuration();
  for (const Entry& entry : entries_) next = std::min(next, entry.due);
  return next;
}

void PendingIncidents::MakeDue() {
  for (Entry& entry : entries_) entry.due = -absl::InfiniteDuration();
}

std::vector<std::string> PendingIncidents::Ids() const {
  std::vector<std::string> ids;
  for (const Entry& entry : entries_) ids.push_back(entry.incident->id);
  return ids;
}

}  // namespace rapideye::coordinator
