// Timeline lists errors of processes and hardware, and those old enough to be the cause.
#ifndef RAPIDEYE_CLASSIFIER_ERRORS_TIMELINE_H_
#define RAPIDEYE_CLASSIFIER_ERRORS_TIMELINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classifier/errors/error_event.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

struct Timeline {
  // Every error, by worker, then most specific first.
  std::vector<ErrorEvent> errors;
  // Indexes of the errors that can be the cause: not younger than the standstill, the
  // most specific of its worker, and not one of many aborts after a hang. The oldest
  // come first; errors whose ages agree with the oldest, within their error, have no order.
  std::vector<int> roots;
  // The number of roots that are as old as the oldest.
  int first_count = 0;
  // How long the job has stood still: the median over its cores. Absent: no core
  // reported it.
  std::optional<int64_t> still_ms;
  int aborted = 0;  // processes gone by SIGABRT or SIGTRAP
  bool hang_declared = false;
  std::vector<std::string> reasons;  // errors that are no roots, and why
};

Timeline BuildTimeline(const Topology& topology);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_ERRORS_TIMELINE_H_
