// RuntimeMetric answers for the metrics of the TPU runtime, in the forms that libtpu uses.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_RUNTIME_METRICS_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_RUNTIME_METRICS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/testbed/worker/worker.h"
#include "v1/runtime_status.pb.h"

namespace rapideye::testbed {

std::vector<std::string> RuntimeMetricNames();

// `started`: when the runtime did. NOT_FOUND: no metric of that name.
absl::StatusOr<tpu::monitoring::runtime::TPUMetric> RuntimeMetric(const Worker& worker,
                                                                  const std::string& name,
                                                                  absl::Time started);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_RUNTIME_METRICS_H_
