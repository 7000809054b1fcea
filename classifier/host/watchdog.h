// The ends of processes by Python's watchdog, faulthandler.dump_traceback_later.
#ifndef RAPIDEYE_CLASSIFIER_HOST_WATCHDOG_H_
#define RAPIDEYE_CLASSIFIER_HOST_WATCHDOG_H_

#include <string_view>

#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// True for the text with which it begins to print stacks: "Timeout (", its limit as hours, minutes
// and seconds with or without a fraction, ")!". It may end the process after them.
bool IsPythonsTimeout(std::string_view text);

// True for such a line of a log.
bool IsOfWatchdog(const LogEvent& event);

// True if the process ended right after the watchdog printed its stacks, and not by a signal.
// Until then it stood where those stacks show it.
bool EndedByWatchdog(const Process& process, const Snapshot& snapshot);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_WATCHDOG_H_
