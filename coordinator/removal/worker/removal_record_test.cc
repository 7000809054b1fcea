#include "coordinator/removal/worker/removal_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/removal/hooks/incident_event.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kId[] = "20261120T124411Z-5dc4d1c8";

Task Hook(const std::string& incident, const std::string& state) {
  Task task;
  task.incident = incident;
  task.hook = "/hooks/upload";
  task.state = state;
  task.attempts = 2;
  task.outcome = "exited with status 1";
  task.output = "no \"route\"\n";
  task.not_before = absl::FromUnixMillis(1'795'178'659'123);
  task.expires = task.not_before + absl::Hours(6);
  return task;
}

RemovalRecord Record() {
  Task removal = Hook(kId, "done");
  removal.subject = "hardware:a";
  return {.incident = kId,
          .mode = RemovalMode::kEnforce,
          .decisions = {{.machine = "hardware:a",
                         .host = "host-a",
                         .action = "remove",
                         .rule = "repetition",
                         .reason = "4 hang events"}},
          .removals = {removal},
          .hooks = {Hook(kId, "done"), Hook(IncidentKey(kId, 2), "due"),
                    Hook(EndKey(IncidentKey(kId, 2)), "acting")},
          .revision = 2,
          .published = 1};
}

TEST(RemovalRecordTest, WhatIsWrittenIsRead) {
  const std::string text = RenderRemovalRecord(Record());
  const absl::StatusOr<RemovalRecord> read = ParseRemovalRecord(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(RenderRemovalRecord(*read), text);
  EXPECT_FALSE(read->is_copy);
  EXPECT_EQ(read->revision, 2);
  EXPECT_EQ(read->published, 1);
  ASSERT_THAT(read->removals, SizeIs(1));
  EXPECT_EQ(read->removals[0].subject, "hardware:a");
  ASSERT_THAT(read->hooks, SizeIs(3));
  EXPECT_EQ(read->hooks[1].incident, IncidentKey(kId, 2));
  EXPECT_EQ(read->hooks[1].not_before, Record().hooks[1].not_before);
  EXPECT_EQ(read->hooks[1].expires, Record().hooks[1].expires);
  EXPECT_EQ(read->hooks[2].incident, EndKey(IncidentKey(kId, 2)));
  EXPECT_EQ(read->hooks[2].attempts, 2);
}

TEST(RemovalRecordTest, ACopyOfVersion01IsKnownAsOne) {
  const absl::StatusOr<RemovalRecord> read = ParseRemovalRecord(absl::StrCat(
      R"({"incident": ")", kId, R"(", "mode": "dry-run", "decisions": [], "hooks": [)",
      R"({"hook": "/h", "state": "due", "attempts": 0, "outcome": "", "output": ""}]})"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->is_copy);
  EXPECT_EQ(read->revision, 1);
  EXPECT_EQ(read->published, 1);
  ASSERT_THAT(read->hooks, SizeIs(1));
  EXPECT_EQ(read->hooks[0].incident, kId);
  // No time is known: it is too late for the hook.
  EXPECT_EQ(read->hooks[0].expires, absl::UnixEpoch());
}

TEST(RemovalRecordTest, WhatNoCoordinatorWroteIsRefused) {
  const std::string good = RenderRemovalRecord(Record());
  for (const auto& [what, instead] : std::vector<std::pair<std::string, std::string>>{
           {"\"acting\"", "\"resting\""},
           {"\"attempts\": 2", "\"attempts\": -1"},
           {"\"attempts\": 2", "\"attempts\": \"2\""},
           {"\"attempts\": 2", "\"attempts\": 2e41"},
           {"\"revision\": 2", "\"revision\": 2e41"},
           {"\"revision\": 2,\n  \"published\"", "\"revision\": 9000000000,\n  \"published\""},
           {"\"published\": 1", "\"published\": -1"},
           {"\"published\": 1", "\"published\": 9000000000"},
           // A hook of a digest that is not out, and one that would wait for ever.
           {"\"revision\": 2,\n      \"state\": \"due\"",
            "\"revision\": 7,\n      \"state\": \"due\""},
           {"\"expires\": \"2026-", "\"expires\": \"infinite-future\", \"before\": \"2026-"},
           {"\"decisions\": [", "\"decisions\": [1, "},
           {"\"incident\"", "\"incidence\""},
           {"{", "["}}) {
    const std::string bad = absl::StrReplaceAll(good, {{what, instead}});
    EXPECT_NE(bad, good) << what;
    EXPECT_FALSE(ParseRemovalRecord(bad).ok()) << bad;
  }
}

TEST(RemovalRecordTest, TimesStandOnlyWhereAHookMayStillRun) {
  RemovalRecord record = Record();
  EXPECT_THAT(RenderRemovalRecord(record), HasSubstr("notBefore"));
  for (Task& task : record.hooks) task.state = "done";
  EXPECT_THAT(RenderRemovalRecord(record), Not(HasSubstr("notBefore")));
}

}  // namespace
}  // namespace rapideye::coordinator
