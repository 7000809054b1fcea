#include "coordinator/fleet/history.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/limits.h"
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
