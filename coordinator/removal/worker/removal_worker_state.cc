#include "coordinator/removal/worker/removal_worker_state.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>
#include <utility>

#include "classifier/classify.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/records/findings.h"
#include "coordinator/fleet/records/record_json.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/fleet/spool.h"
#include "coordinator/removal/count_turn.h"
#include "coordinator/removal/hooks/incident_event.h"
#include "coordinator/removal/worker/removal_record.h"
#include "coordinator/store/incident_files.h"
#include "proto/capture/capture_reader.h"
#include "proto/common/clock/clock.h"
#include "proto/common/file/trusted_directory.h"

namespace rapideye::coordinator {
namespace {

void LogHistory(const absl::Status& status) {
  if (status.ok()) {
    spdlog::info("the fleet history takes incidents again");
  } else {
    spdlog::warn("the fleet history takes no incidents, they wait on this disk: {}",
                 std::string(status.message()));
  }
}

template <typename T>
void Append(const absl::StatusOr<std::vector<T>>& more, std::vector<T>& list) {
  if (more.ok()) list.insert(list.end(), more->begin(), more->end());
}

// PERMISSION_DENIED if another user may have put the incident, or part of it, there.
absl::Status CheckOwnFiles(const std::string& directory) {
  const auto own =
      file::TrustedDirectory::Open(directory, file::TrustedDirectory::IfMissing::kRefuse);
  if (!own.ok()) return own.status();
  for (const char* name : {kCaptureFile, kJsonFile, kRecordFile, kEndedFile}) {
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

}  // namespace

void RemovalWorker::State::Run() {
  std::error_code error;
  first_run = !std::filesystem::exists(journal_path, error);
  auto made = std::make_unique<Publisher>(
      Publisher::Settings{.spool_url = absl::StrCat("sqlite:", journal_path),
                          .history_url = history_url,
                          .delivered = [this] { Wake(); },
                          .changed = LogHistory});
  const std::optional<std::string> last_job = JobOnDisk();
  {
    const MutexLock lock(mutex);
    publisher = std::move(made);
    if (!job.has_value()) job = last_job;
  }
  while (const std::shared_ptr<RemovalLoop> next = NextLoop()) next->Run();
  {
    const MutexLock lock(mutex);
    while (!closing) changed.Wait(mutex);
  }
  TakeUp();
  {
    const MutexLock lock(mutex);
    made = std::move(publisher);
  }
  made.reset();  // spools, and delivers as far as possible
}

// The job of an earlier process: its findings must not wait until this process has an incident.
std::optional<std::string> RemovalWorker::State::JobOnDisk() const {
  const auto newest = archive.List(1);
  if (!newest.ok() || newest->empty() || newest->front().job.empty()) return std::nullopt;
  return newest->front().job;
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
  loop_settings.before_turn = [this] { TakeUp(); };
  loop_settings.after_turn = [this](Database* database,
                                    const absl::StatusOr<Remover::Report>& turn) {
    return AfterTurn(database, turn);
  };
  return std::make_shared<RemovalLoop>(std::move(loop_settings), runner);
}

absl::Status RemovalWorker::State::OpenJournal() {
  if (hooks.has_value()) return absl::OkStatus();
  // Two coordinators may share a directory for a while; only one at a time runs the hooks.
  auto alone = file::FileLock::Take(absl::StrCat(settings.state_dir, "/journal.lock"));
  if (!alone.ok()) return alone.status();
  auto opened = OpenDatabase(absl::StrCat("sqlite:", journal_path));
  if (!opened.ok()) return opened.status();
  if (absl::Status status = Migrate(**opened, FleetMigrations()); !status.ok()) return status;
  const absl::StatusOr<absl::Time> wall = (*opened)->WallClock();
  if (!wall.ok()) return wall.status();
  journal_lock = *std::move(alone);
  journal = *std::move(opened);
  clock.emplace(*wall, absl::InfinitePast(), MonotonicTime());
  hooks.emplace(*journal, runner,
                IncidentHooks::Settings{
                    .hooks = settings.removal.hooks,
                    .lease = settings.removal.hook_timeout + 2 * kHookGrace + kHookLeaseSlack,
                    .lifetime = policy().decision_lifetime,
                    .now = [this] { return clock->At(MonotonicTime()); },
                    .call = [this](const Task& task) { return CallFor(task); },
                    .settled = [this](const Task& task) { return NeedNotRun(task); }});
  const absl::Status resumed = hooks->Resume();
  const auto waiting = hooks->Waiting();
  if (!resumed.ok() || !waiting.ok()) {
    hooks.reset();
    return resumed.ok() ? waiting.status() : resumed;
  }
  if (policy().mode != RemovalMode::kOff) undecided.insert(waiting->begin(), waiting->end());
  Recover();
  return absl::OkStatus();
}

bool RemovalWorker::State::Knows(const std::string& id) const {
  const auto is = [&](const IncidentRecord& incident) { return incident.id == id; };
  const MutexLock lock(mutex);
  return std::any_of(expected.begin(), expected.end(), is) ||
         std::any_of(arrived.begin(), arrived.end(), is);
}

void RemovalWorker::State::Recover() {
  absl::StatusOr<std::vector<std::string>> ids = archive.Ids();
  if (!ids.ok()) return;
  std::sort(ids->begin(), ids->end(), std::greater<>());
  ids->resize(std::min(ids->size(), kMaxPendingIncidents));
  std::error_code unknown;  // a disk without an answer counts as empty
  for (const std::string& id : *ids) {
    const std::string directory = DirectoryOf(id);
    const auto digest = archive.Read(id, IncidentForm::kJson);
    const std::string key = KeyOfDigest(id, digest);
    if (archive.EndOf(id).has_value() && CheckOwnFiles(directory).ok()) ending.insert(id);
    if (Knows(key)) continue;
    const auto record = archive.Read(id, IncidentForm::kHooks);
    if (record.ok()) {
      if (IsUnfinished(*record)) unfinished.insert(key);
      continue;
    }
    const std::string record_path = absl::StrCat(directory, "/", kRecordFile);
    if (first_run && !std::filesystem::exists(record_path, unknown)) {
      // A version without hooks wrote this incident: no hook runs for it now.
      WriteRecord(key);
      continue;
    }
    if (absl::Status trusted = CheckOwnFiles(directory); !trusted.ok()) {
      spdlog::error(
          "incident {}: is not taken up, another user may have written it: {}; nothing is removed "
          "for it, and its hooks do not run",
          id, std::string(trusted.message()));
      continue;
    }
    absl::StatusOr<IncidentRecord> incident = RecordOnDisk(*settings.disk, directory, key);
    if (!incident.ok()) {
      spdlog::error("incident {}: the fleet will not hear of it, its capture cannot be read: {}",
                    id, std::string(incident.status().message()));
      continue;
    }
    spdlog::info("incident {}: was on disk when its coordinator ended; its hooks are taken up", id);
    if (digest.ok()) incident->digest = *digest;
    const MutexLock lock(mutex);
    arrived.push_front(*std::move(incident));
  }
}

void RemovalWorker::State::TakeUp() {
  if (absl::Status opened = OpenJournal(); !opened.ok()) return NoteJournal(opened);
  MutexLock lock(mutex);
  while (!arrived.empty()) {
    const IncidentRecord incident = arrived.front();
    lock.Unlock();
    const absl::Status status = TakeUpOne(incident);
    lock.Lock();
    if (!status.ok()) return NoteJournal(status);
    arrived.pop_front();
  }
  // Ends come last, because the incidents themselves come first.
  ending.insert(ended.begin(), ended.end());
  ended.clear();
}

bool RemovalWorker::State::AddEnds(std::set<std::string>& touched) {
  bool due = false;
  for (auto id = ending.begin(); id != ending.end();) {
    const size_t before = touched.size();
    const absl::StatusOr<bool> all = AddEndOf(*id, touched);
    if (!all.ok()) NoteJournal(all.status());
    due = due || touched.size() > before;
    id = all.value_or(false) ? ending.erase(id) : std::next(id);
  }
  return due;
}

absl::StatusOr<bool> RemovalWorker::State::AddEndOf(const std::string& id,
                                                    std::set<std::string>& touched) {
  const auto digest = archive.Read(id, IncidentForm::kJson);
  if (absl::IsNotFound(digest.status())) return true;  // the retention has removed it
  const std::string last = KeyOfDigest(id, digest);
  if (Knows(last)) return false;
  std::vector<std::string> keys;
  std::vector<Task> removals;
  for (int64_t i = 1; i <= EventOf(last).revision; ++i) {
    keys.push_back(IncidentKey(id, i));
    if (history != nullptr) Append(Journal(*history, "", {}).TasksOf(keys.back()), removals);
  }
  const auto before = hooks->TasksOf(EndKey(last));
  if (!before.ok()) return before.status();
  const absl::StatusOr<bool> all = hooks->AddEnd(keys, removals);
  const auto now = hooks->TasksOf(EndKey(last));
  if (now.ok() && now->size() > before->size()) touched.insert(EndKey(last));
  return all;
}

// Hooks hear no later digest of an acknowledged incident, but always its begin and its end.
std::optional<std::string> RemovalWorker::State::NeedNotRun(const Task& task) const {
  const IncidentEvent incident = EventOf(task.incident);
  if (incident.revision > 1 && !incident.end) {
    if (const auto known = archive.AcknowledgementOf(incident.id)) {
      return absl::StrCat("not run: the incident was acknowledged by ", known->by);
    }
  }
  return RanForRemoval(task);
}

// Logs each reason once: the journal is tried again every second.
void RemovalWorker::State::NoteJournal(const absl::Status& problem) {
  if (problem.ok() && !journal_problem.ok()) spdlog::info("the journal of hooks works again");
  if (!problem.ok() && problem != journal_problem) {
    spdlog::warn("hooks and decisions wait, their journal cannot be used: {}",
                 std::string(problem.message()));
  }
  journal_problem = problem;
}

absl::Status RemovalWorker::State::TakeUpOne(const IncidentRecord& incident) {
  const bool off = policy().mode == RemovalMode::kOff;
  absl::Status status = hooks->Add(incident.id, off ? absl::ZeroDuration() : kDecisionPatience);
  if (status.ok()) status = Spool(*journal).Put(incident);
  if (!status.ok()) return status;
  {
    const MutexLock lock(mutex);
    publisher->Wake();
  }
  if (!off) undecided.insert(incident.id);
  WriteRecord(incident.id);
  return absl::OkStatus();
}

absl::Duration RemovalWorker::State::AfterTurn(Database* database,
                                               const absl::StatusOr<Remover::Report>& turn) {
  history = database;
  std::set<std::string> touched;
  if (turn.ok()) Count(*turn, touched);
  {
    const MutexLock lock(mutex);
    report.history_works = turn.ok();
    report.breaker_open = turn.ok() ? turn->breaker_open : std::nullopt;
  }
  // The journal is tried again soon, because it is on this machine.
  if (!hooks.has_value()) return kFirstDiskRetry;
  ReleaseDecided(touched);
  const auto ran = hooks->RunDue([this] { return GoesOn(); });
  if (!ran.ok()) {
    NoteJournal(ran.status());
    return kFirstDiskRetry;
  }
  for (const Task& task : *ran) {
    LogHook(task);
    touched.insert(task.incident);
    const MutexLock lock(mutex);
    CountHook(task, report.counters);
  }
  if (turn.ok()) touched.merge(std::exchange(unfinished, {}));
  const bool end_due = AddEnds(touched);
  for (const std::string& id : touched) WriteRecord(id);
  const MutexLock lock(mutex);
  if (!arrived.empty()) return kFirstDiskRetry;
  if (end_due) return absl::ZeroDuration();
  NoteJournal(absl::OkStatus());
  const absl::Duration next = hooks->UntilNext().value_or(kFirstDiskRetry);
  // Another process may have to run the hooks that these ends wait for.
  return ending.empty() ? next : std::min(next, kRemovalPoll);
}

void RemovalWorker::State::Count(const Remover::Report& turn, std::set<std::string>& touched) {
  for (const Remover::Decided& decided : turn.decisions) touched.insert(decided.finding.incident);
  for (const Task& task : turn.ended) touched.insert(task.incident);
  for (const Task& task : turn.retried) touched.insert(task.incident);
  const MutexLock lock(mutex);
  CountTurn(turn, report.counters);
}

void RemovalWorker::State::ReleaseDecided(std::set<std::string>& touched) {
  for (auto id = undecided.begin(); id != undecided.end();) {
    const bool decided =
        history != nullptr &&
        History(*history)
            .IsDecided(*id, policy().mode, FactsSince(policy(), clock->At(MonotonicTime())))
            .value_or(false);
    // A task that is not released starts by itself when its patience ends.
    if (!decided || !hooks->Release(*id).ok()) {
      ++id;
      continue;
    }
    touched.insert(*id);
    id = undecided.erase(id);
  }
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

void RemovalWorker::State::WriteRecord(const std::string& key) {
  const std::string id = EventOf(key).id;
  const int64_t revision = EventOf(key).revision;
  const std::string directory = DirectoryOf(key);
  const absl::StatusOr<int64_t> bytes = settings.disk->BytesIn(directory);
  if (!bytes.ok() || *bytes < 0) return;  // the retention has removed it
  RemovalRecord record{.incident = id, .mode = policy().mode, .decisions = {}, .hooks = {}};
  for (int64_t i = 1; i <= revision; ++i) {
    const std::string one = IncidentKey(id, i);
    if (history != nullptr) {
      Append(History(*history).DecisionsOf(one, policy().mode), record.decisions);
      Append(Journal(*history, "", {}).TasksOf(one), record.hooks);
    }
    Append(hooks->TasksOf(one), record.hooks);
    if (i == revision) Append(hooks->TasksOf(EndKey(one)), record.hooks);
  }
  const absl::Status status = WriteRemovalRecord(*settings.disk, directory, record);
  if (status.ok()) return;
  spdlog::warn("incident {}: {} cannot be written: {}", id, kHooksFile,
               std::string(status.message()));
}

}  // namespace rapideye::coordinator
