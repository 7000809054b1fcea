#include "coordinator/removal/worker/incident_hooks.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/removal/hooks/incident_event.h"
#include "coordinator/store/incident_files.h"

namespace rapideye::coordinator {
namespace {

// True if the task was never begun and is too late by now, or will be.
bool NeverBegins(const Task& task, absl::Time now) {
  return task.attempts == 0 && task.expires <= now;
}

// The task as `now` leaves it if nobody runs it: expired, failed, or unchanged.
Task Aged(Task task, absl::Time now) {
  if (!IsUnfinished(task)) return task;
  if (NeverBegins(task, now)) {
    task.state = "expired";
    task.outcome = "not begun in time";
  } else if (task.attempts >= kMaxHookAttempts) {
    task.state = "failed";
    task.outcome = "whoever ran it ended before it did, every time";
  } else if (task.attempts > 0 && task.expires <= now - kLongestHookDelay) {
    task.state = "failed";
    task.outcome = absl::StrCat("begun, and not done in time: ", task.outcome);
  }
  return task;
}

}  // namespace

IncidentHooks::IncidentHooks(Disk& disk, HookRunner& runner, Settings settings)
    : disk_(disk), runner_(runner), settings_(std::move(settings)) {}

std::string IncidentHooks::DirectoryOf(const std::string& id) const {
  return absl::StrCat(settings_.incidents, "/", id);
}

Task IncidentHooks::Resumed(Task task) const {
  if (!IsUnfinished(task)) return task;
  const absl::Time now = settings_.now();
  if (task.state == "acting") task.not_before = now;
  task.state = "due";
  // A clock that was wrong when they were written must not hold them up for ever.
  task.not_before = std::min(task.not_before, now + kLongestHookRetry);
  task.expires = std::min(task.expires, now + settings_.lifetime);
  return task;
}

absl::StatusOr<RemovalRecord*> IncidentHooks::Open(const std::string& id) {
  if (const auto known = kept_.find(id); known != kept_.end()) return &known->second;
  RemovalRecord record;
  record.incident = id;
  record.mode = settings_.mode;
  const auto text =
      disk_.ReadFile(absl::StrCat(DirectoryOf(id), "/", kHooksFile), kMaxIncidentBytes);
  if (text.ok()) {
    absl::StatusOr<RemovalRecord> read = ParseRemovalRecord(*text);
    if (read.ok() && read->incident == id) {
      record = *std::move(read);
    } else {
      spdlog::warn("incident {}: {} is damaged, its hooks run again: {}", id, kHooksFile,
                   read.ok() ? absl::StrCat("it is of ", read->incident)
                             : std::string(read.status().message()));
    }
  } else if (!absl::IsNotFound(text.status())) {
    return text.status();
  }
  if (std::any_of(record.hooks.begin(), record.hooks.end(), IsUnfinished)) {
    if (absl::Status why = settings_.distrust(DirectoryOf(id)); !why.ok()) return why;
  }
  for (Task& task : record.hooks) task = Resumed(std::move(task));
  return &kept_.emplace(id, std::move(record)).first->second;
}

absl::StatusOr<RemovalRecord> IncidentHooks::RecordOf(const std::string& id) {
  const absl::StatusOr<RemovalRecord*> record = Open(id);
  if (!record.ok()) return record.status();
  return **record;
}

absl::Status IncidentHooks::Change(const std::string& id,
                                   const std::function<void(RemovalRecord&)>& change) {
  const absl::StatusOr<RemovalRecord*> record = Open(id);
  if (!record.ok()) return record.status();
  RemovalRecord changed = **record;
  change(changed);
  const std::string text = RenderRemovalRecord(changed);
  if (text == RenderRemovalRecord(**record)) return absl::OkStatus();
  changed.is_copy = false;
  const absl::Status status = Store(DirectoryOf(id), text);
  if (status.ok()) **record = std::move(changed);
  if (absl::IsNotFound(status)) Forget(id);
  return status;
}

absl::Status IncidentHooks::Store(const std::string& directory, const std::string& text) {
  const absl::StatusOr<int64_t> bytes = disk_.BytesIn(directory);
  if (!bytes.ok()) return bytes.status();
  if (*bytes < 0) return absl::NotFoundError(absl::StrCat(directory, " is not there"));
  const std::string path = absl::StrCat(directory, "/", kHooksFile);
  const std::string temporary = absl::StrCat(path, ".new");
  absl::Status status = disk_.RemoveAll(temporary);
  if (status.ok()) status = disk_.WriteFile(temporary, text);
  if (status.ok()) status = disk_.Replace(temporary, path);
  if (status.ok()) status = disk_.SyncDirectory(directory);
  // A later digest took the place of the directory just now: the next try finds the new one.
  return absl::IsNotFound(status) ? absl::UnavailableError(status.message()) : status;
}

void IncidentHooks::Forget(const std::string& id) {
  const std::vector<Task>& tasks = kept_[id].hooks;
  if (std::any_of(tasks.begin(), tasks.end(), IsUnfinished)) {
    spdlog::error("incident {}: is not on disk any more, its hooks do not run", id);
  }
  kept_.erase(id);
}

absl::Status IncidentHooks::TakeOver(const std::string& id, const std::vector<Task>& hooks) {
  const absl::StatusOr<RemovalRecord> known = RecordOf(id);
  if (!known.ok()) return known.status();
  if (!known->is_copy && known->revision > 0) return absl::OkStatus();
  if (known->is_copy && std::none_of(hooks.begin(), hooks.end(), IsUnfinished) &&
      std::none_of(known->hooks.begin(), known->hooks.end(), IsUnfinished)) {
    return absl::OkStatus();
  }
  return Change(id, [&](RemovalRecord& record) {
    record.hooks.clear();
    for (const Task& task : hooks) {
      record.hooks.push_back(Resumed(task));
      record.revision = std::max(record.revision, EventOf(task.incident).revision);
    }
  });
}

void IncidentHooks::DropSettled() {
  std::erase_if(kept_, [](const auto& entry) {
    const RemovalRecord& record = entry.second;
    return record.published >= record.revision &&
           std::none_of(record.hooks.begin(), record.hooks.end(), IsUnfinished);
  });
}

absl::Status IncidentHooks::Add(const std::string& incident, absl::Duration patience) {
  const IncidentEvent event = EventOf(incident);
  return Change(event.id, [&](RemovalRecord& record) {
    if (record.revision >= event.revision) return;
    record.revision = event.revision;
    const absl::Time now = settings_.now();
    for (const std::string& hook : settings_.hooks) {
      Task task;
      task.incident = incident;
      task.hook = hook;
      task.state = "due";
      task.not_before = now + patience;
      task.expires = now + settings_.lifetime;
      record.hooks.push_back(std::move(task));
    }
  });
}

absl::StatusOr<bool> IncidentHooks::AddEnd(const std::string& incident,
                                           const std::vector<Task>& removals) {
  bool all = true;
  const std::string end = EndKey(incident);
  const absl::Status status = Change(EventOf(incident).id, [&](RemovalRecord& record) {
    std::vector<Task> before = removals;
    before.insert(before.end(), record.hooks.begin(), record.hooks.end());
    const absl::Time now = settings_.now();
    for (const std::string& hook : settings_.hooks) {
      bool run = false;
      bool waits = false;
      bool added = false;
      for (const Task& task : before) {
        if (task.hook != hook) continue;
        added = added || task.incident == end;
        run = true;
        waits = waits || (task.incident != end && IsUnfinished(task));
      }
      if (!run || added) continue;
      if (waits) {
        all = false;
        continue;
      }
      Task task;
      task.incident = end;
      task.hook = hook;
      task.state = "due";
      task.not_before = now;
      task.expires = now + settings_.lifetime;
      record.hooks.push_back(std::move(task));
    }
  });
  if (!status.ok()) return status;
  return all;
}

std::vector<std::string> IncidentHooks::Waiting() const {
  std::vector<std::string> waiting;
  for (const auto& [id, record] : kept_) {
    for (const Task& task : record.hooks) {
      if (task.state != "due" || task.attempts > 0) continue;
      if (waiting.empty() || waiting.back() != task.incident) waiting.push_back(task.incident);
    }
  }
  return waiting;
}

absl::Status IncidentHooks::Release(const std::string& incident) {
  const absl::Time now = settings_.now();
  return Change(EventOf(incident).id, [&](RemovalRecord& record) {
    for (Task& task : record.hooks) {
      if (task.incident == incident && task.state == "due" && task.attempts == 0) {
        task.not_before = std::min(task.not_before, now);
      }
    }
  });
}

// Hooks of one digest run in their order, and one that fails holds up the later ones.
bool IncidentHooks::IsNext(const std::vector<Task>& tasks, size_t index, absl::Time now) const {
  const Task& task = tasks[index];
  const auto& ours = settings_.hooks;
  // Only hooks of the command line: the file decides when they run, not which files.
  if (std::find(ours.begin(), ours.end(), task.hook) == ours.end()) return false;
  if (task.state != "due" || NeverBegins(task, now)) return false;
  for (size_t i = 0; i < index; ++i) {
    if (tasks[i].incident == task.incident && IsUnfinished(tasks[i]) &&
        !NeverBegins(tasks[i], now)) {
      return false;
    }
  }
  return true;
}

std::optional<Task> IncidentHooks::NextDue(absl::Time now) const {
  for (const auto& [id, record] : kept_) {
    const std::vector<Task>& tasks = record.hooks;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].not_before <= now && IsNext(tasks, i, now)) return tasks[i];
    }
  }
  return std::nullopt;
}

absl::Status IncidentHooks::ChangeTask(const Task& task) {
  return Change(EventOf(task.incident).id, [&](RemovalRecord& record) {
    for (Task& known : record.hooks) {
      if (known.incident == task.incident && known.hook == task.hook) known = task;
    }
  });
}

absl::Status IncidentHooks::Expire(absl::Time now, std::vector<Task>& expired) {
  std::vector<Task> late;
  for (const auto& [id, record] : kept_) {
    for (const Task& task : record.hooks) {
      Task aged = Aged(task, now);
      if (aged.state != task.state) late.push_back(std::move(aged));
    }
  }
  for (Task& task : late) {
    const absl::Status status = ChangeTask(task);
    if (!status.ok() && !absl::IsNotFound(status)) return status;
    expired.push_back(std::move(task));
  }
  return absl::OkStatus();
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
  Task task = AfterRun(ran_->task, ran_->result, settings_.now());
  const absl::Status status = ChangeTask(task);
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  ran_.reset();
  ran.push_back(std::move(task));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Task>> IncidentHooks::RunDue(const std::function<bool()>& go_on) {
  std::vector<Task> ran;
  if (absl::Status status = WriteDown(ran); !status.ok()) return status;
  while (go_on()) {
    const absl::Time now = settings_.now();
    if (absl::Status status = Expire(now, ran); !status.ok()) return status;
    std::optional<Task> task = NextDue(now);
    if (!task.has_value()) break;
    task->state = "acting";
    ++task->attempts;
    const absl::Status claimed = ChangeTask(*task);
    if (absl::IsNotFound(claimed)) continue;  // it is forgotten now
    if (!claimed.ok()) return claimed;
    HookResult result = Run(*task);
    ran_ = Ran{*std::move(task), std::move(result)};
    if (absl::Status status = WriteDown(ran); !status.ok()) return status;
  }
  return ran;
}

absl::Duration IncidentHooks::UntilNext() const {
  const absl::Time now = settings_.now();
  absl::Duration next = absl::InfiniteDuration();
  for (const auto& [id, record] : kept_) {
    const std::vector<Task>& tasks = record.hooks;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (IsNext(tasks, i, now)) next = std::min(next, tasks[i].not_before - now);
    }
  }
  return std::max(next, absl::ZeroDuration());
}

}  // namespace rapideye::coordinator
