// Tests a fleet history on each database: INSTANTIATE_TEST_SUITE_P(Each, …, BothDatabases()).
#ifndef RAPIDEYE_TESTS_FLEET_HISTORY_FIXTURE_H_
#define RAPIDEYE_TESTS_FLEET_HISTORY_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>

#include "coordinator/fleet/history.h"
#include "tests/fleet/incidents.h"
#include "tests/fleet/test_database.h"

namespace rapideye::coordinator {

using testing::BadChip;
using testing::Incident;
using testing::kThen;

inline constexpr absl::Duration kDay = absl::Hours(24);

inline auto BothDatabases() { return ::testing::Values(testing::kSqlite, testing::kPostgresql); }

class HistoryFixture : public ::testing::TestWithParam<const char*> {
 protected:
  testing::TestDatabase made_{GetParam()};
  std::unique_ptr<Database> database_ = made_.ConnectMigrated();
  History history_{*database_};
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_TESTS_FLEET_HISTORY_FIXTURE_H_
