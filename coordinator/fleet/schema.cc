#include "coordinator/fleet/schema.h"

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/tenant_guards.h"

namespace rapideye::coordinator {
namespace {

// Of two processes that migrate at once, the tables of the first refuse the second, which finds
// them made when it looks again.
constexpr int kTries = 5;

absl::StatusOr<int64_t> VersionOf(Database& database) {
  auto rows = database.Run("SELECT COALESCE(MAX(version), 0) FROM fleet_schema");
  if (!rows.ok()) return rows.status();
  return rows->front().Int(0);
}

absl::Status TooNew(Database& database, int64_t version, int64_t known) {
  return absl::FailedPreconditionError(
      absl::StrCat("the fleet history ", database.Name(), " has schema version ", version,
                   ", this program knows ", known,
                   ": run the version of rapideye that wrote it, or a newer one"));
}

absl::Status Apply(Database& database, const Migration& migration) {
  for (const std::string& statement : migration.statements) {
    if (auto rows = database.Run(statement); !rows.ok()) return rows.status();
  }
  for (const std::string& statement : migration.postgresql) {
    if (!database.IsPostgresql()) break;
    if (auto rows = database.Run(statement); !rows.ok()) return rows.status();
  }
  return database
      .Run("INSERT INTO fleet_schema (version, description) VALUES ($1, $2)",
           {migration.version, migration.description})
      .status();
}

absl::Status TryToMigrate(Database& database, const std::vector<Migration>& migrations) {
  return InTransaction(database, [&]() -> absl::Status {
    auto made = database.Run(
        "CREATE TABLE IF NOT EXISTS fleet_schema ("
        "version BIGINT PRIMARY KEY, description TEXT NOT NULL)");
    if (!made.ok()) return made.status();
    const absl::StatusOr<int64_t> version = VersionOf(database);
    if (!version.ok()) return version.status();
    const int64_t known = migrations.empty() ? 0 : migrations.back().version;
    if (*version > known) return TooNew(database, *version, known);
    for (const Migration& migration : migrations) {
      if (migration.version <= *version) continue;
      if (absl::Status status = Apply(database, migration); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

std::vector<std::string> FirstTables() {
  return {
      "CREATE TABLE fleet_lock (name TEXT PRIMARY KEY, turns BIGINT NOT NULL)",
      "INSERT INTO fleet_lock (name, turns) VALUES ('fleet', 0)",
      // at_ms: the event's time by the history's clock; detected_ms: by its coordinator's clock.
      "CREATE TABLE fleet_incidents ("
      "incident TEXT PRIMARY KEY, job TEXT NOT NULL, incarnation TEXT NOT NULL, "
      "cause TEXT NOT NULL, detail TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, "
      "detected_ms BIGINT NOT NULL, at_ms BIGINT NOT NULL, recorded_ms BIGINT NOT NULL, "
      "hosts BIGINT NOT NULL, slices BIGINT NOT NULL, digest TEXT NOT NULL)",
      "CREATE TABLE fleet_culprits ("
      "incident TEXT NOT NULL, culprit TEXT NOT NULL, machine TEXT NOT NULL, hardware TEXT, "
      "host TEXT NOT NULL, node TEXT, chip BIGINT, core_type TEXT NOT NULL, core_index BIGINT, "
      "nic TEXT, grounds TEXT NOT NULL, job TEXT NOT NULL, slice BIGINT NOT NULL, "
      "task BIGINT NOT NULL, module TEXT, fingerprint TEXT, at_ms BIGINT NOT NULL, "
      "PRIMARY KEY (incident, culprit))",
      "CREATE INDEX fleet_culprits_by_machine ON fleet_culprits (machine, at_ms)",
      "CREATE INDEX fleet_culprits_by_coordinate ON fleet_culprits (job, slice, task)",
      "CREATE INDEX fleet_culprits_by_time ON fleet_culprits (at_ms)",
      "CREATE TABLE fleet_decisions ("
      "incident TEXT NOT NULL, machine TEXT NOT NULL, mode TEXT NOT NULL, action TEXT NOT NULL, "
      "rule TEXT NOT NULL, reason TEXT NOT NULL, host TEXT NOT NULL, job TEXT NOT NULL, "
      "slices TEXT NOT NULL, decided_ms BIGINT NOT NULL, expires_ms BIGINT NOT NULL, "
      "PRIMARY KEY (incident, machine, mode))",
      "CREATE INDEX fleet_decisions_by_action ON fleet_decisions (action, decided_ms)",
      "CREATE INDEX fleet_decisions_by_machine ON fleet_decisions (machine, decided_ms)",
      "CREATE TABLE fleet_forgets ("
      "machine TEXT NOT NULL, at_ms BIGINT NOT NULL, who TEXT NOT NULL, "
      "PRIMARY KEY (machine, at_ms))",
      "CREATE TABLE fleet_repairs ("
      "incident TEXT NOT NULL, machine TEXT NOT NULL, repair TEXT NOT NULL, at_ms BIGINT NOT NULL, "
      "who TEXT NOT NULL, PRIMARY KEY (incident, machine))",
      "CREATE TABLE fleet_breakers ("
      "mode TEXT PRIMARY KEY, is_open BIGINT NOT NULL, reason TEXT NOT NULL, "
      "at_ms BIGINT NOT NULL, who TEXT NOT NULL)",
      "CREATE TABLE fleet_tasks ("
      "task TEXT PRIMARY KEY, incident TEXT NOT NULL, subject TEXT NOT NULL, hook TEXT NOT NULL, "
      "state TEXT NOT NULL, holder TEXT NOT NULL, lease_ms BIGINT NOT NULL, "
      "attempts BIGINT NOT NULL, not_before_ms BIGINT NOT NULL, created_ms BIGINT NOT NULL, "
      "expires_ms BIGINT NOT NULL, finished_ms BIGINT NOT NULL, outcome TEXT NOT NULL, "
      "output TEXT NOT NULL)",
      "CREATE INDEX fleet_tasks_by_state ON fleet_tasks (state, not_before_ms)",
      "CREATE INDEX fleet_tasks_by_incident ON fleet_tasks (incident, subject)",
  };
}

// Each older task counts as one of a first hook: older hooks ran in no order that had a meaning.
std::vector<std::string> OrderOfHooks() {
  return {"ALTER TABLE fleet_tasks ADD COLUMN ordinal BIGINT NOT NULL DEFAULT 0"};
}

// 0: not begun. For older tasks the time is not known, and their removals count from their
// decision.
std::vector<std::string> BeginningOfHooks() {
  return {"ALTER TABLE fleet_tasks ADD COLUMN begun_ms BIGINT NOT NULL DEFAULT 0"};
}

std::vector<std::string> WhereMachinesStood() {
  return {"ALTER TABLE fleet_culprits ADD COLUMN home_slice BIGINT",
          "ALTER TABLE fleet_culprits ADD COLUMN home_task BIGINT"};
}

// A job that is submitted again has another name, but the same program at the same place.
std::vector<std::string> LookupsByPlaceAndName() {
  return {"CREATE INDEX fleet_culprits_by_place ON fleet_culprits (slice, task, fingerprint)",
          "CREATE INDEX fleet_culprits_by_host ON fleet_culprits (host, at_ms)",
          "CREATE INDEX fleet_culprits_by_node ON fleet_culprits (node, at_ms)"};
}

// recorded_by: the role of the database that recorded an incident; empty: the owner of the history.
// Each lookup of a decision goes by role, so that one role's rows slow no decision about another's.
std::vector<std::string> WhoRecorded() {
  return {"ALTER TABLE fleet_incidents ADD COLUMN recorded_by TEXT NOT NULL DEFAULT ''",
          "ALTER TABLE fleet_culprits ADD COLUMN recorded_by TEXT NOT NULL DEFAULT ''",
          "ALTER TABLE fleet_decisions ADD COLUMN recorded_by TEXT NOT NULL DEFAULT ''",
          "DROP INDEX fleet_culprits_by_machine",
          "DROP INDEX fleet_culprits_by_coordinate",
          "DROP INDEX fleet_culprits_by_place",
          "DROP INDEX fleet_culprits_by_host",
          "DROP INDEX fleet_culprits_by_node",
          "CREATE INDEX fleet_culprits_by_machine ON fleet_culprits (machine, recorded_by, at_ms)",
          "CREATE INDEX fleet_culprits_by_coordinate "
          "ON fleet_culprits (recorded_by, job, slice, task)",
          "CREATE INDEX fleet_culprits_by_place "
          "ON fleet_culprits (recorded_by, slice, task, fingerprint)",
          "CREATE INDEX fleet_culprits_by_host ON fleet_culprits (host, recorded_by, at_ms)",
          "CREATE INDEX fleet_culprits_by_node ON fleet_culprits (node, recorded_by, at_ms)",
          "CREATE INDEX fleet_incidents_by_role ON fleet_incidents (recorded_by, recorded_ms)",
          "CREATE INDEX fleet_incidents_by_time ON fleet_incidents (at_ms)"};
}

}  // namespace

const std::vector<Migration>& FleetMigrations() {
  static const auto* const migrations =
      new std::vector<Migration>{{1, "incidents, decisions, tasks", FirstTables()},
                                 {2, "the order of hooks", OrderOfHooks()},
                                 {3, "lookups by place and name", LookupsByPlaceAndName()},
                                 {4, "when hooks began", BeginningOfHooks()},
                                 {5, "where machines stood", WhereMachinesStood()},
                                 {6, "who recorded", WhoRecorded(), TenantGuards()}};
  return *migrations;
}

absl::Status Migrate(Database& database, const std::vector<Migration>& migrations) {
  // A role that may only add to a history may not be allowed to make its tables: no statement is
  // tried if there is nothing to migrate.
  const absl::StatusOr<int64_t> version = VersionOf(database);
  if (version.ok() && !migrations.empty() && *version == migrations.back().version) {
    return absl::OkStatus();
  }
  absl::Status status = version.status();
  if (absl::IsUnavailable(status)) return status;
  for (int i = 0; i < kTries; ++i) {
    status = TryToMigrate(database, migrations);
    const bool final = status.ok() || absl::IsFailedPrecondition(status) ||
                       absl::IsUnavailable(status) || absl::IsPermissionDenied(status);
    if (final) return status;
  }
  return status;
}

absl::Status CheckSchema(Database& database) {
  const int64_t known = FleetMigrations().back().version;
  const absl::StatusOr<int64_t> version = VersionOf(database);
  // Neither database has an error code of its own for a missing table.
  if (absl::IsInternal(version.status()) || (version.ok() && *version == 0)) {
    return absl::NotFoundError(
        absl::StrCat(database.Name(),
                     " holds no fleet history: give the one that a coordinator or a remover "
                     "writes to"));
  }
  if (!version.ok()) return version.status();
  if (*version > known) return TooNew(database, *version, known);
  if (*version < known) {
    return absl::FailedPreconditionError(
        absl::StrCat("the fleet history ", database.Name(), " has schema version ", *version,
                     ", this program needs ", known,
                     ": start a coordinator or a remover of this version, which updates it"));
  }
  return absl::OkStatus();
}

absl::Status TakeLock(Database& database) {
  auto rows =
      database.Run("UPDATE fleet_lock SET turns = turns + 1 WHERE name = 'fleet' RETURNING turns");
  if (!rows.ok()) return rows.status();
  if (rows->empty()) {
    return absl::DataLossError(absl::StrCat("fleet history ", database.Name(),
                                            ": the row of fleet_lock is gone; restore it"));
  }
  return absl::OkStatus();
}

}  // namespace rapideye::coordinator
