#include "coordinator/removal/remover_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kHook = absl::Minutes(1);

class RemoverPagesTest : public ::testing::Test {
 protected:
  http::Response Get(const std::string& path) const { return pages_.Answer({.path = path}); }
  std::string Metrics() const { return Get("/metrics").body; }

  absl::Duration now_ = absl::Seconds(1000);
  RemoverPages pages_{
      {.mode = RemovalMode::kEnforce, .hook_timeout = kHook, .now = [this] { return now_; }}};
};

Remover::Report Turn() {
  Remover::Report turn;
  turn.breaker_open = true;
  for (const Action action : {Action::kRemove, Action::kWatch, Action::kWatch, Action::kRefuse}) {
    turn.decisions.emplace_back().decision.action = action;
  }
  for (const char* state : {"done", "failed", "expired"}) turn.ended.emplace_back().state = state;
  turn.retried.emplace_back().state = "due";
  return turn;
}

TEST_F(RemoverPagesTest, EveryMetricIsThereBeforeTheFirstTurn) {
  const std::string page = Metrics();
  for (const char* line :
       {"mode{mode=\"enforce\"} 1", "mode{mode=\"dry-run\"} 0", "fleet_history_works 1",
        "seconds_since_life 0", "seconds_since_turn 0", "breaker{state=\"unknown\"} 1",
        "breaker{state=\"open\"} 0", "turns_total 0", "turns_failed_total 0",
        "decisions_to_remove_total 0", "hooks_given_up_total 0"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\nrapideye_remover_") + line + "\n"));
  }
}

TEST_F(RemoverPagesTest, CountsWhatTurnsDid) {
  pages_.NoteTurn(Turn());
  now_ += absl::Seconds(20);
  pages_.NoteTurn(Turn());
  now_ += absl::Seconds(5);
  const std::string page = Metrics();
  for (const char* line :
       {"seconds_since_turn 5", "breaker{state=\"open\"} 1", "breaker{state=\"unknown\"} 0",
        "turns_total 2", "turns_failed_total 0", "decisions_to_remove_total 2",
        "decisions_to_watch_total 4", "decisions_to_refuse_total 2", "hooks_succeeded_total 2",
        "hooks_failed_total 2", "hooks_given_up_total 4"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\nrapideye_remover_") + line + "\n"));
  }
}

TEST_F(RemoverPagesTest, AHistoryThatIsAwayMakesItUnreadyNotUnhealthy) {
  EXPECT_EQ(Get("/readyz").status, 503);  // the history was not asked yet
  EXPECT_EQ(Get("/healthz").status, 200);
  pages_.NoteTurn(Turn());
  EXPECT_EQ(Get("/readyz").status, 200);
  now_ += absl::Minutes(1);
  pages_.NoteTurn(absl::UnavailableError("no route to postgresql://u:secret@db"));
  EXPECT_EQ(Get("/healthz").status, 200);
  EXPECT_EQ(Get("/readyz").status, 503);
  EXPECT_THAT(Get("/readyz").body, ::testing::Not(HasSubstr("secret")));
  const std::string page = Metrics();
  for (const char* line : {"fleet_history_works 0", "seconds_since_turn 60", "seconds_since_life 0",
                           "breaker{state=\"unknown\"} 1", "turns_failed_total 1"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\nrapideye_remover_") + line + "\n"));
  }
}

TEST_F(RemoverPagesTest, OneThatStandsIsUnhealthyAndAHookThatRunsIsNot) {
  pages_.NoteTurn(Turn());
  now_ += kRemoverPatience;
  pages_.NoteLife();  // a hook begins
  now_ += kHook + kRemoverPatience;
  EXPECT_EQ(Get("/healthz").status, 200);
  now_ += absl::Seconds(1);
  EXPECT_EQ(Get("/healthz").status, 503);
  EXPECT_EQ(Get("/readyz").status, 503);
  EXPECT_THAT(Metrics(), HasSubstr("rapideye_remover_seconds_since_life 361\n"));
}

TEST_F(RemoverPagesTest, NothingElseIsServed) { EXPECT_EQ(Get("/incidents").status, 404); }

// NotingHookRunner notes life before and after the hook that it passes on.
TEST_F(RemoverPagesTest, AHookIsASignOfLife) {
  struct Slow final : HookRunner {
    explicit Slow(absl::Duration& now) : now(now) {}
    HookResult Run(const HookCall& call) override {
      now += kHook;
      return {.ok = true, .outcome = call.hook, .output = ""};
    }
    absl::Duration& now;
  } slow(now_);
  NotingHookRunner runner(slow, pages_);
  HookCall call;
  call.hook = "/hooks/drain";
  EXPECT_EQ(runner.Run(call).outcome, "/hooks/drain");
  EXPECT_THAT(Metrics(), HasSubstr("rapideye_remover_seconds_since_life 0\n"));
  EXPECT_THAT(Metrics(), HasSubstr("rapideye_remover_seconds_since_turn 60\n"));
}

}  // namespace
}  // namespace rapideye::coordinator
