#include "coordinator/removal/removal_loop.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/removal/tenant_machines.h"
#include "proto/common/backoff/backoff.h"
#include "proto/common/clock/clock.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

// A name of this process alone, for ever: another process of the name would take over its hooks.
std::string UniqueHolder() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat(host, ":", getpid(), ":", absl::ToUnixMicros(absl::Now()));
}

// Names come from tenants, who may put anything into them.
std::string Shown(const std::string& text) { return text::EscapeText(text, kMaxHistorySentence); }

void Log(const Remover::Decided& decided, RemovalMode mode) {
  const Finding& finding = decided.finding;
  const Decision& decision = decided.decision;
  spdlog::log(decision.budget_hit ? spdlog::level::err : spdlog::level::info,
              "removal ({}): {} {} ({}) for incident {}: {} [{}]{}", RemovalModeName(mode),
              ActionName(decision.action), Shown(finding.host), Shown(finding.machine),
              Shown(finding.incident), Shown(decision.reason), decision.rule,
              decision.budget_hit ? "; NO REMOVALS until somebody closes the breaker" : "");
}

}  // namespace

void LogHook(const Task& task) {
  const std::string what =
      absl::StrCat("hook ", task.hook, task.subject.empty() ? "" : " for ", Shown(task.subject),
                   " (incident ", Shown(task.incident), ")");
  if (task.state == "done") {
    spdlog::info("{}: {}", what, Shown(task.outcome));
  } else if (task.state == "due") {
    spdlog::warn("{}: {}, attempt {} of {}; it is tried again", what, Shown(task.outcome),
                 task.attempts, kMaxHookAttempts);
  } else {
    spdlog::error("{}: GIVEN UP ({}): {}; do by hand what it was to do. It printed: {}", what,
                  task.state, Shown(task.outcome), Shown(task.output));
  }
}

RemovalLoop::RemovalLoop(Settings settings, HookRunner& runner)
    : settings_(std::move(settings)), runner_(runner), holder_(UniqueHolder()) {}

absl::Status RemovalLoop::Open() {
  if (remover_.has_value()) return absl::OkStatus();
  auto database = OpenDatabase(settings_.fleet_db);
  if (!database.ok()) return database.status();
  if (absl::Status status = Migrate(**database, FleetMigrations()); !status.ok()) return status;
  const absl::StatusOr<absl::Time> wall = (*database)->WallClock();
  if (!wall.ok()) return wall.status();
  const absl::Time not_after = *wall + kLargestClockError;
  const absl::StatusOr<absl::Time> newest = History(**database).Newest(not_after);
  if (!newest.ok()) return newest.status();
  const absl::StatusOr<int64_t> ahead = History(**database).CountAfter(not_after);
  if (!ahead.ok()) return ahead.status();
  if (*ahead > 0) {
    spdlog::warn(
        "{} entries of the fleet history bear a time that has yet to come: a clock was wrong when "
        "they were written; repairs and breakers among them are ignored or stay as they are, "
        "removals count against the budgets until then",
        *ahead);
  }
  clock_.emplace(*wall, *newest, MonotonicTime());
  auto remover = Remover::Make(
      **database, runner_,
      {.policy = settings_.policy,
       .job = settings_.job,
       .hooks = settings_.hooks,
       .holder = holder_,
       .lease = settings_.hook_timeout + 2 * kHookGrace + kHookLeaseSlack,
       .now = [this] { return clock_->At(MonotonicTime()); },
       .go_on = [this] { return !Stopping(); },
       .decided = [mode = settings_.policy.mode](const auto& decided) { Log(decided, mode); }});
  if (!remover.ok()) return remover.status();
  database_ = *std::move(database);
  remover_.emplace(*std::move(remover));
  return absl::OkStatus();
}

void RemovalLoop::ReadTenants() {
  if (settings_.tenant_machines.empty()) return;
  auto machines = ReadTenantMachines(settings_.tenant_machines);
  const absl::Status problem = machines.status();
  if (machines.ok()) {
    remover_->SetTenantMachines(*std::move(machines));
  } else if (problem != tenants_problem_) {
    spdlog::error("{}; tenants may accuse the machines that it named before",
                  std::string(problem.message()));
  }
  tenants_problem_ = problem;
}

absl::StatusOr<Remover::Report> RemovalLoop::Turn() {
  next_ = absl::InfiniteDuration();
  if (settings_.policy.mode == RemovalMode::kOff) return Remover::Report();
  if (absl::Status status = Open(); !status.ok()) return status;
  ReadTenants();
  absl::StatusOr<Remover::Report> report = remover_->Turn();
  if (!report.ok()) return report;
  const auto breaker = History(*database_).BreakerOf(settings_.policy.mode);
  if (breaker.ok()) report->breaker_open = breaker->open;
  for (const Task& task : report->ended) LogHook(task);
  for (const Task& task : report->retried) LogHook(task);
  // While the breaker is open no task is due; closing it takes effect at the next poll.
  next_ = report->stopped_by_breaker
              ? kRemovalPoll
              : std::max(report->next - clock_->At(MonotonicTime()), absl::ZeroDuration());
  return report;
}

void RemovalLoop::Run() {
  Backoff backoff(kFirstHistoryRetry, kLongestHistoryRetry);
  absl::Duration wait = absl::ZeroDuration();
  while (Wait(wait)) {
    if (settings_.before_turn) settings_.before_turn();
    const absl::StatusOr<Remover::Report> turn = Turn();
    NoteOutcome(turn.status());
    if (turn.ok()) {
      backoff.Reset();
      wait = std::min(next_, settings_.poll);
    } else {
      wait = backoff.Next();
    }
    if (settings_.after_turn) wait = std::min(wait, settings_.after_turn(database_.get(), turn));
  }
}

void RemovalLoop::NoteOutcome(const absl::Status& status) {
  // Logs each reason once: the turn is tried again for as long as it takes.
  if (status.code() == problem_.code()) return;
  if (status.ok()) {
    spdlog::info("the fleet history answers again");
  } else {
    spdlog::error("no decision about removals, all of them wait for the fleet history: {}",
                  std::string(status.message()));
  }
  problem_ = status;
}

bool RemovalLoop::Wait(absl::Duration at_most) {
  const absl::Duration deadline = MonotonicTime() + at_most;
  const MutexLock lock(mutex_);
  while (!stopping_ && !woken_ && changed_.WaitUntil(mutex_, deadline)) {
  }
  woken_ = false;
  return !stopping_;
}

void RemovalLoop::Wake() {
  const MutexLock lock(mutex_);
  woken_ = true;
  changed_.NotifyAll();
}

bool RemovalLoop::Stopping() {
  const MutexLock lock(mutex_);
  return stopping_;
}

void RemovalLoop::Stop() {
  const MutexLock lock(mutex_);
  stopping_ = true;
  changed_.NotifyAll();
}

}  // namespace rapideye::coordinator
