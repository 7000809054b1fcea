#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string StatementOnTheRuntime(const Scenario& s) {
  for (const EvidenceItem& item : Classify(s.capture).evidence) {
    if (item.statement.find("the runtime itself") != std::string::npos) return item.statement;
  }
  return "";
}

// A host that queues nothing, which lines of the runtime name.
Scenario Stalled(const std::vector<std::string>& lines) {
  Scenario s;
  s.MakeIdle(0, 1);
  for (const std::string& line : lines) s.Log(0, 0, LogKind::kRuntimeVerdict, line, 1000);
  return s;
}

constexpr char kStall[] =
    "Megascale detects a hang that is likely caused by data input stall on the following hosts.";
constexpr char kChip[] =
    "Megascale detects a hang that is likely caused by bad TPU chips on the following hosts.";

TEST(RuntimeVerdict, IsToldBesideOurs) {
  const Scenario alone = Stalled({});
  EXPECT_THAT(StatementOnTheRuntime(alone), IsEmpty());
  Scenario s = Stalled({kStall});
  s.Log(0, 0, LogKind::kRuntimeVerdict,
        "  The host that have data input stalls are: " + s.At(0, 1).host, 1000);
  EXPECT_THAT(StatementOnTheRuntime(s),
              AllOf(HasSubstr("DATA_INPUT_STALL of "), HasSubstr("as this verdict says")));
  EXPECT_EQ(Diagnose(s), Diagnose(alone));
}

TEST(RuntimeVerdict, MayDisagreeAndChangesNothing) {
  EXPECT_THAT(StatementOnTheRuntime(Stalled({kChip})),
              AllOf(HasSubstr("BAD_TPU_CHIP"), HasSubstr("not what this verdict says")));
  EXPECT_EQ(Diagnose(Stalled({kChip})), Diagnose(Stalled({})));
  Scenario other = Stalled({kStall});
  other.Log(0, 0, LogKind::kRuntimeVerdict,
            "    Potential culprit workers: job/2:" + other.At(0, 2).host + ", nobody", 1000);
  EXPECT_THAT(StatementOnTheRuntime(other), HasSubstr("others are at fault"));
}

TEST(RuntimeVerdict, StandsInTheVerdictWithItsWorkersAndWhetherItAgrees) {
  EXPECT_FALSE(Classify(Stalled({}).capture).runtime_verdict.has_value());
  Scenario s = Stalled({kStall});
  s.Log(0, 0, LogKind::kRuntimeVerdict,
        "  The host that have data input stalls are: nobody, " + s.At(0, 1).host, 1000);
  RuntimeVerdict verdict = Classify(s.capture).runtime_verdict.value();
  EXPECT_EQ(verdict.cause, Cause::kDataInputStall);
  EXPECT_THAT(verdict.workers, ElementsAre(WorkerId{0, 1}));
  EXPECT_TRUE(verdict.agrees);

  EXPECT_TRUE(Classify(Stalled({kStall}).capture).runtime_verdict->agrees);  // it names nobody
  EXPECT_FALSE(Classify(Stalled({kChip}).capture).runtime_verdict->agrees);
  Scenario other = Stalled({kStall});
  other.Log(0, 0, LogKind::kRuntimeVerdict,
            "    Potential culprit workers: job/2:" + other.At(0, 2).host, 1000);
  EXPECT_FALSE(Classify(other.capture).runtime_verdict->agrees);
}

TEST(RuntimeVerdict, OfAnUnknownCauseAgreesWithNoneButUnknown) {
  const std::string unknown = "Megascale detects a hang but cannot determine the root cause.";
  EXPECT_FALSE(Classify(Stalled({unknown}).capture).runtime_verdict->agrees);
  Scenario nobody;
  nobody.Log(0, 0, LogKind::kRuntimeVerdict, unknown, 1000);
  ASSERT_EQ(Diagnose(nobody), "UNKNOWN");
  EXPECT_TRUE(Classify(nobody.capture).runtime_verdict->agrees);
}

TEST(RuntimeVerdict, MayBeThatItDoesNotKnow) {
  EXPECT_THAT(StatementOnTheRuntime(
                  Stalled({"Megascale detects a hang but cannot determine the root cause."})),
              HasSubstr("could not determine the cause"));
  // Hosts without a cause, and empty names, add nothing either.
  EXPECT_THAT(StatementOnTheRuntime(Stalled({"Potential culprit workers: /:, ,,a/b:"})), IsEmpty());
}

}  // namespace
}  // namespace rapideye::classifier::testing
