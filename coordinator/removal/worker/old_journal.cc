#include "coordinator/removal/worker/old_journal.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/schema.h"

namespace rapideye::coordinator {
namespace {

CulpritRecord ReadCulprit(const Row& row) {
  CulpritRecord culprit;
  culprit.machine = row.Text(0);
  culprit.hardware = row.OptionalText(1);
  culprit.host = row.Text(2);
  culprit.node = row.OptionalText(3);
  culprit.chip = row.OptionalInt(4);
  culprit.core_type = row.Text(5);
  culprit.core_index = row.OptionalInt(6);
  culprit.nic = row.OptionalText(7);
  for (const Grounds grounds : {Grounds::kRepetition, Grounds::kDirect}) {
    if (row.Text(8) == GroundsName(grounds)) culprit.grounds = grounds;
  }
  culprit.slice = row.Int(9);
  culprit.task = row.Int(10);
  culprit.module = row.OptionalText(11);
  culprit.fingerprint = row.OptionalText(12);
  culprit.home_slice = row.OptionalInt(13);
  culprit.home_task = row.OptionalInt(14);
  return culprit;
}

absl::StatusOr<std::vector<CulpritRecord>> CulpritsOf(Database& database,
                                                      const std::string& incident) {
  auto rows = database.Run(
      "SELECT machine, hardware, host, node, chip, core_type, core_index, nic, grounds, slice, "
      "task, module, fingerprint, home_slice, home_task "
      "FROM fleet_culprits WHERE incident = $1 ORDER BY culprit",
      {incident});
  if (!rows.ok()) return rows.status();
  std::vector<CulpritRecord> culprits;
  for (const Row& row : *rows) culprits.push_back(ReadCulprit(row));
  return culprits;
}

absl::StatusOr<std::vector<IncidentRecord>> Incidents(Database& database) {
  auto rows = database.Run(
      "SELECT incident, job, incarnation, cause, detail, confidence, detected_ms, hosts, slices "
      "FROM fleet_incidents ORDER BY detected_ms, incident");
  if (!rows.ok()) return rows.status();
  std::vector<IncidentRecord> waiting;
  for (const Row& row : *rows) {
    IncidentRecord& incident = waiting.emplace_back();
    incident.id = row.Text(0);
    incident.job = row.Text(1);
    incident.incarnation = row.Text(2);
    incident.cause = row.Text(3);
    incident.detail = row.Text(4);
    incident.confidence = row.Number(5);
    incident.detected = row.Time(6);
    incident.hosts = row.Int(7);
    incident.slices = row.Int(8);
    auto culprits = CulpritsOf(database, incident.id);
    if (!culprits.ok()) return culprits.status();
    incident.culprits = *std::move(culprits);
  }
  return waiting;
}

absl::StatusOr<std::vector<Task>> Hooks(Database& database) {
  auto rows = database.Run(
      "SELECT incident, MIN(created_ms) FROM fleet_tasks GROUP BY incident ORDER BY 2, 1");
  if (!rows.ok()) return rows.status();
  std::vector<Task> hooks;
  for (const Row& row : *rows) {
    const auto tasks = Journal(database, "", {}).TasksOf(row.Text(0));
    if (!tasks.ok()) return tasks.status();
    hooks.insert(hooks.end(), tasks->begin(), tasks->end());
  }
  return hooks;
}

}  // namespace

absl::StatusOr<OldJournal> ReadOldJournal(const std::string& path) {
  auto database = OpenDatabase(absl::StrCat("sqlite:", path), IfMissing::kFail);
  if (!database.ok()) return database.status();
  if (absl::Status status = Migrate(**database, FleetMigrations()); !status.ok()) return status;
  auto hooks = Hooks(**database);
  if (!hooks.ok()) return hooks.status();
  auto incidents = Incidents(**database);
  if (!incidents.ok()) return incidents.status();
  return OldJournal{.hooks = *std::move(hooks), .incidents = *std::move(incidents)};
}

}  // namespace rapideye::coordinator
