#include "agent/sources/runtime_metrics/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "agent/sources/runtime_metrics/limits.h"
#include "v1/runtime_status.pb.h"

namespace rapideye::agent {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace runtime = tpu::monitoring::runtime;

auto Is(const std::string& name, int64_t value_milli) {
  return AllOf(Field(&Metric::name, name), Field(&Metric::value_milli, value_milli));
}

std::vector<Metric> Parse(absl::string_view text) {
  return ParsePrometheus(text, MetricSource::kInputPipeline);
}

TEST(ParsePrometheusTest, TakesWhatGrainSays) {
  const auto metrics = Parse(
      "# HELP grain_python_dataset_prefetch_buffer_ready_count Elements ready\n"
      "# TYPE grain_python_dataset_prefetch_buffer_ready_count histogram\n"
      "grain_python_dataset_prefetch_buffer_ready_count_bucket{le=\"1.0\",name=\"a\"} 4.0\n"
      "grain_python_dataset_prefetch_buffer_ready_count_count{name=\"a\"} 100.0\n"
      "grain_python_dataset_prefetch_buffer_ready_count_sum{name=\"a\"} 12.5\n"
      "grain_python_dataset_prefetch_buffer_ready_count_created{name=\"a\"} 1.7e9\n"
      "python_info{version=\"3.11\"} 1.0\n");
  ASSERT_THAT(metrics,
              ElementsAre(Is("grain_python_dataset_prefetch_buffer_ready_count_count", 100'000),
                          Is("grain_python_dataset_prefetch_buffer_ready_count_sum", 12'500)));
  EXPECT_THAT(metrics[0].labels, ElementsAre("name=a"));
  EXPECT_EQ(metrics[0].source, MetricSource::kInputPipeline);
}

TEST(ParsePrometheusTest, LabelsHoldWhatTheyLike) {
  const auto metrics =
      Parse("duty_cycle{chip=\"0\", model=\"a\\\"}{,\\n\\\\\",} -1.5 1700000000\r\n");
  ASSERT_THAT(metrics, ElementsAre(Is("duty_cycle", -1500)));
  EXPECT_THAT(metrics[0].labels, ElementsAre("chip=0", "model=a\"}{,\n\\"));
}

TEST(ParsePrometheusTest, LinesThatBreakTheFormatArePassedOver) {
  EXPECT_THAT(Parse(""), IsEmpty());
  EXPECT_THAT(Parse("a\nb {\nc{x} 1\nd{x=1} 1\ne{x=\"1} 1\nf{x=\"1\" 1\n{} 1\n<html>\ng one\n"
                    "h{x=\"1\"y=\"2\"} 1\ni NaN\nj +Inf\nk 1e300\nl{x=\"\\"),
              IsEmpty());
  EXPECT_THAT(Parse("a 1\nnonsense\nb 2"), ElementsAre(Is("a", 1000), Is("b", 2000)));
}

TEST(ParsePrometheusTest, MoreThanIsKeptIsLeftOut) {
  std::string text;
  for (size_t i = 0; i < 2 * kMaxMetricsPerSource; ++i) absl::StrAppend(&text, "m", i, " 1\n");
  EXPECT_THAT(Parse(text), SizeIs(kMaxMetricsPerSource));
}

TEST(ParseRuntimeMetricTest, TakesGaugesCountersAndDistributions) {
  runtime::MetricResponse response;
  runtime::Metric& gauge = *response.mutable_metric()->add_metrics();
  gauge.mutable_attribute()->set_key("core_id");
  gauge.mutable_attribute()->mutable_value()->set_int_attr(3);
  gauge.mutable_gauge()->set_as_int(2);
  runtime::Metric& counter = *response.mutable_metric()->add_metrics();
  counter.mutable_counter()->set_as_double(0.25);
  runtime::Metric& latencies = *response.mutable_metric()->add_metrics();
  latencies.mutable_distribution()->set_count(4);
  latencies.mutable_distribution()->set_mean(1500.5);
  const auto metrics = ParseRuntimeMetric("queue", response.SerializeAsString());
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_THAT(*metrics, ElementsAre(Is("queue", 2000), Is("queue", 250), Is("queue.count", 4000),
                                    Is("queue.mean", 1'500'500)));
  EXPECT_THAT(metrics->at(0).labels, ElementsAre("core_id=3"));
}

TEST(ParseRuntimeMetricTest, WhatIsNoNumberIsLeftOut) {
  runtime::MetricResponse response;
  response.mutable_metric()->add_metrics()->mutable_gauge()->set_as_string("many");
  response.mutable_metric()->add_metrics()->mutable_gauge()->set_as_double(
      std::numeric_limits<double>::quiet_NaN());
  response.mutable_metric()->add_metrics();
  const auto metrics = ParseRuntimeMetric("queue", response.SerializeAsString());
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_THAT(*metrics, IsEmpty());
  EXPECT_FALSE(ParseRuntimeMetric("queue", "\xff\xff").ok());
}

}  // namespace
}  // namespace rapideye::agent
