// End-to-end tests: real daemons watch a real job while it is broken.
#ifndef RAPIDEYE_TESTS_E2E_FIXTURE_H_
#define RAPIDEYE_TESTS_E2E_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "tests/testbed/launcher/experiment.h"

namespace rapideye::testbed {

class EndToEndTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;  // keeps the state directory of a test that failed

  // Two slices of three workers with two chips each; short thresholds.
  ExperimentOptions Options(int programs, int seed) const;

  // Injects the scenario's fault and expects the verdict to be right, from the
  // live digest and from `rapideye diagnose` of its capture, and in time.
  void ExpectRightVerdict(const ExperimentOptions& options, const std::string& scenario);

  // What `rapideye diagnose` says about a capture.
  static absl::StatusOr<Finding> Diagnose(const std::string& capture);

  std::string state_dir_;
  Outcome outcome_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_E2E_FIXTURE_H_
