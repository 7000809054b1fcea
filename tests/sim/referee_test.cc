// That the referee sees what it is there to see: each fault has a twin that is
// none.
#include "tests/sim/referee.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Options OptionsOf(Fate fate) {
  Options options = Draw(1);
  options.fate = fate;
  options.hang = scenarios::Kind::kChipCompute;
  options.fault_after = absl::Seconds(20);
  options.restart_at.reset();
  return options;
}

class RefereeTest : public testing::Test {
 protected:
  explicit RefereeTest(Fate fate = Fate::kHang)
      : options_(OptionsOf(fate)),
        job_(options_),
        network_(clockwork_, scenarios::Random(1), options_.slowest_message),
        referee_(options_, job_, network_, clockwork_) {
    referee_.CoordinatorBegins();
  }

  void PassUntil(absl::Duration time) {
    clockwork_.At(time, [] {});
    clockwork_.RunNext(time);
  }

  // The capture holds no worker, so that the referee does not judge the verdict.
  void Tell(const std::string& incident, bool again = false) {
    coordinator::Conclude conclude;
    conclude.again = again;
    conclude.incident_id = incident;
    conclude.capture.header.expected_workers.resize(1);
    conclude.capture.header.detected_unix_ms = absl::ToUnixMillis(WallOrigin() + clockwork_.now());
    Verdict verdict;
    verdict.cause = Cause::kBadTpuChip;
    referee_.Concluded(conclude, verdict, {});
  }

  Options options_;
  Clockwork clockwork_;
  Job job_;
  Network network_;
  Referee referee_;
};

class HealthyTest : public RefereeTest {
 protected:
  HealthyTest() : RefereeTest(Fate::kHealthy) {}
};

TEST_F(RefereeTest, NothingIsSentOnAStreamThatIsOver) {
  referee_.Sent(7, wire::Welcome{});
  EXPECT_THAT(referee_.failures(), IsEmpty());
  referee_.StreamIsOver(7);
  referee_.Sent(8, wire::Welcome{});
  EXPECT_THAT(referee_.failures(), IsEmpty());
  referee_.Sent(7, wire::Welcome{});
  EXPECT_THAT(referee_.failures(), ElementsAre(HasSubstr("stream 7, which is over")));
}

TEST_F(RefereeTest, SnapshotsInFlightAreBounded) {
  for (Connection connection = 1; connection <= 64; ++connection) {
    referee_.Sent(connection, wire::Grant{1});
  }
  EXPECT_THAT(referee_.failures(), IsEmpty());
  referee_.SnapshotArrived(1, 1);
  referee_.Sent(65, wire::Grant{1});
  EXPECT_THAT(referee_.failures(), IsEmpty());
  referee_.Sent(66, wire::Grant{1});
  EXPECT_THAT(referee_.failures(), ElementsAre(HasSubstr("65 snapshots are in flight")));
}

TEST_F(RefereeTest, AFurtherLookAtWhatIsSettled) {
  PassUntil(job_.last_break() + absl::Seconds(60));
  Tell("one");
  referee_.Stored("one", /*settled=*/false);
  Tell("one", /*again=*/true);
  EXPECT_THAT(referee_.failures(), IsEmpty());
  EXPECT_EQ(referee_.further_looks(), 1);
  referee_.Stored("one");
  Tell("one", /*again=*/true);
  EXPECT_THAT(referee_.failures(), ElementsAre(HasSubstr("was settled")));
}

TEST_F(HealthyTest, AHangOfAHealthyJobIsAFalseAlarm) {
  PassUntil(absl::Seconds(30));
  Tell("a");
  EXPECT_THAT(referee_.failures(), ElementsAre(HasSubstr("false alarm")));
}

TEST_F(HealthyTest, AHealthyJobOwesNothing) {
  PassUntil(referee_.Deadline());
  referee_.CheckEnd();
  EXPECT_THAT(referee_.failures(), IsEmpty());
}

TEST_F(RefereeTest, AHangIsToldOfOnce) {
  PassUntil(job_.last_break() + absl::Seconds(60));
  Tell("a");
  Tell("a");  // not written before: the same again
  EXPECT_THAT(referee_.failures(), IsEmpty());
  EXPECT_EQ(referee_.hangs(), 1);
  Tell("b");
  EXPECT_THAT(referee_.failures(), ElementsAre(HasSubstr("told of twice")));
}

TEST_F(RefereeTest, WhatIsOnDiskIsNotConcludedAgain) {
  PassUntil(job_.last_break() + absl::Seconds(60));
  Tell("a");
  referee_.Stored("a");
  EXPECT_THAT(referee_.failures(), IsEmpty());
  Tell("a");
  EXPECT_THAT(referee_.failures(), ElementsAre(HasSubstr("is on disk")));
}

TEST_F(RefereeTest, AHangMustBeToldOf) {
  PassUntil(referee_.Deadline());
  EXPECT_FALSE(referee_.Satisfied());
  referee_.CheckEnd();
  EXPECT_THAT(referee_.failures(), ElementsAre(HasSubstr("nobody was told")));
}

TEST_F(RefereeTest, OneThatWasToldOfIsEnough) {
  PassUntil(referee_.Deadline());
  Tell("a");
  EXPECT_TRUE(referee_.Satisfied());
  referee_.CheckEnd();
  EXPECT_THAT(referee_.failures(), IsEmpty());
}

}  // namespace
}  // namespace rapideye::sim
