#include "coordinator/store/incident_notes.h"

#include <gtest/gtest.h>

#include <string>

namespace rapideye::coordinator {
namespace {

TEST(IncidentNotesTest, AreReadAsTheyWereWritten) {
  const absl::Time then = absl::FromUnixSeconds(1'800'000'000);
  const auto ended = ParseEnd(EndText({.id = {}, .ended = then, .why = "it goes on"}));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->ended, then);
  EXPECT_EQ(ended->why, "it goes on");
  const auto known =
      ParseAcknowledgement(AcknowledgementText({.at = then, .reason = "a drill", .by = "ann"}));
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_EQ(known->at, then);
  EXPECT_EQ(known->reason, "a drill");
  EXPECT_EQ(known->by, "ann");
}

// Hooks and scripts read them, too.
TEST(IncidentNotesTest, HaveTheDocumentedKeys) {
  const absl::Time then = absl::FromUnixSeconds(1'800'000'000);
  EXPECT_EQ(EndText({.id = {}, .ended = then, .why = "it goes on"}),
            "{\"ended\":\"2027-01-15T08:00:00+00:00\",\"why\":\"it goes on\"}\n");
  EXPECT_EQ(AcknowledgementText({.at = then, .reason = "a drill", .by = "ann"}),
            "{\"acknowledged\":\"2027-01-15T08:00:00+00:00\",\"reason\":\"a drill\","
            "\"by\":\"ann\"}\n");
}

// Another program may have written the notes.
TEST(IncidentNotesTest, WhatStatesNoTimeIsNone) {
  for (const std::string time :
       {"", "7", "\"yesterday\"", "\"infinite-future\"", "\"infinite-past\"", "[[]]"}) {
    const std::string value = time.empty() ? "null" : time;
    EXPECT_FALSE(ParseEnd("{\"ended\":" + value + "}").ok()) << time;
    EXPECT_FALSE(ParseAcknowledgement("{\"acknowledged\":" + value + ",\"by\":\"ann\"}").ok())
        << time;
  }
  EXPECT_FALSE(ParseEnd(std::string(size_t{1} << 16, '[')).ok());
}

}  // namespace
}  // namespace rapideye::coordinator
