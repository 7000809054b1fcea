// Reports an experiment's outcome, for people.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_REPORT_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_REPORT_H_

#include <string>

#include "tests/testbed/launcher/experiment.h"

namespace rapideye::testbed {

// The digest's text, the truth beside the verdict, the latency in its parts, and
// where the files lie.
std::string Report(const ExperimentOptions& options, const Outcome& outcome);

// One line: last progress → detection → collection → ... → digest on disk.
std::string LatencyLine(const JobOptions& options, const Outcome& outcome);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_REPORT_H_
