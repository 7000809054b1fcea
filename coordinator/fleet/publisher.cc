#include "coordinator/fleet/publisher.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "coordinator/fleet/database.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/records/fleet_clock.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/fleet/spool.h"
#include "proto/common/clock/clock.h"

namespace rapideye::coordinator {
namespace {

// A database that is opened and migrated when it is first there.
absl::StatusOr<Database*> Ready(std::unique_ptr<Database>& database, const std::string& url) {
  if (database != nullptr) return database.get();
  auto opened = OpenDatabase(url);
  if (!opened.ok()) return opened.status();
  if (absl::Status status = Migrate(**opened, FleetMigrations()); !status.ok()) return status;
  database = *std::move(opened);
  return database.get();
}

}  // namespace

struct Publisher::State {
  explicit State(Settings given) : settings(std::move(given)) {}

  const Settings settings;
  mutable std::mutex mutex;  // guards all up to the blank line
  std::condition_variable changed;
  Report report;
  bool woken = false;
  bool stopping = false;

  // Of the thread alone.
  std::unique_ptr<Database> spool;
  std::unique_ptr<Database> history;

  void Run();
  // Without the lock: databases take their time.
  Spool::Forwarded Turn();
};

Spool::Forwarded Publisher::State::Turn() {
  const absl::StatusOr<Database*> local = Ready(spool, settings.spool_url);
  if (!local.ok()) return {0, local.status()};
  Spool waiting(**local);
  const absl::StatusOr<Database*> fleet = Ready(history, settings.history_url);
  if (!fleet.ok()) return {0, fleet.status()};
  History target(**fleet);
  const absl::StatusOr<absl::Time> wall = (*fleet)->WallClock();
  if (!wall.ok()) return {0, wall.status()};
  const absl::StatusOr<absl::Time> newest = target.Newest();
  if (!newest.ok()) return {0, newest.status()};
  const absl::Duration monotonic = MonotonicTime();
  return waiting.ForwardTo(target, FleetClock(*wall, *newest, monotonic).At(monotonic));
}

void Publisher::State::Run() {
  absl::Duration backoff = settings.first_retry;
  absl::Status before;
  std::unique_lock lock(mutex);
  for (bool last = false; !last;) {
    last = stopping;
    woken = false;
    // A history that was down just now does not hold up the end.
    if (last && !report.problem.ok()) break;
    lock.unlock();
    const Spool::Forwarded turn = Turn();
    if (turn.delivered > 0 && settings.delivered) settings.delivered();
    if (turn.problem.code() != before.code() && settings.changed) settings.changed(turn.problem);
    before = turn.problem;
    lock.lock();
    report.delivered += turn.delivered;
    report.problem = turn.problem;
    if (!turn.problem.ok()) ++report.failures;
    if (turn.problem.ok()) {
      backoff = settings.first_retry;
      changed.wait(lock, [this] { return stopping || woken; });
    } else {
      changed.wait_for(lock, absl::ToChronoNanoseconds(backoff), [this] { return stopping; });
      backoff = std::min(2 * backoff, settings.longest_retry);
    }
  }
}

Publisher::Publisher(Settings settings)
    : state_(std::make_unique<State>(std::move(settings))), thread_([this] { state_->Run(); }) {}

Publisher::~Publisher() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
  }
  thread_.join();
}

void Publisher::Wake() {
  const std::lock_guard lock(state_->mutex);
  state_->woken = true;
  state_->changed.notify_all();
}

Publisher::Report Publisher::GetReport() const {
  const std::lock_guard lock(state_->mutex);
  return state_->report;
}

}  // namespace rapideye::coordinator
