// ReadErrors lists the errors that logs, cores, processes and runtimes of a job show.
#ifndef RAPIDEYE_CLASSIFIER_ERRORS_ERROR_READER_H_
#define RAPIDEYE_CLASSIFIER_ERRORS_ERROR_READER_H_

#include <vector>

#include "classifier/errors/error_event.h"
#include "classifier/errors/standstill.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

struct Errors {
  std::vector<ErrorEvent> events;  // by worker, then most specific first
  int aborted = 0;                 // processes gone by SIGABRT or SIGTRAP
  bool hang_declared = false;      // by the runtime of some worker
};

Errors ReadErrors(const Topology& topology, const Standstill& still);

// True if the worker's own runtime said that the job hangs.
bool DeclaredHang(const Snapshot& snapshot);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_ERRORS_ERROR_READER_H_
