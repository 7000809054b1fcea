#include "coordinator/removal/journal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/fleet/limits.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

constexpr char kColumns[] =
    "incident, subject, hook, ordinal, state, attempts, not_before_ms, expires_ms, outcome, "
    "output";

// True for a task t at $1: no task that runs, or has to run before t, keeps t waiting, and the
// breaker of the role that recorded its incident (History::SetBreaker) is not open.
constexpr char kIsNext[] =
    "NOT EXISTS (SELECT 1 FROM fleet_tasks o WHERE o.task <> t.task AND ("
    "((o.subject = t.subject OR o.incident = t.incident) "
    "AND o.state = 'acting' AND o.lease_ms > $1) "
    "OR (o.incident = t.incident AND o.ordinal < t.ordinal AND (o.state = 'acting' "
    "OR (o.state = 'due' AND (o.attempts > 0 OR o.expires_ms > $1)))))) "
    "AND NOT EXISTS (SELECT 1 FROM fleet_decisions d JOIN fleet_breakers b "
    "ON b.mode = 'enforce/' || d.recorded_by WHERE d.incident = t.incident "
    "AND d.machine = t.subject AND d.mode = 'enforce' AND b.is_open = 1)";

Task ReadTask(const Row& row) {
  return {row.Text(0), row.Text(1), row.Text(2), row.Int(3),  row.Text(4),
          row.Int(5),  row.Time(6), row.Time(7), row.Text(8), row.Text(9)};
}

std::string KeyOf(const Task& task) {
  return absl::StrCat(task.incident, "\n", task.subject, "\n", task.hook);
}

// The output of a hook may be any bytes.
std::string Bounded(const std::string& text) {
  std::string bounded = text::ValidUtf8(text, kMaxHistorySentence);
  std::replace(bounded.begin(), bounded.end(), '\0', '?');
  return bounded;
}

absl::Duration RetryAfter(int64_t attempts) {
  absl::Duration wait = kFirstHookRetry;
  for (int64_t i = 1; i < attempts && wait < kLongestHookRetry; ++i) wait *= 2;
  return std::min(wait, kLongestHookRetry);
}

// "IN ($3, $4)", whose values go to the end of `values`.
std::string OneOf(const std::vector<std::string>& hooks, std::vector<Value>& values) {
  if (hooks.empty()) return "IN (NULL)";  // is none of these
  std::vector<std::string> parameters;
  for (const std::string& hook : hooks) {
    values.emplace_back(hook);
    parameters.push_back(absl::StrCat("$", values.size()));
  }
  return absl::StrCat("IN (", absl::StrJoin(parameters, ", "), ")");
}

absl::StatusOr<std::vector<Task>> ReadTasks(absl::StatusOr<std::vector<Row>> rows) {
  if (!rows.ok()) return rows.status();
  std::vector<Task> tasks;
  for (const Row& row : *rows) tasks.push_back(ReadTask(row));
  return tasks;
}

}  // namespace

Task AfterRun(Task task, const HookResult& result, absl::Time now) {
  task.state = result.ok ? "done" : task.attempts >= kMaxHookAttempts ? "failed" : "due";
  task.not_before = now + RetryAfter(task.attempts);
  task.outcome = Bounded(result.outcome);
  task.output = Bounded(result.output);
  return task;
}

absl::Status Journal::Add(const Task& task, absl::Time now) {
  return database_
      .Run(
          "INSERT INTO fleet_tasks (task, incident, subject, hook, state, holder, lease_ms, "
          "attempts, not_before_ms, created_ms, expires_ms, finished_ms, outcome, output, ordinal) "
          "VALUES ($1, $2, $3, $4, 'due', '', 0, 0, $5, $6, $7, 0, '', '', $8) "
          "ON CONFLICT DO NOTHING",
          {KeyOf(task), task.incident, task.subject, task.hook, ToValue(task.not_before),
           ToValue(now), ToValue(task.expires), task.ordinal})
      .status();
}

absl::StatusOr<std::optional<Task>> Journal::Claim(absl::Time now, absl::Duration lease) {
  std::vector<Value> values = {ToValue(now), kMaxHookAttempts};
  const std::string ours = OneOf(hooks_, values);
  auto chosen = database_.Run(
      absl::StrCat("SELECT t.task FROM fleet_tasks t WHERE t.hook ", ours,
                   " AND ((t.state = 'due' AND t.not_before_ms <= $1 "
                   "AND (t.attempts > 0 OR t.expires_ms > $1)) "
                   "OR (t.state = 'acting' AND t.lease_ms <= $1 AND t.attempts < $2)) AND ",
                   kIsNext, " ORDER BY t.created_ms, t.ordinal, t.task LIMIT 1"),
      values);
  if (!chosen.ok()) return chosen.status();
  if (chosen->empty()) return std::nullopt;
  auto rows = database_.Run(
      absl::StrCat("UPDATE fleet_tasks SET state = 'acting', holder = $2, lease_ms = $3, "
                   "attempts = attempts + 1, "
                   "begun_ms = CASE WHEN begun_ms = 0 THEN $4 ELSE begun_ms END "
                   "WHERE task = $1 RETURNING ",
                   kColumns),
      {chosen->front().Text(0), holder_, ToValue(now + lease), ToValue(now)});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return absl::AbortedError("the task is gone: was the lock held?");
  return ReadTask(rows->front());
}

absl::Status Journal::Finish(const Task& task, const HookResult& result, absl::Time now) {
  const Task after = AfterRun(task, result, now);
  // The number of the attempt distinguishes two claims of the same holder.
  auto rows = database_.Run(
      "UPDATE fleet_tasks SET state = $4, not_before_ms = $5, finished_ms = $6, outcome = $7, "
      "output = $8, holder = '', lease_ms = 0 "
      "WHERE task = $1 AND state = 'acting' AND holder = $2 AND attempts = $3 RETURNING task",
      {KeyOf(task), holder_, task.attempts, after.state, ToValue(after.not_before),
       ToValue(after.state == "due" ? absl::UnixEpoch() : now), after.outcome, after.output});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) {
    return absl::NotFoundError(absl::StrCat("hook ", task.hook, " for ", task.subject,
                                            " took longer than its lease; another has it by now"));
  }
  return absl::OkStatus();
}

absl::Status Journal::Abandon(const Task& task, const std::string& why, absl::Time now) {
  return database_
      .Run(
          "UPDATE fleet_tasks SET state = 'expired', finished_ms = $4, outcome = $5, holder = '', "
          "lease_ms = 0, attempts = attempts - 1, "
          "begun_ms = CASE WHEN attempts = 1 THEN 0 ELSE begun_ms END "
          "WHERE task = $1 AND state = 'acting' AND holder = $2 AND attempts = $3",
          {KeyOf(task), holder_, task.attempts, ToValue(now), Bounded(why)})
      .status();
}

absl::StatusOr<std::vector<Task>> Journal::Expire(absl::Time now) {
  auto never_begun = ReadTasks(database_.Run(
      absl::StrCat("UPDATE fleet_tasks SET state = 'expired', finished_ms = $1, "
                   "outcome = 'not begun in time' "
                   "WHERE state = 'due' AND attempts = 0 AND expires_ms <= $1 RETURNING ",
                   kColumns),
      {ToValue(now)}));
  if (!never_begun.ok()) return never_begun;
  auto failed = ReadTasks(database_.Run(
      absl::StrCat("UPDATE fleet_tasks SET state = 'failed', finished_ms = $1, "
                   "outcome = CASE WHEN state = 'due' THEN 'begun, and not done in time: ' || "
                   "outcome ELSE 'whoever ran it ended before it did, every time' END "
                   "WHERE (state = 'due' AND attempts > 0 AND expires_ms <= $3) "
                   "OR (state = 'acting' AND lease_ms <= $1 "
                   "AND (attempts >= $2 OR expires_ms <= $3)) RETURNING ",
                   kColumns),
      {ToValue(now), kMaxHookAttempts, ToValue(now - kLongestHookDelay)}));
  if (!failed.ok()) return failed;
  never_begun->insert(never_begun->end(), failed->begin(), failed->end());
  return never_begun;
}

absl::Status Journal::Resume() {
  return database_
      .Run("UPDATE fleet_tasks SET lease_ms = 0 WHERE state = 'acting' AND holder = $1", {holder_})
      .status();
}

absl::StatusOr<std::vector<Task>> Journal::TasksOf(const std::string& incident) {
  return ReadTasks(database_.Run(absl::StrCat("SELECT ", kColumns,
                                              " FROM fleet_tasks WHERE incident = $1 "
                                              "ORDER BY created_ms, ordinal, task"),
                                 {incident}));
}

absl::StatusOr<absl::Time> Journal::NextDue(absl::Time now) {
  std::vector<Value> values = {ToValue(now)};
  const std::string ours = OneOf(hooks_, values);
  auto rows =
      database_.Run(absl::StrCat("SELECT MIN(CASE WHEN t.state = 'acting' THEN t.lease_ms "
                                 "ELSE t.not_before_ms END) FROM fleet_tasks t WHERE t.hook ",
                                 ours,
                                 " AND (t.state = 'acting' OR (t.state = 'due' "
                                 "AND (t.attempts > 0 OR t.expires_ms > $1))) AND ",
                                 kIsNext),
                    values);
  if (!rows.ok()) return rows.status();
  const std::optional<int64_t> due = rows->front().OptionalInt(0);
  return due.has_value() ? absl::FromUnixMillis(*due) : absl::InfiniteFuture();
}

}  // namespace rapideye::coordinator
