#include "coordinator/server/fleet_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fleet/history_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMarkup[] = "<b onclick=\"x\">";

class FleetPageTest : public HistoryFixture {
 protected:
  void Record(const std::string& id, absl::Time at, const std::string& host) {
    CulpritRecord culprit = BadChip("a", 3);
    culprit.host = host;
    ASSERT_TRUE(history_.Record(Incident(id, at, {culprit}), kThen + kDay).ok());
    const Finding finding = history_.FindingOf(id, "hardware:a").value();
    ASSERT_TRUE(*history_.AddDecision(finding, RemovalMode::kEnforce,
                                      {Action::kWatch, "repetition", kMarkup, kThen, false},
                                      kThen + kDay));
  }
  FleetSource Source() const { return {.url = made_.url(), .mode = RemovalMode::kEnforce}; }
};

INSTANTIATE_TEST_SUITE_P(Each, FleetPageTest, BothDatabases());

TEST_P(FleetPageTest, OffendersDecisionsBreakerAndPrecision) {
  Record("i1", kThen, kMarkup);
  ASSERT_TRUE(
      history_.SetBreaker(RemovalMode::kEnforce, /*open=*/true, "too many at once", "", kThen)
          .ok());
  const auto page = FleetPage(Source(), kThen + kDay);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(*page, AllOf(HasSubstr("hardware:a"), HasSubstr("BAD_TPU_CHIP TENSOR_CORE (1)"),
                           HasSubstr("amber\">watch"), HasSubstr("href=\"/incidents/i1\""),
                           HasSubstr("too many at once"), HasSubstr("red\">open"),
                           HasSubstr("No removal has been decided on yet"),
                           HasSubstr("&lt;b onclick"), Not(HasSubstr(kMarkup))));
}

TEST_P(FleetPageTest, HistoryOfTheMachinesOfAnIncident) {
  Record("i1", kThen, "old-name");
  Record("i2", kThen + kDay / 2, "new-name");
  const auto html = MachineHistoryHtml(Source(), "i2");
  ASSERT_TRUE(html.ok()) << html.status();
  EXPECT_THAT(*html, AllOf(HasSubstr("new-name"), HasSubstr("href=\"/incidents/i1\""),
                           HasSubstr("decision: "), Not(HasSubstr(kMarkup))));
  EXPECT_TRUE(absl::IsNotFound(MachineHistoryHtml(Source(), "i3").status()));
}

TEST(NoFleetPageTest, NoHistoryYet) {
  EXPECT_TRUE(absl::IsNotFound(
      FleetPage({.url = "sqlite:/nonexistent/fleet.db"}, absl::UnixEpoch()).status()));
}

TEST(DecisionsHtmlTest, SaysWhatTheRecordSays) {
  const std::string html = DecisionsHtml(
      R"({"mode":"dry-run","decisions":[{"host":"<i>","action":"remove","rule":"direct",
      "reason":"three events"}],"hooks":[{"hook":"cordon.sh","state":"done","outcome":"exit 0"}]})");
  EXPECT_THAT(html,
              AllOf(HasSubstr("&lt;i&gt;"), HasSubstr("red\">remove"), HasSubstr("three events"),
                    HasSubstr("(dry-run)"), HasSubstr("cordon.sh</code>: done exit 0")));
}

TEST(DecisionsHtmlTest, ARecordOfAnyShapeIsTaken) {
  for (const char* record : {"", "[]", "{", R"({"decisions":3,"hooks":{}})"}) {
    EXPECT_EQ(DecisionsHtml(record), "") << record;
  }
  EXPECT_THAT(DecisionsHtml(R"({"decisions":[7,{"host":{}}]})"), HasSubstr("<li>"));
}

TEST(LastSectionTest, StandsWithinThePage) {
  EXPECT_EQ(WithLastSection("<main>a</main><p>", "b"), "<main>a<section>\nb</section>\n</main><p>");
  EXPECT_EQ(WithLastSection("no page", "b"), "no page");
}

}  // namespace
}  // namespace rapideye::coordinator
