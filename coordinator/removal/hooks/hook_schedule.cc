#include "coordinator/removal/hooks/hook_schedule.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {
namespace {

bool SameCall(const HookRun& a, const HookRun& b) {
  return a.hook == b.hook && a.incident == b.incident && a.remove_hosts == b.remove_hosts;
}

}  // namespace

absl::Status HookSchedule::Add(HookRun call, absl::Duration now) {
  for (const Entry& entry : entries_) {
    if (SameCall(entry.call, call)) {
      return absl::AlreadyExistsError(absl::StrCat("hook ", call.hook, " is already to run for ",
                                                   call.incident, ": it runs once for both"));
    }
  }
  if (entries_.size() >= options_.max_calls) {
    return absl::ResourceExhaustedError(absl::StrCat(
        entries_.size(), " hooks wait to be run already; ", call.hook, " for ", call.incident,
        " has to be asked for again later: find out from the log why earlier ones fail"));
  }
  entries_.push_back({.id = next_id_++, .call = std::move(call), .due = now});
  return absl::OkStatus();
}

std::optional<HookSchedule::Begun> HookSchedule::Begin(absl::Duration now) {
  std::set<std::string> hosts;
  std::set<std::string> incidents;
  size_t running = 0;
  for (const Entry& entry : entries_) {
    if (!entry.running) continue;
    ++running;
    incidents.insert(entry.call.incident);
    hosts.insert(entry.call.remove_hosts.begin(), entry.call.remove_hosts.end());
  }
  if (running >= options_.at_once) return std::nullopt;
  for (Entry& entry : entries_) {
    if (entry.running || entry.due > now) continue;
    const auto& mine = entry.call.remove_hosts;
    const bool blocked =
        incidents.contains(entry.call.incident) ||
        std::any_of(mine.begin(), mine.end(), [&](const auto& h) { return hosts.contains(h); });
    if (!blocked) {
      entry.running = true;
      ++entry.attempts;
      return Begun{.id = entry.id, .call = entry.call, .attempt = entry.attempts};
    }
    // Whoever comes later and shares anything with it waits behind it.
    incidents.insert(entry.call.incident);
    hosts.insert(mine.begin(), mine.end());
  }
  return std::nullopt;
}

HookSchedule::Step HookSchedule::Finish(int64_t id, bool succeeded, absl::Duration now) {
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [id](const Entry& e) { return e.id == id; });
  if (entry == entries_.end()) return {};
  entry->running = false;
  if (succeeded || entry->attempts >= options_.attempts) {
    entries_.erase(entry);
    return {};
  }
  const absl::Duration wait = RetryAfter(entry->attempts);
  entry->due = now + wait;
  return {.retry_in = wait};
}

absl::Duration HookSchedule::NextDue(absl::Duration now) const {
  absl::Duration next = absl::InfiniteDuration();
  for (const Entry& entry : entries_) {
    if (!entry.running && entry.due > now) next = std::min(next, entry.due);
  }
  return next;
}

absl::Duration HookSchedule::RetryAfter(int attempts) const {
  absl::Duration wait = options_.first_retry;
  for (int i = 1; i < attempts && wait < options_.longest_retry; ++i) wait *= 2;
  return std::min(wait, options_.longest_retry);
}

}  // namespace rapideye::coordinator
