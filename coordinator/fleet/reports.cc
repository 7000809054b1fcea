#include "coordinator/fleet/reports.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/limits.h"

namespace rapideye::coordinator {
namespace {

using Happenings = std::vector<Happening>;

std::string CauseText(const std::string& cause, const std::string& detail) {
  return detail.empty() ? cause : absl::StrCat(cause, " ", detail);
}

// The removal that an incident allows by itself.
std::string GroundsText(const std::string& grounds) {
  if (grounds == GroundsName(Grounds::kDirect)) return "grounds for removal at once";
  if (grounds == GroundsName(Grounds::kRepetition)) return "grounds for removal if it repeats";
  return "no grounds for removal";
}

// Runs a query about a machine and adds the happenings that `read` makes of its rows.
template <typename Read>
absl::Status AddHappenings(Database& database, const std::string& statement,
                           const std::string& machine, Happenings& happenings, Read read) {
  auto rows = database.Run(statement, {machine});
  if (!rows.ok()) return rows.status();
  for (const Row& row : *rows) happenings.push_back(read(row));
  return absl::OkStatus();
}

absl::Status AddIncidents(Database& database, const std::string& machine, Happenings& happenings) {
  return AddHappenings(
      database,
      "SELECT c.at_ms, c.incident, i.cause, i.detail, c.job, c.slice, c.task, c.host, c.grounds, "
      "i.recorded_by FROM fleet_culprits c JOIN fleet_incidents i ON i.incident = c.incident "
      "WHERE c.machine = $1",
      machine, happenings, [](const Row& row) {
        const std::string slice = absl::StrCat(row.Int(5)), task = absl::StrCat(row.Int(6));
        Happening happening{row.Time(0),
                            "incident",
                            row.Text(1),
                            absl::StrCat(CauseText(row.Text(2), row.Text(3)), " at slice ", slice,
                                         " task ", task, " of job ", row.Text(4), ", as host ",
                                         row.Text(7), "; ", GroundsText(row.Text(8)),
                                         row.Text(9).empty() ? "" : "; recorded by ", row.Text(9)),
                            {{"cause", row.Text(2)},
                             {"detail", row.Text(3)},
                             {"job", row.Text(4)},
                             {"slice", slice},
                             {"task", task},
                             {"host", row.Text(7)},
                             {"grounds", row.Text(8)}}};
        if (!row.Text(9).empty()) happening.details.emplace_back("recordedBy", row.Text(9));
        return happening;
      });
}

absl::Status AddDecisions(Database& database, const std::string& machine, Happenings& happenings) {
  return AddHappenings(database,
                       "SELECT decided_ms, incident, action, mode, reason, rule "
                       "FROM fleet_decisions WHERE machine = $1",
                       machine, happenings, [](const Row& row) {
                         return Happening{row.Time(0),
                                          "decision",
                                          row.Text(1),
                                          absl::StrCat(row.Text(2), " (", row.Text(3),
                                                       "): ", row.Text(4), " [", row.Text(5), "]"),
                                          {{"action", row.Text(2)},
                                           {"mode", row.Text(3)},
                                           {"reason", row.Text(4)},
                                           {"rule", row.Text(5)}}};
                       });
}

absl::Status AddHooks(Database& database, const std::string& machine, Happenings& happenings) {
  return AddHappenings(
      database,
      "SELECT CASE WHEN finished_ms > 0 THEN finished_ms ELSE created_ms END, incident, hook, "
      "state, attempts, outcome, output FROM fleet_tasks WHERE subject = $1",
      machine, happenings, [](const Row& row) {
        const std::string outcome = row.Text(5), attempts = absl::StrCat(row.Int(4));
        return Happening{row.Time(0),
                         "hook",
                         row.Text(1),
                         absl::StrCat(row.Text(2), ": ", row.Text(3), ", attempts: ", attempts,
                                      outcome.empty() ? "" : absl::StrCat("; ", outcome)),
                         {{"hook", row.Text(2)},
                          {"state", row.Text(3)},
                          {"attempts", attempts},
                          {"outcome", outcome},
                          {"output", row.Text(6)}}};
      });
}

absl::Status AddWordsOfOperators(Database& database, const std::string& machine,
                                 Happenings& happenings) {
  const auto by = [](const std::string& who) {
    return who.empty() ? "" : absl::StrCat(" (", who, ")");
  };
  absl::Status status = AddHappenings(
      database, "SELECT at_ms, incident, repair, who FROM fleet_repairs WHERE machine = $1",
      machine, happenings, [&](const Row& row) {
        return Happening{row.Time(0),
                         "repair",
                         row.Text(1),
                         absl::StrCat("found: ", row.Text(2), by(row.Text(3))),
                         {{"repair", row.Text(2)}, {"who", row.Text(3)}}};
      });
  if (!status.ok()) return status;
  return AddHappenings(database, "SELECT at_ms, who FROM fleet_forgets WHERE machine = $1", machine,
                       happenings, [&](const Row& row) {
                         return Happening{
                             row.Time(0),
                             "forgotten",
                             "",
                             absl::StrCat("what was before no longer counts", by(row.Text(1))),
                             {{"who", row.Text(1)}}};
                       });
}

// The first column of a query's rows.
absl::StatusOr<std::vector<std::string>> Texts(Database& database, const std::string& statement,
                                               const std::vector<Value>& values) {
  auto rows = database.Run(statement, values);
  if (!rows.ok()) return rows.status();
  std::vector<std::string> texts;
  for (const Row& row : *rows) texts.push_back(row.Text(0));
  return texts;
}

}  // namespace

absl::StatusOr<std::vector<Offender>> Offenders(Database& database, absl::Time since,
                                                absl::Time now, size_t limit) {
  auto rows = database.Run(
      "SELECT c.machine, i.cause, i.detail, COUNT(DISTINCT c.incident) AS incidents, "
      "MAX(c.at_ms), (SELECT h.host FROM fleet_culprits h WHERE h.machine = c.machine "
      "ORDER BY h.at_ms DESC, h.incident DESC LIMIT 1) "
      "FROM fleet_culprits c JOIN fleet_incidents i ON i.incident = c.incident "
      "WHERE c.at_ms >= $1 AND c.at_ms > COALESCE("
      "(SELECT MAX(f.at_ms) FROM fleet_forgets f WHERE f.machine = c.machine "
      "AND f.at_ms <= $2), -1) "
      "GROUP BY c.machine, i.cause, i.detail ORDER BY incidents DESC, i.cause, i.detail",
      {ToValue(since), ToValue(now + kLargestClockError)});
  if (!rows.ok()) return rows.status();
  std::map<std::string, Offender> by_machine;
  for (const Row& row : *rows) {
    Offender& offender = by_machine[row.Text(0)];
    offender.machine = row.Text(0);
    offender.host = row.Text(5);
    offender.incidents += row.Int(3);
    offender.causes.push_back(
        absl::StrCat(CauseText(row.Text(1), row.Text(2)), " (", row.Int(3), ")"));
    offender.last_seen = std::max(offender.last_seen, row.Time(4));
  }
  std::vector<Offender> offenders;
  for (auto& [machine, offender] : by_machine) offenders.push_back(std::move(offender));
  std::sort(offenders.begin(), offenders.end(), [](const Offender& a, const Offender& b) {
    return std::tie(b.incidents, b.last_seen, a.machine) <
           std::tie(a.incidents, a.last_seen, b.machine);
  });
  if (offenders.size() > limit) offenders.resize(limit);
  return offenders;
}

absl::StatusOr<std::optional<LatestDecision>> LatestDecisionAbout(Database& database,
                                                                  const std::string& machine,
                                                                  RemovalMode mode) {
  auto rows = database.Run(
      "SELECT incident, action, rule, reason, decided_ms FROM fleet_decisions "
      "WHERE machine = $1 AND mode = $2 ORDER BY decided_ms DESC, incident DESC LIMIT 1",
      {machine, std::string(RemovalModeName(mode))});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::nullopt;
  const Row& row = rows->front();
  return LatestDecision{row.Text(0), row.Text(1), row.Text(2), row.Text(3), row.Time(4)};
}

absl::StatusOr<std::vector<std::string>> RemovalsOf(Database& database,
                                                    const std::string& machine) {
  return Texts(database,
               "SELECT incident FROM fleet_decisions WHERE machine = $1 AND action = 'remove' "
               "GROUP BY incident ORDER BY MAX(decided_ms) DESC, incident",
               {machine});
}

absl::StatusOr<std::vector<std::string>> MachinesNamed(Database& database,
                                                       const std::string& name) {
  auto machines = Texts(database,
                        "SELECT DISTINCT machine FROM fleet_culprits "
                        "WHERE machine = $1 OR hardware = $1 OR host = $1 OR node = $1",
                        {name});
  if (machines.ok()) std::sort(machines->begin(), machines->end());
  return machines;
}

absl::StatusOr<std::string> HostOf(Database& database, const std::string& machine) {
  const auto hosts = Texts(database,
                           "SELECT host FROM fleet_culprits WHERE machine = $1 "
                           "ORDER BY at_ms DESC, incident DESC LIMIT 1",
                           {machine});
  if (!hosts.ok()) return hosts.status();
  return hosts->empty() ? "" : hosts->front();
}

absl::StatusOr<std::vector<std::string>> KnownNames(Database& database, size_t limit) {
  return Texts(database,
               "SELECT name FROM (SELECT host AS name, at_ms FROM fleet_culprits UNION ALL "
               "SELECT node AS name, at_ms FROM fleet_culprits WHERE node IS NOT NULL UNION ALL "
               "SELECT hardware AS name, at_ms FROM fleet_culprits WHERE hardware IS NOT NULL) "
               "AS named GROUP BY name ORDER BY MAX(at_ms) DESC, name LIMIT $1",
               {static_cast<int64_t>(limit)});
}

absl::StatusOr<std::vector<std::string>> KnownIncidents(Database& database, size_t limit) {
  return Texts(database,
               "SELECT incident FROM fleet_incidents ORDER BY at_ms DESC, incident LIMIT $1",
               {static_cast<int64_t>(limit)});
}

absl::StatusOr<std::vector<NamedMachine>> MachinesOf(Database& database,
                                                     const std::string& incident) {
  auto known =
      Texts(database, "SELECT incident FROM fleet_incidents WHERE incident = $1", {incident});
  if (!known.ok()) return known.status();
  if (known->empty()) {
    return absl::NotFoundError(absl::StrCat("the fleet history has no incident ", incident));
  }
  auto rows = database.Run(
      "SELECT machine, MAX(host), MAX(node), MAX(hardware) FROM fleet_culprits "
      "WHERE incident = $1 GROUP BY machine",
      {incident});
  if (!rows.ok()) return rows.status();
  std::vector<NamedMachine> machines;
  for (const Row& row : *rows) {
    machines.push_back({row.Text(0), row.Text(1), row.OptionalText(2), row.OptionalText(3)});
  }
  std::sort(machines.begin(), machines.end(),
            [](const NamedMachine& a, const NamedMachine& b) { return a.machine < b.machine; });
  return machines;
}

absl::StatusOr<std::vector<Happening>> HistoryOf(Database& database, const std::string& machine) {
  Happenings happenings;
  for (const auto& add : {AddIncidents, AddDecisions, AddHooks, AddWordsOfOperators}) {
    if (absl::Status status = add(database, machine, happenings); !status.ok()) return status;
  }
  // A consequence stands after its cause, also within one millisecond.
  std::stable_sort(happenings.begin(), happenings.end(),
                   [](const Happening& a, const Happening& b) { return a.at < b.at; });
  return happenings;
}

absl::StatusOr<std::vector<Precision>> PrecisionOf(Database& database, RemovalMode mode) {
  auto rows = database.Run(
      "SELECT i.cause, i.detail, r.repair FROM fleet_decisions d "
      "JOIN fleet_incidents i ON i.incident = d.incident "
      "LEFT JOIN fleet_repairs r ON r.incident = d.incident AND r.machine = d.machine "
      "WHERE d.action = 'remove' AND d.mode = $1",
      {std::string(RemovalModeName(mode))});
  if (!rows.ok()) return rows.status();
  std::map<std::pair<std::string, std::string>, Precision> by_cause;
  for (const Row& row : *rows) {
    Precision& precision = by_cause[{row.Text(0), row.Text(1)}];
    precision.cause = row.Text(0);
    precision.detail = row.Text(1);
    const std::string repair = row.Text(2);
    ++(repair.empty() ? precision.unknown : repair == "none" ? precision.wrong : precision.right);
  }
  std::vector<Precision> all;
  for (auto& [cause, precision] : by_cause) all.push_back(std::move(precision));
  return all;
}

absl::StatusOr<int64_t> HooksWaiting(Database& database) {
  auto rows = database.Run("SELECT COUNT(*) FROM fleet_tasks WHERE state IN ('due', 'acting')");
  if (!rows.ok()) return rows.status();
  return rows->front().Int(0);
}

}  // namespace rapideye::coordinator
