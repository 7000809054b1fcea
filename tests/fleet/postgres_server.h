// PostgresServer starts a PostgreSQL server of the test's own, from Debian's package.
#ifndef RAPIDEYE_TESTS_FLEET_POSTGRES_SERVER_H_
#define RAPIDEYE_TESTS_FLEET_POSTGRES_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/testbed/launcher/child_process.h"

namespace rapideye::testing {

// Lives in a temporary directory and listens on a socket there, on no port. Runs as
// nobody if this runs as root, which PostgreSQL refuses. Ends with this process.
class PostgresServer {
 public:
  // Made and started at the first use, for all tests of the process; a server that
  // cannot be started ends the process, and says why.
  static PostgresServer& Shared();

  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // The URL of a new, empty database.
  absl::StatusOr<std::string> NewDatabase();

  // Ends as after a loss of power: what was committed is there after Start.
  void Crash();
  absl::Status Start();

 private:
  PostgresServer() = default;
  absl::Status Make();
  std::string Url(const std::string& database) const;

  std::string directory_;
  std::unique_ptr<testbed::ChildProcess> process_;
  int databases_ = 0;
};

}  // namespace rapideye::testing

#endif  // RAPIDEYE_TESTS_FLEET_POSTGRES_SERVER_H_
