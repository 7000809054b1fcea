// Tells what became of a worker after an error, as far as its snapshot shows it.
#ifndef RAPIDEYE_CLASSIFIER_ERRORS_AFTERMATH_H_
#define RAPIDEYE_CLASSIFIER_ERRORS_AFTERMATH_H_

#include "classifier/errors/error_event.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

// True if it has no snapshot, nobody listens where its runtime was, or a process of it has ended.
bool IsGone(const Topology& topology, int worker);

// True if its training process lives, whether or not any runtime answers.
bool Lives(const Topology& topology, int worker);

// True if a launch completed after the error, the training loop entered its phase after it, or
// the main thread still stands in the program, which an exception would have left.
bool WentOnAfter(const Topology& topology, const ErrorEvent& event);

// True for an end by a status or an abort after words of a victim, when another worker is gone,
// however early; or by the launcher that then ends all tasks, but not by the platform. Other
// signals are no echo.
bool IsEndOfVictim(const Topology& topology, const ErrorEvent& event);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_ERRORS_AFTERMATH_H_
