#include "coordinator/fleet/publisher.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/records/fleet_clock.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/fleet/spool.h"
#include "proto/common/backoff/backoff.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {
namespace {

// Opens and migrates a database at its first use.
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
  mutable Mutex mutex;
  Report report ABSL_GUARDED_BY(mutex);

  // Only the thread uses these.
  std::unique_ptr<Database> spool;
  std::unique_ptr<Database> history;
  absl::Status before;  // of the turn before
  Backoff backoff{settings.first_retry, settings.longest_retry};
  absl::Duration not_before = -absl::InfiniteDuration();

  absl::Duration Turn(bool last);
  // Called without the lock: databases take their time.
  Spool::Forwarded Forward();
};

Spool::Forwarded Publisher::State::Forward() {
  const absl::StatusOr<Database*> local = Ready(spool, settings.spool_url);
  if (!local.ok()) return {0, local.status()};
  Spool waiting(**local);
  const absl::StatusOr<Database*> fleet = Ready(history, settings.history_url);
  if (!fleet.ok()) return {0, fleet.status()};
  History target(**fleet);
  const absl::StatusOr<absl::Time> wall = (*fleet)->WallClock();
  if (!wall.ok()) return {0, wall.status()};
  const absl::StatusOr<absl::Time> newest = target.Newest(*wall + kLargestClockError);
  if (!newest.ok()) return {0, newest.status()};
  const absl::Duration monotonic = MonotonicTime();
  return waiting.ForwardTo(target, FleetClock(*wall, *newest, monotonic).At(monotonic));
}

absl::Duration Publisher::State::Turn(bool last) {
  // A history that was down a moment ago does not delay the end of the process, and is not asked
  // again early because another incident came.
  if (last ? !before.ok() : MonotonicTime() < not_before) return not_before;
  const Spool::Forwarded turn = Forward();
  if (turn.delivered > 0 && settings.delivered) settings.delivered();
  if (turn.problem.code() != before.code() && settings.changed) settings.changed(turn.problem);
  before = turn.problem;
  {
    const MutexLock lock(mutex);
    report.delivered += turn.delivered;
    report.problem = turn.problem;
    if (!turn.problem.ok()) ++report.failures;
  }
  if (turn.problem.ok()) {
    backoff.Reset();
    not_before = -absl::InfiniteDuration();
    return absl::InfiniteDuration();
  }
  not_before = MonotonicTime() + backoff.Next();
  return not_before;
}

Publisher::Publisher(Settings settings)
    : state_(std::make_unique<State>(std::move(settings))),
      worker_([state = state_.get()](bool last) { return state->Turn(last); }) {}

Publisher::~Publisher() { worker_.Stop(); }

void Publisher::Wake() { worker_.Wake(); }

Publisher::Report Publisher::GetReport() const {
  const MutexLock lock(state_->mutex);
  return state_->report;
}

}  // namespace rapideye::coordinator
