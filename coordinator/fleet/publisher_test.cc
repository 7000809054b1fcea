#include "coordinator/fleet/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/schema.h"
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
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::Values;

std::vector<Finding> FindingsIn(Database& database) {
  return History(database).Undecided(RemovalMode::kEnforce, kThen - absl::Hours(24), 1000).value();
}

class PublisherTest : public ::testing::TestWithParam<const char*> {
 protected:
  Publisher Make() {
    return Publisher(
        {.history_url = fleet_.url(),
         .digest =
             [](const std::string& incident) {
               return absl::StrCat("{\"incident\": \"", incident, "\"}");
             },
         .first_retry = absl::ZeroDuration(),
         .longest_retry = absl::ZeroDuration(),
         .changed = [this](const absl::Status& status) { told_.push_back(status.code()); }});
  }
  TestDatabase fleet_{GetParam()};
  std::unique_ptr<Database> database_ = fleet_.ConnectMigrated();
  History history_{*database_};
  std::vector<absl::StatusCode> told_;
};

INSTANTIATE_TEST_SUITE_P(Each, PublisherTest, Values(kSqlite, kPostgresql));

TEST_P(PublisherTest, WhatArrivesIsWhatWasGiven) {
  CulpritRecord culprit = BadChip("a", 3);
  culprit.node = "node-a";
  culprit.nic = "eth1";
  culprit.home_slice = 0;
  culprit.home_task = 2;
  culprit.grounds = Grounds::kDirect;
  const IncidentRecord incident = Incident("i1", kThen, {culprit});
  Publisher publisher = Make();
  publisher.Add(incident);
  EXPECT_TRUE(publisher.Waits("i1"));
  EXPECT_EQ(publisher.UntilNext(), absl::ZeroDuration());
  EXPECT_THAT(publisher.Turn(), ElementsAre("i1"));
  EXPECT_TRUE(publisher.problem().ok()) << publisher.problem();
  EXPECT_FALSE(publisher.Waits("i1"));
  EXPECT_EQ(publisher.UntilNext(), absl::InfiniteDuration());

  const std::vector<Finding> findings = FindingsIn(*database_);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].machine, "hardware:a");
  EXPECT_EQ(findings[0].node, "node-a");
  EXPECT_EQ(findings[0].at, kThen);
  EXPECT_EQ(findings[0].grounds, Grounds::kDirect);
  EXPECT_THAT(findings[0].nics, ElementsAre("eth1"));
  EXPECT_EQ(findings[0].job_hosts, incident.hosts);
  EXPECT_EQ(*history_.DigestOf("i1"), "{\"incident\": \"i1\"}");
  const HangEvent event =
      history_.FactsAbout("hardware:a", RemovalMode::kEnforce, kThen - absl::Hours(1))
          ->events.at(0);
  EXPECT_EQ(event.task, 3);
  EXPECT_EQ(event.home_slice, 0);
  EXPECT_EQ(event.home_task, 2);
  EXPECT_EQ(event.fingerprint, "abcd");
}

// A process may end between the history's commit and its own note of that.
TEST_P(PublisherTest, DeliveredTwiceCountsOnce) {
  const IncidentRecord incident = Incident("i1", kThen, {BadChip("a", 3)});
  ASSERT_TRUE(history_.Record(incident, kThen).ok());
  Publisher publisher = Make();
  publisher.Add(incident);
  publisher.Add(incident);
  EXPECT_THAT(publisher.Turn(), ElementsAre("i1"));
  EXPECT_THAT(FindingsIn(*database_), SizeIs(1));
}

// The process that delivers the incident dies after any of its steps, and the next delivers it
// again.
TEST_P(PublisherTest, WhereverItDiesAnIncidentArrivesOnce) {
  bool finished = false;
  int steps = 0;
  for (; !finished; ++steps) {
    SCOPED_TRACE(absl::StrCat("died after ", steps, " statements"));
    ASSERT_LT(steps, 100);
    const IncidentRecord incident =
        Incident(absl::StrCat("i", steps), kThen, {BadChip("a", 3), BadChip("b", 4)});
    int left = steps;
    {
      DyingDatabase dying(fleet_.Connect(), left);
      finished = History(dying).Record(incident, kThen).ok();
    }
    Publisher next = Make();
    next.Add(incident);
    EXPECT_THAT(next.Turn(), SizeIs(1));
    EXPECT_THAT(FindingsIn(*database_), SizeIs(2 * (steps + 1)));
  }
  EXPECT_GT(steps, 4);
}

// Only PostgreSQL has a server that may be down.
class LostHistoryTest : public PublisherTest {};
INSTANTIATE_TEST_SUITE_P(Postgresql, LostHistoryTest, Values(kPostgresql));

TEST_P(LostHistoryTest, WhatItMissedArrivesWhenItIsBack) {
  PostgresServer::Shared().Crash();
  Publisher publisher = Make();
  publisher.Add(Incident("i1", kThen, {BadChip("a", 1)}));
  EXPECT_THAT(publisher.Turn(), IsEmpty());
  EXPECT_THAT(publisher.Turn(), IsEmpty());
  EXPECT_EQ(publisher.problem().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(publisher.failures(), 2u);
  publisher.Add(Incident("i2", kThen, {BadChip("a", 2)}));
  // The end of the process does not wait for it.
  EXPECT_THAT(publisher.Turn(/*last=*/true), IsEmpty());
  EXPECT_EQ(publisher.failures(), 2u);
  ASSERT_TRUE(PostgresServer::Shared().Start().ok());
  EXPECT_THAT(publisher.Turn(), ElementsAre("i1", "i2"));
  EXPECT_THAT(told_, ElementsAre(absl::StatusCode::kUnavailable, absl::StatusCode::kOk));
}

TEST(PublisherPausesTest, AHistoryThatWasDownIsNotAskedAgainAtOnce) {
  Publisher publisher({.history_url = "sqlite:/nowhere/at/all/fleet.db", .digest = {}});
  publisher.Add(Incident("i1", kThen, {BadChip("a", 1)}));
  EXPECT_THAT(publisher.Turn(), IsEmpty());
  EXPECT_THAT(publisher.Turn(), IsEmpty());
  EXPECT_EQ(publisher.failures(), 1u);
  EXPECT_GT(publisher.UntilNext(), absl::ZeroDuration());
}

}  // namespace
}  // namespace rapideye::coordinator
