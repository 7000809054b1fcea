// Serves the metrics of the input pipeline: Grain's page for Prometheus.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_INPUT_METRICS_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_INPUT_METRICS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/common/http/http_server.h"
#include "tests/testbed/worker/input_pipe.h"

namespace rapideye::testbed {

// Serves it at HOST:PORT for as long as the result lives; nullptr if `address` is
// empty. Errors as HttpServer::Start.
absl::StatusOr<std::unique_ptr<http::HttpServer>> ServeInputMetrics(const std::string& address,
                                                                    InputPipe& input);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_INPUT_METRICS_H_
