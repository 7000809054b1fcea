#include "coordinator/fleet/spool.h"

#include <utility>

namespace rapideye::coordinator {
namespace {

// Errors of a history that will be back; until then, every other incident would fail as well.
bool Passes(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsAborted(status);
}

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

}  // namespace

// No clock of this machine decides anything here: the history stamps the rows that it takes.
absl::Status Spool::Put(const IncidentRecord& incident) {
  return History(local_).Record(incident, absl::InfiniteFuture());
}

absl::StatusOr<std::vector<CulpritRecord>> Spool::CulpritsOf(const std::string& incident) {
  auto rows = local_.Run(
      "SELECT machine, hardware, host, node, chip, core_type, core_index, nic, grounds, slice, "
      "task, module, fingerprint, home_slice, home_task "
      "FROM fleet_culprits WHERE incident = $1 ORDER BY culprit",
      {incident});
  if (!rows.ok()) return rows.status();
  std::vector<CulpritRecord> culprits;
  for (const Row& row : *rows) culprits.push_back(ReadCulprit(row));
  return culprits;
}

absl::StatusOr<std::vector<IncidentRecord>> Spool::Waiting() {
  auto rows = local_.Run(
      "SELECT incident, job, incarnation, cause, detail, confidence, detected_ms, hosts, slices, "
      "digest FROM fleet_incidents ORDER BY detected_ms, incident");
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
    incident.digest = row.Text(9);
    auto culprits = CulpritsOf(incident.id);
    if (!culprits.ok()) return culprits.status();
    incident.culprits = *std::move(culprits);
  }
  return waiting;
}

absl::Status Spool::Remove(const std::string& incident) {
  return InTransaction(local_, [&]() -> absl::Status {
    auto culprits = local_.Run("DELETE FROM fleet_culprits WHERE incident = $1", {incident});
    if (!culprits.ok()) return culprits.status();
    return local_.Run("DELETE FROM fleet_incidents WHERE incident = $1", {incident}).status();
  });
}

Spool::Forwarded Spool::ForwardTo(History& history, absl::Time now) {
  Forwarded result;
  const auto waiting = Waiting();
  if (!waiting.ok()) return {0, waiting.status()};
  for (const IncidentRecord& incident : *waiting) {
    absl::Status status = history.Record(incident, now);
    if (status.ok()) status = Remove(incident.id);
    if (status.ok()) {
      ++result.delivered;
      continue;
    }
    result.problem = status;
    if (Passes(status)) return result;
  }
  return result;
}

}  // namespace rapideye::coordinator
