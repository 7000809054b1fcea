#include "proto/common/metrics/process_metrics.h"

#include <gtest/gtest.h>

#include <sstream>

namespace rapideye::metrics {
namespace {

// The value on the line of that name, or NaN.
double Value(const std::string& page, const std::string& name) {
  std::istringstream words(page);
  for (std::string line; std::getline(words, line);) {
    if (line.starts_with(name + " ")) return std::stod(line.substr(name.size()));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

TEST(ProcessMetricsTest, StatesWhatTheProcessCosts) {
  MetricPage page;
  AddProcessMetrics(page);
  const std::string text = page.Render();
  EXPECT_GT(Value(text, "process_cpu_seconds_total"), 0);
  const double resident = Value(text, "process_resident_memory_bytes");
  EXPECT_GT(resident, 1 << 20);
  EXPECT_GE(Value(text, "process_virtual_memory_bytes"), resident);
  EXPECT_GE(Value(text, "process_open_fds"), 3);
  EXPECT_GE(Value(text, "process_max_fds"), Value(text, "process_open_fds"));
  EXPECT_EQ(Value(text, "process_threads"), 1);
  // After 2020, and before this very moment.
  EXPECT_GT(Value(text, "process_start_time_seconds"), 1.577e9);
  EXPECT_LE(Value(text, "process_start_time_seconds"), static_cast<double>(time(nullptr)) + 1);
}

}  // namespace
}  // namespace rapideye::metrics
