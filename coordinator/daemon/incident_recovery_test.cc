#include "coordinator/daemon/incident_recovery.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <utility>

namespace rapideye::coordinator {
namespace {

constexpr char kId[] = "20260131T235959Z-0123abcd";

struct Outcome {
  std::string logged;
  std::optional<Event> event;
};

Outcome Retell(IncidentRecovery::Read read) {
  Outcome outcome;
  {
    IncidentRecovery incident_recovery(
        std::move(read),
        [&](const std::string&, const std::string& text, const auto&) { outcome.logged = text; },
        [&](Event event) { outcome.event = std::move(event); });
    incident_recovery.Begin(kId);
  }  // waits
  return outcome;
}

TEST(IncidentRecovery, DigestReachesTheLogBeforeItCountsAsConcluded) {
  const Outcome outcome = Retell([](const std::string& id) { return "digest of " + id; });
  EXPECT_EQ(outcome.logged, std::string("digest of ") + kId);
  ASSERT_TRUE(outcome.event.has_value());
  const auto* concluded = std::get_if<IncidentConcluded>(&*outcome.event);
  ASSERT_NE(concluded, nullptr);
  EXPECT_TRUE(concluded->hang);
}

TEST(IncidentRecovery, DigestThatCannotBeReadIsSaidSo) {
  const Outcome outcome =
      Retell([](const std::string&) { return absl::DataLossError("digest.txt is empty"); });
  EXPECT_EQ(outcome.logged, "");
  const auto* unreadable = std::get_if<IncidentUnreadable>(&*outcome.event);
  ASSERT_NE(unreadable, nullptr);
  EXPECT_TRUE(unreadable->damaged);
}

TEST(IncidentRecovery, DiskThatHangsHoldsUpNothing) {
  auto release = std::make_shared<std::promise<void>>();
  const auto released = std::make_shared<std::shared_future<void>>(release->get_future());
  const Outcome outcome = Retell([released](const std::string&) {
    released->wait();
    return std::string("too late");
  });
  EXPECT_EQ(outcome.logged, "");
  const auto* unreadable = std::get_if<IncidentUnreadable>(&*outcome.event);
  ASSERT_NE(unreadable, nullptr);
  EXPECT_FALSE(unreadable->damaged);
  release->set_value();
}

}  // namespace
}  // namespace rapideye::coordinator
