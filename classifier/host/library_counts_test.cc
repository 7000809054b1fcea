#include "classifier/host/library_counts.h"

#include <gtest/gtest.h>

namespace rapideye::classifier {
namespace {

Metric Reading(const std::string& name, int64_t value, const std::string& label = "") {
  Metric metric;
  metric.source = MetricSource::kInputPipeline;
  metric.name = name;
  if (!label.empty()) metric.labels.push_back(label);
  metric.value_milli = value * 1000;
  return metric;
}

TEST(CheckpointByCountsTest, ASaveThatHasNotReturnedIsUnderWay) {
  // Orbax 0.12.8 exports these: two saves that return at once, one that does not.
  const std::vector<Metric> metrics = {
      Reading("jax_orbax_write_start_total", 1), Reading("jax_orbax_write_async_start_total", 3),
      Reading("jax_orbax_write_blocking_duration_secs_count", 1, "storage_type=GCS"),
      Reading("jax_orbax_write_async_blocking_duration_secs_count", 2, "storage_type=GCS"),
      Reading("jax_orbax_write_success_total", 3)};
  const auto checkpoint = CheckpointByCounts(metrics);
  ASSERT_TRUE(checkpoint.has_value());
  EXPECT_EQ(checkpoint->activity, HostActivity::kCheckpointSave);
  EXPECT_EQ(checkpoint->text, "is in a checkpoint by Orbax's metrics (4 saves begun, 3 ended)");
}

TEST(CheckpointByCountsTest, ASaveInTheBackgroundDoesNotHoldTheLoop) {
  // The save has returned, and is not complete.
  EXPECT_FALSE(CheckpointByCounts({Reading("jax_orbax_write_async_start_total", 3),
                                   Reading("jax_orbax_write_async_blocking_duration_secs_count", 3),
                                   Reading("jax_orbax_write_success_total", 2)})
                   .has_value());
}

TEST(CheckpointByCountsTest, ARestoreIsToldFromASave) {
  const auto checkpoint = CheckpointByCounts({Reading("jax_orbax_read_start_total", 1)});
  ASSERT_TRUE(checkpoint.has_value());
  EXPECT_EQ(checkpoint->activity, HostActivity::kCheckpointRestore);
  EXPECT_EQ(checkpoint->text, "is in a checkpoint by Orbax's metrics (1 restore begun, 0 ended)");
}

TEST(CheckpointByCountsTest, CountsOfOtherSourcesAreNoneOfOrbax) {
  Metric other = Reading("jax_orbax_write_start_total", 1);
  other.source = MetricSource::kDevicePlugin;
  EXPECT_FALSE(CheckpointByCounts({other}).has_value());
  EXPECT_FALSE(CheckpointByCounts({}).has_value());
}

TEST(EmptyPipelineTest, NeedsEnoughLooks) {
  const auto pipeline = [](int64_t looks, int64_t ready) {
    return EmptyPipeline({Reading("grain_python_dataset_prefetch_buffer_ready_count_count", looks),
                          Reading("grain_python_dataset_prefetch_buffer_ready_count_sum", ready)});
  };
  EXPECT_EQ(pipeline(9, 0), "");
  EXPECT_NE(pipeline(10, 4), "");
  EXPECT_EQ(pipeline(10, 5), "");
}

}  // namespace
}  // namespace rapideye::classifier
