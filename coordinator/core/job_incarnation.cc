#include "coordinator/core/job_incarnation.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace rapideye::coordinator {

uint64_t StableHash(const std::string& text) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

double JobIncarnation::VotesOf(const std::map<WorkerId, Key>& keys, const HostVotes& hosts) {
  double votes = 0;
  for (const auto& [worker, key] : keys) votes += hosts.PartOf(worker);
  return votes;
}

bool JobIncarnation::Observe(const WorkerId& worker, const std::string& key, bool given,
                             const HostVotes& hosts) {
  ever_given_ = ever_given_ || given;
  if (auto left = left_.find(worker); left != left_.end()) {
    if (left->second.text == key) return false;
    left_.erase(left);
    current_[worker] = Key{key, given};
    return false;
  }
  auto [known, inserted] = current_.try_emplace(worker, Key{key, given});
  if (inserted) return false;
  if (known->second.text == key) {
    ahead_.erase(worker);
    return false;
  }
  ahead_[worker] = Key{key, given};
  if (ahead_.size() * 2 <= current_.size()) return false;
  if (!IsMost(VotesOf(ahead_, hosts), VotesOf(current_, hosts))) return false;
  for (auto& [id, old] : current_) {
    if (!ahead_.contains(id)) left_[id] = std::move(old);
  }
  current_ = std::exchange(ahead_, {});
  return true;
}

void JobIncarnation::Rejoin(const WorkerId& worker) {
  auto left = left_.find(worker);
  if (left == left_.end()) return;
  current_[worker] = std::move(left->second);
  left_.erase(left);
}

void JobIncarnation::Forget(const WorkerId& worker) {
  for (std::map<WorkerId, Key>* keys : {&ahead_, &current_, &left_}) keys->erase(worker);
}

std::optional<std::string> JobIncarnation::LastGiven(const WorkerId& worker) const {
  for (const std::map<WorkerId, Key>* keys : {&ahead_, &current_, &left_}) {
    const auto found = keys->find(worker);
    if (found == keys->end()) continue;
    if (!found->second.given) return std::nullopt;
    return found->second.text;
  }
  return std::nullopt;
}

std::optional<std::string> JobIncarnation::KeyOf(const WorkerId& worker) const {
  const auto found = current_.find(worker);
  if (found == current_.end()) return std::nullopt;
  return found->second.text;
}

std::optional<std::string> JobIncarnation::Id() const {
  if (ever_given_) {
    for (const auto& [worker, key] : current_) {
      if (key.given) return key.text;
    }
  }
  if (current_.empty()) return std::nullopt;
  const auto& [worker, key] = *current_.begin();
  return absl::StrFormat(
      "%012x", StableHash(absl::StrFormat("%d/%d/%s", worker.slice, worker.task, key.text)) >> 16);
}

}  // namespace rapideye::coordinator
