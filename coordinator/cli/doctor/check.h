// Check states one thing that must be right on a host for rapideye to work there.
#ifndef RAPIDEYE_COORDINATOR_CLI_DOCTOR_CHECK_H_
#define RAPIDEYE_COORDINATOR_CLI_DOCTOR_CHECK_H_

#include <string>
#include <vector>

namespace rapideye::cli {

struct Check {
  enum class Outcome { kRight, kWrong, kUnknown };

  std::string subject;  // "clock"
  Outcome outcome = Outcome::kUnknown;
  // States the finding; of a wrong one also the remedy, of an unknown one the reason. Not escaped.
  std::string text;
};

using Checks = std::vector<Check>;

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_DOCTOR_CHECK_H_
