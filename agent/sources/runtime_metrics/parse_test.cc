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
  return ParsePrometheus(text, MetricSource::kDevicePlugin);
}

TEST(ParsePrometheusTest, TakesWhatGrainSays) {
  const auto metrics = ParsePrometheus(
      "# HELP grain_python_dataset_prefetch_buffer_ready_count Elements ready\n"
      "# TYPE grain_python_dataset_prefetch_buffer_ready_count histogram\n"
      "grain_python_dataset_prefetch_buffer_ready_count_bucket{le=\"1.0\",name=\"a\"} 4.0\n"
      "grain_python_dataset_prefetch_buffer_ready_count_count{name=\"a\"} 100.0\n"
      "grain_python_dataset_prefetch_buffer_ready_count_sum{name=\"a\"} 12.5\n"
      "grain_python_dataset_prefetch_buffer_ready_count_created{name=\"a\"} 1.7e9\n"
      "python_info{version=\"3.11\"} 1.0\n"
      "of_the_program_itself 1.0\n",
      MetricSource::kInputPipeline);
  ASSERT_THAT(metrics,
              ElementsAre(Is("grain_python_dataset_prefetch_buffer_ready_count_count", 100'000),
                          Is("grain_python_dataset_prefetch_buffer_ready_count_sum", 12'500)));
  EXPECT_THAT(metrics[0].labels, ElementsAre("name=a"));
  EXPECT_EQ(metrics[0].source, MetricSource::kInputPipeline);
}

TEST(ParsePrometheusTest, TakesWhatOrbaxSays) {
  const auto metrics = ParsePrometheus(
      "jax_orbax_write_start_total 2.0\n"
      "jax_orbax_write_blocking_duration_secs_count{storage_type=\"GCS\"} 1.0\n"
      "jax_orbax_write_blocking_duration_secs_bucket{le=\"5.0\",storage_type=\"GCS\"} 1.0\n"
      "jax_core_compile_duration_sum 3.0\n",
      MetricSource::kInputPipeline);
  ASSERT_THAT(metrics, ElementsAre(Is("jax_orbax_write_start_total", 2000),
                                   Is("jax_orbax_write_blocking_duration_secs_count", 1000)));
  EXPECT_THAT(metrics[1].labels, ElementsAre("storage_type=GCS"));
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
  response.mutable_metric()->add_metrics()->mutable_distribution();  // nothing happened yet
  const auto metrics = ParseRuntimeMetric("queue", response.SerializeAsString());
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_THAT(*metrics, ElementsAre(Is("queue", 2000), Is("queue", 250), Is("queue.count", 4000),
                                    Is("queue.mean", 1'500'500), Is("queue.count", 0)));
  EXPECT_THAT(metrics->at(0).labels, ElementsAre("core_id=3"));
}

// As libtpu does: the size of the queue of each core, a device as a text in newer releases.
TEST(ParseRuntimeMetricTest, AListOfAttributesMakesLabels) {
  runtime::MetricResponse response;
  for (const bool newer : {true, false}) {
    runtime::Metric& entry = *response.mutable_metric()->add_metrics();
    entry.mutable_attribute()->set_key("attributes");
    auto& list = *entry.mutable_attribute()->mutable_value()->mutable_kvlist_attr();
    runtime::Attribute& device = *list.add_attributes();
    device.set_key("device_ordinal");
    if (newer) {
      device.mutable_value()->set_string_attr("3");
    } else {
      device.mutable_value()->set_int_attr(3);
    }
    runtime::Attribute& type = *list.add_attributes();
    type.set_key("core_type");
    type.mutable_value()->set_string_attr("TPU_CORE_TYPE_TENSOR_CORE");
    entry.mutable_gauge()->set_as_int(2);
  }
  const auto metrics = ParseRuntimeMetric("queue", response.SerializeAsString());
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_THAT(*metrics, ElementsAre(Is("queue", 2000), Is("queue", 2000)));
  for (const Metric& metric : *metrics) {
    EXPECT_THAT(metric.labels,
                ElementsAre("device_ordinal=3", "core_type=TPU_CORE_TYPE_TENSOR_CORE"));
  }
}

TEST(ParseRuntimeMetricTest, PercentilesOfADistribution) {
  runtime::MetricResponse response;
  runtime::Distribution& latencies =
      *response.mutable_metric()->add_metrics()->mutable_distribution();
  latencies.set_count(10);
  latencies.set_mean(15);
  auto& buckets = *latencies.mutable_bucket_options()->mutable_exponential_buckets();
  buckets.set_num_finite_buckets(1);
  buckets.set_growth_factor(2);
  buckets.set_scale(10);
  for (const int count : {0, 10, 0}) latencies.add_bucket_counts(count);
  const auto metrics = ParseRuntimeMetric("latency", response.SerializeAsString());
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_THAT(*metrics, ElementsAre(Is("latency.count", 10'000), Is("latency.mean", 15'000),
                                    Is("latency.p50", 15'000), Is("latency.p95", 19'500),
                                    Is("latency.p999", 19'990)));
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
