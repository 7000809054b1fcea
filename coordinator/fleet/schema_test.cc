#include "coordinator/fleet/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/fleet/test_database.h"

namespace rapideye::coordinator {
namespace {

using ::rapideye::testing::kPostgresql;
using ::rapideye::testing::kSqlite;
using ::rapideye::testing::TestDatabase;
using ::testing::HasSubstr;
using ::testing::Values;

std::vector<Migration> Steps(int64_t last) {
  std::vector<Migration> steps = {
      {1, "things", {"CREATE TABLE things (name TEXT)", "INSERT INTO things VALUES ('old')"}},
      {2, "their colours", {"ALTER TABLE things ADD COLUMN colour TEXT"}},
      {3, "one more", {"INSERT INTO things VALUES ('new', 'red')"}}};
  steps.resize(static_cast<size_t>(last));
  return steps;
}

class SchemaTest : public ::testing::TestWithParam<const char*> {
 protected:
  TestDatabase made_{GetParam()};
  std::unique_ptr<Database> database_ = made_.Connect();
};

INSTANTIATE_TEST_SUITE_P(Each, SchemaTest, Values(kSqlite, kPostgresql));

TEST_P(SchemaTest, MakesAllTablesAndAgainChangesNothing) {
  ASSERT_TRUE(Migrate(*database_, FleetMigrations()).ok());
  ASSERT_TRUE(database_->Run("SELECT incident FROM fleet_incidents").ok());
  ASSERT_TRUE(Migrate(*made_.Connect(), FleetMigrations()).ok());
}

TEST_P(SchemaTest, TakesAnOlderHistoryForwardWithAllItsRows) {
  ASSERT_TRUE(Migrate(*database_, Steps(1)).ok());
  ASSERT_TRUE(Migrate(*database_, Steps(3)).ok());
  const auto rows = database_->Run("SELECT name, colour FROM things ORDER BY name");
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].Text(1), "red");
  EXPECT_EQ((*rows)[1].Text(0), "old");
}

// Tasks that were due in a history of the first version are still done.
TEST_P(SchemaTest, TakesTheFirstVersionForwardWithItsTasks) {
  const std::vector<Migration>& all = FleetMigrations();
  ASSERT_TRUE(Migrate(*database_, {all.begin(), all.begin() + 1}).ok());
  ASSERT_TRUE(database_
                  ->Run("INSERT INTO fleet_tasks (task, incident, subject, hook, state, holder, "
                        "lease_ms, attempts, not_before_ms, created_ms, expires_ms, finished_ms, "
                        "outcome, output) VALUES "
                        "('t', 'i', 'm', '/hooks/drain', 'due', '', 0, 0, 0, 0, 9, 0, '', '')")
                  .ok());
  ASSERT_TRUE(Migrate(*database_, all).ok());
  const auto rows = database_->Run("SELECT hook, ordinal FROM fleet_tasks");
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().Text(0), "/hooks/drain");
  EXPECT_EQ(rows->front().OptionalInt(1), 0);
}

TEST_P(SchemaTest, RefusesANewerOneAndSaysWhatToDo) {
  ASSERT_TRUE(Migrate(*database_, Steps(2)).ok());
  const absl::Status status = Migrate(*database_, Steps(1));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr("has schema version 2, this program knows 1"));
  EXPECT_TRUE(Migrate(*database_, Steps(2)).ok());
}

TEST_P(SchemaTest, WhoOnlyAsksNeitherMakesNorUpdatesAHistory) {
  const absl::Status none = CheckSchema(*database_);
  EXPECT_EQ(none.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(none.ToString(), HasSubstr("holds no fleet history"));
  EXPECT_FALSE(database_->Run("SELECT 1 FROM fleet_schema").ok());

  ASSERT_TRUE(Migrate(*database_, FleetMigrations()).ok());
  EXPECT_TRUE(CheckSchema(*database_).ok()) << CheckSchema(*database_);

  const int64_t known = FleetMigrations().back().version;
  ASSERT_TRUE(database_->Run("INSERT INTO fleet_schema VALUES ($1, 'newer')", {known + 1}).ok());
  EXPECT_EQ(CheckSchema(*database_).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(database_->Run("DELETE FROM fleet_schema").ok());
  EXPECT_EQ(CheckSchema(*database_).code(), absl::StatusCode::kNotFound);
}

TEST_P(SchemaTest, AStepThatFailsLeavesTheVersionBefore) {
  ASSERT_TRUE(Migrate(*database_, Steps(1)).ok());
  std::vector<Migration> broken = Steps(2);
  broken.back().statements.emplace_back("INSERT INTO nowhere VALUES (1)");
  EXPECT_FALSE(Migrate(*database_, broken).ok());
  EXPECT_FALSE(database_->Run("SELECT colour FROM things").ok());
  EXPECT_TRUE(Migrate(*database_, Steps(2)).ok());
  EXPECT_TRUE(database_->Run("SELECT colour FROM things").ok());
}

TEST_P(SchemaTest, ManyMayMigrateAtOnce) {
  std::vector<std::unique_ptr<Database>> connections;
  for (int i = 0; i < 4; ++i) connections.push_back(made_.Connect());
  std::vector<absl::Status> outcomes(connections.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < connections.size(); ++i) {
    threads.emplace_back([&, i] { outcomes[i] = Migrate(*connections[i], FleetMigrations()); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : outcomes) EXPECT_TRUE(status.ok()) << status;
}

// Each thread reads a number, and writes one more: without the lock some would read the same.
TEST_P(SchemaTest, OnlyOneAtATimeHoldsTheLock) {
  ASSERT_TRUE(Migrate(*database_, FleetMigrations()).ok());
  ASSERT_TRUE(database_->Run("CREATE TABLE counters (value BIGINT)").ok());
  ASSERT_TRUE(database_->Run("INSERT INTO counters VALUES (0)").ok());
  constexpr int kThreads = 4;
  constexpr int kTurns = 10;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      const std::unique_ptr<Database> mine = made_.Connect();
      for (int turn = 0; turn < kTurns; ++turn) {
        const auto count = [&]() -> absl::Status {
          auto rows = mine->Run("SELECT value FROM counters");
          if (!rows.ok()) return rows.status();
          return mine->Run("UPDATE counters SET value = $1", {rows->front().Int(0) + 1}).status();
        };
        absl::Status status = WithLock(*mine, count);
        // On a slow machine other threads may have held the lock for too long.
        while (absl::IsAborted(status)) status = WithLock(*mine, count);
        EXPECT_TRUE(status.ok()) << status;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(database_->Run("SELECT value FROM counters").value().front().Int(0), kThreads * kTurns);
}

}  // namespace
}  // namespace rapideye::coordinator
