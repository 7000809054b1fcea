// Tests of a tenant whose role may add incidents to the shared history, and which lies in each way
// that its rights leave, against a real server and a remover that enforces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/fleet/limits.h"
#include "coordinator/fleet/schema.h"
#include "tests/fleet/remover_fixture.h"
#include "tests/fleet/tenant_roles.h"

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kTenant[] = "tenant_a";

class HostileTenantTest : public RemoverFixture {
 protected:
  void SetUp() override {
    // The server's clock stamps a tenant's rows.
    now_ = database_->WallClock().value();
    testing::GrantCoordinatorRights(*database_);
    tenants_ = testing::ConnectAs(made_, *database_, kTenant);
  }

  Remover::Settings Enforced(std::vector<TenantMachine> machines = {}) {
    Remover::Settings settings = Settings();
    settings.policy.tenant_machines = std::move(machines);
    return settings;
  }
  Remover::Report Turn(std::vector<TenantMachine> machines = {}) {
    now_ = std::max(now_, database_->WallClock().value());
    auto report = Make(*database_, Enforced(std::move(machines))).Turn();
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(Remover::Report());
  }
  // The tenant's counterpart of the fixture's Fail.
  absl::Status Accuse(const CulpritRecord& culprit, const std::string& job = "theirs") {
    IncidentRecord incident = Incident(absl::StrCat("t", next_++), now_, {culprit});
    incident.job = job;
    incident.hosts = 20'000;
    incident.digest = "{}";
    return History(*tenants_).Record(incident, now_);
  }
  CulpritRecord Chip(const std::string& hardware, Grounds grounds) {
    CulpritRecord culprit = BadChip(hardware, next_);
    culprit.grounds = grounds;
    return culprit;
  }
  std::vector<std::string> RemovedHosts() const {
    std::vector<std::string> hosts;
    for (const HookCall& call : hooks_.calls()) hosts.push_back(call.finding.host);
    return hosts;
  }
  static std::vector<std::string> Rules(const Remover::Report& report) {
    std::vector<std::string> rules;
    for (const Remover::Decided& decided : report.decisions) rules.push_back(decided.decision.rule);
    return rules;
  }
  absl::Status RunAsTenant(const std::vector<std::string>& statements) {
    return InTransaction(*tenants_, [&]() -> absl::Status {
      for (const std::string& statement : statements) {
        if (auto rows = tenants_->Run(statement); !rows.ok()) return rows.status();
      }
      return absl::OkStatus();
    });
  }
  static std::string IncidentRow(const std::string& id, const std::string& columns = "",
                                 const std::string& values = "") {
    return absl::StrCat(
        "INSERT INTO fleet_incidents (incident, job, incarnation, cause, detail, confidence, "
        "slices, digest",
        columns, ") VALUES (", id, ", 'llama', '', 'BAD_TPU_CHIP', 'TENSOR_CORE', 0.9, 1, ''",
        values, ")");
  }
  // Adds one culprit for each of `from`, at the place of the honest incident i1.
  static std::string CulpritRows(const std::string& id, const std::string& machine, int64_t from) {
    return absl::StrCat(
        "INSERT INTO fleet_culprits (incident, culprit, machine, hardware, host, core_type, "
        "grounds, job, slice, task, fingerprint, at_ms) SELECT ",
        id, ", 'c' || n, 'hardware:", machine, "', '", machine, "', 'host-of-", machine,
        "', '', 'direct', 'llama', 0, 1, 'abcd', 0 FROM generate_series(1, ", from, ") AS n");
  }
  static constexpr char kTimes[] = ", detected_ms, at_ms, recorded_ms, hosts";

  std::unique_ptr<Database> tenants_;
};

INSTANTIATE_TEST_SUITE_P(Shared, HostileTenantTest, ::testing::Values(testing::kPostgresql));

TEST_P(HostileTenantTest, RemovesNobodyByDefault) {
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(Accuse(Chip("victim", Grounds::kDirect)).ok());
  const Remover::Report report = Turn();
  EXPECT_THAT(Rules(report), ::testing::Each("tenant"));
  EXPECT_THAT(report.decisions, SizeIs(6));
  EXPECT_THAT(hooks_.calls(), IsEmpty());
  EXPECT_FALSE(history_.BreakerOf(RemovalMode::kEnforce)->open);
}

TEST_P(HostileTenantTest, OfItsOwnMachinesOnlyByRepetition) {
  const std::vector<TenantMachine> machines = {{kTenant, {"host-of-own", "OWN"}}};
  ASSERT_TRUE(Accuse(Chip("own", Grounds::kDirect)).ok());
  EXPECT_THAT(Rules(Turn(machines)), ElementsAre("repetition"));
  EXPECT_THAT(hooks_.calls(), IsEmpty());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Accuse(Chip("own", Grounds::kDirect)).ok());
  Turn(machines);
  EXPECT_THAT(RemovedHosts(), ElementsAre("host-of-own"));
}

TEST_P(HostileTenantTest, NamesNoOtherMachineBesideItsOwn) {
  const std::vector<TenantMachine> machines = {{kTenant, {"host-of-own", "own", "node-own"}},
                                               {"tenant_b", {"*"}}};
  CulpritRecord other_node = Chip("own", Grounds::kDirect);
  other_node.node = "node-of-victim";
  CulpritRecord other_hardware = Chip("victim", Grounds::kDirect);
  other_hardware.host = "host-of-own";
  CulpritRecord other_key = Chip("own", Grounds::kDirect);
  other_key.machine = "hardware:victim";
  for (const CulpritRecord& culprit : {other_node, other_hardware, other_key}) {
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(Accuse(culprit).ok());
  }
  // One machine has two names; the history would tell the hook only one of them.
  CulpritRecord first = Chip("own", Grounds::kDirect), second = first;
  second.host = "host-of-victim";
  second.chip = 1;
  ASSERT_TRUE(History(*tenants_).Record(Incident("two", now_, {first, second}), now_).ok());
  EXPECT_THAT(Rules(Turn(machines)), ::testing::Each("tenant"));
  EXPECT_THAT(hooks_.calls(), IsEmpty());
}

TEST_P(HostileTenantTest, ExoneratesNobody) {
  Fail("bad", 4);
  for (int64_t task = 1; task <= 4; ++task) {
    CulpritRecord other = BadChip("other", task);
    ASSERT_TRUE(Accuse(other, "llama").ok());
  }
  Turn();
  EXPECT_THAT(RemovedHosts(), ElementsAre("host-of-bad"));
}

TEST_P(HostileTenantTest, TakesNobodysName) {
  Fail("bad", 4);
  CulpritRecord other = Chip("other", Grounds::kRepetition);
  other.host = "host-of-bad";
  now_ += absl::Seconds(1);
  ASSERT_TRUE(Accuse(other).ok());
  Turn();
  EXPECT_THAT(RemovedHosts(), ElementsAre("host-of-bad"));
}

TEST_P(HostileTenantTest, MoreThanCanBeWeighedIsItsOwnAffair) {
  Fail("bad", 4);
  for (int i = 0; i < 3; ++i) {
    const std::string id = absl::StrCat("'many", i, "'");
    const absl::Status flooded =
        RunAsTenant({IncidentRow(id, kTimes, ", 0, 0, 0, 1"), CulpritRows(id, "bad", 1000)});
    ASSERT_TRUE(flooded.ok()) << flooded;
  }
  // The rows count at the present, not at the epoch that the tenant stated.
  ASSERT_TRUE(database_->Run("UPDATE fleet_culprits SET at_ms = $1", {ToValue(now_)}).ok());
  Turn();
  EXPECT_THAT(RemovedHosts(), ElementsAre("host-of-bad"));
}

TEST_P(HostileTenantTest, OpensItsOwnBreakerAndNoOther) {
  std::vector<TenantMachine> machines;
  for (int i = 0; i < 100; ++i) {
    const std::string own = absl::StrCat("own", i);
    machines.push_back({kTenant, {absl::StrCat("host-of-", own), own}});
  }
  for (int machine = 0; machine < 4; ++machine) {
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(Accuse(Chip(absl::StrCat("own", machine), Grounds::kRepetition), "llama").ok());
    }
  }
  // The tenant's job has the name of the honest job, on whose account the slices would go.
  const Remover::Report report = Turn(machines);
  EXPECT_TRUE(history_.BreakerOf(RemovalMode::kEnforce, kTenant)->open);
  EXPECT_THAT(*history_.StoppedRoles(RemovalMode::kEnforce), ElementsAre(kTenant));
  EXPECT_FALSE(history_.BreakerOf(RemovalMode::kEnforce)->open);
  // Removals of the tenant that are decided on, and not begun, wait.
  EXPECT_THAT(hooks_.calls(), IsEmpty());
  Fail("bad", 4);
  const Remover::Report honest = Turn(machines);
  EXPECT_THAT(RemovedHosts(), ElementsAre("host-of-bad"));
  EXPECT_EQ(honest.next, absl::InfiniteFuture());
  ASSERT_TRUE(history_.SetBreaker(RemovalMode::kEnforce, false, "", "ada", now_, kTenant).ok());
  Turn(machines);
  EXPECT_THAT(hooks_.calls(), SizeIs(::testing::Gt(1U)));
}

TEST_P(HostileTenantTest, EnlargesNoBudgetByItsWord) {
  // The tenant states that its job has 20,000 hosts; the platform knows of two.
  const std::vector<TenantMachine> machines = {{kTenant, {"host-of-a", "a"}},
                                               {kTenant, {"host-of-b", "b"}}};
  for (const char* machine : {"a", "b"}) {
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(Accuse(Chip(machine, Grounds::kDirect)).ok());
  }
  EXPECT_THAT(Rules(Turn(machines)), ::testing::Contains("share-of-job"));
  EXPECT_THAT(RemovedHosts(), SizeIs(::testing::Lt(2U)));
  EXPECT_EQ(history_.FactsAbout("hardware:a", RemovalMode::kEnforce, absl::UnixEpoch(), kTenant)
                ->largest_job_hosts,
            0);
}

TEST_P(HostileTenantTest, AddsNothingToAnothersIncidentNorToADecidedOne) {
  Fail("bad", 1);
  ASSERT_TRUE(Accuse(Chip("own", Grounds::kDirect)).ok());  // t2
  for (const char* incident : {"'i1'", "'t2'", "'none'"}) {
    EXPECT_EQ(RunAsTenant({CulpritRows(incident, "victim", 1)}).code(),
              absl::StatusCode::kPermissionDenied)
        << incident;
  }
  // A table of the tenant's own in the place of the history's must not help either.
  EXPECT_EQ(RunAsTenant({"CREATE TEMPORARY TABLE fleet_incidents AS SELECT 'i1'::text AS incident, "
                         "session_user::text AS recorded_by, 0::bigint AS at_ms, ''::text AS job",
                         CulpritRows("'i1'", "victim", 1)})
                .code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(RunAsTenant({IncidentRow("'new'", kTimes, ", 0, 0, 0, 1"),
                         CulpritRows("'new'", "victim", 1001)})
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(history_.FindingOf("i1", "hardware:bad")->names, ElementsAre("bad", "host-of-bad"));
}

TEST_P(HostileTenantTest, NeitherItsNameNorTheTimeIsItsOwnWord) {
  const std::string far = absl::StrCat(absl::ToUnixMillis(now_ + absl::Hours(24 * 4000)));
  const absl::Status inserted =
      RunAsTenant({absl::StrCat("SET LOCAL ROLE ", testing::kCoordinatorRole),
                   IncidentRow("'x'", absl::StrCat(kTimes, ", recorded_by"),
                               absl::StrCat(", ", far, ", ", far, ", ", far, ", 1, ''")),
                   CulpritRows("'x'", "victim", 1)});
  ASSERT_TRUE(inserted.ok()) << inserted;
  const auto row = database_->Run(
      "SELECT i.recorded_by, i.at_ms, i.recorded_ms, c.recorded_by, c.at_ms "
      "FROM fleet_incidents i JOIN fleet_culprits c ON c.incident = i.incident");
  ASSERT_TRUE(row.ok()) << row.status();
  ASSERT_THAT(*row, SizeIs(1));
  const absl::Time latest = database_->WallClock().value();
  EXPECT_EQ(row->front().Text(0), kTenant);
  EXPECT_EQ(row->front().Text(3), kTenant);
  for (const size_t time : {1U, 2U, 4U}) EXPECT_LE(row->front().Time(time), latest);
}

TEST_P(HostileTenantTest, ReadsItsOwnIncidentsOnly) {
  Fail("bad", 1);
  const auto others = testing::ConnectAs(made_, *database_, "tenant_b");
  ASSERT_TRUE(History(*others).Record(Incident("b1", now_, {BadChip("b", 1)}), now_).ok());
  ASSERT_TRUE(Accuse(Chip("own", Grounds::kDirect)).ok());
  const auto seen = tenants_->Run("SELECT incident FROM fleet_incidents");
  ASSERT_TRUE(seen.ok()) << seen.status();
  ASSERT_THAT(*seen, SizeIs(1));
  EXPECT_EQ(seen->front().Text(0), "t2");
}

TEST_P(HostileTenantTest, ColumnsAreBounded) {
  for (const char* values :
       {", 0, 0, 0, 1000000000", ", 0, 0, 0, -1", ", 9223372036854775807, 0, 0, 1"}) {
    EXPECT_EQ(RunAsTenant({IncidentRow("'x'", kTimes, values)}).code(),
              absl::StatusCode::kInvalidArgument)
        << values;
  }
  EXPECT_EQ(RunAsTenant({IncidentRow("repeat('x', 257)", kTimes, ", 0, 0, 0, 1")}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(RunAsTenant({IncidentRow("repeat('x', 256)", kTimes, ", 0, 0, 0, 1")}).ok());
}

TEST_P(HostileTenantTest, AThousandIncidentsAnHour) {
  const std::string thousand =
      "INSERT INTO fleet_incidents (incident, job, incarnation, cause, detail, confidence, slices, "
      "digest, detected_ms, at_ms, recorded_ms, hosts) SELECT 'n' || n, 'j', '', 'BAD_TPU_CHIP', "
      "'', 0, 1, '', 0, 0, 0, 1 FROM generate_series(1, 1000) AS n";
  const absl::Status status = RunAsTenant({thousand});
  ASSERT_TRUE(status.ok()) << status;
  const absl::Status more = Accuse(Chip("own", Grounds::kDirect));
  EXPECT_EQ(more.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(more.ToString(), HasSubstr("within an hour; try again later"));
  // Other tenants may go on.
  const auto others = testing::ConnectAs(made_, *database_, "tenant_b");
  EXPECT_TRUE(History(*others).Record(Incident("b1", now_, {BadChip("b", 1)}), now_).ok());
}

TEST_P(HostileTenantTest, FiftyThousandRowsNeitherStarveNorHoldUp) {
  // Rows of a time when the server did not count yet. In parts: a statement has three seconds.
  std::vector<std::string> statements = {"ALTER TABLE fleet_incidents DISABLE TRIGGER fleet_guard",
                                         "ALTER TABLE fleet_culprits DISABLE TRIGGER fleet_guard"};
  const std::string at = absl::StrCat(absl::ToUnixMillis(now_ - absl::Minutes(1)));
  for (int begin = 0; begin < 50'000; begin += 5'000) {
    const std::string rows =
        absl::StrCat(" FROM generate_series(", begin, ", ", begin + 4'999, ") AS n");
    statements.push_back(absl::StrCat(
        "INSERT INTO fleet_incidents (incident, job, incarnation, cause, detail, confidence, "
        "slices, digest, detected_ms, at_ms, recorded_ms, hosts, recorded_by) SELECT 'n' || n, "
        "'llama', '', 'BAD_TPU_CHIP', 'TENSOR_CORE', 0, 1, '', 0, ",
        at, ", 0, 1, 'tenant_a'", rows));
    statements.push_back(absl::StrCat(
        "INSERT INTO fleet_culprits (incident, culprit, machine, hardware, host, core_type, "
        "grounds, job, slice, task, fingerprint, at_ms, recorded_by) SELECT 'n' || n, 'c', "
        "'hardware:own', 'own', 'host-of-own', '', 'direct', 'llama', 0, 1, 'abcd', ",
        at, ", 'tenant_a'", rows));
  }
  for (const std::string& statement : statements) {
    const auto done = database_->Run(statement);
    ASSERT_TRUE(done.ok()) << done.status();
  }
  Fail("bad", 4);
  const std::vector<TenantMachine> machines = {{kTenant, {"host-of-own", "own"}}};
  const Remover::Report report = Turn(machines);
  EXPECT_THAT(RemovedHosts(), ElementsAre("host-of-bad"));
  EXPECT_EQ(static_cast<int64_t>(report.decisions.size()), kMaxFindingsPerRole + 4);
  EXPECT_LE(report.next, now_);  // there is more

  Remover::Settings settings = Enforced(machines);
  int asked = 0;
  settings.go_on = [&] { return ++asked <= 3; };
  Remover stopped = Make(*database_, settings);
  EXPECT_THAT(stopped.Turn()->decisions, SizeIs(3));
}

// A history in which tenants could write before the history recorded their roles.
TEST_P(HostileTenantTest, WhatOthersMayHaveWrittenBeforeIsNobodys) {
  const testing::TestDatabase made(testing::kPostgresql);
  const auto database = made.Connect();
  const std::vector<Migration>& all = FleetMigrations();
  ASSERT_TRUE(Migrate(*database, {all.begin(), all.begin() + 5}).ok());
  const std::string row = IncidentRow("'i1'", kTimes, ", 0, 0, 0, 1");
  ASSERT_TRUE(database->Run(row).ok());
  ASSERT_TRUE(
      database->Run(absl::StrCat("GRANT INSERT ON fleet_incidents TO ", testing::kCoordinatorRole))
          .ok());
  const absl::Status migrated = Migrate(*database, all);
  ASSERT_TRUE(migrated.ok()) << migrated;
  const auto rows = database->Run("SELECT recorded_by FROM fleet_incidents");
  EXPECT_EQ(rows->front().Text(0), "?");
}

}  // namespace
}  // namespace rapideye::coordinator
