// TenantGuards bounds the rows that a role may write to a shared history that it does not own.
#ifndef RAPIDEYE_COORDINATOR_FLEET_TENANT_GUARDS_H_
#define RAPIDEYE_COORDINATOR_FLEET_TENANT_GUARDS_H_

#include <string>
#include <vector>

namespace rapideye::coordinator {

// Statements for PostgreSQL, of a migration, and like it they never change once released. They
// make the server itself
// - write down the role that logged in (recorded_by; empty for the owner of the table and its
//   members), the time of recording, and a time of the incident that has come already;
// - take a culprit only in the transaction of its incident and from the same role, so that
//   nobody adds one to somebody else's incident, nor to a decided one;
// - show a role its own incidents only (row-level security);
// - bound every column, the culprits of an incident, and the incidents of a role in an hour.
// Rows that are there already count as the owner's, unless another role could write them: then as
// those of the role "?", which may accuse no machine.
std::vector<std::string> TenantGuards();

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_TENANT_GUARDS_H_
