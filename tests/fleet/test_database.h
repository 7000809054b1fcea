// TestDatabase runs the same tests against both databases.
#ifndef RAPIDEYE_TESTS_FLEET_TEST_DATABASE_H_
#define RAPIDEYE_TESTS_FLEET_TEST_DATABASE_H_

#include <memory>
#include <string>

#include "coordinator/fleet/database.h"

namespace rapideye::testing {

// The kinds that typed tests go through: INSTANTIATE_TEST_SUITE_P(…, Values(…)).
inline constexpr char kSqlite[] = "sqlite";
inline constexpr char kPostgresql[] = "postgresql";

// An empty database of one kind, which goes with this. What fails while it is made
// throws: a test has nothing to test then.
class TestDatabase {
 public:
  explicit TestDatabase(const std::string& kind);
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  const std::string& url() const { return url_; }
  // One more connection.
  std::unique_ptr<coordinator::Database> Connect() const;
  // One more connection; the schema is the newest.
  std::unique_ptr<coordinator::Database> ConnectMigrated() const;

 private:
  std::string directory_;  // empty: a server has it
  std::string url_;
};

}  // namespace rapideye::testing

#endif  // RAPIDEYE_TESTS_FLEET_TEST_DATABASE_H_
