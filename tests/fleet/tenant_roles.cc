#include "tests/fleet/tenant_roles.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace rapideye::testing {
namespace {

std::vector<coordinator::Row> RunOrThrow(coordinator::Database& database,
                                         const std::string& statement,
                                         const std::vector<coordinator::Value>& values = {}) {
  auto rows = database.Run(statement, values);
  if (!rows.ok()) throw std::runtime_error(rows.status().ToString());
  return *std::move(rows);
}

// Roles are of the whole server, which several tests share.
void MakeRole(coordinator::Database& owners, const std::string& role) {
  if (!RunOrThrow(owners, "SELECT 1 FROM pg_roles WHERE rolname = $1", {role}).empty()) return;
  RunOrThrow(owners, absl::StrCat("CREATE ROLE ", role, " LOGIN",
                                  role == kCoordinatorRole ? "" : " IN ROLE ",
                                  role == kCoordinatorRole ? "" : kCoordinatorRole));
}

}  // namespace

void GrantCoordinatorRights(coordinator::Database& owners) {
  MakeRole(owners, kCoordinatorRole);
  std::ostringstream text;
  text << std::ifstream(std::getenv("RAPIDEYE_TEST_DATA")).rdbuf();
  std::string statements;
  for (const absl::string_view line : absl::StrSplit(text.str(), '\n')) {
    if (!absl::StartsWith(line, "--")) absl::StrAppend(&statements, line, "\n");
  }
  size_t run = 0;
  for (const absl::string_view statement : absl::StrSplit(statements, ';')) {
    const std::string grant(absl::StripAsciiWhitespace(statement));
    if (grant.empty()) continue;
    RunOrThrow(owners, grant);
    ++run;
  }
  if (run == 0) throw std::runtime_error("RAPIDEYE_TEST_DATA names no file with rights");
}

std::unique_ptr<coordinator::Database> ConnectAs(const TestDatabase& made,
                                                 coordinator::Database& owners,
                                                 const std::string& role) {
  MakeRole(owners, role);
  auto database = coordinator::OpenDatabase(
      absl::StrReplaceAll(made.url(), {{"rapideye@", absl::StrCat(role, "@")}}));
  if (!database.ok()) throw std::runtime_error(database.status().ToString());
  return *std::move(database);
}

}  // namespace rapideye::testing
