// Members of History by which policy reads findings and writes decisions.
#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/limits.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

// An unknown value, stored by a newer program, counts as the weakest.
Grounds GroundsNamed(std::string_view name) {
  for (const Grounds grounds : {Grounds::kRepetition, Grounds::kDirect}) {
    if (name == GroundsName(grounds)) return grounds;
  }
  return Grounds::kNever;
}

std::vector<int64_t> NumbersOf(const std::string& list) {
  std::vector<int64_t> numbers;
  for (const absl::string_view part : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    if (absl::SimpleAtoi(part, &number)) numbers.push_back(number);
  }
  return numbers;
}

template <typename T>
void Insert(std::vector<T>& sorted, const T& value) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (at == sorted.end() || *at != value) sorted.insert(at, value);
}

// Reads a row for each culprit of the findings that `chosen` selects, a query of incident and
// machine.
absl::StatusOr<std::vector<Finding>> ReadFindings(Database& database, const std::string& chosen,
                                                  const std::vector<Value>& values) {
  auto rows = database.Run(
      absl::StrCat("SELECT c.incident, c.machine, c.host, c.node, c.grounds, c.chip, c.nic, "
                   "c.slice, c.job, i.cause, i.detail, i.at_ms, i.hosts, c.hardware, "
                   "i.recorded_by "
                   "FROM fleet_culprits c JOIN fleet_incidents i ON i.incident = c.incident "
                   "JOIN (",
                   chosen,
                   ") AS w ON w.incident = c.incident AND w.machine = c.machine "
                   "ORDER BY c.incident, c.machine, c.culprit"),
      values);
  if (!rows.ok()) return rows.status();
  std::vector<Finding> findings;
  for (const Row& row : *rows) {
    const bool next = findings.empty() || findings.back().incident != row.Text(0) ||
                      findings.back().machine != row.Text(1);
    if (next) {
      Finding& finding = findings.emplace_back();
      finding.incident = row.Text(0);
      finding.machine = row.Text(1);
      finding.host = row.Text(2);
      finding.node = row.OptionalText(3);
      finding.job = row.Text(8);
      finding.cause = row.Text(9);
      finding.detail = row.Text(10);
      finding.at = row.Time(11);
      finding.job_hosts = row.Int(12);
      finding.recorded_by = row.Text(14);
    }
    Finding& finding = findings.back();
    const std::optional<std::string> node = row.OptionalText(3), hardware = row.OptionalText(13);
    Insert(finding.names, row.Text(2));
    if (node.has_value()) Insert(finding.names, *node);
    if (hardware.has_value()) Insert(finding.names, *hardware);
    finding.key_fits = finding.key_fits && finding.machine == MachineKey(hardware, row.Text(2));
    finding.grounds = std::max(finding.grounds, GroundsNamed(row.Text(4)));
    if (const auto chip = row.OptionalInt(5)) Insert(finding.chips, *chip);
    if (const auto nic = row.OptionalText(6)) Insert(finding.nics, *nic);
    Insert(finding.slices, row.Int(7));
  }
  // Compares bytes: the order of texts in a database depends on its locale.
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.at, a.incident, a.machine) < std::tie(b.at, b.incident, b.machine);
  });
  return findings;
}

absl::Status NoSuch(const std::string& incident, const std::string& machine) {
  return absl::NotFoundError(
      absl::StrCat("the fleet history has nothing of ", machine, " in incident ", incident));
}

}  // namespace

absl::StatusOr<std::vector<Finding>> History::Undecided(RemovalMode mode, absl::Time since,
                                                        int64_t limit,
                                                        const std::optional<std::string>& job) {
  std::vector<Value> values = {ToValue(since), std::string(RemovalModeName(mode)), limit};
  if (job.has_value()) values.emplace_back(*job);
  return ReadFindings(
      database_,
      absl::StrCat("SELECT incident, machine FROM (SELECT u.incident AS incident, "
                   "u.machine AS machine, u.recorded_by AS recorded_by, MIN(u.at_ms) AS at_ms, "
                   "ROW_NUMBER() OVER (PARTITION BY u.recorded_by "
                   "ORDER BY MIN(u.at_ms), u.incident, u.machine) AS place "
                   "FROM fleet_culprits u WHERE u.at_ms >= $1 AND NOT EXISTS ("
                   "SELECT 1 FROM fleet_decisions d WHERE d.incident = u.incident "
                   "AND d.machine = u.machine AND d.mode = $2) ",
                   job.has_value() ? "AND u.job = $4 " : "",
                   "GROUP BY u.recorded_by, u.incident, u.machine) AS waiting "
                   "WHERE recorded_by = '' OR place <= ",
                   kMaxFindingsPerRole, " ORDER BY place, at_ms, incident, machine LIMIT $3"),
      values);
}

absl::StatusOr<Finding> History::NewestFinding(const std::string& machine) {
  auto findings = ReadFindings(database_,
                               "SELECT u.incident AS incident, u.machine AS machine "
                               "FROM fleet_culprits u WHERE u.machine = $1 "
                               "ORDER BY u.at_ms DESC, u.incident DESC LIMIT 1",
                               {machine});
  if (!findings.ok()) return findings.status();
  if (findings->empty()) {
    return absl::NotFoundError(absl::StrCat("the fleet history knows no incident of ", machine));
  }
  return findings->front();
}

absl::StatusOr<Finding> History::FindingOf(const std::string& incident,
                                           const std::string& machine) {
  auto findings = ReadFindings(database_,
                               "SELECT DISTINCT u.incident AS incident, u.machine AS machine "
                               "FROM fleet_culprits u WHERE u.incident = $1 AND u.machine = $2",
                               {incident, machine});
  if (!findings.ok()) return findings.status();
  if (findings->empty()) return NoSuch(incident, machine);
  return findings->front();
}

absl::StatusOr<bool> History::IsDecided(const std::string& incident, RemovalMode mode,
                                        absl::Time since) {
  auto rows = database_.Run(
      "SELECT 1 FROM fleet_incidents i WHERE i.incident = $1 AND NOT EXISTS ("
      "SELECT 1 FROM fleet_culprits c WHERE c.incident = i.incident AND c.at_ms >= $3 "
      "AND NOT EXISTS (SELECT 1 FROM fleet_decisions d WHERE d.incident = c.incident "
      "AND d.machine = c.machine AND d.mode = $2))",
      {incident, std::string(RemovalModeName(mode)), ToValue(since)});
  if (!rows.ok()) return rows.status();
  return !rows->empty();
}

absl::StatusOr<std::vector<MachineDecision>> History::DecisionsOf(const std::string& incident,
                                                                  RemovalMode mode) {
  auto rows = database_.Run(
      "SELECT machine, host, action, rule, reason FROM fleet_decisions "
      "WHERE incident = $1 AND mode = $2 ORDER BY machine",
      {incident, std::string(RemovalModeName(mode))});
  if (!rows.ok()) return rows.status();
  std::vector<MachineDecision> decisions;
  for (const Row& row : *rows) {
    decisions.push_back({row.Text(0), row.Text(1), row.Text(2), row.Text(3), row.Text(4)});
  }
  return decisions;
}

absl::StatusOr<std::string> History::ReasonOf(const std::string& incident,
                                              const std::string& machine, RemovalMode mode) {
  auto rows = database_.Run(
      "SELECT reason FROM fleet_decisions WHERE incident = $1 AND machine = $2 AND mode = $3",
      {incident, machine, std::string(RemovalModeName(mode))});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return NoSuch(incident, machine);
  return rows->front().Text(0);
}

absl::StatusOr<std::string> History::DigestOf(const std::string& incident) {
  auto rows = database_.Run("SELECT digest FROM fleet_incidents WHERE incident = $1", {incident});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return NoSuch(incident, "anything");
  return rows->front().Text(0);
}

absl::Status History::AddEvents(const std::string& machine, absl::Time since,
                                const std::string& recorded_by, absl::Time now, Facts& facts) {
  // Each part uses an index of its own: a machine that fails all day must not slow down every
  // decision about it.
  const std::string not_forgotten =
      "COALESCE((SELECT MAX(f.at_ms) FROM fleet_forgets f WHERE f.machine = $1 "
      "AND f.at_ms <= $5), -1) ";
  const std::vector<Value> values = {machine, ToValue(since), kMaxEventsPerDecision + 1,
                                     recorded_by, ToValue(now + kLargestClockError)};
  auto own = database_.Run(
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
  auto rows = database_.Run(
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

absl::Status History::AddNames(const std::string& machine, const std::string& recorded_by,
                               absl::Time now, Facts& facts) {
  auto forgotten =
      database_.Run("SELECT MAX(at_ms) FROM fleet_forgets WHERE machine = $1 AND at_ms <= $2",
                    {machine, ToValue(now + kLargestClockError)});
  if (!forgotten.ok()) return forgotten.status();
  if (const auto at = forgotten->front().OptionalInt(0))
    facts.forgotten = absl::FromUnixMillis(*at);
  // A machine that is known by its name alone may be the same machine. A pod's host name goes with
  // its place in the job: where the platform's name is known, that name counts.
  // Only what has happened counts: a clock that was ahead once names nobody for years.
  auto taken = database_.Run(
      "SELECT o.machine FROM (SELECT DISTINCT l.host, l.node, l.at_ms FROM fleet_culprits l "
      "WHERE l.machine = $1 AND l.recorded_by IN ('', $2) AND l.at_ms = "
      "(SELECT MAX(n.at_ms) FROM fleet_culprits n WHERE n.machine = $1 "
      "AND n.recorded_by IN ('', $2) AND n.at_ms <= $3)) AS m JOIN fleet_culprits o "
      "ON (o.node = m.node OR (m.node IS NULL AND o.host = m.host)) "
      "AND o.at_ms BETWEEN m.at_ms AND $3 "
      "WHERE o.recorded_by IN ('', $2) AND o.machine <> $1 AND o.machine LIKE 'hardware:%' "
      "ORDER BY o.at_ms DESC, o.machine LIMIT 1",
      {machine, recorded_by, ToValue(now + kLargestClockError)});
  if (!taken.ok()) return taken.status();
  if (!taken->empty()) facts.name_taken_by = taken->front().Text(0);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PastRemoval>> History::RemovalsSince(RemovalMode mode, absl::Time since,
                                                                absl::Time now) {
  auto rows = database_.Run(
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
      {ToValue(since), std::string(RemovalModeName(mode)), ToValue(now + kLargestClockError)});
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

absl::StatusOr<Facts> History::FactsAbout(const std::string& machine, RemovalMode mode,
                                          absl::Time since, const std::string& recorded_by,
                                          absl::Time now) {
  Facts facts;
  absl::Status status = AddEvents(machine, since, recorded_by, now, facts);
  if (status.ok()) status = AddNames(machine, recorded_by, now, facts);
  if (!status.ok()) return status;
  auto removals = RemovalsSince(mode, since, now);
  if (!removals.ok()) return removals.status();
  facts.removals = *std::move(removals);
  auto breaker = BreakerOf(mode, recorded_by);
  if (!breaker.ok()) return breaker.status();
  facts.breaker = *std::move(breaker);
  auto largest = database_.Run(
      "SELECT COALESCE(MAX(hosts), 0) FROM fleet_incidents WHERE at_ms >= $1 AND recorded_by = ''",
      {ToValue(since)});
  if (!largest.ok()) return largest.status();
  facts.largest_job_hosts = largest->front().Int(0);
  return facts;
}

absl::StatusOr<bool> History::RemovalStands(const Finding& finding, RemovalMode mode,
                                            absl::Time now) {
  auto rows = database_.Run(
      "SELECT 1 FROM fleet_decisions d WHERE d.incident = $1 AND d.machine = $2 AND d.mode = $3 "
      "AND d.action = 'remove' AND NOT EXISTS (SELECT 1 FROM fleet_forgets f "
      "WHERE f.machine = d.machine AND f.at_ms >= d.decided_ms AND f.at_ms <= $4)",
      {finding.incident, finding.machine, std::string(RemovalModeName(mode)),
       ToValue(now + kLargestClockError)});
  if (!rows.ok()) return rows.status();
  return !rows->empty();
}

absl::StatusOr<bool> History::AddDecision(const Finding& finding, RemovalMode mode,
                                          const Decision& decision, absl::Time now) {
  auto rows = database_.Run(
      "INSERT INTO fleet_decisions (incident, machine, mode, action, rule, reason, host, job, "
      "slices, decided_ms, expires_ms, recorded_by) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) "
      "ON CONFLICT DO NOTHING RETURNING incident",
      {finding.incident, finding.machine, std::string(RemovalModeName(mode)),
       std::string(ActionName(decision.action)), decision.rule,
       text::ValidUtf8(decision.reason, kMaxHistorySentence), finding.host, finding.job,
       absl::StrJoin(finding.slices, ","), ToValue(now), ToValue(decision.expires),
       finding.recorded_by});
  if (!rows.ok()) return rows.status();
  return !rows->empty();
}

}  // namespace rapideye::coordinator
