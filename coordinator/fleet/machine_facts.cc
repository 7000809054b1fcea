#include "coordinator/fleet/machine_facts.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "coordinator/fleet/limits.h"

namespace rapideye::coordinator {
namespace {

std::vector<int64_t> NumbersOf(const std::string& list) {
  std::vector<int64_t> numbers;
  for (const absl::string_view part : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    if (absl::SimpleAtoi(part, &number)) numbers.push_back(number);
  }
  return numbers;
}

absl::Status AddEvents(Database& database, const FactsQuery& query, Facts& facts) {
  // Each part uses an index of its own: a machine that fails all day must not slow down every
  // decision about it.
  const std::string not_forgotten =
      "COALESCE((SELECT MAX(f.at_ms) FROM fleet_forgets f WHERE f.machine = $1 "
      "AND f.at_ms <= $5), -1) ";
  const std::vector<Value> values = {query.machine, ToValue(query.since), kMaxEventsPerDecision + 1,
                                     query.recorded_by, ToValue(query.now + kLargestClockError)};
  auto own = database.Run(
      absl::StrCat("SELECT COUNT(*) FROM (SELECT 1 FROM fleet_culprits c WHERE c.machine = $1 "
                   "AND c.at_ms BETWEEN $2 AND $5 AND c.recorded_by IN ('', $4) AND c.at_ms > ",
                   not_forgotten, "LIMIT $3) AS own"),
      values);
  if (!own.ok()) return own.status();
  facts.all_events = own->front().Int(0) <= kMaxEventsPerDecision;
  if (!facts.all_events) return absl::OkStatus();  // whatever they are, they are too many
  const std::string event =
      "SELECT c.incident, c.machine, c.grounds, i.cause, i.detail, c.job, c.slice, c.task, "
      "c.fingerprint, c.at_ms AS at_ms, c.home_slice, c.home_task "
      "FROM fleet_culprits c JOIN fleet_incidents i ON i.incident = c.incident ";
  const std::string of_machine =
      " FROM fleet_culprits WHERE machine = $1 AND at_ms BETWEEN $2 AND $5 "
      "AND recorded_by IN ('', $4)) AS m ";
  const std::string of_others =
      "WHERE c.machine <> $1 AND c.at_ms BETWEEN $2 AND $5 AND c.recorded_by IN ('', $4) ";
  auto rows = database.Run(
      absl::StrCat(event, "WHERE c.machine = $1 AND c.at_ms BETWEEN $2 AND $5 ",
                   "AND c.recorded_by IN ('', $4) AND c.at_ms > ", not_forgotten,
                   // Other machines that the same incidents name, such as the other end of a link.
                   "UNION ", event, "JOIN (SELECT DISTINCT incident", of_machine,
                   "ON m.incident = c.incident ", of_others,
                   // Other machines that failed at the same place of the job, or of the program.
                   "UNION ", event, "JOIN (SELECT DISTINCT job, slice, task", of_machine,
                   "ON m.job = c.job AND m.slice = c.slice AND m.task = c.task ", of_others,
                   "UNION ", event, "JOIN (SELECT DISTINCT fingerprint, slice, task", of_machine,
                   "ON m.fingerprint = c.fingerprint AND m.slice = c.slice AND m.task = c.task ",
                   of_others, "ORDER BY at_ms DESC LIMIT $3"),
      values);
  if (!rows.ok()) return rows.status();
  facts.all_events = rows->size() <= static_cast<size_t>(kMaxEventsPerDecision);
  for (const Row& row : *rows) {
    HangEvent& event = facts.events.emplace_back();
    event.incident = row.Text(0);
    event.machine = row.Text(1);
    event.grounds = GroundsNamed(row.Text(2));
    event.cause = row.Text(3);
    event.detail = row.Text(4);
    event.job = row.Text(5);
    event.slice = row.Int(6);
    event.task = row.Int(7);
    event.fingerprint = row.OptionalText(8);
    event.at = row.Time(9);
    event.home_slice = row.OptionalInt(10);
    event.home_task = row.OptionalInt(11);
  }
  return absl::OkStatus();
}

absl::Status AddNames(Database& database, const FactsQuery& query, Facts& facts) {
  auto forgotten =
      database.Run("SELECT MAX(at_ms) FROM fleet_forgets WHERE machine = $1 AND at_ms <= $2",
                   {query.machine, ToValue(query.now + kLargestClockError)});
  if (!forgotten.ok()) return forgotten.status();
  if (const auto at = forgotten->front().OptionalInt(0))
    facts.forgotten = absl::FromUnixMillis(*at);
  // A machine that is known by its name alone may be the same machine. A pod's host name goes with
  // its place in the job: where the platform's name is known, that name counts.
  // Only what has happened counts: a clock that was ahead once names nobody for years.
  auto taken = database.Run(
      "SELECT o.machine FROM (SELECT DISTINCT l.host, l.node, l.at_ms FROM fleet_culprits l "
      "WHERE l.machine = $1 AND l.recorded_by IN ('', $2) AND l.at_ms = "
      "(SELECT MAX(n.at_ms) FROM fleet_culprits n WHERE n.machine = $1 "
      "AND n.recorded_by IN ('', $2) AND n.at_ms <= $3)) AS m JOIN fleet_culprits o "
      "ON (o.node = m.node OR (m.node IS NULL AND o.host = m.host)) "
      "AND o.at_ms BETWEEN m.at_ms AND $3 "
      "WHERE o.recorded_by IN ('', $2) AND o.machine <> $1 AND o.machine LIKE 'hardware:%' "
      "ORDER BY o.at_ms DESC, o.machine LIMIT 1",
      {query.machine, query.recorded_by, ToValue(query.now + kLargestClockError)});
  if (!taken.ok()) return taken.status();
  if (!taken->empty()) facts.name_taken_by = taken->front().Text(0);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PastRemoval>> RemovalsSince(Database& database,
                                                       const FactsQuery& query) {
  auto rows = database.Run(
      "SELECT d.incident, d.machine, d.job, d.slices, d.decided_ms, "
      "(SELECT MAX(f.at_ms) FROM fleet_forgets f WHERE f.machine = d.machine AND f.at_ms <= $3), "
      "COUNT(t.task), COUNT(CASE WHEN t.state IN ('expired', 'failed') THEN 1 END), "
      "COUNT(CASE WHEN t.attempts > 0 THEN 1 END), "
      "MIN(CASE WHEN t.begun_ms > 0 THEN t.begun_ms END), d.recorded_by "
      "FROM fleet_decisions d LEFT JOIN fleet_tasks t ON t.incident = d.incident "
      "AND t.subject = d.machine AND d.mode = 'enforce' "
      "WHERE d.action = 'remove' AND d.decided_ms >= $1 AND (d.mode = 'enforce' OR d.mode = $2) "
      "GROUP BY d.incident, d.machine, d.mode, d.job, d.slices, d.decided_ms, d.recorded_by "
      "ORDER BY d.decided_ms",
      {ToValue(query.since), std::string(RemovalModeName(query.mode)),
       ToValue(query.now + kLargestClockError)});
  if (!rows.ok()) return rows.status();
  std::vector<PastRemoval> removals;
  for (const Row& row : *rows) {
    PastRemoval& removal = removals.emplace_back();
    removal.incident = row.Text(0);
    removal.machine = row.Text(1);
    removal.job = row.Text(2);
    removal.slices = NumbersOf(row.Text(3));
    removal.decided = row.Time(4);
    const bool back = row.OptionalInt(5).value_or(-1) >= row.Int(4);
    const int64_t hooks = row.Int(6);
    removal.given_up = hooks > 0 && row.Int(7) == hooks;
    const bool begun = row.Int(8) > 0;
    removal.standing = !back && (begun || !removal.given_up);
    removal.recorded_by = row.Text(10);
    if (const auto at = row.OptionalInt(9)) {
      removal.begun = absl::FromUnixMillis(*at);
    } else if (hooks > 0 && !begun && !removal.given_up) {
      removal.begun = absl::InfiniteFuture();
    }
  }
  return removals;
}

}  // namespace

absl::StatusOr<Facts> ReadFacts(Database& database, const FactsQuery& query) {
  Facts facts;
  absl::Status status = AddEvents(database, query, facts);
  if (status.ok()) status = AddNames(database, query, facts);
  if (!status.ok()) return status;
  auto removals = RemovalsSince(database, query);
  if (!removals.ok()) return removals.status();
  facts.removals = *std::move(removals);
  auto largest = database.Run(
      "SELECT COALESCE(MAX(hosts), 0) FROM fleet_incidents WHERE at_ms >= $1 AND recorded_by = ''",
      {ToValue(query.since)});
  if (!largest.ok()) return largest.status();
  facts.largest_job_hosts = largest->front().Int(0);
  return facts;
}

}  // namespace rapideye::coordinator
