#include "coordinator/store/incident_pipeline.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/records/records.h"
#include "coordinator/store/incident_files.h"
#include "proto/common/backoff/backoff.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {
namespace {

std::string Explain(const absl::Status& status) {
  const char* what_to_do = "check --state-dir";
  if (absl::IsResourceExhausted(status)) {
    what_to_do = "free some room there, or keep less (--retain-bytes, --retain-incidents)";
  } else if (absl::IsPermissionDenied(status)) {
    what_to_do = "make --state-dir writable for this user, or give another one";
  } else if (absl::IsUnimplemented(status)) {
    return std::string(status.message());  // says it itself
  }
  return absl::StrCat(std::string(status.message()), "; ", what_to_do);
}

}  // namespace

struct IncidentPipeline::State {
  State(IncidentStore s, Settings given)
      : store(std::move(s)), settings(std::move(given)), pending(settings.pending) {}

  // A file that is to stand beside an incident.
  struct NoteToWrite {
    std::string id;
    IncidentFile file;
    bool end = false;  // its end: tried until it is written; the rest is told whoever waits
    std::promise<absl::Status> done = {};
  };

  IncidentStore store;  // of the thread, but for PathOf
  const Settings settings;
  mutable Mutex mutex;
  PendingIncidents pending ABSL_GUARDED_BY(mutex);
  std::map<std::string, std::promise<absl::Status>> first_tries ABSL_GUARDED_BY(mutex);
  std::deque<NoteToWrite> notes ABSL_GUARDED_BY(mutex);  // oldest first
  absl::Duration notes_at ABSL_GUARDED_BY(mutex) = absl::InfiniteDuration();
  Backoff notes_backoff ABSL_GUARDED_BY(mutex){settings.pending.first_retry,
                                               settings.pending.longest_retry};
  DiskReport report ABSL_GUARDED_BY(mutex);
  std::optional<absl::Duration> busy_since ABSL_GUARDED_BY(mutex);  // with the disk
  bool hang_reported ABSL_GUARDED_BY(mutex) = false;
  absl::Duration prepare_at ABSL_GUARDED_BY(mutex) = -absl::InfiniteDuration();
  Backoff prepare_backoff ABSL_GUARDED_BY(mutex){settings.pending.first_retry,
                                                 settings.pending.longest_retry};
  bool stopping ABSL_GUARDED_BY(mutex) = false;

  // Releases the mutex while `work` uses the disk.
  template <typename Work>
  auto WithDisk(Work work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    busy_since = MonotonicTime();
    mutex.Unlock();
    auto result = work();
    mutex.Lock();
    busy_since.reset();
    if (std::exchange(hang_reported, false)) spdlog::info("the state directory answers again");
    return result;
  }

  // Does the due work; returns the moment when more is due.
  absl::Duration Turn();
  void Prepare() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void Write(const IncidentFiles& incident) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Notes on incidents that wait for the disk wait for these incidents.
  void WriteNotes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // False: the disk refuses an end, which is tried again.
  bool WriteNote(NoteToWrite& note) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void Retain(const std::string& latest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void NoteItWorks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void Answer(const std::string& id, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
};

absl::Duration IncidentPipeline::State::Turn() {
  const MutexLock lock(mutex);
  for (;;) {
    if (MonotonicTime() >= prepare_at && !stopping) Prepare();
    const auto incident = pending.Begin(MonotonicTime());
    if (!incident) break;
    Write(*incident);
  }
  if (MonotonicTime() >= notes_at || stopping) WriteNotes();
  return std::min({pending.NextDue(), prepare_at, notes_at});
}

void IncidentPipeline::State::WriteNotes() {
  notes_at = absl::InfiniteDuration();
  std::deque<NoteToWrite> later;
  while (!notes.empty()) {
    NoteToWrite note = std::move(notes.front());
    notes.pop_front();
    const std::vector<std::string> waiting = pending.Ids();
    const bool early = std::find(waiting.begin(), waiting.end(), note.id) != waiting.end();
    if (early && !note.end) {
      note.done.set_value(absl::UnavailableError("the incident is not on disk yet; try again"));
      continue;
    }
    if (!early && WriteNote(note)) continue;
    later.push_back(std::move(note));
  }
  // Notes that came during these writes are newer than those that are left.
  const bool more = !notes.empty();
  notes.insert(notes.begin(), std::make_move_iterator(later.begin()),
               std::make_move_iterator(later.end()));
  if (more) {
    notes_at = MonotonicTime();
  } else if (!notes.empty()) {
    notes_at = MonotonicTime() + notes_backoff.Next();
  } else {
    notes_backoff.Reset();
  }
}

bool IncidentPipeline::State::WriteNote(NoteToWrite& note) {
  const absl::Status status = WithDisk([&] { return store.Annotate(note.id, note.file); });
  if (!note.end) {
    note.done.set_value(status);
    return true;
  }
  if (status.ok()) {
    if (settings.ended) settings.ended(note.id);
    return true;
  }
  // The incident was given up, or removed by the retention: its end interests nobody.
  if (absl::IsNotFound(status)) return true;
  spdlog::warn("incident {}: its end cannot be written down, it is tried again: {}", note.id,
               Explain(status));
  return false;
}

void IncidentPipeline::State::Prepare() {
  const auto leftovers = WithDisk([this] { return store.Prepare(); });
  if (!leftovers.ok()) {
    prepare_at = MonotonicTime() + prepare_backoff.Next();
    const std::string problem = Explain(leftovers.status());
    // Logs each reason once: the write is tried again for as long as it takes.
    if (problem != report.problem) {
      spdlog::error("the state directory takes no incidents, digests reach this log only: {}",
                    problem);
    }
    report.problem = problem;
    return;
  }
  prepare_at = absl::InfiniteDuration();
  NoteItWorks();
  for (const std::string& id : leftovers->half_written) {
    spdlog::warn("incident {}: half written when its coordinator ended; removed", id);
    ++report.counters.half_written_removed;
  }
  if (leftovers->unversioned) {
    spdlog::info("the state directory was of an older version; its incidents are kept");
  }
  Retain("");
}

void IncidentPipeline::State::Write(const IncidentFiles& incident) {
  const absl::Duration begin = MonotonicTime();
  const absl::Status status = WithDisk([&] {
    return incident.revision > 1 ? store.Replace(incident.id, incident.files)
                                 : store.Write(incident.id, incident.files);
  });
  const absl::Duration end = MonotonicTime();
  if (!status.ok()) {
    ++report.counters.write_failures;
    report.problem = Explain(status);
    const PendingIncidents::Failure failure = pending.Failed(end);
    const std::string outlook =
        stopping ? "the end" : absl::StrCat("next in ", absl::FormatDuration(failure.retry_in));
    spdlog::log(failure.tries == 1 ? spdlog::level::err : spdlog::level::warn,
                "incident {}: NOT WRITTEN, only this log has its digest (try {}, {}): {}",
                incident.id, failure.tries, outlook, report.problem);
    Answer(incident.id, status);
    return;
  }
  pending.Written(end);
  ++report.counters.written;
  NoteItWorks();
  spdlog::info("incident {}: written to {}", incident.id, store.PathOf(incident.id));
  if (settings.wrote) settings.wrote(IncidentKey(incident.id, incident.revision), end - begin);
  Answer(incident.id, status);
  Retain(incident.id);
}

void IncidentPipeline::State::Retain(const std::string& latest) {
  const IncidentStore::Retained retained =
      WithDisk([&] { return store.Retain(settings.retention, latest); });
  for (const std::string& id : retained.removed) {
    ++report.counters.removed;
    spdlog::info(
        "incident {}: removed, as older than what --retain-incidents and --retain-bytes "
        "let stay",
        id);
  }
  report.kept_incidents = retained.incidents;
  report.kept_bytes = retained.bytes;
  if (retained.status.ok()) return;
  ++report.counters.retention_failures;
  spdlog::error("old incidents cannot be removed: {}", Explain(retained.status));
}

void IncidentPipeline::State::NoteItWorks() {
  if (!report.problem.empty()) spdlog::info("the state directory takes incidents again");
  report.problem.clear();
}

void IncidentPipeline::State::Answer(const std::string& id, const absl::Status& status) {
  const auto promise = first_tries.find(id);
  if (promise == first_tries.end()) return;
  promise->second.set_value(status);
  first_tries.erase(promise);
}

IncidentPipeline::IncidentPipeline(IncidentStore store, Settings settings)
    : state_(std::make_shared<State>(std::move(store), std::move(settings))),
      worker_([state = state_](bool /*last*/) { return state->Turn(); }) {}

IncidentPipeline::~IncidentPipeline() {
  absl::Duration patience = state_->settings.patience;
  {
    const MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->pending.MakeDue();
    // A disk that has hung for long is not waited for again: the program has to end.
    if (state_->busy_since.has_value()) patience -= MonotonicTime() - *state_->busy_since;
  }
  const bool stopped = worker_.Stop(patience);
  const MutexLock lock(state_->mutex);
  for (State::NoteToWrite& note : state_->notes) {
    note.done.set_value(absl::UnavailableError("the coordinator is stopping"));
  }
  state_->notes.clear();
  const std::vector<std::string> lost = state_->pending.Ids();
  if (lost.empty()) return;
  spdlog::error("LOST, only this log has their digests: incidents {}; the state directory {}",
                absl::StrJoin(lost, ", "), stopped ? "does not take them" : "hangs");
}

std::future<absl::Status> IncidentPipeline::Keep(IncidentFiles incident) {
  const MutexLock lock(state_->mutex);
  state_->Answer(incident.id, absl::AbortedError("the same incident came again"));
  std::future<absl::Status> first_try = state_->first_tries[incident.id].get_future();
  for (const std::string& id : state_->pending.Add(std::move(incident), MonotonicTime())) {
    ++state_->report.counters.given_up;
    spdlog::error(
        "incident {}: GIVEN UP, only this log has its digest: too much waits for the state "
        "directory",
        id);
    state_->Answer(id, absl::ResourceExhaustedError("given up before the disk took it"));
  }
  worker_.Wake();
  return first_try;
}

void IncidentPipeline::End(const EndedIncident& ended) {
  const MutexLock lock(state_->mutex);
  state_->notes.push_back({.id = ended.id, .file = {kEndedFile, EndText(ended)}, .end = true});
  if (state_->notes.size() > kMaxEndedIncidents) {
    state_->notes.front().done.set_value(absl::ResourceExhaustedError("too much waits"));
    state_->notes.pop_front();
  }
  state_->notes_at = MonotonicTime();
  worker_.Wake();
}

std::future<absl::Status> IncidentPipeline::Acknowledge(const std::string& id,
                                                        const Acknowledgement& acknowledgement) {
  const MutexLock lock(state_->mutex);
  State::NoteToWrite& note = state_->notes.emplace_back(State::NoteToWrite{
      .id = id, .file = {kAcknowledgedFile, AcknowledgementText(acknowledgement)}});
  std::future<absl::Status> done = note.done.get_future();
  state_->notes_at = MonotonicTime();
  worker_.Wake();
  return done;
}

void IncidentPipeline::Watch() {
  const MutexLock lock(state_->mutex);
  if (!state_->busy_since.has_value() || state_->hang_reported) return;
  if (MonotonicTime() - *state_->busy_since < state_->settings.patience) return;
  state_->hang_reported = true;
  ++state_->report.counters.hangs;
  spdlog::error(
      "the state directory does not answer, digests reach this log only: check the disk or server "
      "behind --state-dir");
}

DiskReport IncidentPipeline::Report() const {
  const MutexLock lock(state_->mutex);
  DiskReport report = state_->report;
  report.pending_incidents = static_cast<int64_t>(state_->pending.size());
  report.pending_bytes = state_->pending.bytes();
  if (state_->busy_since.has_value()) {
    const absl::Duration busy = MonotonicTime() - *state_->busy_since;
    if (busy >= state_->settings.patience) {
      report.problem = absl::StrCat("the state directory has not answered for ",
                                    absl::FormatDuration(absl::Trunc(busy, absl::Seconds(1))),
                                    "; check the disk or server behind --state-dir");
    }
  }
  return report;
}

std::string IncidentPipeline::PathOf(const std::string& id) const {
  return state_->store.PathOf(id);
}

}  // namespace rapideye::coordinator
