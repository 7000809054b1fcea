#include "coordinator/removal/incident_hooks.h"

#include <algorithm>
#include <utility>

#include "coordinator/fleet/schema.h"
#include "coordinator/removal/hooks/incident_event.h"

namespace rapideye::coordinator {
namespace {

// The state directory is this coordinator's alone, and so is the journal in it.
constexpr char kHolder[] = "coordinator";

}  // namespace

IncidentHooks::IncidentHooks(Database& journal, HookRunner& runner, Settings settings)
    : database_(journal),
      runner_(runner),
      settings_(std::move(settings)),
      journal_(journal, kHolder, settings_.hooks) {}

absl::Status IncidentHooks::Add(const std::string& incident, absl::Duration patience) {
  if (settings_.hooks.empty()) return absl::OkStatus();
  return WithLock(database_, [&] {
    const absl::Time now = settings_.now();
    absl::Status status;
    for (size_t i = 0; i < settings_.hooks.size() && status.ok(); ++i) {
      Task task;
      task.incident = incident;
      task.hook = settings_.hooks[i];
      task.ordinal = static_cast<int64_t>(i);
      task.not_before = now + patience;
      task.expires = now + settings_.lifetime;
      status = journal_.Add(task, now);
    }
    return status;
  });
}

absl::StatusOr<bool> IncidentHooks::AddEnd(const std::vector<std::string>& keys,
                                           const std::vector<Task>& removals) {
  std::vector<Task> before = removals;
  for (const std::string& key : keys) {
    absl::StatusOr<std::vector<Task>> tasks = TasksOf(key);
    if (!tasks.ok()) return tasks.status();
    before.insert(before.end(), tasks->begin(), tasks->end());
  }
  bool all = true;
  absl::Status status = WithLock(database_, [&] {
    const absl::Time now = settings_.now();
    absl::Status added;
    for (size_t i = 0; i < settings_.hooks.size() && added.ok(); ++i) {
      const std::string& hook = settings_.hooks[i];
      const auto is_of = [&](const Task& task) { return task.hook == hook; };
      if (std::none_of(before.begin(), before.end(), is_of)) continue;
      if (std::any_of(before.begin(), before.end(), [&](const Task& task) {
            return is_of(task) && (task.state == "due" || task.state == "acting");
          })) {
        all = false;
        continue;
      }
      Task task;
      task.incident = EndKey(keys.back());
      task.hook = hook;
      task.ordinal = static_cast<int64_t>(i);
      task.not_before = now;
      task.expires = now + settings_.lifetime;
      added = journal_.Add(task, now);
    }
    return added;
  });
  if (!status.ok()) return status;
  return all;
}

absl::Status IncidentHooks::Release(const std::string& incident) {
  return WithLock(database_, [&] { return journal_.Release(incident, settings_.now()); });
}

absl::StatusOr<std::optional<Task>> IncidentHooks::Claim(std::vector<Task>& expired) {
  return WithLock(database_, [&]() -> absl::StatusOr<std::optional<Task>> {
    const absl::Time now = settings_.now();
    auto late = journal_.Expire(now);
    if (!late.ok()) return late.status();
    expired.insert(expired.end(), late->begin(), late->end());
    return journal_.Claim(now, settings_.lease);
  });
}

HookResult IncidentHooks::Run(const Task& task) {
  if (const std::optional<std::string> why = settings_.settled(task); why.has_value()) {
    return {.ok = true, .outcome = *why, .output = {}};
  }
  const absl::StatusOr<HookCall> call = settings_.call(task);
  if (!call.ok()) {
    return {.ok = false, .outcome = std::string(call.status().message()), .output = {}};
  }
  return runner_.Run(*call);
}

absl::Status IncidentHooks::WriteDown(std::vector<Task>& ran) {
  if (!ran_.has_value()) return absl::OkStatus();
  const absl::Status status = journal_.Finish(ran_->task, ran_->result, settings_.now());
  // Another process holds the task by now, and records its outcome.
  const bool lost = absl::IsNotFound(status);
  if (!status.ok() && !lost) return status;
  const Task task = std::exchange(ran_, std::nullopt)->task;
  if (lost) return absl::OkStatus();
  const auto tasks = journal_.TasksOf(task.incident);
  if (!tasks.ok()) return tasks.status();
  for (const Task& now : *tasks) {
    if (now.hook == task.hook) ran.push_back(now);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Task>> IncidentHooks::RunDue(const std::function<bool()>& go_on) {
  std::vector<Task> ran;
  if (absl::Status status = WriteDown(ran); !status.ok()) return status;
  while (go_on()) {
    absl::StatusOr<std::optional<Task>> task = Claim(ran);
    if (!task.ok()) return task.status();
    if (!task->has_value()) break;
    HookResult result = Run(**task);
    ran_ = Ran{**std::move(task), std::move(result)};
    if (absl::Status status = WriteDown(ran); !status.ok()) return status;
  }
  return ran;
}

absl::StatusOr<absl::Duration> IncidentHooks::UntilNext() {
  const absl::Time now = settings_.now();
  const absl::StatusOr<absl::Time> next = journal_.NextDue(now);
  if (!next.ok()) return next.status();
  return std::max(*next - now, absl::ZeroDuration());
}

absl::StatusOr<std::vector<Task>> IncidentHooks::TasksOf(const std::string& incident) {
  return journal_.TasksOf(incident);
}

}  // namespace rapideye::coordinator
