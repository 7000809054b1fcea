#include "coordinator/removal/remover.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/fleet/schema.h"

namespace rapideye::coordinator {

absl::StatusOr<Remover> Remover::Make(Database& database, HookRunner& runner, Settings settings) {
  if (settings.policy.mode == RemovalMode::kEnforce && settings.hooks.empty()) {
    return absl::InvalidArgumentError(
        "removals are enforced, but there is no hook to carry them out: give --hook=PATH");
  }
  return Remover(database, runner, std::move(settings));
}

Remover::Remover(Database& database, HookRunner& runner, Settings settings)
    : database_(database),
      runner_(runner),
      settings_(std::move(settings)),
      history_(database),
      journal_(database, settings_.holder, settings_.hooks) {}

absl::StatusOr<Remover::Report> Remover::Turn() {
  const absl::StatusOr<bool> more = DecideAll();
  if (!more.ok()) return more.status();
  absl::Status status = ActOnAll();
  if (status.ok()) status = DropOld();
  if (!status.ok()) return status;
  Report report = std::exchange(report_, Report());
  if (*more) report.next = settings_.now();
  // A task that waits for an operator is due at no time.
  if (settings_.policy.mode != RemovalMode::kEnforce || report.stopped_by_breaker) return report;
  const absl::StatusOr<absl::Time> next = journal_.NextDue(settings_.now());
  if (!next.ok()) return next.status();
  report.next = std::min(report.next, *next);
  return report;
}

absl::Status Remover::DropOld() {
  const absl::Time now = settings_.now();
  if (now < next_drop_ || (settings_.go_on && !settings_.go_on())) return absl::OkStatus();
  const Policy& policy = settings_.policy;
  const auto more = history_.DropBefore(now - policy.retention, FactsSince(policy, now));
  if (!more.ok()) return more.status();
  if (!*more) next_drop_ = now + kRetentionPoll;  // else the next turn goes on
  return absl::OkStatus();
}

// All decisions come before any act: a wave of failures shows in full before the first machine
// goes, and may open the breaker in time.
absl::StatusOr<bool> Remover::DecideAll() {
  const Policy& policy = settings_.policy;
  const auto findings = history_.Undecided(policy.mode, FactsSince(policy, settings_.now()),
                                           kMaxFindingsPerTurn, settings_.job);
  if (!findings.ok()) return findings.status();
  const size_t before = report_.decisions.size();
  std::set<std::string> overwhelming;  // roles
  for (const Finding& finding : *findings) {
    if (settings_.go_on && !settings_.go_on()) return false;
    Decision decision;
    const std::string& role = finding.recorded_by;
    absl::StatusOr<bool> ours = DecideOne(finding, !overwhelming.contains(role), decision);
    if (absl::IsDeadlineExceeded(ours.status()) && !role.empty()) {
      // The rows of this role must not hold up the other roles.
      overwhelming.insert(role);
      ours = DecideOne(finding, false, decision);
    }
    if (!ours.ok()) return ours.status();
    if (!*ours) continue;
    report_.decisions.push_back({finding, std::move(decision)});
    if (settings_.decided) settings_.decided(report_.decisions.back());
  }
  return findings->size() >= static_cast<size_t>(kMaxFindingsPerRole) &&
         report_.decisions.size() > before;
}

absl::StatusOr<bool> Remover::DecideOne(const Finding& finding, bool weigh, Decision& decision) {
  const Policy& policy = settings_.policy;
  return WithLock(database_, [&]() -> absl::StatusOr<bool> {
    const absl::Time now = settings_.now();
    // Events that cannot count are not looked up: a tenant may have recorded a lot of them.
    absl::StatusOr<Facts> facts = Facts();
    facts->all_events = weigh;
    if (weigh && MayAccuse(finding, policy)) {
      facts = history_.FactsAbout(finding.machine, policy.mode, FactsSince(policy, now),
                                  finding.recorded_by, now);
    }
    if (!facts.ok()) return facts.status();
    decision = Decide(finding, *facts, policy, now);
    const auto added = history_.AddDecision(finding, policy.mode, decision, now);
    if (!added.ok() || !*added) return added;
    absl::Status status;
    if (decision.budget_hit) {
      status =
          history_.SetBreaker(policy.mode, true, decision.reason, "", now, finding.recorded_by);
    }
    const bool act = decision.action == Action::kRemove && policy.mode == RemovalMode::kEnforce;
    for (size_t i = 0; act && i < settings_.hooks.size() && status.ok(); ++i) {
      Task task;
      task.incident = finding.incident;
      task.subject = finding.machine;
      task.hook = settings_.hooks[i];
      task.ordinal = static_cast<int64_t>(i);
      task.not_before = now;
      task.expires = decision.expires;
      status = journal_.Add(task, now);
    }
    if (!status.ok()) return status;
    return true;
  });
}

absl::StatusOr<std::optional<Task>> Remover::ClaimUnlessStopped(Report& report) {
  return WithLock(database_, [&]() -> absl::StatusOr<std::optional<Task>> {
    const absl::Time now = settings_.now();
    auto expired = journal_.Expire(now);
    if (!expired.ok()) return expired.status();
    report.ended.insert(report.ended.end(), expired->begin(), expired->end());
    const auto breaker = history_.BreakerOf(RemovalMode::kEnforce);
    if (!breaker.ok()) return breaker.status();
    report.stopped_by_breaker = breaker->open;
    if (breaker->open) return std::nullopt;
    return ClaimUnlessRefused(report, now);
  });
}

// Checks the task again: since the decision the machine may have been repaired, or become exempt.
absl::StatusOr<std::optional<Task>> Remover::ClaimUnlessRefused(Report& report, absl::Time now) {
  for (;;) {
    auto task = journal_.Claim(now, settings_.lease);
    if (!task.ok() || !task->has_value()) return task;
    const auto finding = history_.FindingOf((*task)->incident, (*task)->subject);
    if (!finding.ok()) return finding.status();
    const auto still_due = history_.RemovalStands(*finding, RemovalMode::kEnforce, now);
    if (!still_due.ok()) return still_due.status();
    const std::optional<Objection> objection = ObjectionTo(*finding, settings_.policy);
    if (*still_due && !objection.has_value()) return task;
    const std::string why =
        objection.has_value() ? objection->reason : "the machine was repaired, or forgotten, since";
    if (absl::Status status = journal_.Abandon(**task, why, now); !status.ok()) return status;
    (*task)->state = "expired";
    (*task)->outcome = why;
    report.ended.push_back(**std::move(task));
  }
}

absl::StatusOr<HookCall> Remover::CallFor(const Task& task) {
  HookCall call;
  call.hook = task.hook;
  call.attempt = task.attempts;
  auto finding = history_.FindingOf(task.incident, task.subject);
  if (!finding.ok()) return finding.status();
  call.finding = *std::move(finding);
  auto reason = history_.ReasonOf(task.incident, task.subject, RemovalMode::kEnforce);
  if (!reason.ok()) return reason.status();
  call.reason = *std::move(reason);
  auto digest = history_.DigestOf(task.incident);
  if (!digest.ok()) return digest.status();
  call.digest = *std::move(digest);
  return call;
}

absl::Status Remover::WriteDown() {
  if (!ran_.has_value()) return absl::OkStatus();
  const absl::Time now = settings_.now();
  const absl::Status status = journal_.Finish(ran_->task, ran_->result, now);
  // Another remover holds the task by now, and its result is the one that counts.
  const bool lost = absl::IsNotFound(status);
  if (!status.ok() && !lost) return status;
  const Ran ran = *std::exchange(ran_, std::nullopt);
  if (lost) return absl::OkStatus();
  Task task = AfterRun(ran.task, ran.result, now);
  (task.state == "due" ? report_.retried : report_.ended).push_back(std::move(task));
  return absl::OkStatus();
}

absl::Status Remover::ActOnAll() {
  if (settings_.policy.mode != RemovalMode::kEnforce) return absl::OkStatus();
  if (absl::Status status = WriteDown(); !status.ok()) return status;
  while (!settings_.go_on || settings_.go_on()) {
    Report claim;
    const auto claimed = ClaimUnlessStopped(claim);
    if (!claimed.ok()) return claimed.status();
    report_.stopped_by_breaker = claim.stopped_by_breaker;
    report_.ended.insert(report_.ended.end(), claim.ended.begin(), claim.ended.end());
    if (!claimed->has_value()) return absl::OkStatus();
    Task task = **claimed;
    const absl::StatusOr<HookCall> call = CallFor(task);
    if (!call.ok()) return call.status();
    ran_ = Ran{std::move(task), runner_.Run(*call)};
    if (absl::Status status = WriteDown(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace rapideye::coordinator
