#include "coordinator/fleet/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/postgresql.h"
#include "coordinator/fleet/sqlite.h"
#include "tests/fleet/test_database.h"

namespace rapideye::coordinator {
namespace {

using ::rapideye::testing::kPostgresql;
using ::rapideye::testing::kSqlite;
using ::rapideye::testing::TestDatabase;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Values;

class DatabaseTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(database_
                    ->Run("CREATE TABLE things (name TEXT PRIMARY KEY, count BIGINT, "
                          "share DOUBLE PRECISION)")
                    .ok());
  }
  absl::Status Add(Database& database, const std::string& name, Value count, Value share) {
    return database
        .Run("INSERT INTO things (name, count, share) VALUES ($1, $2, $3)", {name, count, share})
        .status();
  }
  size_t Count(Database& database) {
    return database.Run("SELECT name FROM things").value().size();
  }

  TestDatabase made_{GetParam()};
  std::unique_ptr<Database> database_ = made_.Connect();
};

INSTANTIATE_TEST_SUITE_P(Each, DatabaseTest, Values(kSqlite, kPostgresql));

TEST_P(DatabaseTest, GivesBackWhatItWasGiven) {
  const std::string text = "a'b\"$1; — “ünïcode” \n\t\\";
  ASSERT_TRUE(Add(*database_, text, int64_t{-5'000'000'000}, 0.1).ok());
  const auto rows = database_->Run("SELECT name, count, share FROM things WHERE name = $1", {text});
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().Text(0), text);
  EXPECT_EQ(rows->front().Int(1), -5'000'000'000);
  EXPECT_EQ(rows->front().Number(2), 0.1);
}

TEST_P(DatabaseTest, TellsNullFromZero) {
  ASSERT_TRUE(Add(*database_, "null", Value(), Value()).ok());
  ASSERT_TRUE(Add(*database_, "zero", int64_t{0}, 0.0).ok());
  const auto rows = database_->Run("SELECT count FROM things ORDER BY name");
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].OptionalInt(0), std::nullopt);
  EXPECT_EQ((*rows)[1].OptionalInt(0), 0);
}

TEST_P(DatabaseTest, ParametersMayStandInAnyOrderAndTwice) {
  ASSERT_TRUE(Add(*database_, "a", int64_t{1}, 0.0).ok());
  const auto rows =
      database_->Run("SELECT count FROM things WHERE count >= $2 AND name = $1 AND count <= $2",
                     {std::string("a"), int64_t{1}});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->size(), 1u);
}

TEST_P(DatabaseTest, ATransactionIsWholeOrNothing) {
  const auto failed = InTransaction(*database_, [&]() -> absl::Status {
    Add(*database_, "lost", Value(), Value()).IgnoreError();
    return absl::CancelledError("");
  });
  EXPECT_EQ(failed.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Count(*database_), 0u);
  EXPECT_TRUE(
      InTransaction(*database_, [&] { return Add(*database_, "kept", Value(), Value()); }).ok());
  EXPECT_EQ(Count(*made_.Connect()), 1u);
}

TEST_P(DatabaseTest, AStatementThatFailsFailsItsTransaction) {
  ASSERT_TRUE(Add(*database_, "there", Value(), Value()).ok());
  const auto failed = InTransaction(*database_, [&]() -> absl::Status {
    Add(*database_, "new", Value(), Value()).IgnoreError();
    return Add(*database_, "there", Value(), Value());
  });
  EXPECT_EQ(failed.code(), absl::StatusCode::kInvalidArgument) << failed;
  EXPECT_EQ(Count(*database_), 1u);
}

TEST_P(DatabaseTest, SaysWhichDatabaseAndWhatIsWrong) {
  const absl::Status status = database_->Run("SELECT name FROM nowhere").status();
  EXPECT_THAT(status.ToString(), HasSubstr("nowhere"));
  EXPECT_THAT(status.ToString(), HasSubstr(GetParam()));
}

TEST_P(DatabaseTest, HasOneClockForAll) {
  const auto other = made_.Connect();
  const absl::Time first = database_->WallClock().value();
  const absl::Time second = other->WallClock().value();
  const absl::Time third = database_->WallClock().value();
  EXPECT_LE(first, second);
  EXPECT_LE(second, third);
  EXPECT_GT(first, absl::FromUnixSeconds(1'700'000'000));
}

TEST(CheckSqlitePlace, RefusesNetworkFileSystemsAndSaysWhatToDo) {
  EXPECT_TRUE(CheckSqlitePlace("/var/lib/rapideye/fleet.db", "").ok());
  const absl::Status status = CheckSqlitePlace("/shared/fleet.db", "NFS");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("/shared/fleet.db is on NFS"), HasSubstr("postgresql://")));
}

TEST(OpenDatabaseTest, TakesNothingElse) {
  for (const char* url : {"", "fleet.db", "mysql://host/fleet", "sqlite:"}) {
    EXPECT_EQ(OpenDatabase(url).status().code(), absl::StatusCode::kInvalidArgument) << url;
  }
}

TEST(OpenDatabaseTest, SaysWhatToDoAboutAFileThatCannotBe) {
  const auto database = OpenDatabase("sqlite:/nowhere/at/all/fleet.db");
  ASSERT_FALSE(database.ok());
  EXPECT_THAT(database.status().ToString(), HasSubstr("/nowhere/at/all/fleet.db"));
  EXPECT_THAT(database.status().ToString(), HasSubstr("directory"));
}

TEST(OpenDatabaseTest, SaysWhatToDoAboutAFileThatIsBroken) {
  const TestDatabase made(kSqlite);
  const std::string path = made.url().substr(std::string("sqlite:").size());
  std::ofstream(path) << std::string(5000, 'x');
  const absl::Status broken = OpenDatabase(made.url()).status();
  EXPECT_EQ(broken.code(), absl::StatusCode::kDataLoss) << broken;
  EXPECT_THAT(broken.ToString(), HasSubstr("move it away"));
  std::filesystem::remove(path);
  EXPECT_TRUE(OpenDatabase(made.url()).ok());
}

// A server that is down is tried again at the next use, and is never waited for.
TEST(PostgresqlTest, AServerThatIsDownIsUnavailableAndItsPasswordSecret) {
  const auto database = OpenDatabase("postgresql://fleet:geheim@127.0.0.1:1/fleet").value();
  EXPECT_EQ(database->Name(), "postgresql://127.0.0.1:1/fleet");
  const absl::Status status = database->Run("SELECT 1").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(status.ToString(), Not(HasSubstr("geheim")));
  const absl::Status unreadable = OpenDatabase("postgresql://a:geheim@[/fleet").status();
  EXPECT_EQ(unreadable.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(unreadable.ToString(), Not(HasSubstr("geheim")));
}

TEST(OpenDatabaseTest, WhoOnlyAsksMakesNoFile) {
  const TestDatabase made(kSqlite);
  const absl::Status missing = OpenDatabase(made.url(), IfMissing::kFail).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.ToString(), HasSubstr("no such file"));
  // The failed attempt has made no file.
  EXPECT_FALSE(OpenDatabase(made.url(), IfMissing::kFail).ok());
  ASSERT_TRUE(made.Connect()->Run("CREATE TABLE things (name TEXT)").ok());
  const auto database = OpenDatabase(made.url(), IfMissing::kFail);
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_TRUE((*database)->Run("SELECT name FROM things").ok());
}

TEST(OpenDatabaseTest, OtherUsersOfTheHostReadNoHistory) {
  const TestDatabase made(kSqlite);
  const auto database = made.ConnectMigrated();
  // With the journal, which holds what is new.
  const std::string path = made.url().substr(std::string("sqlite:").size());
  int files = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(path).parent_path())) {
    if (!file.path().string().starts_with(path)) continue;
    ++files;
    EXPECT_EQ(file.status().permissions() & std::filesystem::perms::others_all,
              std::filesystem::perms::none)
        << file.path();
  }
  EXPECT_GE(files, 1);
}

// The server's machine still answers, so that no connection breaks.
TEST(PostgresqlTest, AServerThatHangsIsUnavailableUntilItGoesOn) {
  const TestDatabase made(kPostgresql);
  const auto database = OpenPostgresql(made.url(), absl::Seconds(1)).value();
  const auto answer = database->Run("SELECT pg_backend_pid()");
  ASSERT_TRUE(answer.ok()) << answer.status();
  const auto pid = static_cast<pid_t>(answer->front().Int(0));
  ASSERT_EQ(kill(pid, SIGSTOP), 0);
  const absl::Status status = database->Run("SELECT 1").status();
  EXPECT_EQ(kill(pid, SIGCONT), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("does not answer"));
  EXPECT_TRUE(database->Run("SELECT 1").ok());
}

class BrokenConnectionTest : public ::testing::Test {
 protected:
  // Has the server end the connection, as it ends all connections when it restarts.
  void Break(Database& connection) {
    const int64_t pid = connection.Run("SELECT pg_backend_pid()").value().front().Int(0);
    ASSERT_TRUE(made_.Connect()->Run("SELECT pg_terminate_backend($1)", {pid}).ok());
  }
  TestDatabase made_{kPostgresql};
  std::unique_ptr<Database> database_ = made_.Connect();
};

TEST_F(BrokenConnectionTest, IsMadeAnew) {
  Break(*database_);
  EXPECT_EQ(database_->Run("SELECT 1").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(database_->Run("SELECT 1").ok());
}

TEST_F(BrokenConnectionTest, EndsItsTransactionAndNothingOfItIsKept) {
  ASSERT_TRUE(database_->Run("CREATE TABLE things (name TEXT)").ok());
  const auto add = [&] { return database_->Run("INSERT INTO things VALUES ('x')").status(); };
  const absl::Status status = InTransaction(*database_, [&]() -> absl::Status {
    EXPECT_TRUE(add().ok());
    Break(*database_);
    EXPECT_EQ(add().code(), absl::StatusCode::kUnavailable);
    // On the new connection this statement would be outside of any transaction.
    return add();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_EQ(database_->Run("SELECT name FROM things").value().size(), 0u);
  EXPECT_TRUE(InTransaction(*database_, add).ok());
}

}  // namespace
}  // namespace rapideye::coordinator
