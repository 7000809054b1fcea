#include "agent/core/requests.h"

#include <algorithm>
#include <utility>

#include "agent/core/snapshot_builder.h"
#include "agent/sources/limits.h"

namespace rapideye::agent {

// A reply that arrives after the deadline is worthless: some of the time is left for the
// way.
absl::Duration ReplyBy(absl::Duration now, absl::Duration deadline) {
  deadline = std::clamp(deadline, kShortestDeadline, kLongestDeadline);
  return now + deadline - std::min(deadline / 4, absl::Milliseconds(500));
}

void Requests::Collect(const wire::Collect& collect, int64_t last_poll, absl::Duration now) {
  asked_at_ = now;
  collection_ = Collection{collect.collection,
                           collect.credit,
                           last_poll,
                           ReplyBy(now, collect.deadline),
                           std::nullopt,
                           absl::InfiniteDuration(),
                           collect.salt.value_or("")};
}

void Requests::Grant(const wire::Grant& grant, Effects& effects) {
  if (!collection_.has_value() || collection_->number != grant.collection) return;
  collection_->credit = true;
  if (collection_->snapshot.has_value()) HandOver(effects);
}

void Requests::Deliver(Snapshot snapshot, absl::Duration now, Effects& effects) {
  delivered_at_ = now;
  if (!collection_->credit) {
    effects.push_back(Send{wire::SampleReady{collection_->number, EstimateBytes(snapshot)}});
  }
  collection_->snapshot = std::move(snapshot);
  collection_->keep_until = now + kKeepSnapshotFor;
  if (collection_->credit) HandOver(effects);
}

void Requests::HandOver(Effects& effects) {
  if (!collection_.has_value() || !collection_->snapshot.has_value()) return;
  effects.push_back(
      Send{wire::SnapshotReply{collection_->number, *std::move(collection_->snapshot)}});
  collection_.reset();
}

void Requests::RequestHlo(const wire::HloRequest& request, absl::Duration now) {
  hlo_ = Hlo{request.collection, ReplyBy(now, request.deadline)};
}

void Requests::ReplyHlo(std::optional<Snapshot> snapshot, std::string error, Effects& effects) {
  if (!hlo_.has_value()) return;
  effects.push_back(Send{wire::HloReply{hlo_->collection, std::move(snapshot), std::move(error)}});
  hlo_.reset();
}

void Requests::Cancel(const wire::Cancel& cancel) {
  if (collection_.has_value() && collection_->number == cancel.collection) collection_.reset();
  if (hlo_.has_value() && hlo_->collection == cancel.collection) hlo_.reset();
}

void Requests::Clear() {
  collection_.reset();
  hlo_.reset();
}

void Requests::Expire(absl::Duration now) {
  if (collection_.has_value() && now >= collection_->keep_until) collection_.reset();
}

absl::Duration Requests::NextWake() const {
  absl::Duration wake = absl::InfiniteDuration();
  if (collection_.has_value()) {
    wake = NeedsSample() ? collection_->reply_by : collection_->keep_until;
  }
  if (hlo_.has_value()) wake = std::min(wake, hlo_->reply_by);
  return wake;
}

void Alarms::Raise(wire::AlarmKind kind, std::string text, absl::Duration now) {
  const auto last = last_.find(kind);
  if (last != last_.end() && now - last->second < kAlarmSpacing) return;
  last_[kind] = now;
  if (text.size() > kMaxDetailBytes) text.resize(kMaxDetailBytes);
  waiting_[kind] = {.text = std::move(text), .at = now};
}

std::vector<wire::Alarm> Alarms::Waiting(absl::Duration now) const {
  std::vector<wire::Alarm> alarms;
  for (const auto& [kind, alarm] : waiting_) {
    if (now - alarm.at <= kKeepAlarmFor) alarms.push_back({kind, alarm.text});
  }
  return alarms;
}

void Alarms::Send(absl::Duration now, Effects& effects) {
  for (auto& [kind, alarm] : waiting_) {
    if (now - alarm.at > kKeepAlarmFor) continue;
    effects.push_back(agent::Send{wire::Alarm{kind, alarm.text}});
    sent_[kind] = std::move(alarm);
  }
  waiting_.clear();
}

void Alarms::Collected() {
  for (auto& [kind, alarm] : sent_) alarm.arrived = true;
}

void Alarms::StreamClosed() {
  std::erase_if(sent_, [](const auto& entry) {
    return entry.second.arrived && entry.first != wire::AlarmKind::kProcessExit;
  });
  waiting_.merge(sent_);  // of two of a kind the newer one, which waits already
  sent_.clear();
}

bool Alarms::Pending(absl::Duration since) const {
  const auto later = [since](const auto& entry) { return entry.second.at > since - kAlarmSpacing; };
  return std::any_of(waiting_.begin(), waiting_.end(), later) ||
         std::any_of(sent_.begin(), sent_.end(), later);
}

}  // namespace rapideye::agent
