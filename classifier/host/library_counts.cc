#include "classifier/host/library_counts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

constexpr int64_t kOne = 1000;  // values are thousandths

// The sum over all labels; 0 if no library exports the counter.
int64_t Sum(const std::vector<Metric>& metrics, std::string_view name) {
  int64_t sum = 0;
  for (const Metric& metric : metrics) {
    if (metric.source == MetricSource::kInputPipeline && metric.name == name) {
      sum += metric.value_milli / kOne;
    }
  }
  return sum;
}

// Saves and restores of both kinds: synchronous and asynchronous ones.
struct Operation {
  HostActivity activity;
  std::string_view noun;
  std::array<std::string_view, 2> begun;
  std::array<std::string_view, 2> ended;  // as far as the training loop waits for it
};

constexpr std::array<Operation, 2> kOperations = {
    Operation{HostActivity::kCheckpointSave,
              "save",
              {"jax_orbax_write_start_total", "jax_orbax_write_async_start_total"},
              {"jax_orbax_write_blocking_duration_secs_count",
               "jax_orbax_write_async_blocking_duration_secs_count"}},
    Operation{HostActivity::kCheckpointRestore,
              "restore",
              {"jax_orbax_read_start_total", "jax_orbax_read_async_start_total"},
              {"jax_orbax_read_blocking_duration_secs_count",
               "jax_orbax_read_async_blocking_duration_secs_count"}},
};

}  // namespace

std::string EmptyPipeline(const std::vector<Metric>& metrics) {
  // Grain counts how many elements lay ready whenever the loop asked for an element; with a mean
  // below half an element, the loop finds its pipeline empty more often than not.
  int64_t sum = 0;
  int64_t count = 0;
  for (const Metric& metric : metrics) {
    if (metric.source != MetricSource::kInputPipeline) continue;
    if (metric.name == kPipelineReadySum) sum = std::max(sum, metric.value_milli);
    if (metric.name == kPipelineReadyCount) count = std::max(count, metric.value_milli);
  }
  if (count < kLeastPipelineLooks * kOne) return "";
  if (static_cast<double>(sum) >= kEmptyPipelineMean * static_cast<double>(count)) return "";
  return "its input pipeline (Grain) has mostly had nothing ready when it was asked";
}

std::optional<CheckpointUnderWay> CheckpointByCounts(const std::vector<Metric>& metrics) {
  for (const Operation& operation : kOperations) {
    const int64_t begun = Sum(metrics, operation.begun[0]) + Sum(metrics, operation.begun[1]);
    const int64_t ended = Sum(metrics, operation.ended[0]) + Sum(metrics, operation.ended[1]);
    if (begun <= ended) continue;
    return CheckpointUnderWay{
        operation.activity,
        absl::StrCat("is in a checkpoint by Orbax's metrics (", Count(begun, operation.noun),
                     " begun, ", ended, " ended)")};
  }
  return std::nullopt;
}

}  // namespace rapideye::classifier
