// A coordinator in a tenant's pod may add to the shared history, and no more than that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "coordinator/fleet/history.h"
#include "coordinator/fleet/schema.h"
#include "tests/fleet/incidents.h"
#include "tests/fleet/tenant_roles.h"
#include "tests/fleet/test_database.h"

namespace rapideye::coordinator {
namespace {

using ::rapideye::testing::BadChip;
using ::rapideye::testing::Incident;
using ::rapideye::testing::kPostgresql;
using ::rapideye::testing::kThen;
using ::rapideye::testing::TestDatabase;

class RightsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    rapideye::testing::GrantCoordinatorRights(*owners_);
    tenants_ = rapideye::testing::ConnectAs(made_, *owners_, rapideye::testing::kCoordinatorRole);
  }

  static void ExpectDenied(const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  }

  TestDatabase made_{kPostgresql};
  std::unique_ptr<Database> owners_ = made_.ConnectMigrated();
  std::unique_ptr<Database> tenants_;
};

TEST_F(RightsTest, ATenantsCoordinatorAddsIncidents) {
  History history(*tenants_);
  const absl::Status ready = Migrate(*tenants_, FleetMigrations());
  EXPECT_TRUE(ready.ok()) << ready;
  EXPECT_TRUE(tenants_->WallClock().ok());
  EXPECT_TRUE(history.Newest().ok()) << history.Newest().status();
  const IncidentRecord incident = Incident("i1", kThen, {BadChip("a", 1)});
  for (int twice = 0; twice < 2; ++twice) {
    const absl::Status recorded = history.Record(incident, kThen);
    EXPECT_TRUE(recorded.ok()) << recorded;
  }
  EXPECT_EQ(History(*owners_).FindingOf("i1", "hardware:a")->incident, "i1");
  EXPECT_EQ(*history.Newest(), absl::InfinitePast());
}

TEST_F(RightsTest, AndChangesAndDecidesNothing) {
  History owners(*owners_), tenants(*tenants_);
  ASSERT_TRUE(owners.Record(Incident("i1", kThen, {BadChip("a", 1)}), kThen).ok());
  const Finding finding = owners.FindingOf("i1", "hardware:a").value();
  const Decision remove = {Action::kRemove, "repetition", "4 hang events", kThen, false};
  ExpectDenied(tenants.AddDecision(finding, RemovalMode::kEnforce, remove, kThen).status());
  ExpectDenied(tenants.SetBreaker(RemovalMode::kEnforce, false, "", "me", kThen));
  ExpectDenied(tenants.Forget("hardware:a", "me", kThen));
  ExpectDenied(tenants.ConfirmRepair("i1", "hardware:a", "none", "me", kThen));
  ExpectDenied(tenants.DigestOf("i1").status());
  ExpectDenied(TakeLock(*tenants_));
  for (const char* statement :
       {"UPDATE fleet_incidents SET detected_ms = 0", "DELETE FROM fleet_culprits",
        "UPDATE fleet_schema SET version = 0", "CREATE TABLE mine (name TEXT)",
        "INSERT INTO fleet_tasks (task) VALUES ('t')"}) {
    ExpectDenied(tenants_->Run(statement).status());
  }
  // The owner has these rights.
  EXPECT_TRUE(*owners.AddDecision(finding, RemovalMode::kEnforce, remove, kThen));
  EXPECT_TRUE(owners.ConfirmRepair("i1", "hardware:a", "none", "me", kThen).ok());
}

}  // namespace
}  // namespace rapideye::coordinator
