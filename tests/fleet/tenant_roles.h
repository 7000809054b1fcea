// TenantRoles makes roles of tenants on the test's PostgreSQL server, with the shipped rights.
#ifndef RAPIDEYE_TESTS_FLEET_TENANT_ROLES_H_
#define RAPIDEYE_TESTS_FLEET_TENANT_ROLES_H_

#include <memory>
#include <string>

#include "coordinator/fleet/database.h"
#include "tests/fleet/test_database.h"

namespace rapideye::testing {

// The role that deploy/postgresql/coordinator-rights.sql is about.
inline constexpr char kCoordinatorRole[] = "rapideye_coordinator";

// Runs that file, which RAPIDEYE_TEST_DATA names, as the owner. Throws what fails, as TestDatabase.
void GrantCoordinatorRights(coordinator::Database& owners);

// One more connection to `made`, of `role`, a member of kCoordinatorRole (or that role itself),
// which is created if the server does not have it.
std::unique_ptr<coordinator::Database> ConnectAs(const TestDatabase& made,
                                                 coordinator::Database& owners,
                                                 const std::string& role);

}  // namespace rapideye::testing

#endif  // RAPIDEYE_TESTS_FLEET_TENANT_ROLES_H_
