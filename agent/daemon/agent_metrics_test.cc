#include "agent/daemon/agent_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;

RuntimeSampled Sampled(RuntimeState state) {
  RuntimeSampled sampled;
  sampled.reading.health.state = state;
  return sampled;
}

TEST(AgentMetricsTest, CountsWhatHappens) {
  AgentTelemetry telemetry;
  telemetry.Note(Effect(Poll{.poll = 1, .with_hlo = true, .deadline = {}}));
  telemetry.Note(Effect(Poll{.poll = 2, .deadline = {}}));
  telemetry.Note(Event(Sampled(RuntimeState::kTimedOut)));
  telemetry.Note(Event(Sampled(RuntimeState::kUnavailable)));
  telemetry.Note(Effect(Send{wire::Heartbeat()}));
  telemetry.Note(Effect(Send{wire::Alarm()}));
  LogsRead read;
  read.reading.lines.resize(2);
  read.reading.lines[1].repeats = 3;
  telemetry.Note(Event(read));
  const std::string page = RenderMetrics(telemetry.Get(), 7);
  for (const char* line : {"polls_total 2", "polls_with_hlo_total 1", "polls_timed_out_total 1",
                           "polls_unavailable_total 1", "messages_sent_total 2", "alarms_total 1",
                           "log_events_total 5", "events_dropped_total 7", "runtime_answers 0"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\nrapideye_agent_") + line + "\n"));
  }
  EXPECT_THAT(page, HasSubstr("\nprocess_resident_memory_bytes "));
}

TEST(AgentMetricsTest, ConnectedFromWelcomeToTheEndOfTheStream) {
  AgentTelemetry telemetry;
  telemetry.Note(Effect(Connect{.stream = 1}));
  EXPECT_FALSE(telemetry.Get().connected);
  telemetry.Note(Event(MessageReceived{.stream = 1, .message = wire::Welcome()}));
  EXPECT_TRUE(telemetry.Get().connected);
  telemetry.Note(Event(StreamClosed{.stream = 1, .status = {}}));
  EXPECT_FALSE(telemetry.Get().connected);
  EXPECT_EQ(telemetry.Get().counters.streams_lost, 1);
}

TEST(AgentMetricsTest, RuntimeAnswersOrNot) {
  AgentTelemetry telemetry;
  telemetry.Note(Event(Sampled(RuntimeState::kServing)));
  EXPECT_TRUE(telemetry.Get().runtime_answers);
  telemetry.Note(Event(Sampled(RuntimeState::kTimedOut)));
  EXPECT_FALSE(telemetry.Get().runtime_answers);
}

}  // namespace
}  // namespace rapideye::agent
