#include "coordinator/fleet/history.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/fleet/machine_facts.h"
#include "coordinator/fleet/schema.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

// A database takes valid UTF-8 without zero bytes, and would refuse a record for one
// bad byte of a peer.
std::string Clean(std::string_view text, size_t max_bytes = kMaxHistoryText) {
  std::string clean = text::ValidUtf8(text, max_bytes);
  std::replace(clean.begin(), clean.end(), '\0', '?');
  return clean;
}

Value CleanValue(const std::optional<std::string>& text) {
  return text.has_value() ? Value(Clean(*text)) : Value();
}

// The key of a culprit within one incident.
std::string KeyOf(const CulpritRecord& culprit) {
  const auto or_none = [](const std::optional<int64_t>& number) {
    return number.has_value() ? absl::StrCat(*number) : "-";
  };
  return Clean(absl::StrCat(culprit.slice, "/", culprit.task, "/", or_none(culprit.chip), "/",
                            culprit.core_type, "/", or_none(culprit.core_index), "/",
                            culprit.nic.value_or("-")));
}

absl::Status RecordIncident(Database& database, const IncidentRecord& incident, absl::Time at,
                            absl::Time now) {
  const bool keep_digest = incident.digest.size() <= kMaxHistoryDigest;
  return database
      .Run(
          "INSERT INTO fleet_incidents (incident, job, incarnation, cause, detail, confidence, "
          "detected_ms, at_ms, recorded_ms, hosts, slices, digest) "
          "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
          {Clean(incident.id), Clean(incident.job), Clean(incident.incarnation),
           Clean(incident.cause), Clean(incident.detail),
           incident.confidence >= 0 ? std::min(incident.confidence, 1.0) : 0.0,
           ToValue(std::max(incident.detected, absl::UnixEpoch())), ToValue(at), ToValue(now),
           std::clamp<int64_t>(incident.hosts, 0, kMaxRememberedHosts),
           std::clamp<int64_t>(incident.slices, 0, kMaxRememberedHosts),
           keep_digest ? Clean(incident.digest, kMaxHistoryDigest) : ""})
      .status();
}

absl::Status RecordCulprit(Database& database, const IncidentRecord& incident,
                           const CulpritRecord& culprit, absl::Time at) {
  return database
      .Run(
          "INSERT INTO fleet_culprits (incident, culprit, machine, hardware, host, node, chip, "
          "core_type, core_index, nic, grounds, job, slice, task, module, fingerprint, at_ms, "
          "home_slice, home_task) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
          "$14, $15, $16, $17, $18, $19) "
          "ON CONFLICT DO NOTHING",
          {Clean(incident.id), KeyOf(culprit), Clean(culprit.machine), CleanValue(culprit.hardware),
           Clean(culprit.host), CleanValue(culprit.node), ToValue(culprit.chip),
           Clean(culprit.core_type), ToValue(culprit.core_index), CleanValue(culprit.nic),
           std::string(GroundsName(culprit.grounds)), Clean(incident.job), culprit.slice,
           culprit.task, CleanValue(culprit.module), CleanValue(culprit.fingerprint), ToValue(at),
           ToValue(culprit.home_slice), ToValue(culprit.home_task)})
      .status();
}

// The key of a breaker. The journal of tasks names those of roles in its SQL, too.
std::string BreakerName(RemovalMode mode, const std::string& recorded_by) {
  const std::string name(RemovalModeName(mode));
  return recorded_by.empty() ? name : absl::StrCat(name, "/", recorded_by);
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

absl::StatusOr<absl::Time> History::Newest(absl::Time not_after) {
  auto rows = database_.Run(
      "SELECT MAX(at) FROM (SELECT MAX(decided_ms) AS at FROM fleet_decisions "
      "WHERE decided_ms <= $1 "
      "UNION ALL SELECT MAX(at_ms) AS at FROM fleet_forgets WHERE at_ms <= $1 "
      "UNION ALL SELECT MAX(at_ms) AS at FROM fleet_breakers WHERE at_ms <= $1) AS times",
      {ToValue(not_after)});
  if (!rows.ok()) return rows.status();
  const std::optional<int64_t> newest = rows->front().OptionalInt(0);
  return newest.has_value() ? absl::FromUnixMillis(*newest) : absl::InfinitePast();
}

absl::StatusOr<int64_t> History::CountAfter(absl::Time not_after) {
  auto rows = database_.Run(
      "SELECT (SELECT COUNT(*) FROM fleet_decisions WHERE decided_ms > $1) + "
      "(SELECT COUNT(*) FROM fleet_forgets WHERE at_ms > $1) + "
      "(SELECT COUNT(*) FROM fleet_breakers WHERE at_ms > $1)",
      {ToValue(not_after)});
  if (!rows.ok()) return rows.status();
  return rows->front().Int(0);
}

absl::Status History::Record(const IncidentRecord& incident, absl::Time now) {
  const absl::Time at = std::clamp(incident.detected, absl::UnixEpoch(), now);
  return InTransaction(database_, [&]() -> absl::Status {
    auto known =
        database_.Run("SELECT 1 FROM fleet_incidents WHERE incident = $1", {Clean(incident.id)});
    if (!known.ok()) return known.status();
    if (!known->empty()) return absl::OkStatus();
    absl::Status status = RecordIncident(database_, incident, at, now);
    const size_t count = std::min(incident.culprits.size(), kMaxRememberedCulprits);
    for (size_t i = 0; i < count && status.ok(); ++i) {
      status = RecordCulprit(database_, incident, incident.culprits[i], at);
    }
    return status;
  });
}

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

absl::StatusOr<Facts> History::FactsAbout(const std::string& machine, RemovalMode mode,
                                          absl::Time since, const std::string& recorded_by,
                                          absl::Time now) {
  auto facts = ReadFacts(database_, {machine, mode, since, recorded_by, now});
  if (!facts.ok()) return facts.status();
  auto breaker = BreakerOf(mode, recorded_by);
  if (!breaker.ok()) return breaker.status();
  facts->breaker = *std::move(breaker);
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

absl::StatusOr<Breaker> History::BreakerOf(RemovalMode mode, const std::string& recorded_by) {
  auto rows = database_.Run(
      "SELECT is_open, reason, at_ms, who FROM fleet_breakers WHERE mode = $1 "
      "OR (mode = $2 AND is_open = 1) ORDER BY is_open DESC, mode LIMIT 1",
      {BreakerName(mode, ""), BreakerName(mode, recorded_by)});
  if (!rows.ok()) return rows.status();
  Breaker breaker;
  if (rows->empty()) return breaker;
  const Row& row = rows->front();
  breaker.open = row.Int(0) != 0;
  breaker.reason = row.Text(1);
  breaker.since = row.Time(2);
  breaker.who = row.Text(3);
  return breaker;
}

absl::StatusOr<std::vector<std::string>> History::StoppedRoles(RemovalMode mode) {
  auto rows = database_.Run("SELECT mode FROM fleet_breakers WHERE is_open = 1 ORDER BY mode");
  if (!rows.ok()) return rows.status();
  const std::string of_mode = absl::StrCat(std::string(RemovalModeName(mode)), "/");
  std::vector<std::string> roles;
  for (const Row& row : *rows) {
    const std::string name = row.Text(0);
    if (name.starts_with(of_mode)) roles.push_back(name.substr(of_mode.size()));
  }
  return roles;
}

absl::Status History::SetBreaker(RemovalMode mode, bool open, const std::string& reason,
                                 const std::string& who, absl::Time now,
                                 const std::string& recorded_by) {
  return database_
      .Run(
          "INSERT INTO fleet_breakers (mode, is_open, reason, at_ms, who) "
          "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (mode) DO UPDATE SET "
          "is_open = excluded.is_open, reason = excluded.reason, at_ms = excluded.at_ms, "
          "who = excluded.who",
          {BreakerName(mode, recorded_by), int64_t{open}, Clean(reason, kMaxHistorySentence),
           ToValue(now), Clean(who)})
      .status();
}

absl::Status History::Forget(const std::string& machine, const std::string& who, absl::Time now) {
  return database_
      .Run(
          "INSERT INTO fleet_forgets (machine, at_ms, who) VALUES ($1, $2, $3) "
          "ON CONFLICT DO NOTHING",
          {Clean(machine), ToValue(now), Clean(who)})
      .status();
}

absl::Status History::ConfirmRepair(const std::string& incident, const std::string& machine,
                                    const std::string& repair, const std::string& who,
                                    absl::Time now) {
  if (repair != "chip" && repair != "nic" && repair != "none") {
    return absl::InvalidArgumentError(
        absl::StrCat("a repair is chip, nic or none, not '", repair, "'"));
  }
  auto named =
      database_.Run("SELECT 1 FROM fleet_culprits WHERE incident = $1 AND machine = $2 LIMIT 1",
                    {Clean(incident), Clean(machine)});
  if (!named.ok()) return named.status();
  if (named->empty()) {
    return absl::NotFoundError(absl::StrCat("incident ", incident, " does not name ", machine,
                                            "; rapideye fleet history lists what it names"));
  }
  return database_
      .Run(
          "INSERT INTO fleet_repairs (incident, machine, repair, at_ms, who) "
          "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (incident, machine) DO UPDATE SET "
          "repair = excluded.repair, at_ms = excluded.at_ms, who = excluded.who",
          {Clean(incident), Clean(machine), repair, ToValue(now), Clean(who)})
      .status();
}

absl::StatusOr<bool> History::DropBefore(absl::Time incidents, absl::Time digests) {
  return WithLock(database_, [&]() -> absl::StatusOr<bool> {
    auto cleared = database_.Run(
        "UPDATE fleet_incidents SET digest = '' WHERE incident IN (SELECT incident "
        "FROM fleet_incidents WHERE at_ms < $1 AND digest <> '' LIMIT $2) RETURNING incident",
        {ToValue(digests), kMaxDroppedIncidents});
    if (!cleared.ok()) return cleared.status();
    auto dropped = database_.Run(
        "DELETE FROM fleet_incidents WHERE incident IN (SELECT incident FROM fleet_incidents "
        "WHERE at_ms < $1 LIMIT $2) RETURNING incident",
        {ToValue(incidents), kMaxDroppedIncidents});
    if (!dropped.ok()) return dropped.status();
    for (const Row& row : *dropped) {
      for (const char* table :
           {"fleet_culprits", "fleet_decisions", "fleet_tasks", "fleet_repairs"}) {
        auto rows = database_.Run(absl::StrCat("DELETE FROM ", table, " WHERE incident = $1"),
                                  {row.Text(0)});
        if (!rows.ok()) return rows.status();
      }
    }
    auto forgets =
        database_.Run("DELETE FROM fleet_forgets WHERE at_ms < $1", {ToValue(incidents)});
    if (!forgets.ok()) return forgets.status();
    const auto most = static_cast<size_t>(kMaxDroppedIncidents);
    return cleared->size() == most || dropped->size() == most;
  });
}

}  // namespace rapideye::coordinator
