// AbortOnHang aborts the process when the job hangs, as some runtimes do.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_HANG_ABORT_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_HANG_ABORT_H_

#include <stop_token>

#include "absl/time/time.h"

namespace rapideye::testbed {

class Worker;

// Watches until `stop` is requested. Once no launch of the worker has completed
// for `threshold`, although one had before, logs the hang as the runtime does and
// ends the process with SIGABRT.
void AbortOnHang(const Worker& worker, absl::Duration threshold, const std::stop_token& stop);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_HANG_ABORT_H_
