#include "coordinator/fleet/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/fleet/spool.h"
#include "tests/fleet/dying_database.h"
#include "tests/fleet/incidents.h"
#include "tests/fleet/postgres_server.h"
#include "tests/fleet/test_database.h"

namespace rapideye::coordinator {
namespace {

using ::rapideye::testing::BadChip;
using ::rapideye::testing::DyingDatabase;
using ::rapideye::testing::Incident;
using ::rapideye::testing::kPostgresql;
using ::rapideye::testing::kSqlite;
using ::rapideye::testing::kThen;
using ::rapideye::testing::PostgresServer;
using ::rapideye::testing::TestDatabase;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::Values;

std::vector<Finding> FindingsIn(Database& database) {
  return History(database).Undecided(RemovalMode::kEnforce, kThen - absl::Hours(24), 1000).value();
}

class SpoolTest : public ::testing::TestWithParam<const char*> {
 protected:
  TestDatabase local_made_{kSqlite};
  TestDatabase fleet_made_{GetParam()};
  std::unique_ptr<Database> local_ = local_made_.ConnectMigrated();
  std::unique_ptr<Database> fleet_ = fleet_made_.ConnectMigrated();
  Spool spool_{*local_};
  History history_{*fleet_};
};

INSTANTIATE_TEST_SUITE_P(Each, SpoolTest, Values(kSqlite, kPostgresql));

TEST_P(SpoolTest, WhatArrivesIsWhatWasPut) {
  CulpritRecord culprit = BadChip("a", 3);
  culprit.node = "node-a";
  culprit.nic = "eth1";
  culprit.home_slice = 0;
  culprit.home_task = 2;
  culprit.grounds = Grounds::kDirect;
  IncidentRecord incident = Incident("i1", kThen, {culprit});
  incident.digest = "{\"cause\": 1}";
  ASSERT_TRUE(spool_.Put(incident).ok());
  const auto forwarded = spool_.ForwardTo(history_, kThen + absl::Hours(1));
  EXPECT_TRUE(forwarded.problem.ok()) << forwarded.problem;
  EXPECT_EQ(forwarded.delivered, 1u);
  EXPECT_THAT(*spool_.Waiting(), IsEmpty());

  const std::vector<Finding> findings = FindingsIn(*fleet_);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].machine, "hardware:a");
  EXPECT_EQ(findings[0].node, "node-a");
  EXPECT_EQ(findings[0].at, kThen);
  EXPECT_EQ(findings[0].grounds, Grounds::kDirect);
  EXPECT_THAT(findings[0].nics, ::testing::ElementsAre("eth1"));
  EXPECT_EQ(findings[0].job_hosts, incident.hosts);
  EXPECT_EQ(*history_.DigestOf("i1"), incident.digest);
  const HangEvent event =
      history_.FactsAbout("hardware:a", RemovalMode::kEnforce, kThen - absl::Hours(1))
          ->events.at(0);
  EXPECT_EQ(event.task, 3);
  EXPECT_EQ(event.home_slice, 0);
  EXPECT_EQ(event.home_task, 2);
  EXPECT_EQ(event.fingerprint, "abcd");
}

// A process may end between the history's commit and the spool's.
TEST_P(SpoolTest, DeliveredTwiceCountsOnce) {
  const IncidentRecord incident = Incident("i1", kThen, {BadChip("a", 3)});
  ASSERT_TRUE(history_.Record(incident, kThen).ok());
  ASSERT_TRUE(spool_.Put(incident).ok());
  EXPECT_TRUE(spool_.ForwardTo(history_, kThen).problem.ok());
  EXPECT_THAT(*spool_.Waiting(), IsEmpty());
  EXPECT_THAT(FindingsIn(*fleet_), SizeIs(1));
}

// The process that spooled the incident, and delivered it, dies after any of its steps.
TEST_P(SpoolTest, WhereverItDiesAnIncidentArrivesOnce) {
  bool finished = false;
  int steps = 0;
  for (; !finished; ++steps) {
    SCOPED_TRACE(absl::StrCat("died after ", steps, " statements"));
    ASSERT_LT(steps, 100);
    IncidentRecord incident =
        Incident(absl::StrCat("i", steps), kThen, {BadChip("a", 3), BadChip("b", 4)});
    int left = steps;
    bool kept = false;
    {
      DyingDatabase local(local_made_.Connect(), left);
      DyingDatabase fleet(fleet_made_.Connect(), left);
      History history(fleet);
      Spool spool(local);
      kept = spool.Put(incident).ok();
      finished = kept && spool.ForwardTo(history, kThen).problem.ok();
    }
    // The next process finds an incident that was not spooled on disk, and spools it again.
    if (!kept) {
      ASSERT_TRUE(spool_.Put(incident).ok());
    }
    const auto forwarded = spool_.ForwardTo(history_, kThen + absl::Hours(1));
    ASSERT_TRUE(forwarded.problem.ok()) << forwarded.problem;
    EXPECT_THAT(*spool_.Waiting(), IsEmpty());
    EXPECT_THAT(FindingsIn(*fleet_), SizeIs(2 * (steps + 1)));
  }
  EXPECT_GT(steps, 15);
}

class PublisherTest : public ::testing::Test {
 protected:
  Publisher::Settings Settings() {
    return {.spool_url = local_.url(),
            .history_url = fleet_.url(),
            .first_retry = absl::Milliseconds(1),
            .longest_retry = absl::Milliseconds(10)};
  }
  // Waits for more failures than there were.
  static void AwaitFailures(const Publisher& publisher, size_t more) {
    const size_t before = publisher.GetReport().failures;
    while (publisher.GetReport().failures < before + more) std::this_thread::yield();
  }
  void Put(int number) {
    Spool spool(*database_);
    ASSERT_TRUE(spool.Put(Incident(absl::StrCat("i", number), kThen, {BadChip("a", number)})).ok());
  }
  TestDatabase local_{kSqlite};
  TestDatabase fleet_{kPostgresql};
  std::unique_ptr<Database> database_ = local_.ConnectMigrated();
};

TEST_F(PublisherTest, DeliversWhatIsInTheSpoolBeforeItEnds) {
  {
    Publisher publisher(Settings());
    for (int i = 0; i < 3; ++i) Put(i);
    publisher.Wake();
  }
  EXPECT_THAT(FindingsIn(*fleet_.Connect()), SizeIs(3));
}

TEST_F(PublisherTest, AHistoryThatIsDownLosesNothing) {
  PostgresServer::Shared().Crash();
  {
    Publisher publisher(Settings());
    Put(1);
    publisher.Wake();
  }
  EXPECT_THAT(*Spool(*local_.Connect()).Waiting(), SizeIs(1));
  ASSERT_TRUE(PostgresServer::Shared().Start().ok());
  // The next process of the same coordinator.
  {
    Publisher publisher(Settings());
    Put(2);
    publisher.Wake();
  }
  EXPECT_THAT(FindingsIn(*fleet_.Connect()), SizeIs(2));
  EXPECT_THAT(*Spool(*local_.Connect()).Waiting(), IsEmpty());
}

TEST_F(PublisherTest, GoesOnByItselfWhenTheHistoryIsBack) {
  PostgresServer::Shared().Crash();
  std::vector<absl::StatusCode> told;
  Publisher::Settings settings = Settings();
  settings.changed = [&](const absl::Status& status) { told.push_back(status.code()); };
  {
    Publisher publisher(settings);
    Put(1);
    publisher.Wake();
    AwaitFailures(publisher, 2);
    EXPECT_EQ(publisher.GetReport().problem.code(), absl::StatusCode::kUnavailable);
    ASSERT_TRUE(PostgresServer::Shared().Start().ok());
    while (publisher.GetReport().delivered < 1) std::this_thread::yield();
  }
  EXPECT_THAT(FindingsIn(*fleet_.Connect()), SizeIs(1));
  EXPECT_THAT(told, ::testing::ElementsAre(absl::StatusCode::kUnavailable, absl::StatusCode::kOk));
}

TEST_F(PublisherTest, SaysWhatIsWrongWithTheSpool) {
  Publisher::Settings settings = Settings();
  settings.spool_url = "sqlite:/nowhere/at/all/spool.db";
  Publisher publisher(settings);
  AwaitFailures(publisher, 2);
  EXPECT_EQ(publisher.GetReport().problem.code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace rapideye::coordinator
