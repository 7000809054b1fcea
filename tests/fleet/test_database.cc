#include "tests/fleet/test_database.h"

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/schema.h"
#include "tests/fleet/postgres_server.h"

namespace rapideye::testing {
namespace {

template <typename T>
T OrThrow(absl::StatusOr<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}

}  // namespace

TestDatabase::TestDatabase(const std::string& kind) {
  if (kind == kPostgresql) {
    url_ = OrThrow(PostgresServer::Shared().NewDatabase());
    return;
  }
  std::string path = (std::filesystem::temp_directory_path() / "rapideye-fleet-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary directory");
  directory_ = path;
  url_ = absl::StrCat("sqlite:", directory_, "/fleet.db");
}

TestDatabase::~TestDatabase() {
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

std::unique_ptr<coordinator::Database> TestDatabase::Connect() const {
  return OrThrow(coordinator::OpenDatabase(url_));
}

std::unique_ptr<coordinator::Database> TestDatabase::ConnectMigrated() const {
  std::unique_ptr<coordinator::Database> database = Connect();
  const absl::Status status = coordinator::Migrate(*database, coordinator::FleetMigrations());
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return database;
}

}  // namespace rapideye::testing
