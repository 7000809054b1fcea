// Tests run `rapideye fleet` as a shell would, over real databases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/reports.h"
#include "coordinator/fleet/schema.h"
#include "tests/fleet/incidents.h"
#include "tests/fleet/test_database.h"
#include "tests/support/run_program.h"

namespace rapideye::cli {
namespace {

using coordinator::Action;
using coordinator::CulpritRecord;
using coordinator::RemovalMode;
using ::rapideye::testing::BadChip;
using ::rapideye::testing::Incident;
using ::rapideye::testing::kPostgresql;
using ::rapideye::testing::kSqlite;
using ::rapideye::testing::TestDatabase;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::Values;

class FleetTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Runs `rapideye fleet` with these arguments on the test's history.
  Result Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "fleet");
    arguments.push_back("--fleet-db=" + made_.url());
    return Rapideye(std::move(arguments));
  }
  // Output of a command that must succeed.
  std::string Out(const std::vector<std::string>& arguments) const {
    const Result result = Run(arguments);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    return result.out;
  }
  std::vector<nlohmann::ordered_json> JsonOf(std::vector<std::string> arguments) const {
    arguments.emplace_back("--format=json");
    return JsonLines(Out(arguments));
  }

  void Record(const std::string& id, absl::Duration ago, std::vector<CulpritRecord> culprits) {
    auto incident = Incident(id, now_ - ago, std::move(culprits));
    incident.hosts = 1000;
    ASSERT_TRUE(history_.Record(incident, now_).ok());
  }
  // The same bad chip fails in so many restarts, each at another place; i1, i2, ….
  void Fail(const std::string& hardware, int times) {
    for (int i = 0; i < times; ++i) {
      ++incidents_;
      Record(absl::StrCat("i", incidents_), absl::Hours(2) - absl::Minutes(incidents_),
             {BadChip(hardware, incidents_)});
    }
  }
  void Decide(const std::string& incident, const std::string& machine, RemovalMode mode) {
    const auto finding = history_.FindingOf(incident, machine).value();
    ASSERT_TRUE(*history_.AddDecision(
        finding, mode,
        {Action::kRemove, "repetition", "4 hang events", now_ + absl::Hours(6), false}, now_));
  }

  TestDatabase made_{GetParam()};
  std::unique_ptr<coordinator::Database> database_ = made_.ConnectMigrated();
  coordinator::History history_{*database_};
  // The commands know no time but the real time.
  const absl::Time now_ = database_->WallClock().value();
  int incidents_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Each, FleetTest, Values(kSqlite, kPostgresql));

TEST_P(FleetTest, OffendersWithWhatThePolicyWouldDoAndWhy) {
  Fail("a", 4);
  Fail("b", 1);
  const std::string out = Out({"offenders"});
  EXPECT_THAT(out, AllOf(StartsWith("host-of-a (hardware:a): 4 incidents, the last at "),
                         HasSubstr("  causes:  BAD_TPU_CHIP TENSOR_CORE (4)\n"),
                         HasSubstr("  now:     remove (dry-run): 4 hang events"),
                         HasSubstr("\nhost-of-b (hardware:b): 1 incident, "),
                         HasSubstr("  now:     watch (dry-run): 1 hang event on this machine")));
  EXPECT_THAT(out, Not(HasSubstr("decided:")));
  EXPECT_THAT(Out({"offenders", "--limit=1"}), Not(HasSubstr("host-of-b")));

  const auto json = JsonOf({"offenders", "--removal-repetitions=4"});
  ASSERT_THAT(json, SizeIs(2));
  EXPECT_EQ(json[0]["host"], "host-of-a");
  EXPECT_EQ(json[0]["incidents"], 4);
  EXPECT_EQ(json[0]["now"]["action"], "watch");
  EXPECT_EQ(json[0]["now"]["rule"], "repetition");
  EXPECT_EQ(JsonOf({"offenders", "--removal=off"})[0]["now"]["rule"], "off");
  EXPECT_EQ(JsonOf({"offenders", "--removal-deny=host-of-*"})[0]["now"]["rule"], "deny");
  // A question decides nothing.
  EXPECT_THAT(*history_.Undecided(RemovalMode::kDryRun, absl::UnixEpoch(), 10), SizeIs(5));
}

TEST_P(FleetTest, OffendersTellWhatWasDecidedInTheModeThatIsAskedAbout) {
  Fail("a", 4);
  Decide("i4", "hardware:a", RemovalMode::kEnforce);
  EXPECT_THAT(Out({"offenders", "--removal=enforce"}),
              AllOf(HasSubstr("  decided: remove (enforce) at "),
                    HasSubstr("for incident i4: 4 hang events [repetition]"),
                    HasSubstr("  now:     refuse (enforce): due ("), HasSubstr("[removed]")));
  EXPECT_THAT(Out({"offenders"}), Not(HasSubstr("decided:")));
}

TEST_P(FleetTest, AHistoryWithoutIncidentsSaysSo) {
  EXPECT_THAT(Out({"offenders"}), HasSubstr("no machine was named"));
  EXPECT_THAT(Out({"offenders", "--format=json"}), IsEmpty());
  EXPECT_THAT(Out({"precision"}), HasSubstr("no removal"));
}

TEST_P(FleetTest, HistoryOfAMachineTellsEverything) {
  Fail("a", 4);
  Decide("i4", "hardware:a", RemovalMode::kEnforce);
  ASSERT_TRUE(database_
                  ->Run("INSERT INTO fleet_tasks (task, incident, subject, hook, state, holder, "
                        "lease_ms, attempts, not_before_ms, created_ms, expires_ms, finished_ms, "
                        "outcome, output) VALUES ('t', 'i4', 'hardware:a', '/hooks/drain', "
                        "'failed', '', 0, 8, 0, $1, 0, $1, 'exited with status 1', $2)",
                        {coordinator::ToValue(now_),
                         "no such node\n2026-11-20T12:44:19Z  repair  found: none"})
                  .ok());
  Out({"confirm", "i4", "--repair=chip", "--who=ada"});
  Out({"forget", "host-of-a", "--who=ada"});
  const std::string out = Out({"history", "host-of-a"});
  EXPECT_THAT(out, AllOf(StartsWith("host-of-a (hardware:a)\n"), HasSubstr("  incident   i1  BAD_"),
                         HasSubstr("  decision   i4  remove (enforce): 4 hang events [repetition]"),
                         HasSubstr("  hook       i4  /hooks/drain: failed, attempts: 8; exited "),
                         HasSubstr("\n    | no such node\n    | 2026-11-20T12:44:19Z  repair "),
                         HasSubstr("  repair     i4  found: chip (ada)"),
                         HasSubstr("  forgotten  what was before no longer counts (ada)")));
  const auto json = JsonOf({"history", "a"});  // by its hardware
  ASSERT_THAT(json, SizeIs(8));
  EXPECT_EQ(json[0]["kind"], "incident");
  EXPECT_EQ(json[0]["machine"], "hardware:a");
  EXPECT_EQ(json[0]["task"], "1");
  EXPECT_EQ(json[4]["action"], "remove");
  EXPECT_EQ(json[5]["attempts"], "8");
  EXPECT_EQ(json[7]["who"], "ada");
}

TEST_P(FleetTest, WhatIsNotThereIsMissedWithWhatLooksLikeIt) {
  Fail("a", 1);
  for (const char* command : {"history", "forget"}) {
    const Result result = Run({command, "host-of-b"});
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_THAT(result.err, HasSubstr("names a machine 'host-of-b'; closest: host-of-a, a"));
  }
  const Result incident = Run({"confirm", "i2", "--repair=chip"});
  EXPECT_EQ(incident.exit_status, 1);
  EXPECT_THAT(incident.err, HasSubstr("no incident 'i2'"));
  EXPECT_THAT(incident.err, HasSubstr("closest: i1"));
}

TEST_P(FleetTest, WhoIsForgottenIsNoOffender) {
  Fail("a", 4);
  EXPECT_THAT(Out({"forget", "host-of-a", "--who=ada"}),
              HasSubstr("host-of-a (hardware:a): what was before "));
  EXPECT_THAT(Out({"offenders"}), HasSubstr("no machine was named"));
  const auto json = JsonOf({"forget", "hardware:a"});
  EXPECT_EQ(json[0]["machine"], "hardware:a");
  EXPECT_FALSE(json[0]["who"].get<std::string>().empty());
}

TEST_P(FleetTest, ANameOfTwoMachinesForgetsNeither) {
  CulpritRecord one = BadChip("a", 1), other = BadChip("b", 2);
  one.host = other.host = "tpu-7";
  Record("i1", absl::Hours(3), {one});
  Record("i2", absl::Hours(2), {other});
  const Result result = Run({"forget", "tpu-7"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("say which one: hardware:a, hardware:b"));
  EXPECT_THAT(JsonOf({"offenders"}), SizeIs(2));
  Out({"forget", "hardware:b"});
  EXPECT_THAT(JsonOf({"offenders"}), SizeIs(1));
  // A query is harmless, so it covers all machines that bear the name.
  EXPECT_THAT(Out({"history", "tpu-7"}),
              AllOf(HasSubstr("tpu-7 (hardware:a)\n"), HasSubstr("tpu-7 (hardware:b)\n")));
}

TEST_P(FleetTest, ConfirmedRepairsMakeThePrecision) {
  for (const char* hardware : {"a", "b", "c"}) {
    const std::string id = absl::StrCat("of-", hardware);
    Record(id, absl::Hours(1), {BadChip(hardware, 1)});
    Decide(id, absl::StrCat("hardware:", hardware), RemovalMode::kEnforce);
  }
  Decide("of-a", "hardware:a", RemovalMode::kDryRun);
  EXPECT_THAT(Out({"confirm", "of-a", "--repair=chip"}), HasSubstr("rapideye fleet forget"));
  EXPECT_EQ(JsonOf({"confirm", "of-b", "--repair=none", "--who=ada"})[0]["who"], "ada");

  const auto json = JsonOf({"precision"});
  ASSERT_THAT(json, SizeIs(4));
  EXPECT_EQ(json[0]["mode"], "enforce");
  EXPECT_EQ(json[0]["cause"], "BAD_TPU_CHIP");
  EXPECT_EQ(json[0]["removals"], 3);
  EXPECT_EQ(json[0]["right"], 1);
  EXPECT_EQ(json[0]["wrong"], 1);
  EXPECT_EQ(json[0]["unknown"], 1);
  EXPECT_EQ(json[0]["precision"], 0.5);
  EXPECT_EQ(json[1]["cause"], "all");
  EXPECT_EQ(json[2]["mode"], "dry-run");
  EXPECT_EQ(json[3]["precision"], 1);
  EXPECT_THAT(Out({"precision"}), HasSubstr("50.0 %"));
}

TEST_P(FleetTest, ConfirmSaysIfItIsNotTheIncidentOfTheRemoval) {
  Fail("a", 2);
  EXPECT_THAT(Out({"confirm", "i1", "--repair=chip"}), Not(HasSubstr("its removal")));
  Decide("i2", "hardware:a", RemovalMode::kEnforce);
  EXPECT_THAT(Out({"confirm", "i1", "--repair=chip"}),
              HasSubstr("its removal was decided on for incident i2: "));
  EXPECT_THAT(Out({"confirm", "i2", "--repair=chip"}), Not(HasSubstr("its removal")));
}

TEST_P(FleetTest, ConfirmAsksWhichOfSeveralMachinesIsMeant) {
  Record("i1", absl::Hours(1), {BadChip("a", 1), BadChip("b", 2)});
  Record("none", absl::Hours(1), {});
  const Result which = Run({"confirm", "i1", "--repair=nic"});
  EXPECT_EQ(which.exit_status, 2);
  EXPECT_THAT(which.err, HasSubstr("host-of-a (hardware:a), host-of-b (hardware:b)"));
  const Result other = Run({"confirm", "i1", "--repair=nic", "--host=host-of-c"});
  EXPECT_EQ(other.exit_status, 1);
  EXPECT_THAT(other.err, HasSubstr("does not name 'host-of-c'; it names host-of-a"));
  EXPECT_EQ(JsonOf({"confirm", "i1", "--repair=nic", "--host=host-of-b"})[0]["machine"],
            "hardware:b");
  EXPECT_THAT(Run({"confirm", "none", "--repair=none"}).err, HasSubstr("names no machine"));
  EXPECT_EQ(Run({"confirm", "i1", "--repair=gpu", "--host=host-of-b"}).exit_status, 2);
}

TEST_P(FleetTest, TheBreakerStaysOpenUntilSomebodyClosesIt) {
  EXPECT_THAT(Out({"breaker"}), AllOf(HasSubstr("enforce: closed"), HasSubstr("dry-run: closed")));
  for (const RemovalMode mode : {RemovalMode::kEnforce, RemovalMode::kDryRun}) {
    ASSERT_TRUE(history_.SetBreaker(mode, true, "2 hosts an hour may be removed", "", now_).ok());
  }
  EXPECT_THAT(Out({"breaker"}), AllOf(HasSubstr("enforce: open since "), HasSubstr("dry-run: open"),
                                      HasSubstr("no removals: 2 hosts an hour may be removed"),
                                      HasSubstr("fleet breaker close --removal=enforce")));
  const Result which = Run({"breaker", "close"});
  EXPECT_EQ(which.exit_status, 2);
  EXPECT_THAT(which.err, HasSubstr("--removal=enforce or --removal=dry-run"));

  EXPECT_THAT(Out({"breaker", "close", "--removal=dry-run", "--who=ada"}),
              HasSubstr("dry-run: closed by ada at "));
  EXPECT_TRUE(history_.BreakerOf(RemovalMode::kEnforce)->open);
  EXPECT_THAT(Out({"breaker", "close", "--removal=enforce", "--who=ada"}),
              HasSubstr("enforce: closed by ada at "));
  EXPECT_FALSE(history_.BreakerOf(RemovalMode::kEnforce)->open);
  // Ada closed the breaker: bob's command changes nothing.
  const auto json = JsonOf({"breaker", "close", "--removal=enforce", "--who=bob"});
  EXPECT_EQ(json[0]["open"], false);
  EXPECT_EQ(json[0]["who"], "ada");
}

TEST_P(FleetTest, NamesFromPeersForgeNoLine) {
  CulpritRecord culprit = BadChip("a\n  now: remove", 1);
  culprit.host = "host\n  decided: remove\x1b[31m";
  Record("i1", absl::Hours(1), {culprit});
  EXPECT_THAT(Out({"offenders"}), AllOf(StartsWith("host\\n  decided: remove\\x1b[31m ("),
                                        Not(HasSubstr("\n  now: remove"))));
}

TEST(FleetCommandTest, WhatIsNoHistoryIsSaidAndLeftAsItIs) {
  const Result none = Rapideye({"fleet", "offenders"});
  EXPECT_EQ(none.exit_status, 2);
  EXPECT_THAT(none.err, HasSubstr("--fleet-db=sqlite:PATH"));
  const std::string missing = TempPath("missing.db");
  const Result no_file = Rapideye({"fleet", "breaker", "--fleet-db=sqlite:" + missing});
  EXPECT_EQ(no_file.exit_status, 2);
  EXPECT_THAT(no_file.err, HasSubstr("no such file"));
  EXPECT_FALSE(std::filesystem::exists(missing));
  const std::string empty = File("empty.db", "");
  const Result no_tables = Rapideye({"fleet", "forget", "h", "--fleet-db=sqlite:" + empty});
  EXPECT_EQ(no_tables.exit_status, 1);
  EXPECT_THAT(no_tables.err, HasSubstr("holds no fleet history"));
  EXPECT_EQ(std::filesystem::file_size(empty), 0U);
  const Result down =
      Rapideye({"fleet", "precision", "--fleet-db=postgresql://a:geheim@127.0.0.1:1/fleet"});
  EXPECT_EQ(down.exit_status, 1);
  EXPECT_THAT(down.err,
              AllOf(HasSubstr("postgresql://127.0.0.1:1/fleet"), Not(HasSubstr("geheim"))));
}

TEST(FleetCommandTest, WrongUseExitsWith2) {
  EXPECT_EQ(Rapideye({"fleet"}).exit_status, 2);
  const Result unknown = Rapideye({"fleet", "ofenders"});
  EXPECT_EQ(unknown.exit_status, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("no command 'ofenders'; did you mean 'offenders'? rapideye fleet --help"));
  const std::string url = "--fleet-db=sqlite:/nowhere/fleet.db";
  EXPECT_EQ(Rapideye({"fleet", "confirm", "i1", url}).exit_status, 2);
  EXPECT_EQ(Rapideye({"fleet", "offenders", "--removal-share-of-job=2", url}).exit_status, 2);
  EXPECT_EQ(Rapideye({"fleet", "offenders", "--limit=-1", url}).exit_status, 2);
  EXPECT_EQ(Rapideye({"fleet", "--help"}).exit_status, 0);
}

}  // namespace
}  // namespace rapideye::cli
