// Reads and answers the launcher's lines.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_CONSOLE_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_CONSOLE_H_

#include "absl/strings/string_view.h"
#include "tests/testbed/worker/worker.h"

namespace rapideye::testbed {

// Writes one line to standard output at once. Thread-safe.
void Announce(absl::string_view line);

// Obeys the lines of standard input (model/control.h) until "stop" or its end:
// a launcher that is gone takes its workers along.
void Converse(Worker& worker);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_CONSOLE_H_
