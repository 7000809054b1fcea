#include "coordinator/server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Readings SomeReadings() {
  auto status = std::make_shared<JobStatus>();
  status->activity = Activity::kCollecting;
  status->expected = 8;
  status->connected = 7;
  status->since_completion = absl::Milliseconds(2500);
  status->counters.floods = 3;
  status->job = "llama \"7\"\n";
  status->incarnation = "42";
  status->agent_versions = {{"0.0.1", 4}, {"9.9", 1}};
  status->launches.counts.at(3) = 5;
  status->launches.sum = absl::Seconds(1.5);
  status->losses = {.hung = absl::Seconds(90), .of_chips = absl::Hours(3)};
  Readings readings;
  readings.status = status;
  readings.disk.counters.write_failures = 5;
  readings.disk.pending_incidents = 2;
  readings.removal.counters.watches = 4;
  readings.removal.breaker_open = true;
  readings.otlp.dropped = 6;
  readings.streams = 9;
  readings.certificates = {.certificate = absl::FromUnixSeconds(1'800'000'000),
                           .authority = absl::FromUnixSeconds(1'900'000'000)};
  readings.since_turn = absl::Milliseconds(500);
  return readings;
}

TEST(CoordinatorMetricsTest, StatesWhatItRead) {
  Telemetry telemetry;
  telemetry.CountClose(absl::StatusCode::kInvalidArgument);
  telemetry.CountVerdict(Cause::kBadTpuChip, absl::Milliseconds(3));
  telemetry.CountWrite(absl::Milliseconds(40));
  telemetry.CountDigest({.detection = absl::Seconds(12),
                         .collection = absl::Seconds(2),
                         .digest = absl::Milliseconds(30)});
  telemetry.CountDigest({.detection = std::nullopt,
                         .collection = absl::Seconds(2),
                         .digest = absl::Milliseconds(30)});
  const std::string page = RenderMetrics(SomeReadings(), telemetry);
  for (const char* line :
       {"workers_expected 8",
        "workers_connected 7",
        "activity{activity=\"collecting\"} 1",
        "activity{activity=\"waiting\"} 0",
        "seconds_since_last_completion 2.5",
        "floods_total 3",
        "incident_write_failures_total 5",
        "decisions_to_watch_total 4",
        "fleet_history_works 1",
        "incidents_pending 2",
        "state_dir_works 1",
        "streams 9",
        "tls_expiry_timestamp_seconds{file=\"cert\"} 1800000000",
        "tls_expiry_timestamp_seconds{file=\"ca\"} 1900000000",
        "seconds_since_loop_turn 0.5",
        "streams_closed_total{status=\"INVALID_ARGUMENT\"} 1",
        "verdicts_total{cause=\"BAD_TPU_CHIP\"} 1",
        "verdicts_total{cause=\"UNKNOWN\"} 0",
        "classification_seconds_count 1",
        "detection_seconds_bucket{le=\"10\"} 0",
        "detection_seconds_bucket{le=\"15\"} 1",
        "detection_seconds_count 1",
        "collection_seconds_count 2",
        "digest_seconds_count 2",
        "job_info{name=\"llama \\\"7\\\"\\\\n\",incarnation=\"42\",generation=\"\"} 1",
        "agents{version=\"0.0.1\"} 4",
        "agents{version=\"9.9\"} 1",
        "agents{version=\"other\"} 2",
        "launch_seconds_bucket{le=\"0.1\"} 0",
        "launch_seconds_bucket{le=\"0.25\"} 5",
        "launch_seconds_bucket{le=\"+Inf\"} 5",
        "launch_seconds_count 5",
        "launch_seconds_sum 1.5",
        "hung_seconds_total 90",
        "otlp_events_dropped_total 6",
        "chip_seconds_lost_total 10800",
        "removal_breaker{state=\"open\"} 1",
        "removal_breaker{state=\"unknown\"} 0",
        "incident_write_seconds_count 1"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\nrapideye_coordinator_") + line + "\n"));
  }
  EXPECT_THAT(page, HasSubstr("\nprocess_resident_memory_bytes "));
}

// Histograms of as many digests differ by their sums.
TEST(CoordinatorMetricsTest, EveryHistogramHasTimesOfItsOwn) {
  Telemetry telemetry;
  telemetry.CountVerdict(Cause::kBadTpuChip, absl::Milliseconds(3));
  telemetry.CountWrite(absl::Milliseconds(40));
  telemetry.CountDigest({.detection = absl::Seconds(12),
                         .collection = absl::Seconds(2),
                         .digest = absl::Milliseconds(30)});
  const std::string page = RenderMetrics(SomeReadings(), telemetry);
  for (const char* line : {"classification_seconds_sum 0.003", "incident_write_seconds_sum 0.04",
                           "detection_seconds_sum 12", "collection_seconds_bucket{le=\"1\"} 0",
                           "collection_seconds_sum 2", "digest_seconds_sum 0.03"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\nrapideye_coordinator_") + line + "\n"));
  }
}

TEST(CoordinatorMetricsTest, EveryGaugeReadsAValueOfItsOwn) {
  auto status = std::make_shared<JobStatus>();
  status->running = 11;
  status->pause = PauseStatus{};
  status->waiting = JobStatus::Waiting{absl::Seconds(12), absl::Seconds(13), "why"};
  status->longest_launch = absl::Seconds(14);
  status->longest_pause = absl::Seconds(15);
  Readings readings = SomeReadings();
  readings.status = status;
  readings.disk.pending_incidents = 16;
  readings.disk.pending_bytes = 17;
  readings.disk.kept_incidents = 18;
  readings.disk.kept_bytes = 19;
  readings.connections_refused = 20;
  readings.queued_events = 21;
  readings.queued_bytes = 22;
  readings.removal.history_works = false;
  readings.removal.breaker_open = std::nullopt;
  const std::string page = RenderMetrics(readings, Telemetry());
  for (const char* line :
       {"workers_running 11", "watch_paused 1", "still_seconds 12", "threshold_seconds 13",
        "longest_launch_seconds 14", "longest_pause_seconds 15", "incidents_pending 16",
        "incidents_pending_bytes 17", "incidents_kept 18", "incidents_kept_bytes 19",
        "connections_refused_total 20", "events_queued 21", "events_queued_bytes 22",
        "fleet_history_works 0", "removal_breaker{state=\"unknown\"} 1",
        "removal_breaker{state=\"open\"} 0"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\nrapideye_coordinator_") + line + "\n"));
  }
  EXPECT_THAT(RenderMetrics(SomeReadings(), Telemetry()),
              HasSubstr("\nrapideye_coordinator_watch_paused 0\n"));
}

TEST(CoordinatorMetricsTest, WhatTheCoreDoesNotAnswerIsLeftOutNotZero) {
  Readings readings = SomeReadings();
  readings.status = nullptr;
  readings.disk.problem = "No space left";
  const std::string page = RenderMetrics(readings, Telemetry());
  EXPECT_THAT(page, Not(HasSubstr("workers_expected")));
  EXPECT_THAT(page, Not(HasSubstr("floods_total")));
  EXPECT_THAT(page, HasSubstr("\nrapideye_coordinator_state_dir_works 0\n"));
}

TEST(CoordinatorMetricsTest, TheLoopsAgeIsThereBeforeItsFirstTurn) {
  Readings readings = SomeReadings();
  readings.since_turn = absl::InfiniteDuration();
  EXPECT_THAT(RenderMetrics(readings, Telemetry()),
              HasSubstr("\nrapideye_coordinator_seconds_since_loop_turn Nan\n"));
}

// The page follows the rules of Prometheus' text format.
TEST(CoordinatorMetricsTest, EveryLineIsWellFormedAndEveryMetricExplained) {
  Telemetry telemetry;
  telemetry.CountClose(absl::StatusCode::kAlreadyExists);
  const std::regex sample(R"re([a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? (-?[0-9.e+-]+|\+Inf))re");
  const std::regex comment("# (HELP [a-z_]+ \\S.*|TYPE [a-z_]+ (counter|gauge|histogram))");
  std::istringstream lines(RenderMetrics(SomeReadings(), telemetry));
  std::string family;
  int samples = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) family = line.substr(7, line.find(' ', 7) - 7);
    if (line.starts_with("#")) {
      EXPECT_TRUE(std::regex_match(line, comment)) << line;
    } else {
      EXPECT_TRUE(std::regex_match(line, sample)) << line;
      EXPECT_TRUE(line.starts_with(family)) << line;
      ++samples;
    }
  }
  EXPECT_GT(samples, 50);
}

TEST(TelemetryTest, KnowsWhenTheLoopLastTurned) {
  Telemetry telemetry;
  EXPECT_EQ(telemetry.SinceTurn(absl::Seconds(5)), absl::InfiniteDuration());
  telemetry.NoteTurn(absl::Seconds(5));
  EXPECT_EQ(telemetry.SinceTurn(absl::Seconds(8)), absl::Seconds(3));
}

}  // namespace
}  // namespace rapideye::coordinator
