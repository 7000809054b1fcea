// WatchdogLines reads the lines in which PyTorch's watchdog tells of collectives that timed out:
// the group, the number of the collective in that group, and the last one that the rank had queued.
//
// Facts: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, which is public, from 1.13 on.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_WATCHDOG_LINES_H_
#define RAPIDEYE_CLASSIFIER_LOGS_WATCHDOG_LINES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "classifier/verdict/log_evidence.h"

namespace rapideye::logs {

// The lines of one rank. Bounded, whatever they hold. Not synchronised.
class WatchdogLines {
 public:
  // True if the line, which comes without its time and the label of its worker, tells of one.
  bool Take(absl::string_view line);

  // Of each group the first collective that timed out, for which all later ones wait. A line that
  // names no group counts for the group in which that number timed out. Call once, last.
  std::vector<NumberedCollective> Finish();

 private:
  NumberedCollective* Find(const NumberedCollective& like);
  void Keep(NumberedCollective read);

  std::vector<NumberedCollective> kept_;
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_WATCHDOG_LINES_H_
