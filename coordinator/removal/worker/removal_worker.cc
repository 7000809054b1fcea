#include "coordinator/removal/worker/removal_worker.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "classifier/classify.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/records/findings.h"
#include "coordinator/fleet/records/record_json.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/removal/count_turn.h"
#include "coordinator/removal/worker/old_journal.h"
#include "coordinator/removal/worker/removal_worker_state.h"
#include "coordinator/store/incident_files.h"
#include "proto/capture/capture_reader.h"
#include "proto/common/clock/clock.h"
#include "proto/common/file/trusted_directory.h"

namespace rapideye::coordinator {
namespace {

// PERMISSION_DENIED if another user may have put the incident, or part of it, there.
absl::Status CheckOwnFiles(const std::string& directory) {
  const auto own =
      file::TrustedDirectory::Open(directory, file::TrustedDirectory::IfMissing::kRefuse);
  if (!own.ok()) return own.status();
  for (const char* name : {kCaptureFile, kJsonFile, kRecordFile, kHooksFile, kEndedFile}) {
    const absl::StatusOr<int> file = own->OpenFile(name, O_RDONLY | O_CLOEXEC);
    if (file.ok()) {
      close(*file);
    } else if (!absl::IsNotFound(file.status())) {
      return file.status();
    }
  }
  return absl::OkStatus();
}

// Returns the record that the coordinator wrote for the fleet. Version 0.1 wrote none: then the
// capture tells, without the hardware of workers that sent no snapshot.
absl::StatusOr<IncidentRecord> RecordOnDisk(Disk& disk, const std::string& directory,
                                            const std::string& key) {
  const auto text = disk.ReadFile(absl::StrCat(directory, "/", kRecordFile), kMaxIncidentBytes);
  if (text.ok()) {
    absl::StatusOr<IncidentRecord> record = ParseRecord(*text);
    if (record.ok() && record->id == key) return record;
    spdlog::warn("incident {}: {} is not used: {}", key, kRecordFile,
                 record.ok() ? absl::StrCat("it is of ", record->id)
                             : std::string(record.status().message()));
  }
  const auto capture = wire::ReadCaptureFile(absl::StrCat(directory, "/", kCaptureFile));
  if (!capture.ok()) return capture.status();
  return Describe(key, *capture, Classify(*capture),
                  absl::FromUnixMillis(capture->header.detected_unix_ms.value_or(0)), {});
}

// `digest`: the digest of this incident, as it is on disk.
std::string KeyOfDigest(const std::string& id, const absl::StatusOr<std::string>& digest) {
  if (!digest.ok()) return id;
  const absl::StatusOr<IncidentSummary> summary = SummariseDigest(*digest);
  return summary.ok() ? IncidentKey(id, summary->revision) : id;
}

void LogUntrusted(const std::string& id, const absl::Status& why) {
  spdlog::error(
      "incident {}: is not taken up, another user may have written it: {}; nothing is removed "
      "for it, and its hooks do not run",
      id, std::string(why.message()));
}

void LogUnreadable(const std::string& id, const absl::Status& why) {
  spdlog::error("incident {}: the fleet will not hear of it, its capture cannot be read: {}", id,
                std::string(why.message()));
}

}  // namespace

RemovalWorker::RemovalWorker(Settings settings)
    : state_(std::make_shared<State>(std::move(settings))),
      thread_([state = state_] { state->Run(); }) {}

RemovalWorker::~RemovalWorker() {
  Stop();
  {
    const MutexLock lock(state_->mutex);
    for (const IncidentRecord& lost : state_->expected) {
      spdlog::error(
          "incident {}: never came to disk; no decision about what it names, and no hooks",
          lost.id);
    }
    state_->closing = true;
    state_->changed.NotifyAll();
  }
  if (thread_.Join(kStopRemovals)) return;
  spdlog::warn(
      "decisions about removals are left to the next start: a disk, a database or a hook hangs");
}

void RemovalWorker::Expect(IncidentRecord incident) {
  const MutexLock lock(state_->mutex);
  if (state_->job != incident.job) {
    state_->job = incident.job;
    // The next loop takes up the tasks that this one leaves, and decides about this job.
    if (state_->shared_history && state_->loop != nullptr) state_->loop->Stop();
  }
  state_->expected.push_back(std::move(incident));
  if (state_->expected.size() > kMaxPendingIncidents) {
    spdlog::error(
        "incident {}: has not come to disk; no decision about what it names, and no hooks",
        state_->expected.front().id);
    state_->expected.pop_front();
  }
  state_->changed.NotifyAll();
}

std::function<void(const std::string&)> RemovalWorker::Arrived() const {
  return [state = state_](const std::string& id) {
    {
      const MutexLock lock(state->mutex);
      const auto found =
          std::find_if(state->expected.begin(), state->expected.end(),
                       [&](const IncidentRecord& incident) { return incident.id == id; });
      if (found == state->expected.end()) return;
      state->arrived.push_back(std::move(*found));
      state->expected.erase(found);
    }
    state->Wake();
  };
}

std::function<void(const std::string&)> RemovalWorker::Ended() const {
  return [state = state_](const std::string& id) {
    {
      const MutexLock lock(state->mutex);
      state->ended.push_back(id);
    }
    state->Wake();
  };
}

void RemovalWorker::Stop() {
  const MutexLock lock(state_->mutex);
  state_->stopping = true;
  if (state_->loop != nullptr) state_->loop->Stop();
  state_->changed.NotifyAll();
}

RemovalReport RemovalWorker::Report() const {
  const MutexLock lock(state_->mutex);
  return state_->report;
}

void LogHistory(const absl::Status& status) {
  if (status.ok()) {
    spdlog::info("the fleet history takes incidents again");
  } else {
    spdlog::warn("the fleet history takes no incidents, they wait on this disk: {}",
                 std::string(status.message()));
  }
}

void RemovalWorker::State::Run() {
  const std::optional<std::string> last_job = JobOnDisk();
  {
    const MutexLock lock(mutex);
    if (!job.has_value()) job = last_job;
  }
  while (const std::shared_ptr<RemovalLoop> next = NextLoop()) next->Run();
  {
    const MutexLock lock(mutex);
    while (!closing) changed.Wait(mutex);
  }
  TakeUp();
  Publish(/*last=*/true);
}

// The job of an earlier process: its findings must not wait until this process has an incident.
std::optional<std::string> RemovalWorker::State::JobOnDisk() const {
  const auto newest = archive.List(kMaxPendingIncidents);
  if (!newest.ok()) return std::nullopt;
  for (const IncidentSummary& incident : *newest) {
    if (!incident.job.empty()) return incident.job;
  }
  return std::nullopt;
}

std::shared_ptr<RemovalLoop> RemovalWorker::State::NextLoop() {
  const MutexLock lock(mutex);
  // In a history of many jobs this coordinator decides only about its own job.
  while (!stopping && shared_history && !job.has_value()) changed.Wait(mutex);
  if (stopping) return nullptr;
  history = nullptr;  // of the last loop
  loop = MakeLoop();
  return loop;
}

std::shared_ptr<RemovalLoop> RemovalWorker::State::MakeLoop() {
  RemovalLoop::Settings loop_settings;
  loop_settings.fleet_db = history_url;
  loop_settings.policy = policy();
  loop_settings.tenant_machines = settings.removal.tenant_machines;
  if (shared_history) loop_settings.job = job;
  loop_settings.hooks = settings.removal.hooks;
  loop_settings.hook_timeout = settings.removal.hook_timeout;
  loop_settings.poll = absl::InfiniteDuration();
  loop_settings.before_turn = [this] {
    TakeUp();
    Publish();
  };
  loop_settings.after_turn = [this](Database* database,
                                    const absl::StatusOr<Remover::Report>& turn) {
    return AfterTurn(database, turn);
  };
  return std::make_shared<RemovalLoop>(std::move(loop_settings), runner);
}

absl::Status RemovalWorker::State::OpenHooks() {
  if (hooks.has_value()) return absl::OkStatus();
  // Two coordinators may share a directory for a while; only one at a time runs the hooks. The lock
  // has the name that it had in version 0.1, which may be one of the two.
  const std::string lock_path = absl::StrCat(settings.state_dir, "/journal.lock");
  std::error_code error;
  const bool first_run =
      !std::filesystem::exists(lock_path, error) && !std::filesystem::exists(old_journal, error);
  auto lock = file::FileLock::Take(lock_path);
  if (!lock.ok()) return lock.status();
  clock.emplace(absl::Now(), absl::InfinitePast(), MonotonicTime());
  hooks.emplace(
      *settings.disk, runner,
      IncidentHooks::Settings{.incidents = absl::StrCat(settings.state_dir, "/incidents"),
                              .hooks = settings.removal.hooks,
                              .mode = policy().mode,
                              .lifetime = policy().decision_lifetime,
                              .now = [this] { return clock->At(MonotonicTime()); },
                              .distrust = CheckOwnFiles,
                              .call = [this](const Task& task) { return CallFor(task); },
                              .settled = [this](const Task& task) { return NeedNotRun(task); }});
  if (absl::Status status = TakeOver(); !status.ok()) {
    hooks.reset();
    return status;
  }
  alone = *std::move(lock);
  Recover(first_run);
  return absl::OkStatus();
}

absl::Status RemovalWorker::State::TakeOver() {
  const absl::StatusOr<OldJournal> journal = ReadOldJournal(old_journal);
  if (absl::IsNotFound(journal.status())) return absl::OkStatus();
  if (!journal.ok()) return journal.status();
  std::map<std::string, std::vector<Task>> tasks;  // by id
  for (const Task& task : journal->hooks) {
    const std::string id = EventOf(task.incident).id;
    if (IsIncidentId(id)) tasks[id].push_back(task);
  }
  for (const auto& [id, of_incident] : tasks) {
    const absl::Status status = hooks->TakeOver(id, of_incident);
    const bool lost = absl::IsNotFound(status) || absl::IsPermissionDenied(status);
    if (!status.ok() && !lost) return status;
    if (lost && std::any_of(of_incident.begin(), of_incident.end(), IsUnfinished)) {
      spdlog::error("incident {}: its hooks of version 0.1 do not run: {}", id,
                    std::string(status.message()));
    }
  }
  for (const IncidentRecord& incident : journal->incidents) {
    old_incidents.insert(incident.id);
    publisher.Add(incident);
  }
  return old_incidents.empty() ? EndTakeOver() : absl::OkStatus();
}

// Until then each start takes over again what is not in the incidents' directories yet, and the
// history takes an incident only once.
absl::Status RemovalWorker::State::EndTakeOver() {
  const absl::Status status =
      settings.disk->Replace(old_journal, absl::StrCat(old_journal, ".taken-over"));
  return status.ok() ? settings.disk->SyncDirectory(settings.state_dir) : status;
}

bool RemovalWorker::State::Knows(const std::string& key) const {
  const auto is = [&](const IncidentRecord& incident) { return incident.id == key; };
  const MutexLock lock(mutex);
  return std::any_of(expected.begin(), expected.end(), is) ||
         std::any_of(arrived.begin(), arrived.end(), is);
}

void RemovalWorker::State::Recover(bool first_run) {
  absl::StatusOr<std::vector<std::string>> ids = archive.Ids();
  if (!ids.ok()) return;
  std::sort(ids->begin(), ids->end(), std::greater<>());
  for (size_t i = 0; i < ids->size(); ++i) {
    RecoverOne((*ids)[i], i < kMaxPendingIncidents, first_run);
  }
  if (policy().mode == RemovalMode::kOff) return;
  for (const std::string& key : hooks->Waiting()) {
    if (!EventOf(key).end) undecided.insert(key);
  }
}

void RemovalWorker::State::RecoverOne(const std::string& id, bool is_recent, bool first_run) {
  const absl::StatusOr<RemovalRecord> record = hooks->RecordOf(id);
  if (absl::IsPermissionDenied(record.status())) return LogUntrusted(id, record.status());
  if (!record.ok()) return Note(record.status());
  const std::string directory = DirectoryOf(id);
  if (is_recent) {
    const auto digest = archive.Read(id, IncidentForm::kJson);
    const std::string key = KeyOfDigest(id, digest);
    if (archive.EndOf(id).has_value() && CheckOwnFiles(directory).ok()) ending.insert(id);
    if (Knows(key)) return;
    const bool is_new = !record->is_copy && EventOf(key).revision > record->revision;
    if (is_new) return RecoverDigest(key, digest, first_run);
  }
  const auto waits = [](const std::vector<Task>& tasks) {
    return std::any_of(tasks.begin(), tasks.end(), IsUnfinished);
  };
  const bool left = waits(record->hooks) || record->published < record->revision;
  if (left || waits(record->removals) || (is_recent && record->decisions.empty())) {
    untold.insert(id);
  }
  if (!left) return;
  if (absl::Status trusted = CheckOwnFiles(directory); !trusted.ok()) {
    return LogUntrusted(id, trusted);
  }
  const std::string key = IncidentKey(id, record->revision);
  if (record->published >= record->revision || publisher.Waits(key)) return;
  absl::StatusOr<IncidentRecord> incident = RecordOnDisk(*settings.disk, directory, key);
  if (!incident.ok()) return LogUnreadable(id, incident.status());
  publisher.Add(*std::move(incident));
}

void RemovalWorker::State::RecoverDigest(const std::string& key,
                                         const absl::StatusOr<std::string>& digest,
                                         bool first_run) {
  const IncidentEvent event = EventOf(key);
  const std::string directory = DirectoryOf(key);
  const std::string record_path = absl::StrCat(directory, "/", kRecordFile);
  std::error_code unknown;  // a disk without an answer counts as empty
  if (first_run && !std::filesystem::exists(record_path, unknown)) {
    // A version without hooks wrote this incident: no hook runs for it now.
    return Note(hooks->Change(event.id, [&](RemovalRecord& record) {
      record.revision = event.revision;
      record.published = event.revision;
    }));
  }
  if (absl::Status trusted = CheckOwnFiles(directory); !trusted.ok()) {
    return LogUntrusted(event.id, trusted);
  }
  absl::StatusOr<IncidentRecord> incident = RecordOnDisk(*settings.disk, directory, key);
  if (!incident.ok()) return LogUnreadable(event.id, incident.status());
  spdlog::info("incident {}: was on disk when its coordinator ended; its hooks are taken up",
               event.id);
  if (digest.ok()) incident->digest = *digest;
  const MutexLock lock(mutex);
  arrived.push_front(*std::move(incident));
}

void RemovalWorker::State::TakeUp() {
  if (absl::Status opened = OpenHooks(); !opened.ok()) return Note(opened);
  MutexLock lock(mutex);
  while (!arrived.empty()) {
    const IncidentRecord incident = arrived.front();
    lock.Unlock();
    const absl::Status status = TakeUpOne(incident);
    lock.Lock();
    if (!status.ok()) return Note(status);
    arrived.pop_front();
  }
  // Ends come last, because the incidents themselves come first.
  ending.insert(ended.begin(), ended.end());
  ended.clear();
}

absl::Status RemovalWorker::State::TakeUpOne(const IncidentRecord& incident) {
  const bool off = policy().mode == RemovalMode::kOff;
  const absl::Status status =
      hooks->Add(incident.id, off ? absl::ZeroDuration() : kDecisionPatience);
  if (absl::IsPermissionDenied(status)) {
    LogUntrusted(EventOf(incident.id).id, status);
    return absl::OkStatus();
  }
  // The history is to have also an incident that the retention has removed at once.
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  publisher.Add(incident);
  if (!off) undecided.insert(incident.id);
  return absl::OkStatus();
}

void RemovalWorker::State::Publish(bool last) {
  if (!hooks.has_value()) return;  // another process publishes
  const bool taking_over = !old_incidents.empty();
  const std::vector<std::string> delivered = publisher.Turn(last);
  for (const std::string& key : delivered) {
    old_incidents.erase(key);
    const IncidentEvent event = EventOf(key);
    const absl::Status status = hooks->Change(event.id, [&](RemovalRecord& record) {
      record.published = std::max(record.published, event.revision);
    });
    if (!status.ok() && !absl::IsNotFound(status)) Note(status);
  }
  if (taking_over && old_incidents.empty()) Note(EndTakeOver());
  const MutexLock lock(mutex);
  report.counters.incidents_delivered += static_cast<int64_t>(delivered.size());
  report.counters.delivery_failures = static_cast<int64_t>(publisher.failures());
  if (!publisher.problem().ok()) report.history_works = false;
}

std::string RemovalWorker::State::DigestOf(const std::string& key) const {
  const auto digest = archive.Read(EventOf(key).id, IncidentForm::kJson);
  return KeyOfDigest(EventOf(key).id, digest) == key ? digest.value_or("") : "";
}

// Logs each reason once: the disk is tried again every second.
void RemovalWorker::State::Note(const absl::Status& problem) {
  if (problem.ok() && !disk_problem.ok()) spdlog::info("hooks and decisions are kept again");
  if (!problem.ok() && problem != disk_problem) {
    spdlog::warn("hooks and decisions wait, the state directory cannot be used: {}",
                 std::string(problem.message()));
  }
  disk_problem = problem;
}

absl::Duration RemovalWorker::State::AfterTurn(Database* database,
                                               const absl::StatusOr<Remover::Report>& turn) {
  history = database;
  if (turn.ok()) Count(*turn);
  {
    const MutexLock lock(mutex);
    report.history_works = turn.ok() && publisher.problem().ok();
    report.breaker_open = turn.ok() ? turn->breaker_open : std::nullopt;
  }
  // The disk is tried again soon, because it is this machine's.
  if (!hooks.has_value()) return kFirstDiskRetry;
  // The record has the decisions before its hooks are done, and nothing is left to do for it.
  if (turn.ok()) TellRecords();
  ReleaseDecided();
  const auto ran = hooks->RunDue([this] { return GoesOn(); });
  if (!ran.ok()) {
    Note(ran.status());
    return kFirstDiskRetry;
  }
  for (const Task& task : *ran) {
    LogHook(task);
    const MutexLock lock(mutex);
    CountHook(task, report.counters);
  }
  const bool end_due = AddEnds();
  hooks->DropSettled();
  const MutexLock lock(mutex);
  if (!arrived.empty()) return kFirstDiskRetry;
  if (end_due) return absl::ZeroDuration();
  Note(absl::OkStatus());
  const absl::Duration next = std::min(hooks->UntilNext(), publisher.UntilNext());
  // Another process may have to run the hooks that these ends wait for.
  return ending.empty() ? next : std::min(next, kRemovalPoll);
}

void RemovalWorker::State::Count(const Remover::Report& turn) {
  for (const Remover::Decided& decided : turn.decisions) {
    untold.insert(EventOf(decided.finding.incident).id);
  }
  for (const auto* tasks : {&turn.ended, &turn.retried}) {
    for (const Task& task : *tasks) untold.insert(EventOf(task.incident).id);
  }
  const MutexLock lock(mutex);
  CountTurn(turn, report.counters);
}

void RemovalWorker::State::ReleaseDecided() {
  for (auto key = undecided.begin(); key != undecided.end();) {
    const bool decided =
        history != nullptr &&
        History(*history)
            .IsDecided(*key, policy().mode, FactsSince(policy(), clock->At(MonotonicTime())))
            .value_or(false);
    // A task that is not released starts by itself when its patience ends.
    const absl::Status released = decided ? hooks->Release(*key) : absl::OkStatus();
    const bool settled = decided && (released.ok() || absl::IsNotFound(released));
    key = settled ? undecided.erase(key) : std::next(key);
  }
}

bool RemovalWorker::State::AddEnds() {
  bool due = false;
  for (auto id = ending.begin(); id != ending.end();) {
    const absl::StatusOr<bool> all = AddEndOf(*id, due);
    if (!all.ok()) Note(all.status());
    id = all.value_or(false) ? ending.erase(id) : std::next(id);
  }
  return due;
}

absl::StatusOr<bool> RemovalWorker::State::AddEndOf(const std::string& id, bool& due) {
  const auto digest = archive.Read(id, IncidentForm::kJson);
  if (absl::IsNotFound(digest.status())) return true;  // the retention has removed it
  const std::string last = KeyOfDigest(id, digest);
  if (Knows(last)) return false;
  std::vector<Task> removals;
  for (int64_t i = 1; history != nullptr && i <= EventOf(last).revision; ++i) {
    const auto tasks = Journal(*history, "", {}).TasksOf(IncidentKey(id, i));
    if (tasks.ok()) removals.insert(removals.end(), tasks->begin(), tasks->end());
  }
  const auto before = hooks->RecordOf(id);
  const absl::StatusOr<bool> all = hooks->AddEnd(last, removals);
  const auto after = hooks->RecordOf(id);
  if (absl::IsNotFound(all.status()) || absl::IsPermissionDenied(all.status())) return true;
  due = due || (before.ok() && after.ok() && after->hooks.size() > before->hooks.size());
  return all;
}

// Hooks hear no later digest of an acknowledged incident, nor one that only adds evidence to
// UNKNOWN, but always an incident's begin and its end.
std::optional<std::string> RemovalWorker::State::NeedNotRun(const Task& task) const {
  const IncidentEvent incident = EventOf(task.incident);
  if (incident.revision > 1 && !incident.end) {
    const auto digest = archive.Read(incident.id, IncidentForm::kJson);
    const auto summary = digest.ok() ? SummariseDigest(*digest) : digest.status();
    // No digest that names a cause is ever replaced by UNKNOWN.
    if (summary.ok() && summary->cause == CauseName(Cause::kUnknown)) {
      return "not run: cause and culprits are as before";
    }
    if (const auto known = archive.AcknowledgementOf(incident.id)) {
      return absl::StrCat("not run: the incident was acknowledged by ", known->by);
    }
  }
  return RanForRemoval(task);
}

std::optional<std::string> RemovalWorker::State::RanForRemoval(const Task& task) const {
  if (policy().mode != RemovalMode::kEnforce || history == nullptr) return std::nullopt;
  const auto tasks = Journal(*history, "", {}).TasksOf(task.incident);
  if (!tasks.ok()) return std::nullopt;
  for (const Task& removal : *tasks) {
    // A task that has not begun may never begin: the breaker is open, or the task expires.
    if (removal.hook == task.hook && removal.attempts > 0) {
      return absl::StrCat("not run for the incident: it is run for the removal of ",
                          removal.subject);
    }
  }
  return std::nullopt;
}

absl::StatusOr<HookCall> RemovalWorker::State::CallFor(const Task& task) const {
  absl::StatusOr<std::string> digest = archive.Read(EventOf(task.incident).id, IncidentForm::kJson);
  if (!digest.ok()) return digest.status();
  const absl::StatusOr<IncidentSummary> summary = SummariseDigest(*digest);
  if (!summary.ok()) return summary.status();
  HookCall call;
  if (const auto end = archive.EndOf(EventOf(task.incident).id)) {
    call.ended_at = absl::FormatTime(absl::RFC3339_sec, end->ended, absl::UTCTimeZone());
  }
  call.hook = task.hook;
  call.finding.incident = task.incident;
  call.finding.job = summary->job;
  call.finding.cause = summary->cause;
  call.finding.detail = summary->detail;
  call.reason = "nothing is removed";
  call.digest = *std::move(digest);
  call.attempt = task.attempts;
  return call;
}

void RemovalWorker::State::TellRecords() {
  if (history == nullptr) return;
  for (auto id = untold.begin(); id != untold.end();) {
    const absl::Status status = TellRecord(*id);
    const bool told = status.ok() || absl::IsNotFound(status) || absl::IsPermissionDenied(status);
    id = told ? untold.erase(id) : std::next(id);
  }
}

absl::Status RemovalWorker::State::TellRecord(const std::string& id) {
  const absl::StatusOr<RemovalRecord> record = hooks->RecordOf(id);
  if (!record.ok()) return record.status();
  std::vector<MachineDecision> decisions;
  std::vector<Task> removals;
  for (int64_t i = 1; i <= record->revision; ++i) {
    const std::string key = IncidentKey(id, i);
    const auto decided = History(*history).DecisionsOf(key, policy().mode);
    if (!decided.ok()) return decided.status();
    const auto tasks = Journal(*history, "", {}).TasksOf(key);
    if (!tasks.ok()) return tasks.status();
    decisions.insert(decisions.end(), decided->begin(), decided->end());
    removals.insert(removals.end(), tasks->begin(), tasks->end());
  }
  return hooks->Change(id, [&](RemovalRecord& told) {
    told.mode = policy().mode;
    told.decisions = std::move(decisions);
    told.removals = std::move(removals);
  });
}

}  // namespace rapideye::coordinator
