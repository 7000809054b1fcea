// Makes rows of a fleet history of any bytes, as tenants' roles might add them beside those of the
// history's owner, and lets a remover that enforces decide: no machine is removed for a tenant's
// row that the platform has not given to that tenant, and none at once; decisions about the owner's
// findings are the same without the tenants' rows.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/removal/remover.h"
#include "tests/fleet/incidents.h"
#include "tests/fuzz/fuzzing.h"

namespace rapideye::coordinator {
namespace {

using testing::kThen;

constexpr size_t kMostRows = 12;
constexpr std::array<const char*, 3> kRoles = {"", "tenant_a", "tenant_b"};
// Each tenant has one machine; "m2" and all others are of nobody.
const std::vector<TenantMachine> kMachines = {{"tenant_a", {"m0", "host-of-m0", "node-m0"}},
                                              {"tenant_b", {"m1", "host-of-m1", "node-m1"}}};

struct Made {
  std::string role;
  IncidentRecord incident;
};

std::string AnyName(FuzzedDataProvider& data, const std::string& otherwise) {
  if (data.ConsumeIntegralInRange(0, 7) != 0) return otherwise;
  const std::string machine = absl::StrCat("m", data.ConsumeIntegralInRange(0, 3));
  switch (data.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return machine;
    case 1:
      return "host-of-" + machine;
    case 2:
      return "HOST-OF-" + machine + "*";
    default:
      return data.ConsumeRandomLengthString(12);
  }
}

std::optional<std::string> Sometimes(FuzzedDataProvider& data, std::string name) {
  if (data.ConsumeIntegralInRange(0, 4) == 0) return std::nullopt;
  return name;
}

CulpritRecord AnyCulprit(FuzzedDataProvider& data) {
  const std::string machine = absl::StrCat("m", data.ConsumeIntegralInRange(0, 3));
  CulpritRecord culprit =
      testing::BadChip(machine, data.ConsumeBool() ? data.ConsumeIntegralInRange<int64_t>(0, 5)
                                                   : data.ConsumeIntegral<int64_t>());
  culprit.host = AnyName(data, culprit.host);
  culprit.hardware = Sometimes(data, AnyName(data, machine));
  culprit.node = Sometimes(data, AnyName(data, "node-" + machine));
  culprit.machine = data.ConsumeIntegralInRange(0, 7) == 0
                        ? absl::StrCat("hardware:m", data.ConsumeIntegralInRange(0, 3))
                        : MachineKey(culprit.hardware, culprit.host);
  culprit.grounds = static_cast<Grounds>(data.ConsumeIntegralInRange(0, 2));
  culprit.slice = data.ConsumeIntegralInRange<int64_t>(0, 2);
  if (data.ConsumeBool()) culprit.fingerprint = absl::StrCat(data.ConsumeIntegralInRange(0, 2));
  return culprit;
}

Made AnyRow(FuzzedDataProvider& data, int number) {
  Made made;
  made.role = kRoles[data.ConsumeIntegralInRange<size_t>(0, kRoles.size() - 1)];
  const absl::Time at = kThen - absl::Minutes(data.ConsumeIntegralInRange(0, 20'000));
  std::vector<CulpritRecord> culprits;
  for (int i = data.ConsumeIntegralInRange(1, 3); i > 0; --i) culprits.push_back(AnyCulprit(data));
  made.incident = testing::Incident(absl::StrCat("i", number), at, std::move(culprits));
  made.incident.job = absl::StrCat("job", data.ConsumeIntegralInRange(0, 2));
  made.incident.hosts =
      data.ConsumeBool() ? 200 : data.ConsumeIntegralInRange<int64_t>(0, 1'000'000'000);
  if (made.role.empty()) return made;
  if (data.ConsumeIntegralInRange(0, 3) == 0) {
    made.incident.cause = data.ConsumeRandomLengthString(16);
    made.incident.detail = data.ConsumeRandomLengthString(16);
  }
  return made;
}

// Runs the hooks of removals by writing down what was removed.
class Written : public HookRunner {
 public:
  HookResult Run(const HookCall& call) override {
    removed.push_back(call.finding);
    return {true, "exited with status 0", ""};
  }
  std::vector<Finding> removed;
};

struct Outcome {
  std::vector<Finding> removed;
  std::map<std::pair<std::string, std::string>, std::string> of_owner;  // decisions
  std::map<std::string, int64_t> direct;                                // removals by role
};

// An empty history, ready for use: to make its tables anew for each input would take far longer.
Database& EmptyHistory() {
  static const std::unique_ptr<Database> database = [] {
    auto made = OpenDatabase("sqlite::memory:").value();
    Require(Migrate(*made, FleetMigrations()).ok(), "a history can be made");
    return made;
  }();
  for (const char* table :
       {"incidents", "culprits", "decisions", "forgets", "repairs", "breakers", "tasks"}) {
    Require(database->Run(absl::StrCat("DELETE FROM fleet_", table)).ok(), "a table is there");
  }
  return *database;
}

void Record(Database& database, const Made& made) {
  // A row that the history refuses is none.
  if (!History(database).Record(made.incident, kThen).ok()) return;
  for (const char* table : {"fleet_incidents", "fleet_culprits"}) {
    // The server sets it, whatever the tenant writes (tenant_guards.cc).
    Require(database
                .Run(absl::StrCat("UPDATE ", table, " SET recorded_by = $1 WHERE incident = $2"),
                     {made.role, made.incident.id})
                .ok(),
            "a role can be noted");
  }
}

Outcome Decide(const std::vector<Made>& rows, bool tenants) {
  Database& database = EmptyHistory();
  for (const Made& made : rows) {
    if (tenants || made.role.empty()) Record(database, made);
  }
  Written hooks;
  Outcome outcome;
  Remover::Settings settings;
  settings.policy.mode = RemovalMode::kEnforce;
  settings.policy.fleet_hosts = 2000;
  settings.policy.tenant_machines = kMachines;
  settings.hooks = {"/hooks/drain"};
  settings.holder = "remover";
  settings.lease = absl::Minutes(2);
  settings.now = [] { return kThen; };
  settings.decided = [&outcome](const Remover::Decided& decided) {
    const auto& [finding, decision] = decided;
    if (finding.recorded_by.empty()) {
      outcome.of_owner[{finding.incident, finding.machine}] =
          absl::StrCat(std::string(ActionName(decision.action)), " ", decision.rule);
    } else if (decision.rule == "direct") {
      ++outcome.direct[finding.recorded_by];
    }
  };
  Remover remover = Remover::Make(database, hooks, std::move(settings)).value();
  for (int i = 0; i < 2; ++i) {
    const auto report = remover.Turn();
    Require(report.ok(), "a row stops no turn", report.status().ToString());
  }
  outcome.removed = std::move(hooks.removed);
  return outcome;
}

void Fuzz(FuzzedDataProvider& data) {
  std::vector<Made> rows;
  while (data.remaining_bytes() > 0 && rows.size() < kMostRows) {
    rows.push_back(AnyRow(data, static_cast<int>(rows.size())));
  }
  const Outcome with = Decide(rows, true);
  const std::set<std::string> of_a = {"m0", "host-of-m0", "node-m0"};
  const std::set<std::string> of_b = {"m1", "host-of-m1", "node-m1"};
  for (const Finding& finding : with.removed) {
    if (finding.recorded_by.empty()) continue;
    const auto& own = finding.recorded_by == "tenant_a" ? of_a : of_b;
    Require(own.contains(finding.host), "a tenant's row removes only its own machine",
            finding.recorded_by + " " + finding.host);
    Require(!finding.node.has_value() || own.contains(*finding.node), "nor the node of another",
            finding.node.value_or(""));
    Require(finding.machine ==
                "hardware:" + std::string(finding.recorded_by == "tenant_a" ? "m0" : "m1"),
            "nor the hardware of another", finding.machine);
  }
  Require(with.direct.empty(), "a tenant's word removes nothing at once");
  // Nothing of the owner can differ if there is nothing of the owner.
  if (with.of_owner.empty()) return;
  const Outcome without = Decide(rows, false);
  for (const auto& [finding, decision] : without.of_owner) {
    const auto found = with.of_owner.find(finding);
    Require(found != with.of_owner.end() && found->second == decision,
            "a tenant's rows change no decision about the owner's",
            absl::StrCat(finding.first, " ", finding.second, ": ", decision, " / ",
                         found == with.of_owner.end() ? "none" : found->second));
  }
}

}  // namespace
}  // namespace rapideye::coordinator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider provider(data, size);
  rapideye::coordinator::Fuzz(provider);
  return 0;
}
